"""Lanes of the arithmetic operators for floats and arrays of doubles, before `binary`."""

from __future__ import annotations

import operator
from functools import partial
from math import isfinite
from typing import Any

from numpy import array, float64, ndarray, negative, where

from adjoint.cotangents.finiteness import finite
from adjoint.primal.exposed_arrays import note_made
from adjoint.primal.value_kinds import FLOAT64
from adjoint.rulekit.elementwise_reverse import dot
from adjoint.rulekit.projection import unbroadcast
from adjoint.runtime.dispatch.checked_pullback import finished_cotangent
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.operators.array_factors import (
    is_plain,
    left,
    only,
    right,
    scaled_back,
    times,
)
from adjoint.runtime.operators.binary import (
    DOUBLES,
    HUGE,
    POLES,
    REALS,
    binary,
    both_sides,
    both_sides_negated,
    unary,
)
from adjoint.runtime.operators.binary_protocol import NONE2

# ---- floats and arrays of floats -----------------------------------------------------------------
#
# ``mul_left`` and ``mul_right`` are for calls in which only the operand on that side can be active:
# the other is a constant, or a global variable that differentiated code has not assigned. A zero
# cotangent stays zero, whatever it is multiplied by. A `partial` that binds three or more values is
# faster than a closure.


def add(record: list[Any], slot: int, a: Any, b: Any) -> Any:
    """``a + b``"""
    if type(a) is float and type(b) is float:
        record[slot] = both_sides
        return a + b
    if type(a) is ndarray and type(b) is ndarray and alike(record[0], a, b):
        y = a + b
        record[slot] = partial(_sum_back, record[0], note_made(record[0], y))
        return y
    if type(a) is ndarray and type(b) is ndarray and _are_plain(record[0], a, b):
        return _sum_of_shapes(record, slot, a, b, 1)
    if type(a) in REALS and type(b) in REALS:
        record[slot] = both_sides
        return a + b
    return binary(record, slot, operator.add, a, b)


def _sum_back(memory: Memory, result: Any, y_bar: Any) -> tuple[Any, ...]:
    if type(y_bar) is not ndarray or memory.buffers:
        y_bar = finished_cotangent(memory, result, y_bar)
    return None, y_bar, y_bar


def sub(record: list[Any], slot: int, a: Any, b: Any) -> Any:
    """``a - b``"""
    if type(a) is float and type(b) is float:
        record[slot] = both_sides_negated
        return a - b
    if type(a) is ndarray and type(b) is ndarray and alike(record[0], a, b):
        y = a - b
        record[slot] = partial(_difference_back, record[0], note_made(record[0], y))
        return y
    if type(a) is ndarray and type(b) is ndarray and _are_plain(record[0], a, b):
        return _sum_of_shapes(record, slot, a, b, -1)
    if type(a) in REALS and type(b) in REALS:
        record[slot] = both_sides_negated
        return a - b
    return binary(record, slot, operator.sub, a, b)


def _difference_back(memory: Memory, result: Any, y_bar: Any) -> tuple[Any, ...]:
    if type(y_bar) is not ndarray or memory.buffers:
        y_bar = finished_cotangent(memory, result, y_bar)
        if y_bar is None:
            return NONE2
    return None, y_bar, -y_bar


def mul(record: list[Any], slot: int, a: Any, b: Any) -> Any:
    """``a * b``"""
    if type(a) is float and type(b) is float:
        record[slot] = partial(_numbers_back, a, b)
        return a * b
    if type(a) is ndarray and type(b) is ndarray and alike(record[0], a, b):
        y = a * b
        record[slot] = partial(_product_back, record[0], note_made(record[0], y), a, b)
        return y
    if type(a) is ndarray and type(b) is ndarray and _are_plain(record[0], a, b):
        y = a * b
        record[slot] = partial(_product_of_shapes_back, record[0], note_made(record[0], y), a, b)
        return y
    if type(b) is ndarray and (type(a) is float64 or type(a) is float):
        if is_plain(record[0], b):
            return _number_times_array(record, slot, a, b, False)
    elif type(a) is ndarray and (type(b) is float64 or type(b) is float):
        if is_plain(record[0], a):
            return _number_times_array(record, slot, b, a, True)
    elif type(a) in REALS and type(b) in REALS:
        record[slot] = partial(_numbers_back, a, b)
        return a * b
    return binary(record, slot, operator.mul, a, b)


