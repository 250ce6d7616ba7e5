"""Search for user code that foreign code may enter through its operands."""

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

from adjoint.primal.childless_types import CHILDLESS_TYPES
from adjoint.primal.code_owner import is_user_code
from adjoint.primal.container_contents import ABSENT, factory_of
from adjoint.primal.engine_object import EngineObject
from adjoint.primal.memo_by_class import ByClass
from adjoint.primal.special_methods import class_attribute
from adjoint.primal.value_kinds import content_of, fields_of, held_by_c
from adjoint.runtime.foreign.may_store import READING, is_closed, may_store
from adjoint.runtime.foreign.snapshot import contents
from adjoint.runtime.memory.active_iterator import ActiveIterator

PROXY_TYPES: list[type] = [ActiveIterator]
"""Classes of the library whose instances run user code when C calls them."""

_FEW = 256
"""The most objects searched; with more, the answer is yes."""
_LOOKED_INTO = (
    list, tuple, set, frozenset, dict, deque, functools.partial, MappingProxyType, MethodType,
    BuiltinFunctionType, MethodWrapperType, slice, OrderedDict,
)  # fmt: skip
_NOTHING = frozenset(
    {FunctionType, ModuleType, CodeType, np.dtype, staticmethod, classmethod, property}
)
_PLAIN = CHILDLESS_TYPES | {type}
"""Types whose comparison, hash and text run no Python code."""


def is_user_function(value: Any) -> bool:
    """Return whether `value` is a Python function of user code."""
    return type(value) is FunctionType and is_user_code(value.__code__, value.__globals__)


def _defines_code(kind: type) -> bool:
    for base in kind.__mro__:
        if base.__flags__ & (1 << 9):  # Py_TPFLAGS_HEAPTYPE
            for value in vars(base).values():
                if any(map(is_user_function, _functions_of(value))):
                    return True
    return False


def _functions_of(value: Any) -> tuple[Any, ...]:
    """Return the functions in a class attribute, without running any code of that attribute."""
    kind = type(value)
    if issubclass(kind, property):
        return (value.fget,)
    if issubclass(kind, (staticmethod, classmethod, MethodType)):
        return (value.__func__,)
    return value, class_attribute(kind, "__get__")


has_code: ByClass = ByClass(_defines_code)
"""Whether a class defines user code."""


def reaches(values: Iterable[Any]) -> bool:
    """Return whether operands of foreign code hold any user code."""
    for value in values:
        kind = type(value)
        if kind in CHILDLESS_TYPES or _is_numeric(value):
            continue
        if (kind is list or kind is tuple) and CHILDLESS_TYPES.issuperset(map(type, value)):
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
        if kind in CHILDLESS_TYPES or id(value) in seen:
            continue
        if len(seen) > _FEW:
            return True
        seen[id(value)] = value
        if is_user_function(value):
            return True
        if kind is FunctionType:
            queue += contents(value, kind)
        elif issubclass(kind, tuple(PROXY_TYPES)) or has_code(kind) or is_filled_by_c(value):
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
    """Return whether C stores what a function returns in a `defaultdict` for a missing key."""
    if not issubclass(type(value), defaultdict):
        return False
    factory = factory_of(value)
    return factory is not None and not (type(factory) is type and not has_code(factory))


_BOUND_IN_C = (BuiltinFunctionType, MethodWrapperType)
_STORING = frozenset({setattr, delattr, operator.setitem, operator.delitem})


def _stores(f: Any) -> bool:
    """Return whether a C function stores something in its owner or its operands."""
    owner = f.__self__
    if isinstance(owner, ModuleType):
        return f in _STORING
    return (
        type(owner) not in CHILDLESS_TYPES
        and not isinstance(owner, type)
        and f.__name__ not in READING
    )


