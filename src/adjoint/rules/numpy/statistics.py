"""Rules of order statistics, and of the reductions that leave NaN out."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rules.numpy.cumulative import undiff
from adjoint.rules.numpy.operands import array_rule, cotangent_dtype, reduction_frule, severed
from adjoint.rules.numpy.reductions import (
    NONE,
    extremum_back,
    given,
    lanes,
    masked,
    mean_back,
    nothing,
    others,
    restore,
    spread,
    std_back,
    var_back,
)
from adjoint.rules.projection import unbroadcast

# ---- order statistics ----------------------------------------------------------------------------


def _quantile_back(
    a: Any, y: Any, q: Any, scale: float, axis: Any, method: str, keepdims: bool
) -> Any:
    """The pullback of quantiles: each lies between two neighbours in the order of the elements."""
    rows, undo = lanes(np.asarray(a), axis)
    order, n = np.argsort(rows, axis=-1, kind="stable"), rows.shape[-1]
    levels = np.ravel(q) / scale * (n - 1)

    def quantile_back(y_bar):
        rows_bar = np.zeros(rows.shape, cotangent_dtype(y_bar))
        parts = np.reshape(y_bar, (levels.size, *rows.shape[:-1], 1))
        q_bar = np.zeros(levels.size)
        for i, (level, part) in enumerate(zip(levels.tolist(), parts, strict=True)):
            low = int(np.clip(np.floor(level), 0, n - 1))
            high = min(low + 1, n - 1)
            weight = {
                "linear": level - low,
                "lower": 0.0,
                "higher": float(level > low),
                "midpoint": 0.5 * (level > low),
            }[method]
            below, above = order[..., low : low + 1], order[..., high : high + 1]
            for where, share in ((below, 1 - weight), (above, weight)):
                held = np.take_along_axis(rows_bar, where, -1)
                np.put_along_axis(rows_bar, where, held + part * share, -1)
            if method == "linear":
                step = np.take_along_axis(rows, above, -1) - np.take_along_axis(rows, below, -1)
                q_bar[i] = np.sum(part * step) * (n - 1) / scale
        return None, undo(rows_bar), np.reshape(q_bar, np.shape(q))

    return quantile_back


def _quantile(f: Any, scale: float) -> None:
    @array_rule(f, operands="a q")
    def _(
        a,
        q,
        axis=None,
        out=None,
        overwrite_input=False,
        method="linear",
        keepdims=False,
        *,
        weights=None,
    ):
        if out is not None or overwrite_input or weights is not None:
            return NotImplemented
        if method not in ("linear", "lower", "higher", "midpoint") or not np.size(a):
            return NotImplemented
        y = f(a, q, axis, method=method, keepdims=keepdims)
        return y, _quantile_back(a, y, q, scale, axis, method, keepdims)


_quantile(np.quantile, 1.0)
_quantile(np.percentile, 100.0)


@array_rule(np.median)
def _(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    if out is not None or overwrite_input or not np.size(a):
        return NotImplemented
    y = np.median(a, axis, keepdims=keepdims)
    back = _quantile_back(a, y, 0.5, 1.0, axis, "linear", keepdims)
    return y, lambda y_bar: back(y_bar)[:2]


# ---- without NaN ---------------------------------------------------------------------------------


def numbers(a: Any, where: Any) -> Any:
    """Where an array has numbers and is looked at."""
    return ~np.isnan(a) if where is True else ~np.isnan(a) & where


@array_rule(np.nansum, operands="a initial")
def _(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    if out is not None:
        return NotImplemented
    y = np.nansum(a, axis, dtype, None, keepdims, initial, where)
    if severed(y, a):
        return y, nothing
    there, shape = numbers(a, where), np.shape(a)
    return y, lambda y_bar: (
        None,
        masked(spread(restore(y_bar, axis, keepdims, len(shape)), shape), there),
        np.sum(y_bar),
    )


@array_rule(np.nanmedian)
def _(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    if out is not None or overwrite_input or not np.size(a):
        return NotImplemented
    y = np.nanmedian(a, axis, keepdims=keepdims)
    rows, undo = lanes(np.asarray(a), axis)

    def nanmedian_back(y_bar):
        """Both elements in the middle have half of it, if there are two."""
        order = np.argsort(rows, axis=-1, kind="stable")  # NaN come last
        count = np.sum(~np.isnan(rows), axis=-1, keepdims=True)
        rows_bar = np.zeros(rows.shape, cotangent_dtype(y_bar))
        part = np.where(count > 0, np.reshape(y_bar, (*rows.shape[:-1], 1)), 0) / 2
        for place in (np.maximum(count - 1, 0) // 2, np.minimum(count // 2, rows.shape[-1] - 1)):
            where = np.take_along_axis(order, place, -1)
            held = np.take_along_axis(rows_bar, where, -1)
            np.put_along_axis(rows_bar, where, held + part, -1)
        return None, undo(rows_bar)

    return y, nanmedian_back


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
    if severed(y, a):
        return y, nothing
    there = numbers(a, where)

    def nanprod_back(y_bar):
        factors = np.where(there, a, np.ones((), cotangent_dtype(y)))
        rows, undo = lanes(factors, axis)
        product = np.prod(factors, axis, keepdims=keepdims)
        a_bar = restore(y_bar * np.conj(initial), axis, keepdims, np.ndim(a)) * np.conj(
            undo(others(rows))
        )
        return None, masked(a_bar, there), np.sum(y_bar * np.conj(product))

    return y, nanprod_back


def _nan_spread(f: Any, root: bool) -> None:
    @array_rule(f, operands="a mean")
    def _(
        a,
        axis=None,
        dtype=None,
        out=None,
        ddof=0,
        keepdims=False,
        *,
        where=True,
        mean=NONE,
        correction=NONE,
    ):
        if out is not None:
            return NotImplemented
        options = given(mean=mean, correction=correction)
        y = f(a, axis, dtype, None, ddof, keepdims, where=where, **options)
        ddof = ddof if correction is NONE else correction
        back = var_back(a, y, axis, ddof, keepdims, numbers(a, where), mean)
        return y, std_back(back, y) if root else back


_nan_spread(np.nanvar, False)
_nan_spread(np.nanstd, True)


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
    value = _trapezoid(y, x, dx, axis)
    ndim, axis = np.ndim(y), axis % np.ndim(y)
    lead = (slice(None),) * axis
    left, right = (*lead, slice(None, -1)), (*lead, slice(1, None))
    y = np.asarray(y)
    if x is None:
        steps = np.asarray(dx)
    elif np.ndim(x) == 1:
        steps = np.reshape(np.diff(x), (-1,) + (1,) * (ndim - 1 - axis))
    else:
        steps = np.diff(x, axis=axis)

    def trapezoid_back(value_bar):
        half = np.expand_dims(value_bar, axis) / 2
        area = np.broadcast_to(half * np.conj(steps), np.shape(y[left]))
        y_bar = np.zeros(y.shape, area.dtype)
        y_bar[left] += area
        y_bar[right] += area
        steps_bar = half * np.conj(y[left] + y[right])
        if x is None:
            return None, y_bar, None, np.sum(unbroadcast(steps_bar, steps.shape))
        x_bar = unbroadcast(steps_bar, steps.shape)
        x_bar = np.reshape(x_bar, -1) if np.ndim(x) == 1 else x_bar
        along = 0 if np.ndim(x) == 1 else axis
        return None, y_bar, undiff(x_bar, along)

    return value, trapezoid_back


reduction_frule(
    np.median,
    np.nanmedian,
    np.nansum,
    np.nanmean,
    np.nanprod,
    np.nanmax,
    np.nanmin,
    np.nanvar,
    np.nanstd,
)