def _numbers_back(a: Any, b: Any, y_bar: Any) -> tuple[Any, ...]:
    return (None, y_bar * b, y_bar * a) if y_bar else (None, y_bar, y_bar)


def _product_back(memory: Memory, result: Any, a: Any, b: Any, y_bar: Any) -> tuple[Any, ...]:
    if type(y_bar) is not ndarray or memory.buffers:
        y_bar = finished_cotangent(memory, result, y_bar)
        if type(y_bar) is not ndarray:
            return None, y_bar, y_bar
    a_bar = y_bar * b
    b_bar = a_bar if a is b else y_bar * a
    if memory.careful and not isfinite(dot(a_bar, b_bar)):
        zero = y_bar == 0
        a_bar, b_bar = where(zero, 0.0, a_bar), where(zero, 0.0, b_bar)
    return None, a_bar, b_bar


def mul_left(record: list[Any], slot: int, a: Any, b: Any) -> Any:
    """``a * b`` with a constant `b`."""
    if record[0].globals_written:
        return mul(record, slot, a, b)
    if type(a) in DOUBLES and type(b) in REALS:
        record[slot] = partial(_left_factor_back, b)
        return a * b
    if type(a) is ndarray:
        y = times(record, slot, a, b, left)
        if y is not None:
            return y
    return binary(record, slot, operator.mul, a, b, 0)


def _left_factor_back(b: Any, y_bar: Any) -> tuple[Any, ...]:
    return (None, y_bar * b, None) if y_bar else (None, y_bar, None)


def mul_right(record: list[Any], slot: int, a: Any, b: Any) -> Any:
    """``a * b`` with a constant `a`."""
    if record[0].globals_written:
        return mul(record, slot, a, b)
    if type(b) in DOUBLES and type(a) in REALS:
        record[slot] = partial(_right_factor_back, a)
        return a * b
    if type(b) is ndarray:
        y = times(record, slot, b, a, right)
        if y is not None:
            return y
    return binary(record, slot, operator.mul, a, b, 1)


def _right_factor_back(a: Any, y_bar: Any) -> tuple[Any, ...]:
    return (None, None, y_bar * a) if y_bar else (None, None, y_bar)


def truediv(record: list[Any], slot: int, a: Any, b: Any) -> Any:
    """``a / b``"""
    y: Any
    if type(a) is float and type(b) is float:
        y = a / b
        record[slot] = partial(_ratio_back, b, y)
        return y
    if type(a) is ndarray and type(b) is ndarray and alike(record[0], a, b):
        y = a / b
        record[slot] = partial(_quotient_back, record[0], note_made(record[0], y), b, y)
        return y
    if type(a) is ndarray and (type(b) is float64 or type(b) is float):
        if is_plain(record[0], a):
            return _array_over_number(record, slot, a, b)
    return binary(record, slot, operator.truediv, a, b)


def _ratio_back(b: Any, y: Any, y_bar: Any) -> tuple[Any, ...]:
    if not y_bar:
        return None, y_bar, y_bar
    a_bar = y_bar / b
    return None, a_bar, -a_bar * y


