"""Whether code in C, or of a package that is left alone, may enter the user's Python code through
what it is given."""

from __future__ import annotations

import cmath
import functools
import math
import operator
import weakref
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterable
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MappingProxyType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any

import numpy as np

from adjoint.primal.childless_types import LEAVES
from adjoint.primal.code_owner import is_the_users
from adjoint.primal.container_contents import factory_of
from adjoint.primal.engine_object import Hidden
from adjoint.primal.memo_by_class import ByClass
from adjoint.primal.special_methods import class_attribute
from adjoint.primal.value_kinds import fields_of, held_by_c
from adjoint.runtime.foreign.may_store import READING, is_closed, may_store
from adjoint.runtime.foreign.snapshot import contents
from adjoint.runtime.memory.active_iterator import Iterator

STAND_INS: list[type] = [Iterator]
"""Classes of the library's whose instances run the user's code when C asks them."""

_FEW = 256
"""How many objects are looked at; where there are more, it may."""
_LOOKED_INTO = (
    list, tuple, set, frozenset, dict, deque, functools.partial, MappingProxyType, MethodType,
    BuiltinFunctionType, MethodWrapperType, slice, OrderedDict,
)  # fmt: skip
_NOTHING = frozenset(
    {FunctionType, ModuleType, CodeType, np.dtype, staticmethod, classmethod, property}
)
_PLAIN = LEAVES | {type}
"""Types of what is compared, hashed and shown by nobody's code."""


def is_users_function(value: Any) -> bool:
    """Whether something is a Python function of the user's."""
    return type(value) is FunctionType and is_the_users(value.__code__, value.__globals__)


def _defines_code(kind: type) -> bool:
    for base in kind.__mro__:
        if base.__flags__ & (1 << 9):  # Py_TPFLAGS_HEAPTYPE
            for value in vars(base).values():
                if any(map(is_users_function, _functions_of(value))):
                    return True
    return False


def _functions_of(value: Any) -> tuple[Any, ...]:
    """The functions in what stands in a class, of which nothing is asked that may be the user's."""
    kind = type(value)
    if issubclass(kind, property):
        return (value.fget,)
    if issubclass(kind, (staticmethod, classmethod, MethodType)):
        return (value.__func__,)
    return value, class_attribute(kind, "__get__")


has_code = ByClass(_defines_code)
"""Whether instances of a class can run methods that are the user's."""


def reaches(values: Iterable[Any]) -> bool:
    """Whether what is given to code that is not differentiated holds any code of the user's."""
    for value in values:
        kind = type(value)
        if kind in LEAVES or _is_numeric(value):
            continue
        if (kind is list or kind is tuple) and LEAVES.issuperset(map(type, value)):
            continue
        if _reaches(value):
            return True
    return False


def _is_numeric(value: Any) -> bool:
    return type(value) is np.ndarray and not value.dtype.hasobject


def _reaches(value: Any) -> bool:
    seen: dict[int, Any] = {}
    queue = deque([value])
    while queue:
        value = queue.popleft()
        kind = type(value)
        if kind in LEAVES or id(value) in seen:
            continue
        if len(seen) > _FEW:
            return True
        seen[id(value)] = value
        if is_users_function(value):
            return True
        if kind is FunctionType:
            queue += contents(value, kind)
        elif issubclass(kind, tuple(STAND_INS)) or has_code(kind) or is_filled_by_c(value):
            return True
        elif kind in _BOUND_IN_C and _stores(value):
            return True
        elif issubclass(kind, type):
            if has_code(value):
                return True
        else:
            queue += _inside(value, kind)
    return False


def is_filled_by_c(value: Any) -> bool:
    """Whether C fills a dict with what a function gives it, if it is asked for what is missing."""
    if not issubclass(type(value), defaultdict):
        return False
    factory = factory_of(value)
    return factory is not None and not (type(factory) is type and not has_code(factory))


_BOUND_IN_C = (BuiltinFunctionType, MethodWrapperType)
_STORING = frozenset({setattr, delattr, operator.setitem, operator.delitem})


def _stores(f: Any) -> bool:
    """Whether a function in C stores something in what it is bound to, or is given."""
    owner = f.__self__
    if isinstance(owner, ModuleType):
        return f in _STORING
    return type(owner) not in LEAVES and not isinstance(owner, type) and f.__name__ not in READING


