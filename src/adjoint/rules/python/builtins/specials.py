"""``len``, ``str``, ``hash`` and other builtins that call special methods defined in Python.

Their results carry no derivative, but their writes to objects may.
"""

from __future__ import annotations

import math
import operator
import os
from collections import OrderedDict, deque
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.primal.special_methods import class_attribute, special_of
from adjoint.primal.value_kinds import NUMBERS, by_value
from adjoint.rulekit.registry import non_differentiable, primitive
from adjoint.runtime.dispatch.call import call
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.dispatch.number_protocols import as_c_takes
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.foreign.native_call import foreign_call
from adjoint.runtime.foreign.user_code_reach import UserMethods
from adjoint.runtime.memory.active_iterator import ActiveIterator
from adjoint.runtime.operators.constant_methods import refuse_stored
from adjoint.runtime.python.builtin_iterators import COUNTING
from adjoint.transform.activity import RESULT_INACTIVE_BUILTINS

SPECIALS: dict[Any, tuple[str, ...]] = {
    len: ("__len__",),
    str: ("__str__", "__repr__"),
    repr: ("__repr__",),
    hash: ("__hash__",),
    int: ("__int__", "__index__", "__trunc__"),
    format: ("__format__", "__str__", "__repr__"),
    bool: ("__bool__", "__len__"),
    bytes: ("__bytes__",),
    dir: ("__dir__",),
    math.ceil: ("__ceil__",),
    math.floor: ("__floor__",),
    math.trunc: ("__trunc__",),
    operator.index: ("__index__",),
    operator.length_hint: ("__len__", "__length_hint__"),
    os.fspath: ("__fspath__",),
}


_MAPPINGS: tuple[dict[Any, Any], ...] = ({}, OrderedDict())
_VIEWS = [type(getattr(d, which)()) for d in _MAPPINGS for which in ("keys", "values", "items")]
_COUNTED = (str, bytes, list, tuple, dict, set, frozenset, deque, OrderedDict, np.ndarray, *_VIEWS)
COUNTED = {getattr(kind, "__len__") for kind in _COUNTED}  # noqa: B009  unknown to mypy
"""``__len__`` of types for which it runs no user code and takes constant time."""


def _by_special(f: Any, names: tuple[str, ...]) -> Any:
    def run(record: list[Any], slot: int, /, *args: Any, **options: Any) -> Any:
        if not args or options:
            return NotImplemented
        kind = type(args[0])
        if issubclass(kind, COUNTING):
            return f(*args)
        for name in names:
            special = special_of(kind, name)
            if type(special) is FunctionType:
                rest = args[1:] if name == "__format__" else ()
                if name == "__format__" and not rest:
                    rest = ("",)
                return _call_special(record, slot, f, name, special, (args[0], *rest), args)
            if special is not None and special is not class_attribute(object, name):
                if special in COUNTED:
                    return f(args[0])
                break  # implemented in C
        return NotImplemented

    return run


def _call_special(
    record: list[Any],
    slot: int,
    f: Any,
    name: str,
    special: Any,
    operands: tuple[Any, ...],
    args: tuple[Any, ...],
) -> Any:
    """Call the special method `name`; convert its result as ``f(*args)`` does."""
    inner: list[Any] = [record[0], None]
    nothing = (None,) * len(args)

    def special_back(y_bar: Any) -> tuple[Any, ...]:
        if inner[1] is None:
            return None, *nothing
        _, own, *_ = inner[1](y_bar if f in _UNCHANGED else None)
        return None, own, *nothing[1:]

    record[slot] = special_back
    result = call(inner, 1, special, *operands)
    if f in RESULT_INACTIVE_BUILTINS:
        refuse_stored(inner, 1, args[0], name)
    if type(result) is _RETURNED.get(f) and (type(result) is not int or 0 <= result < _SMALL):
        if f is not format or name == "__format__":
            return result
    return result if f in _UNCHANGED else as_c_takes(f, name, args, result)