def _quotient_back(memory: Memory, result: Any, b: Any, y: Any, y_bar: Any) -> tuple[Any, ...]:
    if type(y_bar) is not ndarray or memory.buffers:
        y_bar = finished_cotangent(memory, result, y_bar)
        if type(y_bar) is not ndarray:
            return None, y_bar, y_bar
    a_bar: Any = y_bar / b
    b_bar = a_bar * y
    negative(b_bar, b_bar)
    if memory.careful and not finite(b_bar):  # a finite `b_bar` implies a finite `a_bar`
        zero = y_bar == 0
        a_bar = where(zero, 0.0, y_bar * (1 / b))
        b_bar = where(zero, 0.0, y_bar * (-y / b))
    return None, a_bar, b_bar


def truediv_left(record: list[Any], slot: int, a: Any, b: Any) -> Any:
    """``a / b`` with a constant `b`."""
    if record[0].globals_written:
        return truediv(record, slot, a, b)
    if type(a) is float and type(b) in REALS:
        y = a / b

        def truediv_back(y_bar: Any) -> tuple[Any, ...]:
            return (None, y_bar / b, None) if y_bar else (None, y_bar, None)

        record[slot] = truediv_back
        return y
    if type(a) is ndarray and type(b) in REALS and 1 / HUGE < abs(b) < HUGE:
        if is_plain(record[0], a):
            y = a / b
            record[slot] = scaled_back(record[0], y, 1 / b, left)
            return y
    return binary(record, slot, operator.truediv, a, b, 0)


def pow_left(record: list[Any], slot: int, a: Any, b: Any) -> Any:
    """``a ** b`` with a constant `b`."""
    if type(a) is float and type(b) in REALS and not record[0].globals_written:
        y = a**b
        if type(y) is float:

            def pow_back(y_bar: Any) -> tuple[Any, ...]:
                if not y_bar:
                    return None, y_bar, None
                try:
                    return None, y_bar * _power_slope(a, b), None
                except POLES:
                    return None, y_bar * _power_slope(float64(a), float64(b)), None

            record[slot] = pow_back
            return y
    if type(a) is ndarray and type(b) is int and b == 2 and not record[0].globals_written:
        if is_plain(record[0], a):
            y = a**2
            record[slot] = partial(_square_back, record[0], note_made(record[0], y), a)
            return y
    return binary(record, slot, operator.pow, a, b, 0)


def _square_back(memory: Memory, result: Any, a: Any, y_bar: Any) -> tuple[Any, ...]:
    if type(y_bar) is not ndarray or memory.buffers:
        y_bar = finished_cotangent(memory, result, y_bar)
        if type(y_bar) is not ndarray:
            return None, y_bar, None
    bar = y_bar * a
    bar += bar
    if memory.careful and not finite(bar):
        bar = where(y_bar == 0, 0.0, bar)
    return None, bar, None


_neg_of_any = unary(operator.neg, "neg")


def neg(record: list[Any], slot: int, a: Any) -> Any:
    """``-a``"""
    if type(a) is float or type(a) is float64:
        record[slot] = _neg_back
        return -a
    if type(a) is ndarray and is_plain(record[0], a):
        y = -a
        record[slot] = scaled_back(record[0], y, -1.0, only)
        return y
    return _neg_of_any(record, slot, a)


def _power_slope(a: Any, b: Any) -> Any:
    """Return b aᵇ⁻¹, which is 0 for b = 0, also at a = 0."""
    return 2.0 * a if b == 2 else b * a ** (b - 1) if b else 0.0


def _neg_back(y_bar: Any) -> tuple[Any, ...]:
    return None, -y_bar if y_bar is not None else None


def alike(memory: Memory, a: Any, b: Any) -> bool:
    """Return whether two arrays have doubles and one shape, and cotangents by value.

    The dtype of an unpickled array equals NumPy's own, but is another object.
    """
    return (
        (a.dtype is FLOAT64 or a.dtype == FLOAT64)
        and (b.dtype is FLOAT64 or b.dtype == FLOAT64)
        and a.shape == b.shape
        and a.ndim
        and not (memory.written and (memory.is_written(a) or memory.is_written(b)))
    )