def filled_by_c(values: Iterable[Any]) -> list[Any]:
    """What C may fill of what is given to code that is not differentiated, and of what is in it:
    dicts for which `is_filled_by_c` holds, what methods in C are bound to, and all of it where a
    function is there that stores in what it is given."""
    found: list[Any] = []
    stores_anywhere = False
    seen: dict[int, Any] = {}
    queue = deque(values)
    while queue and len(seen) <= _FEW:
        value = queue.popleft()
        kind = type(value)
        if kind in LEAVES or id(value) in seen or issubclass(kind, type) or _is_numeric(value):
            continue
        seen[id(value)] = value
        if is_filled_by_c(value):
            found.append(value)
        elif kind in _BOUND_IN_C and _stores(value):
            if isinstance(value.__self__, ModuleType):
                stores_anywhere = True
            else:
                found.append(value.__self__)
        is_seen = kind is FunctionType or kind is CellType or _has_fields(kind)
        queue += contents(value, kind) if is_seen else _inside(value, kind)
    return [*seen.values()] if stores_anywhere else found


def _inside(value: Any, kind: type) -> list[Any]:
    """What something of C, or of a package that is left alone, holds."""
    if issubclass(kind, _LOOKED_INTO):
        return contents(value, kind)
    if issubclass(kind, np.ndarray):
        return contents(value, kind) if value.dtype.hasobject else []
    if kind is weakref.ref:
        return [value()]
    if kind in _NOTHING or issubclass(kind, np.generic | Hidden):
        return []
    return held_by_c(value)


# ---- special methods -----------------------------------------------------------------------------


class Asks:
    """Whether some special methods, asked of values and of what is in them, are the user's code."""

    def __init__(self, *names: str) -> None:
        self.of = ByClass(lambda kind: max(_level(kind, name) for name in names))
        """The level for instances of a class, whatever they hold."""
        self._is_simple = ByClass(lambda kind: all(_is_closed(kind, name) for name in names))

    def __call__(self, *values: Any) -> int:
        """0: they enter no code of the user's; 1: only what cannot store anything by itself; 2: any
        code."""
        for value in values:
            kind = type(value)
            if kind in _PLAIN:
                continue
            if (kind is list or kind is tuple) and _PLAIN.issuperset(map(type, value)):
                continue
            return self._among(values)
        return 0

    def _among(self, values: tuple[Any, ...]) -> int:
        level = 0
        seen: dict[int, Any] = {}
        queue = deque(values)
        while queue and level < 2:
            value = queue.popleft()
            kind = type(value)
            if kind in _PLAIN or _is_numeric(value) or id(value) in seen:
                continue
            if len(seen) > _FEW:
                return max(level, 1)
            seen[id(value)] = value
            if issubclass(kind, Iterator):
                return 2
            own = self.of(kind)
            if own > level and not (own == 1 and self._is_simple(kind) and _is_plain(value)):
                level = own
            if issubclass(kind, _LOOKED_INTO):
                queue += contents(value, kind)
            elif not _has_fields(kind):
                inside = _inside(value, kind)
                if kind is not FunctionType and any(map(is_users_function, inside)):
                    return 2  # something of C that calls it
                queue += inside
        return level


def _has_fields(kind: type) -> bool:
    """Whether instances are ordinary objects, of which C asks nothing but special methods."""
    return bool(kind.__flags__ & (1 << 9) and kind.__dictoffset__)  # Py_TPFLAGS_HEAPTYPE


def _method(kind: type, name: str) -> Any:
    for base in kind.__mro__:
        if name in vars(base):
            return vars(base)[name]
    return None


def _level(kind: type, name: str) -> int:
    method = _method(kind, name)
    if type(method) is not FunctionType:
        return 0 if method is None or type(method).__name__ in _OF_C else 2
    if is_the_users(method.__code__, method.__globals__):
        return 2 if may_store(method.__code__) else 1
    # Classes that rules put in the place of C's ask what they hold.
    return 2 if method.__module__.startswith(_RULES) else 0


_RULES = ("adjoint.extensions.", "adjoint.rulekit.", "adjoint.rules.")


_OF_C = frozenset({"wrapper_descriptor", "method_descriptor", "builtin_function_or_method"})


def _is_closed(kind: type, name: str) -> bool:
    """Whether a special method looks at nothing but plain fields of objects of that class."""
    method = _method(kind, name)
    if type(method) is not FunctionType:
        return True
    code = method.__code__
    if not is_closed(code) or any(type(_method(kind, one)) is FunctionType for one in _FETCHERS):
        return False
    held = [cell.cell_contents for cell in method.__closure__ or () if _is_filled(cell)]
    for other in code.co_names:
        held.append(method.__globals__.get(other))
        static = _method(kind, other)
        if static is not None and type(static).__name__ not in _IN_SLOTS:
            held.append(static)
    return all(type(value) in _PLAIN or value in (math, cmath) for value in held)


_IN_SLOTS = ("member_descriptor", "getset_descriptor")
_FETCHERS = ("__getattr__", "__getattribute__")


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _is_plain(value: Any) -> bool:
    """Whether the fields of an object are numbers, text and the like."""
    fields = fields_of(value)
    return fields is not None and LEAVES.issuperset(map(type, fields.values()))


COMPARED = Asks("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
HASHED = Asks("__hash__", "__eq__")
INDEXED = Asks("__index__")
