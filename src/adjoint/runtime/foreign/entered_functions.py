"""Whether a function that is entered may store something itself.

The user code that it calls is entered, too, and has its own answer then.
"""

from __future__ import annotations

import builtins
import functools
from types import BuiltinMethodType, FrameType, FunctionType, ModuleType, WrapperDescriptorType
from typing import Any

from adjoint.primal.code_owner import is_user_code
from adjoint.primal.packages import is_of_a_library
from adjoint.primal.special_methods import class_attribute
from adjoint.primal.value_kinds import by_value, fields_of, filled_slots
from adjoint.runtime.foreign.may_store import (
    CACHED_PROPERTY,
    INITIALISERS,
    READING,
    calls_of,
)


def stores_itself(frame: FrameType) -> bool:
    """Return whether the function in `frame` may store something, other than by the user code that
    it calls."""
    if frame.f_code is CACHED_PROPERTY:  # it stores the result of a function
        made_by = getattr(frame.f_locals.get("self"), "func", None)
        return not is_of_a_library(getattr(made_by, "__module__", None))
    calls = calls_of(frame.f_code)
    if calls.stores or (calls.fills and not _is_new(frame)):
        return True
    return _calls_unknown(frame, calls.functions, calls.methods)


def _is_new(frame: FrameType) -> bool:
    """Return whether the function in `frame` initialises an object that has no fields yet, or
    does so for another initialiser of it."""
    made, caller = _first_argument(frame), frame.f_back
    if caller is not None and caller.f_code.co_name in INITIALISERS:
        if _first_argument(caller) is made:
            return True
    kind = type(made)
    others = [vars(base).get("__init__") for base in kind.__mro__]
    if not all(type(f) is not FunctionType or _is_function(f) for f in others):
        return False  # libraries may register the object
    if type(class_attribute(kind, "__new__")) is not BuiltinMethodType or fields_of(made):
        return False
    return isinstance(made, BaseException) or not filled_slots(made)


def _first_argument(frame: FrameType) -> Any:
    return frame.f_locals.get((*frame.f_code.co_varnames, "")[0])


def _calls_unknown(frame: FrameType, functions: frozenset[str], methods: frozenset[str]) -> bool:
    """Return whether one of these names may not be user code."""
    code, local, namespace = frame.f_code, frame.f_locals, frame.f_globals
    spaces = (local, namespace, vars(builtins))
    found = [[space[name] for space in spaces if name in space][:1] for name in functions]
    if not all(values and _is_entered(values[0]) for values in found):
        return True
    if not methods:
        return False
    named = [namespace.get(name) for name in code.co_names]
    owners = [owner for owner in (*local.values(), *named) if owner is not None]
    owners += [part for owner in owners for part in (fields_of(owner) or {}).values()]
    return not all(_is_a_method(name, owners) for name in methods)


def _is_a_method(name: str, owners: list[Any]) -> bool:
    """Return whether an owner has the attribute `name` and all values of it are user code, readers
    or numbers."""
    found = []
    for owner in owners:
        f = class_attribute(owner if isinstance(owner, type) else type(owner), name)
        found += [f] if f is not None else []
        space = vars(owner) if isinstance(owner, ModuleType) else fields_of(owner) or {}
        if type(space) is dict and name in space:
            found.append(space[name])
    return bool(found) and all(name in READING or by_value(f) or _is_entered(f) for f in found)


def _is_entered(f: Any) -> bool:
    """Return whether a call of `f` enters user code and does nothing else."""
    f = f.__func__ if type(f) in (staticmethod, classmethod) else f
    f = f.__wrapped__ if type(f) is functools._lru_cache_wrapper else f
    if type(f) is FunctionType:
        return _is_function(f)
    if f == tuple.__new__:  # the constructor of named tuples
        return True
    if not isinstance(f, type):
        return _is_function(class_attribute(type(f), "__call__"))
    made = class_attribute(f, "__new__"), class_attribute(f, "__init__")
    return class_attribute(type(f), "__call__") is type.__dict__["__call__"] and all(
        _is_function(g)
        or g is object.__new__
        or g is object.__dict__["__init__"]
        or (type(g) in _OF_C and issubclass(f, BaseException))
        for g in made
    )


_OF_C = (BuiltinMethodType, WrapperDescriptorType)


def _is_function(f: Any) -> bool:
    if type(f) is not FunctionType or not is_user_code(f.__code__, f.__globals__):
        return False
    return not is_of_a_library(
        f.__globals__.get("__name__")
    )  # libraries write into their operands in C
