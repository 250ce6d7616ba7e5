"""Cotangents of the very shape and class of their primals."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.fast import runtime
from adjoint.fast.evaluate.types import ANYTHING, Array, Number, bar_type, number
from adjoint.ir.single import Const, Operand, Value
from adjoint.rules.projection import column_sums

if TYPE_CHECKING:
    from adjoint.fast.evaluate.evaluator import Evaluator

__all__ = ["cast_to", "fit", "operand_type", "plain", "whole"]


def operand_type(ev: Evaluator, x: Operand) -> Any:
    if isinstance(x, Value):
        return ev.types[x]
    assert isinstance(x, Const)
    return number(type(x.value))


def whole(ev: Evaluator, bar: Operand, x: Value) -> Operand:
    """A cotangent of the very type of that of `x`: one number may stand for an array of it."""
    t, found = bar_type(ev.types[x]), operand_type(ev, bar)
    if not isinstance(t, Array):
        return bar
    if isinstance(found, Array) and found.shape == t.shape:
        return bar if found.dtype == t.dtype else cast_to(ev, bar, t)
    return ev.operation(runtime.broadcast_like, (bar, x), t, name=f"{x.name}_bar")


def plain(ev: Evaluator, bar: Operand, x: Value) -> Operand:
    """A contribution to a number of Python's, as one: NumPy's take longer in all that follows."""
    t, found = bar_type(ev.types[x]), operand_type(ev, bar)
    if isinstance(t, Number) and t.kinds == {float} and isinstance(found, Number):
        if not found.kinds <= {float, int, bool}:
            return ev.operation(float, (bar,), t, name=f"{x.name}_bar")
    return bar


def cast_to(ev: Evaluator, bar: Operand, t: Array) -> Operand:
    return ev.operation(np.ndarray.astype, (bar, Const(t.dtype)), t, name="t")


def fit(ev: Evaluator, bar: Operand, x: Value, y: Value) -> Operand:
    """What a cotangent of `y` contributes to `x`, which was broadcast in an elementwise operation:
    summed along what it was broadcast along."""
    of_x, of_y, found = ev.types[x], ev.types[y], operand_type(ev, bar)
    if isinstance(of_y, Number):
        return bar
    assert isinstance(of_y, Array)
    shape = of_x.shape if isinstance(of_x, Array) else ()
    if shape == of_y.shape:
        # one of fewer elements stands for what it is broadcast to
        t = bar_type(of_x)
        if isinstance(found, Array) and isinstance(t, Array) and found.dtype != t.dtype:
            return cast_to(ev, bar, Array(t.dtype, found.shape))
        return bar
    if not isinstance(found, Array) or found.shape != of_y.shape:
        bar = ev.operation(runtime.broadcast_like, (bar, y), bar_type(of_y), name="t")
    if isinstance(of_x, Number):
        return ev.operation(np.sum, (bar,), number(of_y.dtype.type), name=f"{x.name}_bar")
    return _summed(ev, bar, x, of_x, of_y)


def _summed(ev: Evaluator, bar: Operand, x: Value, of_x: Any, of_y: Array) -> Operand:
    extra = len(of_y.shape) - len(of_x.shape)
    axes = tuple(range(extra)) + tuple(
        i + extra
        for i, (m, n) in enumerate(zip(of_x.shape, of_y.shape[extra:], strict=True))
        if m == 1 and n != 1
    )
    if not extra and axes:
        return _summed_in_place(ev, bar, x, of_x, of_y, axes)
    kept = tuple(n for i, n in enumerate(of_y.shape) if i not in axes)
    axis = Const(axes[0] if len(axes) == 1 else axes)
    t = bar_type(of_x)
    assert isinstance(t, Array)
    dtype = of_y.dtype if of_y.dtype.kind == "f" else np.dtype(np.float64)
    if not kept:
        total: Operand = ev.operation(np.sum, (bar,), number(dtype.type), name=f"{x.name}_bar")
        return whole(ev, total, x)
    by_columns = axes == (0,) and len(kept) == 1 and dtype.char in "fd"
    f: Any = column_sums if by_columns else np.sum
    options = () if by_columns else (("axis", axis),)
    total = ev.operation(f, (bar,), Array(dtype, kept), options, name=f"{x.name}_bar")
    if kept != of_x.shape:
        shape = ev.operation(runtime.shape_of, (x,), ANYTHING, name="shape")
        total = ev.operation(np.reshape, (total, shape), Array(dtype, of_x.shape), name="t")
    return total if dtype == t.dtype else cast_to(ev, total, t)


def _summed_in_place(
    ev: Evaluator, bar: Operand, x: Value, of_x: Array, of_y: Array, axes: tuple[int, ...]
) -> Operand:
    """Along axes of length 1, which stay."""
    t = bar_type(of_x)
    assert isinstance(t, Array)
    dtype = of_y.dtype if of_y.dtype.kind == "f" else np.dtype(np.float64)
    axis = Const(axes[0] if len(axes) == 1 else axes)
    options = (("axis", axis), ("keepdims", Const(True)))
    total = ev.operation(np.sum, (bar,), Array(dtype, of_x.shape), options, f"{x.name}_bar")
    return total if dtype == t.dtype else cast_to(ev, total, t)
