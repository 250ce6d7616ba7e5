"""Products of an active array and a constant factor: a number, or an array of no larger shape."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from numpy import array, ndarray, where

from adjoint.cotangents.finiteness import finite
from adjoint.primal.exposed_arrays import note_made
from adjoint.primal.value_kinds import FLOAT64
from adjoint.runtime.dispatch.checked_pullback import finished_cotangent
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.operators.binary import HUGE, REALS


def is_plain(memory: Memory, a: Any) -> bool:
    """Return whether an array has doubles, an axis, and its cotangent by value."""
    return (
        (a.dtype is FLOAT64 or a.dtype == FLOAT64)
        and a.ndim
        and not (memory.written and memory.is_written(a))
    )


def only(bar: Any) -> tuple[Any, ...]:
    return None, bar


def left(bar: Any) -> tuple[Any, ...]:
    return None, bar, None


def right(bar: Any) -> tuple[Any, ...]:
    return None, None, bar


def scaled_back(
    memory: Memory, y: Any, factor: Any, placed: Callable[[Any], tuple[Any, ...]]
) -> Callable[[Any], tuple[Any, ...]]:
    """Return the pullback of an array times a finite number."""
    # NumPy is twice as fast with an array of no dimension as with a Python number.
    return partial(
        _times_number_back,
        memory,
        note_made(memory, y),
        array(factor, float),
        placed,
    )


def _times_number_back(
    memory: Memory, result: Any, factor: Any, placed: Any, y_bar: Any
) -> tuple[Any, ...]:
    if type(y_bar) is not ndarray or memory.buffers:
        y_bar = finished_cotangent(memory, result, y_bar)
        if type(y_bar) is not ndarray:
            return placed(y_bar)  # type: ignore[no-any-return]
    return placed(y_bar * factor)  # type: ignore[no-any-return]


def times(
    record: list[Any], slot: int, a: Any, b: Any, placed: Callable[[Any], tuple[Any, ...]]
) -> Any:
    """Multiply an active array by a number, or by an array that does not broadcast it; return
    ``None`` for other operands."""
    memory: Memory = record[0]
    if type(b) in REALS:
        if not -HUGE < b < HUGE or not is_plain(memory, a):
            return None
        y = a * b
        record[slot] = scaled_back(memory, y, b, placed)
        return y
    if type(b) is not ndarray or not is_plain(memory, a) or not is_plain(memory, b):
        return None
    y = a * b
    if y.shape != a.shape:
        return None
    record[slot] = partial(_times_array_back, memory, note_made(memory, y), b, placed)
    return y


def _times_array_back(
    memory: Memory, result: Any, b: Any, placed: Any, y_bar: Any
) -> tuple[Any, ...]:
    if type(y_bar) is not ndarray or memory.buffers:
        y_bar = finished_cotangent(memory, result, y_bar)
        if type(y_bar) is not ndarray:
            return placed(y_bar)  # type: ignore[no-any-return]
    bar = y_bar * b
    if memory.careful and not finite(bar):
        bar = where(y_bar == 0, 0.0, bar)
    return placed(bar)  # type: ignore[no-any-return]