def _are_plain(memory: Memory, a: Any, b: Any) -> bool:
    return is_plain(memory, a) and is_plain(memory, b)


def _sum_of_shapes(record: list[Any], slot: int, a: Any, b: Any, sign: int) -> Any:
    """``a + b`` or ``a - b`` of arrays that broadcast."""
    memory, y = record[0], a + b if sign == 1 else a - b
    result, shape_a, shape_b = note_made(memory, y), a.shape, b.shape

    def sum_back(y_bar: Any) -> tuple[Any, ...]:
        if type(y_bar) is not ndarray or memory.buffers:
            y_bar = finished_cotangent(memory, result, y_bar)
            if type(y_bar) is not ndarray:
                return None, y_bar, y_bar
        b_bar = y_bar if y_bar.shape == shape_b else unbroadcast(y_bar, shape_b)
        if sign == -1:
            b_bar = -b_bar
        return None, y_bar if y_bar.shape == shape_a else unbroadcast(y_bar, shape_a), b_bar

    record[slot] = sum_back
    return y


def _product_of_shapes_back(
    memory: Memory, result: Any, a: Any, b: Any, y_bar: Any
) -> tuple[Any, ...]:
    if type(y_bar) is not ndarray or memory.buffers:
        y_bar = finished_cotangent(memory, result, y_bar)
        if type(y_bar) is not ndarray:
            return None, y_bar, y_bar
    a_bar = _factor_bar(y_bar, b, a.shape, memory.careful)
    return None, a_bar, _factor_bar(y_bar, a, b.shape, memory.careful)


def _factor_bar(y_bar: Any, other: Any, shape: tuple[int, ...], careful: bool) -> Any:
    bar = y_bar * other
    if careful and not finite(bar):
        bar = where(y_bar == 0, 0.0, bar)
    return bar if bar.shape == shape else unbroadcast(bar, shape)


def _number_times_array(record: list[Any], slot: int, a: Any, x: Any, swapped: bool) -> Any:
    """``a * x`` of a number and an array; `swapped` if the array came first."""
    y = a * x
    record[slot] = partial(_number_times_back, record[0], note_made(record[0], y), a, x, swapped)
    return y


def _number_times_back(
    memory: Memory, result: Any, a: Any, x: Any, swapped: bool, y_bar: Any
) -> tuple[Any, ...]:
    if type(y_bar) is not ndarray or memory.buffers:
        y_bar = finished_cotangent(memory, result, y_bar)
        if type(y_bar) is not ndarray:
            return None, y_bar, y_bar
    a_bar, x_bar = float(dot(y_bar, x)), y_bar * array(a)
    if memory.careful and not (isfinite(a_bar) and isfinite(a)):
        zero = y_bar == 0
        a_bar, x_bar = float(where(zero, 0.0, y_bar * x).sum()), where(zero, 0.0, x_bar)
    return (None, x_bar, a_bar) if swapped else (None, a_bar, x_bar)


def _array_over_number(record: list[Any], slot: int, x: Any, a: Any) -> Any:
    """``x / a`` of an array and a number."""
    memory, y = record[0], x / a
    result = note_made(memory, y)

    def over_number_back(y_bar: Any) -> tuple[Any, ...]:
        if type(y_bar) is not ndarray or memory.buffers:
            y_bar = finished_cotangent(memory, result, y_bar)
            if type(y_bar) is not ndarray:
                return None, y_bar, y_bar
        x_bar = y_bar / a
        a_bar = -float(dot(x_bar, y))
        if memory.careful and not isfinite(a_bar):
            zero, inverse = y_bar == 0, 1 / float64(a)
            x_bar = where(zero, 0.0, y_bar * inverse)
            a_bar = float(where(zero, 0.0, y_bar * (-y * inverse)).sum())
        return None, x_bar, a_bar

    record[slot] = over_number_back
    return y
