"""Objects of user classes that derive from a builtin container or number.

Such an object is an `Instance` that has, under the name `ITEMS`, what the builtin class holds: the
address of a container, a tuple, or a number. Methods of the builtin class are called on that
content; all else that Python does with the object goes through the methods of its class.
"""

from __future__ import annotations

import builtins
import heapq
import operator
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable, Sequence
from types import FunctionType, MethodDescriptorType, WrapperDescriptorType
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handlers
from adjoint.fast.evaluate.plain_classes import BASES, base_of, changed_by, is_plain_object
from adjoint.fast.evaluate.values import ITEMS, Abstract, Instance, Known, Ref
from adjoint.fast.not_covered import NotCovered
from adjoint.ir import primitives

_NOT_OF_CONTENT = frozenset(
    f"__{name}__"
    for name in "new getattribute setattr delattr repr str format reduce reduce_ex sizeof".split()
)
"""Methods of builtin classes that look at more than what the class holds."""


def _owners() -> dict[Any, Any]:
    """Return the builtin class of each method that is called on the content of an object."""
    kinds = (FunctionType, MethodDescriptorType, WrapperDescriptorType)
    return {
        f: base
        for base in BASES
        for name, f in vars(base).items()
        if name not in _NOT_OF_CONTENT and isinstance(f, kinds)
    }


_OWNERS = _owners()
_COPYING = frozenset({"copy", "__copy__", "__add__", "__mul__", "__rmul__", "__or__", "__ror__"})
"""Methods of C that return an object of the derived class, where a class has them."""
_COPIED = frozenset({"deque", "OrderedDict", "defaultdict", "Counter"})

_NAMES = (
    "abs all any bool callable delattr enumerate filter frozenset getattr hasattr hash isinstance "
    "iter len list map max min next reversed set setattr sorted sum super tuple type vars zip"
)
_BY_PROTOCOL = frozenset(
    {
        *(getattr(builtins, name) for name in _NAMES.split()),
        *(object.__new__, object.__setattr__, object.__delattr__, object.__init__),
    }
)
"""Functions that treat an object as its class says, whatever it derives from."""
_CONVERSIONS = frozenset({float, int, complex, round})
_CONVERTING_METHODS = frozenset(
    f"__{name}__" for name in "float int index trunc complex round floor ceil".split()
)
_OF_MAPPINGS = (dict, OrderedDict, Counter, defaultdict)
_OF_HEAPS = frozenset({heapq.heappush, heapq.heappop, heapq.heapify, heapq.heappushpop})


def derived_instance(ev: Evaluator, a: Any) -> Instance | None:
    """Return an object of a class that derives from a builtin one; ``None`` for anything else."""
    held = ev.held(a) if isinstance(a, Ref) else None
    return held if isinstance(held, Instance) and ITEMS in held.names else None


def content_of(held: Instance) -> Abstract:
    """Return what the builtin class holds of an object."""
    return held.items[held.names.index(ITEMS)]


def plain_content(ev: Evaluator, a: Abstract) -> Abstract:
    """Return the content of an object whose class leaves all that the builtin class does as it is;
    anything else unchanged.

    Raises
    ------
    NotCovered
        The class changes something, of which C may or may not take notice.
    """
    held = derived_instance(ev, a)
    if held is None:
        return a
    if changed_by(held.cls):
        raise NotCovered(f"a {held.cls.__qualname__} that a function of C reads", ev.span)
    return content_of(held)


def call_with_derived(
    ev: Evaluator,
    f: Any,
    args: Sequence[Abstract],
    call: Callable[[Sequence[Abstract]], Abstract],
) -> Abstract:
    """Evaluate a call of a known function some of whose operands are derived objects; `call` makes
    it with the operands that stand for them."""
    try:
        owner = _OWNERS.get(f)
    except TypeError:
        owner = None
    first = derived_instance(ev, args[0])
    if owner is not None and first is not None and issubclass(first.cls, owner):
        return _of_base(ev, f, owner, args[0], first, args[1:], call)
    if owner is not None or _goes_by_protocol(f):
        return call(args)
    if f in _CONVERSIONS or _module(f) in ("math", "cmath"):
        return call([_number_of(ev, x) for x in args])
    if f in _OF_HEAPS:
        return call([plain_content(ev, args[0]), *args[1:]])
    if f in _OF_MAPPINGS or isinstance(f, np.ufunc) or _module(f) in _CONVERTING:
        return call([plain_content(ev, x) for x in args])
    raise NotCovered(f"such a call of {getattr(f, '__name__', f)}", ev.span)


_CONVERTING = frozenset({"numpy", "numpy.linalg"})
"""Modules whose functions keep no operand."""


def _module(f: Any) -> str:
    return getattr(f, "__module__", None) or ""


def _goes_by_protocol(f: Any) -> bool:
    if f in _BY_PROTOCOL or _module(f) in ("_operator", primitives.__name__):
        return True
    if getattr(f, "__name__", "") == "__new__":  # its operands fill a new container
        return True
    is_python = type(f) is FunctionType or (isinstance(f, type) and is_plain_object(f))
    return is_python and f not in handlers and _module(f).partition(".")[0] != "adjoint"


def _number_of(ev: Evaluator, a: Abstract) -> Abstract:
    """Return what a function of numbers in C reads of an operand."""
    held = derived_instance(ev, a)
    if held is None or base_of(held.cls) not in (int, float, complex):
        return plain_content(ev, a)
    if not _CONVERTING_METHODS.isdisjoint(changed_by(held.cls)):
        raise NotCovered(f"a {held.cls.__qualname__} that says its number", ev.span)
    return content_of(held)


def _of_base(
    ev: Evaluator,
    f: Any,
    owner: Any,
    a: Abstract,
    held: Instance,
    rest: Sequence[Abstract],
    call: Callable[[Sequence[Abstract]], Abstract],
) -> Abstract:
    """Evaluate a method of the builtin class, called on an object of a derived one."""
    content, base, name = content_of(held), base_of(held.cls), f.__name__
    if name in _COPYING and base.__name__ in _COPIED:
        raise NotCovered(f"{name} of a {held.cls.__qualname__}", ev.span)
    if base in _OF_MAPPINGS[1:] and changed_by(held.cls):  # their methods call one another
        raise NotCovered(f"a {held.cls.__qualname__} with methods of its own", ev.span)
    if name == "__getitem__" and issubclass(owner, dict) and hasattr(held.cls, "__missing__"):
        if base is dict:
            found = ev.call(Known(operator.contains), [content, *rest], {})
            if not isinstance(found, Known):
                raise NotCovered("a key that may be missing", ev.span)
            if not found.value:
                method = ev.call(Known(getattr), [Known(held.cls), Known("__missing__")], {})
                return ev.call(method, [a, *rest], {})
    if isinstance(name, str) and name.startswith("__"):
        rest = [_operand(ev, x, base) for x in rest]
    found = call([content, *rest])
    return a if found is content or found == content else found


def _operand(ev: Evaluator, x: Abstract, base: Any) -> Abstract:
    """Return the content of the other operand of an operator of C, if it is of the same base."""
    held = derived_instance(ev, x)
    if held is None:
        return x
    if base in _OF_MAPPINGS:  # C may ask it for its keys
        return plain_content(ev, x)
    if base_of(held.cls) is not base:
        raise NotCovered("an operator of objects of several builtin classes", ev.span)
    return content_of(held)
