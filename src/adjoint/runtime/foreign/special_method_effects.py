"""Effects of functions whose bytecode tells all: most ``__hash__`` and ``__eq__`` methods only
read, call other functions and cache results in their object."""

from __future__ import annotations

import builtins
import cmath
import functools
import math
from types import FrameType, FunctionType, MemberDescriptorType, WrapperDescriptorType
from typing import Any

import numpy as np

from adjoint.primal.code_owner import is_the_users
from adjoint.primal.special_methods import class_attribute
from adjoint.primal.value_kinds import fields_of, is_record
from adjoint.runtime.foreign.code_facts import CACHED_PROPERTY, READING, SUPER, Path, effects_of


def stored_by(frame: FrameType) -> tuple[Any, frozenset[str]] | None:
    """Return an operand of the function in `frame` and the attributes that it stores there;
    ``None`` if it may store anything else. Functions that it calls are entered themselves."""
    code, local = frame.f_code, frame.f_locals
    if code is CACHED_PROPERTY:
        return local.get("instance"), frozenset((local["self"].attrname,))
    effects = effects_of(code)
    if effects is None:
        return None
    space = frame.f_globals
    if not effects.builtins.isdisjoint(space):
        return None
    if not all(name in space and _is_entered(space[name]) for name in effects.functions):
        return None
    for name, asked in effects.modules:
        owner = space.get(name, getattr(builtins, name, None))
        if isinstance(owner, type):
            if not (_is_users(class_attribute(owner, asked)) or owner in _KNOWN):
                return None
            if owner in _KNOWN and asked not in READING:
                return None
        elif not any(owner is module for module in (math, cmath)):
            return None
    for path, method in effects.methods:
        if path[0] not in local:
            return None
        if path[1:] == SUPER:
            if not _is_known_behind(type(local[path[0]]), method):
                return None
        elif not _is_known(_at(local, path), method):
            return None
    owner = local.get(code.co_varnames[0]) if effects.stored else None
    if effects.stored and (not is_record(owner) or issubclass(type(owner), _MORE_THAN_FIELDS)):
        return None
    return owner, effects.stored


_MORE_THAN_FIELDS = (BaseException, np.ndarray, type)


def may_store(frame: FrameType) -> bool:
    """Return whether a function may itself store what another returns to it."""
    return stored_by(frame) is None


# ---- callees -------------------------------------------------------------------------------------


def _is_users(f: Any) -> bool:
    f = f.__func__ if type(f) in (staticmethod, classmethod) else f
    f = f.__wrapped__ if type(f) is functools._lru_cache_wrapper else f
    return type(f) is FunctionType and is_the_users(f.__code__, f.__globals__)


def _is_entered(value: Any) -> bool:
    """Return whether calling `value` only enters user functions."""
    if not isinstance(value, type):
        return _is_users(value)
    call = class_attribute(type(value), "__call__")
    if _is_users(call):
        return True
    made = class_attribute(value, "__new__"), class_attribute(value, "__init__")
    return call is type.__dict__["__call__"] and all(
        _is_users(f) or f is _NEW or f is _INIT or (_is_error(value) and type(f) in _OF_C)
        for f in made
    )


_NEW, _INIT = object.__new__, object.__dict__["__init__"]
_OF_C = (type(_NEW), type(_INIT))


def _is_error(kind: type) -> bool:
    return issubclass(kind, BaseException)


def _at(local: dict[str, Any], path: Path) -> Any:
    """Return the value at a path; ``Ellipsis`` where it is no field of a plain object."""
    owner = local[path[0]]
    if len(path) == 1:
        return owner
    kind, name = type(owner), path[1]
    if not is_record(owner) or not _is_plainly_read(kind):
        return ...
    static = class_attribute(kind, name)
    if type(static) is MemberDescriptorType:
        try:
            return static.__get__(owner)
        except AttributeError:
            return ...
    fields = fields_of(owner) or {}
    return fields.get(name, ...) if not hasattr(type(static), "__set__") else ...


def _is_plainly_read(kind: type) -> bool:
    return type(class_attribute(kind, "__getattribute__")) is WrapperDescriptorType


def _is_known(owner: Any, name: str) -> bool:
    """Return whether a method or subscript of `owner` enters a user function or stores nothing."""
    kind = type(owner)
    if kind in _KNOWN:
        return name in READING
    if owner is ... or not _is_plainly_read(kind) or name in (fields_of(owner) or ()):
        return False
    static = class_attribute(kind, name)
    if _is_users(static):
        return True
    if name == "__getitem__" and not _is_found_by_python(kind):
        return False
    return name in READING and any(
        static is vars(base).get(name) for base in _KNOWN & {*kind.__mro__}
    )


def _is_known_behind(kind: type, name: str) -> bool:
    """Return whether every method that ``super()`` may give is a user function, or only reads."""
    found = [vars(base)[name] for base in kind.__mro__ if name in vars(base)]
    found = [f for f in found if f is not None]
    if not all(_is_users(f) or type(f) is WrapperDescriptorType for f in found):
        return False
    return all(map(_is_users, found)) or name in READING


def _is_found_by_python(kind: type) -> bool:
    """Return whether only user functions can fill in missing keys of a dict class."""
    missing = class_attribute(kind, "__missing__")
    return missing is None or _is_users(missing)


_KNOWN = frozenset(
    {str, bytes, tuple, list, dict, frozenset, int, float, complex, bool, np.ndarray}
) | frozenset({np.float64, np.float32, np.int64, np.bool_})