def filled_by_c(values: Iterable[Any]) -> list[Any]:
    """Return the containers in operands of foreign code that C may fill: `defaultdict`s, owners of
    bound C methods, and every object found if a function such as `setattr` is among them."""
    found: list[Any] = []
    stores_anywhere = False
    seen: dict[int, Any] = {}
    queue = deque(values)
    while queue and len(seen) <= _FEW:
        value = queue.popleft()
        kind = type(value)
        if (
            kind in CHILDLESS_TYPES
            or id(value) in seen
            or issubclass(kind, type)
            or _is_numeric(value)
        ):
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
    """Return what an object of C, or of an inert package, holds."""
    if issubclass(kind, _LOOKED_INTO):
        return contents(value, kind)
    if issubclass(kind, np.ndarray):
        return contents(value, kind) if value.dtype.hasobject else []
    if kind is weakref.ref:
        return [value()]
    if kind in _NOTHING or issubclass(kind, np.generic | EngineObject):
        return []
    return held_by_c(value)


# ---- special methods -----------------------------------------------------------------------------


class UserMethods:
    """Tell whether some special methods of values, or of what these hold, are user code."""

    def __init__(self, *names: str) -> None:
        self.of: ByClass = ByClass(lambda kind: max(_answer(kind, name) for name in names))
        """The answer for instances of a class, without what they hold."""
        self._is_simple = ByClass(lambda kind: all(_is_closed(kind, name) for name in names))

    def __call__(self, *values: Any) -> int:
        """Return 0 if no user code runs; 1 if it cannot store anything itself; 2 for any code."""
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
            if issubclass(kind, ActiveIterator):
                return 2
            own = self.of(kind)
            if own > level and not (own == 1 and self._is_simple(kind) and _is_plain(value)):
                level = own
            if issubclass(kind, _LOOKED_INTO):
                queue += contents(value, kind)
            elif not _has_fields(kind):
                inside = _inside(value, kind)
                if kind is not FunctionType and any(map(is_user_function, inside)):
                    return 2  # an object of C that calls it
                queue += inside
        return level


def _has_fields(kind: type) -> bool:
    """Return whether instances are ordinary objects, of which C uses only special methods."""
    return bool(kind.__flags__ & (1 << 9) and kind.__dictoffset__)  # Py_TPFLAGS_HEAPTYPE


def _answer(kind: type, name: str) -> int:
    method = class_attribute(kind, name)
    if type(method) is not FunctionType:
        return 0 if method is None or type(method).__name__ in _OF_C else 2
    if is_user_code(method.__code__, method.__globals__):
        return 2 if may_store(method.__code__) else 1
    # the proxies that rules put in the place of C classes call what they hold
    return 2 if method.__module__.startswith(_RULES) else 0


_RULES = ("adjoint.extensions.", "adjoint.rulekit.", "adjoint.rules.")


_OF_C = frozenset({"wrapper_descriptor", "method_descriptor", "builtin_function_or_method"})


def _is_closed(kind: type, name: str) -> bool:
    """Return whether a special method reads only plain fields of its operands."""
    method = class_attribute(kind, name)
    if type(method) is not FunctionType:
        return True
    code = method.__code__
    if not is_closed(code) or any(
        type(class_attribute(kind, one)) is FunctionType for one in _FETCHERS
    ):
        return False
    captured = [content_of(cell, ABSENT) for cell in method.__closure__ or ()]
    held = [content for content in captured if content is not ABSENT]
    for other in code.co_names:
        held.append(method.__globals__.get(other))
        static = class_attribute(kind, other)
        if static is not None and type(static).__name__ not in _IN_SLOTS:
            held.append(static)
    return all(type(value) in _PLAIN or value in (math, cmath) for value in held)


_IN_SLOTS = ("member_descriptor", "getset_descriptor")
_FETCHERS = ("__getattr__", "__getattribute__")


def _is_plain(value: Any) -> bool:
    """Return whether the fields of an object are numbers, text and other leaves."""
    fields = fields_of(value)
    return fields is not None and CHILDLESS_TYPES.issuperset(map(type, fields.values()))


COMPARED = UserMethods("__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__")
HASHED = UserMethods("__hash__", "__eq__")
INDEXED = UserMethods("__index__")