_RETURNED: dict[Any, type] = {
    **dict.fromkeys((len, hash, int, operator.index, operator.length_hint), int),
    **dict.fromkeys((str, repr, format, os.fspath), str),
    bool: bool,
    bytes: bytes,
}
"""Types of results that C takes unchanged."""
_SMALL = 1 << 60
_UNCHANGED = (math.ceil, math.floor, math.trunc)
"""Functions that return the result of the method unchanged."""


non_differentiable(special_of)  # its result is called
for _f, _names in SPECIALS.items():
    primitive(_f)(_by_special(_f, _names))


# ---- questions about classes ---------------------------------------------------------------------


def _by_metaclass(f: Callable[..., bool], name: str) -> None:
    asks = UserMethods(name)

    def run(record: list[Any], slot: int, /, *args: Any) -> Any:
        if len(args) != 2:
            return f(*args)  # Python's own message
        value, cls = args
        if asks.of(type(cls)):
            special = class_attribute(type(cls), name)
            if type(special) is FunctionType:
                y = linked(record, slot, _exchanged, call, special, cls, value)
            else:  # pandas has class methods there
                bound = special.__get__(cls, type(cls))
                y = linked(record, slot, _and_none, call, bound, value)
            return bool(y)
        kinds = cls if type(cls) is tuple else (cls,)
        if any(type(kind) is not type for kind in kinds) or _computes_class(type(value)):
            return foreign_call(
                record, slot, f, args, {}
            )  # abstract classes and unions may call user code
        return f(*args)

    primitive(f)(run)


def _exchanged(bars: tuple[Any, ...]) -> tuple[Any, ...]:
    return None, bars[2], None


def _and_none(bars: tuple[Any, ...]) -> tuple[Any, ...]:
    return (*bars, None)


def _computes_class(kind: type) -> bool:
    """Return whether a class computes ``__class__`` in user code."""
    own = class_attribute(kind, "__class__")
    return type(own) is property and not issubclass(kind, ActiveIterator)


_by_metaclass(isinstance, "__instancecheck__")
_by_metaclass(issubclass, "__subclasscheck__")


# ---- calls that run no user code -----------------------------------------------------------------


def _runs_no_user_code(key: Any) -> None:
    f = getattr(*key) if isinstance(key, tuple) else key

    def run(record: list[Any], slot: int, /, *args: Any, **options: Any) -> Any:
        return f(*args, **options)

    primitive(key)(run)


for _kind in _COUNTED:
    _runs_no_user_code((_kind, "__len__"))
for _mapping in _MAPPINGS:
    for _name in ("keys", "values", "items"):
        _runs_no_user_code((type(_mapping), _name))
for _f in (callable, id, globals, locals, property, staticmethod, classmethod, vars):
    _runs_no_user_code(_f)


@primitive(super)
def _(record: list[Any], slot: int, /, *args: Any) -> Any:
    """Make a ``super`` object; methods deposit the cotangent of a by-value `self` in its shadow."""
    y, memory = super(*args), record[0]
    if len(args) == 2 and by_value(args[1]):
        record[slot] = lambda _: (None, None, memory.take_entry(y, "self"))
    return y


# ---- whether there is an attribute ---------------------------------------------------------------


@primitive(hasattr)
def _(record: list[Any], slot: int, obj: Any, name: Any) -> Any:
    kind = type(obj)
    if kind is np.ndarray or kind in NUMBERS:
        return hasattr(obj, name)
    static = class_attribute(kind, name)
    if type(kind.__getattribute__) is not FunctionType:
        if static is None and type(special_of(kind, "__getattr__")) is not FunctionType:
            return hasattr(obj, name)
        if type(static) is FunctionType:
            return True
    return call_function(record, slot, _has, (obj, name), {})


def _has(obj: Any, name: Any) -> bool:
    try:
        getattr(obj, name)
    except AttributeError:
        return False
    return True


# ---- where ``super().__init__`` ends -------------------------------------------------------------


@primitive((object, "__init__"))
def _(record: list[Any], slot: int, obj: Any, /, *args: Any, **kwargs: Any) -> None:
    _init(obj, *args, **kwargs)


_init: Any = object.__dict__["__init__"]
