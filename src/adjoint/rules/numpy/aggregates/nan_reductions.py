"""Rules of the reductions that ignore NaN, and of the trapezoidal rule."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.elementwise_forward import like_result
from adjoint.rulekit.projection import unbroadcast
from adjoint.rulekit.registry import frule
from adjoint.rulekit.tangents import linear_in, steady_in
from adjoint.rules.numpy.aggregates.cumulative import undiff
from adjoint.rules.numpy.aggregates.reductions import (
    NONE,
    cast,
    constant_back,
    extremum_back,
    given,
    masked,
    mean_back,
    merged_rows,
    numbers,
    others,
    restore,
    spread,
)
from adjoint.rules.numpy.forward_rules import reduction_frule
from adjoint.rules.numpy.operands import (
    array_rule,
    cotangent_dtype,
    dense,
    severed,
)

# ---- without NaN ---------------------------------------------------------------------------------


@array_rule(np.nansum, operands="a initial")
def _(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    if out is not None:
        return NotImplemented
    y = np.nansum(a, axis, dtype, None, keepdims, initial, where)
    if severed(y, a, initial):
        return y, constant_back
    there, shape = numbers(a, where), np.shape(a)
    return y, lambda y_bar: (
        None,
        masked(spread(restore(y_bar, axis, keepdims, len(shape)), shape), there),
        np.sum(y_bar),
    )


@array_rule(np.nanmean)
def _(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    if out is not None:
        return NotImplemented
    y = np.nanmean(a, axis, dtype, None, keepdims, where=where)
    return y, mean_back(a, np.size(y), axis, keepdims, numbers(a, where))


@array_rule(np.nanprod, operands="a initial")
def _(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    if out is not None:
        return NotImplemented
    y = np.nanprod(a, axis, dtype, None, keepdims, initial, where)
    if severed(y, a, initial):
        return y, constant_back
    there = numbers(a, where)

    def nanprod_back(y_bar):
        factors = cast(np.where(there, a, 1), cotangent_dtype(y))
        rows, undo = merged_rows(factors, axis)
        product = np.prod(factors, axis, keepdims=keepdims)
        a_bar = restore(y_bar * np.conj(initial), axis, keepdims, np.ndim(a)) * np.conj(
            undo(others(rows))
        )
        return None, masked(a_bar, there), np.sum(y_bar * np.conj(product))

    return y, nanprod_back


def _nan_extremum(f: Any) -> None:
    @array_rule(f, operands="a initial")
    def _(a, axis=None, out=None, keepdims=False, initial=NONE, where=True):
        if out is not None:
            return NotImplemented
        y = f(a, axis, None, keepdims, **given(initial=initial), where=where)
        return y, extremum_back(a, y, axis, keepdims, initial, numbers(a, where))


_nan_extremum(np.nanmax)
_nan_extremum(np.nanmin)


_trapezoid = getattr(np, "trapezoid", None) or getattr(np, "trapz")  # noqa: B009


@array_rule(_trapezoid, operands="y x dx")
def _(y, x=None, dx=1.0, axis=-1):
    value, y = _trapezoid(y, x, dx, axis), np.asarray(y)
    steps, pairs, left, right = _panels(y, x, dx, axis)

    def trapezoid_back(value_bar):
        half = np.expand_dims(value_bar, axis) / 2
        half = np.broadcast_to(half, np.broadcast_shapes(steps.shape, pairs.shape))
        area = unbroadcast(half * np.conj(steps), pairs.shape)
        y_bar = np.zeros(y.shape, area.dtype)
        y_bar[left] += area
        y_bar[right] += area
        steps_bar = unbroadcast(half * np.conj(pairs), steps.shape)
        if x is None:
            return None, y_bar, None, steps_bar
        if not np.size(x):
            return None, y_bar, np.zeros(np.shape(x))
        if np.ndim(x) == 1:
            return None, y_bar, undiff(np.reshape(steps_bar, -1), 0)
        return None, y_bar, undiff(steps_bar, axis % np.ndim(x))

    return value, trapezoid_back


def _panels(y: Any, x: Any, dx: Any, axis: int) -> tuple[Any, Any, Any, Any]:
    """Return the widths of the panels, the sums of the values at their ends, and both indices."""
    lead = (slice(None),) * (axis % y.ndim)
    left, right = (*lead, slice(None, -1)), (*lead, slice(1, None))
    if x is None:
        steps = np.asarray(dx)
    elif np.ndim(x) == 1:
        steps = np.reshape(np.diff(x), (-1,) + (1,) * (y.ndim - 1 - len(lead)))
    else:
        steps = np.diff(x, axis=axis)
    return steps, y[left] + y[right], left, right


@frule.register(_trapezoid)
def _(dots, y, x=None, dx=1.0, axis=-1):
    y_dot, x_dot, dx_dot = (dots + (None, None))[:3]
    value = _trapezoid(y, x, dx, axis)
    value_dot = np.zeros(np.shape(value))
    if y_dot is not None:
        value_dot = value_dot + _trapezoid(dense(y_dot, y), x, dx, axis)
    if x_dot is not None and x is not None:
        value_dot = value_dot + _trapezoid(y, dense(x_dot, x), 1.0, axis)
    if dx_dot is not None and x is None:
        value_dot = value_dot + _trapezoid(y, None, dense(dx_dot, dx), axis)
    return value, like_result(value_dot, value)


reduction_frule(np.nansum, np.nanmean, np.nanprod, np.nanvar, np.nanstd)
reduction_frule(np.nanmax, np.nanmin, selects=True)
steady_in(np.nansum, np.nanmean)
linear_in(_trapezoid, places=range(3))
