"""Poison in the shadows of all parts of a value, and tests for cotangents in shadows."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Sequence
from types import (
    BuiltinMethodType,
    CellType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any

import numpy as np

from adjoint.cotangents.finiteness import doubt
from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.no_derivative import looked_at
from adjoint.primal.array_memory import root_of
from adjoint.primal.engine_object import EngineObject
from adjoint.primal.exposed_arrays import looks_elsewhere, written_before
from adjoint.primal.packages import INERT, package
from adjoint.primal.reachability import (
    CONTAINERS,
    globals_of,
    holds_nothing,
    keys_of,
    parts_of,
    reached,
)
from adjoint.primal.value_kinds import ATOMS, by_value, is_objects, is_partly_c, is_plain_object
from adjoint.runtime.memory.active_iterator import ActiveIterator as ActiveIterator
from adjoint.runtime.memory.memory import Memory


def may_store_arguments(value: Any) -> bool:
    """Return whether an object of C may store its arguments out of reach, like a queue."""
    return not by_value(value) and type(value) not in _IMMUTABLE and is_opaque(value)


_IMMUTABLE = ATOMS | {bytes, np.dtype}


_OPAQUE = "opaque"
"""Key in the shadows: an object of C is poisoned."""


def parts_have_cotangent(memory: Memory, values: Sequence[Any], known: Container[int]) -> bool:
    """Return whether parts of `values` whose identity is not `known` have a cotangent."""
    return any(id(owner) not in known and has_cotangent(memory, owner) for owner in reached(values))


def has_cotangent(memory: Memory, owner: Any) -> bool:
    """Return whether memory holds a cotangent of an array, or of a part of an object."""
    if is_objects(owner):
        owner = root_of(owner)
    elif issubclass(type(owner), np.ndarray):
        return bool(
            memory.is_written(owner)
            and id(root_of(owner)) in memory.buffers
            and _any(memory.array_shadow(owner))
        )
    for place in (id(owner), ("keys", id(owner))):
        shadow = memory.shadows.get(place)
        parts = shadow.values() if isinstance(shadow, dict) else shadow or ()
        if any(part is not None for part in parts):
            return True
    return False


def _any(bar: np.ndarray[Any, Any]) -> bool:
    """Return whether a cotangent has a non-zero element."""
    if bar.dtype.names:
        return any(bar.tobytes())
    doubt(bar)
    return bool(bar.any())


def poison(memory: Memory, value: Any, bar: Poison) -> None:
    """Poison all active parts of `value`, through containers, objects and closures."""
    seen: set[int] = set()
    stack = [value]
    looking: Any = None
    while stack:
        owner = stack.pop()
        if id(owner) in seen:
            continue
        seen.add(id(owner))
        if isinstance(owner, ActiveIterator):
            stack += owner.poison(bar, poison)
            continue
        if issubclass(type(owner), np.ndarray) and not is_objects(owner):
            if memory.is_written(owner):
                memory.add_array(owner, bar)
            continue
        if is_opaque(owner) and looks_elsewhere(owner):
            looking = owner
        if is_opaque(owner) or (
            (owner is value or package(type(owner).__module__) in INERT)
            and is_plain_object(owner)
            and not isinstance(owner, CONTAINERS)
        ):
            memory.dict_shadow(owner)["*"] = bar
            memory.shadows[_OPAQUE] = True
        for key in keys_of(owner):
            if by_value(key):
                memory.add_key(owner, key, bar)
            else:
                stack.append(key)
        for key, item, shadow_owner in parts_of(owner):
            if by_value(item):
                if type(item) is bool or type(item) is int:
                    continue
                if issubclass(type(item), np.ndarray) and memory.is_written(item):
                    memory.add_array(item, bar)
                elif type(key) is int and issubclass(type(owner), list | tuple | deque):
                    memory.add_item(owner, key, bar)
                else:
                    memory.add_entry(shadow_owner, key, bar)
            elif not holds_nothing(item):
                stack.append(item)
    for array in () if looking is None else written_before(memory):
        memory.add_array(array, Poison(looked_at(looking, bar.error)))


def _poison_globals(memory: Memory, values: Sequence[Any], bar: Poison) -> None:
    """Poison the global variables that user functions held by `values` name."""
    functions: list[FunctionType] = []
    deque(reached(values, functions), maxlen=0)
    for namespace, name, value in globals_of(functions):
        if not by_value(value):
            poison(memory, value, bar)
        elif issubclass(type(value), np.ndarray) and memory.is_written(value):
            memory.add_array(value, bar)
        else:
            memory.add_entry(namespace, name, bar)


def is_opaque(owner: Any) -> bool:
    """Return whether `owner` has a part in C that Python code cannot read."""
    if is_objects(owner):
        return False
    return (not is_plain_object(owner) or is_partly_c(type(owner))) and not isinstance(
        owner, _READABLE
    )


_READABLE = (
    *(*CONTAINERS, type, slice, ModuleType, FunctionType, CellType, MethodType, EngineObject),
    *(BuiltinMethodType, MethodWrapperType, np.ufunc, np.generic),
)
"""Classes of C whose instances Python code can read, and objects of the library."""
