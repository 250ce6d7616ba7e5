"""Lanes of ``@`` for matrices and vectors of doubles, one of which is constant."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import numpy as np
from numpy import ndarray

from adjoint.cotangents.finiteness import finite
from adjoint.cotangents.structural_zeros import pulled
from adjoint.primal.exposed_arrays import note_made
from adjoint.rulekit.matmul import left_bar, left_bars, right_bar, right_bars
from adjoint.runtime.dispatch.checked_pullback import finished_cotangent
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.operators.array_factors import is_plain
from adjoint.runtime.operators.binary import binary


def matmul_left(record: list[Any], slot: int, a: Any, b: Any) -> Any:
    """``a @ b`` with a constant `b`."""
    memory: Memory = record[0]
    if not _are_plain(memory, a, b):
        return binary(record, slot, operator.matmul, a, b, 0)
    y = a @ b
    record[slot] = partial(_left_back, memory, note_made(memory, y), left_bars[b.ndim], b, a.ndim)
    return y


def _left_back(
    memory: Memory, result: Any, to_left: Any, b: Any, rank: int, y_bar: Any
) -> tuple[Any, ...]:
    if type(y_bar) is not ndarray or memory.buffers:
        y_bar = finished_cotangent(memory, result, y_bar)
        if type(y_bar) is not ndarray:
            return None, y_bar, None
    a_bar = to_left(y_bar, b, rank)
    if memory.careful and not finite(a_bar):
        a_bar = pulled(lambda bar: (left_bar(bar, np.empty((0,) * rank), b),), y_bar)[0]
    return None, a_bar, None


def matmul_right(record: list[Any], slot: int, a: Any, b: Any) -> Any:
    """``a @ b`` with a constant `a`."""
    memory: Memory = record[0]
    if not _are_plain(memory, a, b):
        return binary(record, slot, operator.matmul, a, b, 1)
    y = a @ b
    record[slot] = partial(_right_back, memory, note_made(memory, y), right_bars[a.ndim], a, b.ndim)
    return y


def _right_back(
    memory: Memory, result: Any, to_right: Any, a: Any, rank: int, y_bar: Any
) -> tuple[Any, ...]:
    if type(y_bar) is not ndarray or memory.buffers:
        y_bar = finished_cotangent(memory, result, y_bar)
        if type(y_bar) is not ndarray:
            return None, None, y_bar
    b_bar = to_right(y_bar, a, rank)
    if memory.careful and not finite(b_bar):
        b_bar = pulled(lambda bar: (right_bar(bar, a, np.empty((0,) * rank)),), y_bar)[0]
    return None, None, b_bar


def _are_plain(memory: Memory, a: Any, b: Any) -> bool:
    """Return whether the operands are two matrices, or a matrix and a vector, of doubles, with
    cotangents by value."""
    return (
        type(a) is ndarray
        and type(b) is ndarray
        and 2 < a.ndim + b.ndim < 5
        and a.ndim < 3
        and b.ndim < 3
        and not memory.globals_written
        and is_plain(memory, a)
        and is_plain(memory, b)
    )
