"""Lanes of the most common functions of NumPy on arrays of doubles.

On small arrays, most of the time of a call would go into the inspection of its operands.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import isfinite
from typing import Any

import numpy as np
from numpy import count_nonzero, float64, greater, heaviside, ndarray, where

from adjoint.cotangents.accumulate import finish
from adjoint.cotangents.finiteness import finite
from adjoint.cotangents.poison import Poison
from adjoint.primal.exposed_arrays import note_made
from adjoint.primal.value_kinds import FLOAT64, REALS
from adjoint.rulekit.elementwise_reverse import dot, is_one_or_other, parted
from adjoint.rulekit.lanes import lane
from adjoint.rulekit.partials import Partials
from adjoint.rulekit.registry import entry
from adjoint.rules.numpy import products as products
from adjoint.rules.numpy import ufuncs as ufuncs
from adjoint.rules.numpy.aggregates import (
    cumulative as cumulative,
)
from adjoint.rules.numpy.aggregates.reductions import add_reduce, spread
from adjoint.runtime.dispatch.checked_pullback import finished_cotangent
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.operators.arithmetic import alike
from adjoint.runtime.operators.array_factors import is_plain

HALF = np.array(0.5)  # twice as fast as a number
FEW = 1000
"""Number of elements up to which an array of one number is filled."""
FEWER = 32
"""Number of elements up to which fewer calls of NumPy are better than faster ones."""


# ---- functions of each element -------------------------------------------------------------------


def _unary(f: Callable[..., Any]) -> None:
    slopes: Partials = entry(f).rrules[0].function.slopes  # type: ignore[attr-defined]
    (p,), (keep_y, keep_x), quick = slopes.partials, slopes.residuals, slopes.quick
    assert callable(p)

    @lane(f, 1)
    def unary(record: list[Any], slot: int, x: Any) -> Any:
        memory: Memory = record[0]
        if type(x) is float or type(x) is float64:
            number = f(x)
            record[slot] = partial(_number_back, p, number, x)
            return number
        if type(x) is not ndarray or not is_plain(memory, x):
            return NotImplemented
        y = f(x)
        kept_y, kept_x = y if keep_y else None, x if keep_x else None
        record[slot] = partial(_unary_back, memory, note_made(memory, y), p, quick, kept_y, kept_x)
        return y


def _number_back(p: Callable[..., Any], y: Any, x: Any, y_bar: Any) -> tuple[Any, ...]:
    if not y_bar:
        return None, y_bar
    x_bar = y_bar * p(y, float64(x))
    return None, x_bar if type(x_bar) is Poison else float(x_bar)


def _unary_back(
    memory: Memory,
    result: Any,
    p: Callable[..., Any],
    quick: Callable[..., Any] | None,
    kept_y: Any,
    kept_x: Any,
    y_bar: Any,
) -> tuple[Any, ...]:
    if type(y_bar) is not ndarray or memory.buffers:
        y_bar = finished_cotangent(memory, result, y_bar)
        if type(y_bar) is not ndarray:
            return None, y_bar
    x_bar = y_bar * p(kept_y, kept_x) if quick is None else quick(y_bar, kept_y, kept_x)
    if memory.careful and not finite(x_bar):
        x_bar = where(y_bar == 0, 0.0, y_bar * p(kept_y, kept_x))
    return None, x_bar


for _f in (
    np.exp,
    np.expm1,
    np.log,
    np.log1p,
    np.sqrt,
    np.square,
    np.sin,
    np.cos,
    np.tan,
    np.arctan,
    np.sinh,
    np.cosh,
    np.tanh,
):
    _unary(_f)


def _extremum(f: Callable[..., Any], wins: Callable[..., Any]) -> None:
    """Register the greater or lesser of two arrays of one shape; a tie is shared equally."""

    @lane(f, 2)
    def extremum(record: list[Any], slot: int, a: Any, b: Any) -> Any:
        memory: Memory = record[0]
        if type(a) is not ndarray or type(b) is not ndarray or not alike(memory, a, b):
            return NotImplemented
        y = f(a, b)
        record[slot] = partial(_extremum_back, memory, note_made(memory, y), a, b, wins)
        return y


def _extremum_back(
    memory: Memory, result: Any, a: Any, b: Any, wins: Callable[..., Any], y_bar: Any
) -> tuple[Any, ...]:
    if type(y_bar) is not ndarray or memory.buffers:
        y_bar = finished_cotangent(memory, result, y_bar)
        if type(y_bar) is not ndarray:
            return None, y_bar, y_bar
    if a.size > FEWER:
        first = wins(a, b)
        if is_one_or_other(first, wins(b, a)):
            bars = parted(y_bar, first)
            if not memory.careful or finite(bars[1]):
                return None, *bars
    elif not memory.careful:
        if a.tolist() == b.tolist():
            half = y_bar * HALF
            return None, half, half
        # NaN differences give NaN cotangents, and then the careful sweep follows.
        a_bar = y_bar * heaviside(a - b if wins is greater else b - a, HALF)
        return None, a_bar, y_bar - a_bar
    ties = a == b
    count = count_nonzero(ties)
    if count == ties.size:
        half = y_bar * HALF
        return None, half, half
    first, second = wins(a, b), wins(b, a)
    a_bar, b_bar = y_bar * first, y_bar * second
    if memory.careful and not isfinite(dot(a_bar, b_bar)):  # infinite where not selected
        a_bar, b_bar = where(first, y_bar, 0.0), where(second, y_bar, 0.0)
    if count:
        half = where(ties, y_bar * HALF, 0.0)
        a_bar += half
        b_bar += half
    return None, a_bar, b_bar


_extremum(np.maximum, greater)
_extremum(np.minimum, np.less)


# ---- sums ----------------------------------------------------------------------------------------


def _sum(record: list[Any], slot: int, x: Any) -> Any:
    """Sum all elements."""
    if type(x) is not ndarray or not is_plain(record[0], x):
        return NotImplemented
    shape, few = x.shape, x.size <= FEW

    def sum_back(y_bar: Any) -> tuple[Any, ...]:
        y_bar = finish(y_bar)
        if y_bar is None or type(y_bar) is Poison:
            return None, y_bar
        if few:
            x_bar: Any = np.empty(shape)
            x_bar.fill(y_bar)
            return None, x_bar
        return None, spread(y_bar, shape, FLOAT64)

    record[slot] = sum_back
    return add_reduce(x, None)


lane(np.sum, 1)(_sum)
lane((ndarray, "sum"), 1)(_sum)


def _cumulated(record: list[Any], slot: int, x: Any) -> Any:
    """Compute the cumulative sums of a vector."""
    memory: Memory = record[0]
    if type(x) is not ndarray or x.ndim != 1 or not is_plain(memory, x):
        return NotImplemented
    y = x.cumsum()
    record[slot] = partial(_cumulated_back, memory, note_made(memory, y))
    return y


def _cumulated_back(memory: Memory, result: Any, y_bar: Any) -> tuple[Any, ...]:
    if type(y_bar) is not ndarray or memory.buffers:
        y_bar = finished_cotangent(memory, result, y_bar)
        if type(y_bar) is not ndarray:
            return None, y_bar
    x_bar = np.empty(y_bar.shape)
    y_bar[::-1].cumsum(out=x_bar[::-1])
    return None, x_bar


lane(np.cumsum, 1)(_cumulated)
lane((ndarray, "cumsum"), 1)(_cumulated)


def _inner(record: list[Any], slot: int, a: Any, b: Any) -> Any:
    """Compute the inner product of two vectors."""
    memory: Memory = record[0]
    if type(a) is not ndarray or type(b) is not ndarray or not alike(memory, a, b) or a.ndim != 1:
        return NotImplemented
    y = a.dot(b)

    def inner_back(y_bar: Any) -> tuple[Any, ...]:
        if type(y_bar) not in REALS:
            y_bar = finish(y_bar)
            if y_bar is None or type(y_bar) is Poison:
                return None, y_bar, y_bar
        if not y_bar:
            zeros = np.zeros(a.shape)
            return None, zeros, zeros
        factor = np.array(y_bar, float)
        a_bar = b * factor
        return None, a_bar, a_bar if a is b else a * factor

    record[slot] = inner_back
    return y


lane(np.dot, 2)(_inner)
lane((ndarray, "dot"), 2)(_inner)
