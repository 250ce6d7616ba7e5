"""Deposit: plain cotangents, as users and rules see them, to shadows.

`adjoint.runtime.memory.collect` is the inverse. Numbers and unwritten arrays carry their cotangent
by value: `deposit` returns it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from types import BuiltinMethodType, FunctionType, MappingProxyType, MethodType, MethodWrapperType
from typing import Any

import numpy as np

from adjoint.cotangents.accumulate import finish
from adjoint.cotangents.form import fitted_cotangent, form_of
from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.public_function import plain_function
from adjoint.errors import CotangentError
from adjoint.primal.array_memory import root_of
from adjoint.primal.container_contents import elements_of, size_of
from adjoint.primal.object_array_places import elements_in
from adjoint.primal.value_kinds import (
    ATOMS,
    by_value,
    fields_of,
    is_objects,
    mapping_behind,
    slots_of,
)
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.poisoning import poison
from adjoint.tangent import Tangent


def deposit(memory: Memory, value: Any, bar: Any) -> Any:
    """Add a plain cotangent of `value` to the shadows of its parts; return the part by value."""
    if bar is None:
        return None
    if by_value(value):
        if isinstance(value, np.ndarray) and memory.written and memory.is_written(value):
            memory.add_array(value, finish(bar))
            return None
        if type(bar) is Poison:
            return bar
        if type(bar) is float and (type(value) is float or type(value) is np.float64):
            return bar
        return fitted_cotangent(form_of(value), bar)
    if type(bar) is Poison:
        poison(memory, value, bar)
    elif isinstance(value, list | tuple | deque):
        _deposit_items(memory, value, bar)
    elif isinstance(value, Mapping) and isinstance(value, dict):
        _deposit_entries(memory, value, bar)
    elif is_objects(value):
        _deposit_objects(memory, value, bar)
    elif (
        isinstance(value, MethodType | BuiltinMethodType | MethodWrapperType)
        and value.__self__ is not None
    ):
        return deposit(memory, value.__self__, bar)
    elif type(value) is MappingProxyType:
        return deposit(memory, mapping_behind(value), bar)
    elif type(value) is FunctionType:
        _deposit_cells(memory, value, bar)
    elif (plain := plain_function(value)) is not None:
        _deposit_cells(memory, plain, bar)
    elif isinstance(bar, Mapping):
        _deposit_fields(memory, value, bar)
    elif type(value) not in ATOMS:
        raise CotangentError(
            f"a cotangent of type {type(bar).__name__!r} does not fit a {type(value).__name__!r}",
            hint="give a Tangent or a dict by field name",
        )
    return None


def _deposit_items(memory: Memory, value: Any, bar: Any) -> None:
    if isinstance(bar, Tangent) and hasattr(value, "_fields"):
        bar = [bar[name] for name in value._fields]
    if isinstance(bar, np.ndarray) and bar.ndim:
        bar = list(bar)
    if not isinstance(bar, list | tuple | deque) or len(bar) != size_of(value):
        found = f"of {len(bar)}" if hasattr(bar, "__len__") else type(bar).__name__
        raise CotangentError(
            f"the cotangent of a {type(value).__name__} of {size_of(value)} elements has to be"
            f" one too, not {found}",
            hint="give one with a cotangent for each element, None for those that have none",
        )
    for i, (item, item_bar) in enumerate(zip(elements_of(value), bar, strict=True)):
        memory.add_item(value, i, deposit(memory, item, item_bar))


def _deposit_entries(memory: Memory, value: dict[Any, Any], bar: Any) -> None:
    if not isinstance(bar, Mapping):
        raise CotangentError(
            f"the cotangent of a dict has to be a dict, not {type(bar).__name__!r}",
            hint="give a dict with the keys of the result; None, or no entry, where there is none",
        )
    unknown = [key for key in bar if not dict.__contains__(value, key)]
    if unknown:
        raise CotangentError(
            f"the cotangent of a dict has a key that the dict has not: {unknown[0]!r}",
            hint="leave the key out",
        )
    for key, part in bar.items():
        bar_of = deposit(memory, dict.__getitem__(value, key), part)
        memory.add_entry(value, memory.shadow_key(value, key), bar_of)


def _deposit_objects(memory: Memory, value: Any, bar: Any) -> None:
    bars = np.ndarray.view(bar, np.ndarray) if isinstance(bar, np.ndarray) else None
    if bars is None or bars.shape != value.shape:
        raise CotangentError(
            f"the cotangent of an array of objects of shape {value.shape} has to be an array of"
            " that shape",
            hint="give an array of objects with a cotangent for each element, None for those that"
            " have none",
        )
    for (place, item), part in zip(elements_in(value), bars.flat, strict=True):
        memory.add_entry(root_of(value), place, deposit(memory, item, part))


def _deposit_cells(memory: Memory, value: FunctionType, bar: Any) -> None:
    cells = dict(zip(value.__code__.co_freevars, value.__closure__ or (), strict=True))
    for name, part in dict(bar).items():
        memory.add_entry(cells[name], None, deposit(memory, cells[name].cell_contents, part))


def _deposit_fields(memory: Memory, value: Any, bar: Mapping[str, Any]) -> None:
    fields, slots = fields_of(value), slots_of(type(value))
    if isinstance(value, Tangent):
        fields = value._fields
    for name, part in bar.items():
        if part is None:
            continue
        if fields is not None and name in fields:
            memory.add_entry(fields, name, deposit(memory, fields[name], part))
        elif name in slots:
            memory.add_entry(value, name, deposit(memory, slots[name].__get__(value), part))
        else:
            raise CotangentError(
                f"the cotangent of a {type(value).__name__} has a field that it has not: {name!r}",
                hint="leave the field out",
            )
