"""Reading parts of arrays."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import numpy as np
from numpy import float64

from adjoint.cotangents.accumulate import Scattered, finish
from adjoint.cotangents.poison import Poison
from adjoint.primal.array_classes import is_subclassed
from adjoint.primal.array_memory import is_integer_field, root_of
from adjoint.primal.object_array_places import is_container
from adjoint.rulekit.projection import projector
from adjoint.runtime.arrays.object_elements import read_objects
from adjoint.runtime.dispatch.checked_pullback import finished_cotangent, result_of
from adjoint.runtime.dispatch.number_protocols import by_index, has_index
from adjoint.runtime.foreign.unknown_call import run_unknown
from adjoint.runtime.memory.array_shadow import add_to_shadow
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.subclass_attributes import link_attributes

ndarray = np.ndarray
_FLOAT64 = np.dtype(float)
FEW = 16
"""The largest size for which a dense cotangent is as cheap as a `Scattered` one."""


def read_array(record: list[Any], slot: int, x: np.ndarray[Any, Any], index: Any) -> Any:
    """``x[index]``"""
    memory: Memory = record[0]
    kind = type(index)
    if kind is not int and (kind is not slice or memory.has_index_objects) and has_index(index):
        return by_index(record, slot, read_array, (x, index))
    if memory.level is not None:
        y = memory.level.read(x, index)
        if x.dtype.kind in "OV":
            memory.level.hide_row(x, index, y)
        if type(y) is not ndarray and isinstance(y, ndarray):
            link_attributes(record, slot, y, (x,))
        return y
    if type(x) is not ndarray:
        return _read_subclass(record, slot, x, index)
    y = x[index]
    if not memory.written:
        if kind is int and type(y) is float64 and x.dtype.char != "O":
            shape = x.shape
            place = index if index >= 0 else index + shape[0]
            record[slot] = partial(element_back, shape, place)
            return y
        if kind is slice and (x.dtype is _FLOAT64 or x.dtype == _FLOAT64):
            record[slot] = partial(_slice_back, x.shape, index, x.size <= FEW)
            return y
    return _read_part(record, slot, x, index, y)


def element_back(shape: tuple[int, ...], index: int, y_bar: Any) -> tuple[Any, ...]:
    if type(y_bar) is Poison:
        y_bar = Poison.of_part(y_bar)
    if y_bar is None or type(y_bar) is Poison:
        return None, y_bar, None
    return None, Scattered(shape, _FLOAT64, index, y_bar, 1), None


def _slice_back(shape: tuple[int, ...], index: slice, few: bool, y_bar: Any) -> tuple[Any, ...]:
    if type(y_bar) is not ndarray:
        y_bar = finish(y_bar)
        if type(y_bar) is Poison:
            y_bar = Poison.of_part(y_bar, np.empty(shape, bool)[index].shape)
        if type(y_bar) is not ndarray:
            return None, y_bar, None
    if few:
        x_bar = np.zeros(shape)
        x_bar[index] = y_bar
        return None, x_bar, None
    return None, Scattered(shape, _FLOAT64, index, y_bar, y_bar.size), None


def _read_part(record: list[Any], slot: int, x: np.ndarray[Any, Any], index: Any, y: Any) -> Any:
    """Record ``y = x[index]`` of any array, with any index."""
    memory: Memory = record[0]
    if x.dtype.kind in "iub" and is_integer_field(x, root_of(x)):
        return y
    if x.dtype.kind not in "fciub":  # integers count as reals
        if x.dtype.kind == "V" and type(index) is str and is_integer_field(y, root_of(x)):
            return y
        if is_container(x):
            return read_objects(record, slot, x, index, y)
        if x.dtype.kind in "OV":
            why = f"reads an array of {'objects' if x.dtype.kind == 'O' else 'records'}"
            return run_unknown(memory, record, slot, operator.getitem, (x, index), {}, why)
        return y
    # A copied part owns its memory; a view aliases `x`.
    fresh = isinstance(y, ndarray) and root_of(y) is not root_of(x)
    result = result_of(memory, y) if fresh else _of_another
    index, part = copied_index(index), np.shape(y)
    if memory.written and memory.is_written(x):
        to_part = projector(y)

        def read_back(y_bar: Any) -> tuple[Any, ...]:
            y_bar = Poison.of_part(finished_cotangent(memory, result, y_bar), part)
            if type(y_bar) is Poison:
                memory.add_array(x, y_bar)
            elif y_bar is not None:
                add_to_shadow(memory.array_shadow(x), index, to_part(y_bar))
            return None, None, None
    else:
        shape = x.shape
        dtype = x.dtype if x.dtype.kind in "fc" else _FLOAT64

        def read_back(y_bar: Any) -> tuple[Any, ...]:
            y_bar = Poison.of_part(finished_cotangent(memory, result, y_bar), part)
            if y_bar is None or type(y_bar) is Poison:
                return None, y_bar, None
            # The index is used later, when writes to it may have been rewound.
            place = index if memory.is_untouched() else _copied(index)
            return None, Scattered(shape, dtype, place, y_bar, np.size(y_bar)), None

    record[slot] = read_back
    return y


def _read_subclass(record: list[Any], slot: int, x: np.ndarray[Any, Any], index: Any) -> Any:
    """Run ``ndarray.__getitem__(x, index)`` of an array of a subclass."""
    y = ndarray.__getitem__(x, index)
    found = read_array(record, slot, ndarray.view(x, ndarray), index)
    if not is_subclassed(y):
        return found
    back, memory = record[slot], record[0]
    result = _of_another if root_of(y) is root_of(x) else result_of(memory, y)
    if x.dtype.kind in "fciub":
        record[slot] = lambda y_bar: back(finished_cotangent(memory, result, y_bar))
    link_attributes(record, slot, y, (x,))
    return y


def _of_another() -> None:
    """Return ``None``: a result that aliases the operand has no shadow of its own."""


def copied_index(index: Any) -> Any:
    """Copy mutable parts of an index for the sweep, except arrays, which are rewound."""
    if type(index) is int or type(index) is slice or isinstance(index, ndarray):
        return index
    if type(index) is tuple:
        return tuple(copied_index(i) for i in index)
    if isinstance(index, list):
        return np.array(index) if index else np.zeros(0, int)
    if hasattr(type(index), "__array__") and not isinstance(index, np.generic):
        return np.array(index)  # for example a series of pandas
    return index


def _copied(index: Any) -> Any:
    if type(index) is tuple:
        return tuple(map(_copied, index))
    return index.copy() if isinstance(index, ndarray) else index
