"""Rules of NumPy's reductions: sums, means, products, extrema, order statistics."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.cotangents.finiteness import finite
from adjoint.primal.value_kinds import FLOAT64, REALS
from adjoint.rulekit.partials import as_precise, is_constant
from adjoint.rulekit.projection import held, project
from adjoint.rulekit.registry import substitute
from adjoint.rules.numpy.forward_rules import array_frule, linear_frule, reduction_frule
from adjoint.rules.numpy.operands import (
    array_rule,
    conj,
    cotangent_dtype,
    methods,
    severed,
)

NONE = np._NoValue
add_reduce: Any = np.add.reduce
multiply_reduce: Any = np.multiply.reduce


def restore(y_bar: Any, axis: Any, keepdims: bool, ndim: int) -> Any:
    """Restore the reduced axes of a cotangent with length 1, unless all axes were reduced."""
    if keepdims or axis is None or not ndim or not isinstance(y_bar, np.ndarray):
        return y_bar
    if type(axis) is int:
        return y_bar[(slice(None),) * (axis % ndim) + (None,)]
    return np.expand_dims(y_bar, axis)


def spread(y_bar: Any, shape: tuple[int, ...], dtype: Any = None) -> Any:
    """Broadcast a cotangent to an array of `shape`."""
    dtype = getattr(y_bar, "dtype", type(y_bar)) if dtype is None else dtype
    if math.prod(shape) > MANY and np.ndim(y_bar) == 0:
        # one number with strides of zero
        return np.ndarray(shape, dtype, np.array(y_bar, dtype), 0, (0,) * len(shape))
    bar = np.empty(shape, dtype)
    bar[...] = y_bar
    return bar


MANY = 1000
"""Number of elements above which an array of one number gets strides of zero."""


def given(**keywords: Any) -> dict[str, Any]:
    """Return the keywords that the caller gave."""
    return {name: value for name, value in keywords.items() if value is not NONE}


def constant_back(y_bar: Any) -> tuple[None, None]:
    """Pull back to zero: the pullback of a constant result."""
    return None, None


def masked(bar: Any, where: Any) -> Any:
    return bar if where is True else np.where(where, bar, 0)


# ---- sums and means ------------------------------------------------------------------------------


@array_rule(np.sum, *methods("sum"), operands="a initial", exact=True)
def _(a, axis=None, dtype=None, out=None, keepdims=False, initial=NONE, where=True):
    if out is not None:
        return NotImplemented
    y = add_reduce(a, axis, dtype, None, keepdims, 0 if initial is NONE else initial, where)
    if y.dtype.kind not in "fc" and severed(y, a, 0 if initial is NONE else initial):
        return y, constant_back
    shape, exact = np.shape(a), cotangent_dtype(a)
    real = exact.kind != "c"

    def sum_back(y_bar):
        whole = restore(y_bar.real if real else y_bar, axis, keepdims, len(shape))
        a_bar = masked(spread(whole, shape, exact), where)
        return (None, a_bar) if initial is NONE else (None, a_bar, np.sum(y_bar))

    return y, sum_back


@array_rule(np.mean, *methods("mean"), exact=True)
def _(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    if out is not None:
        return NotImplemented
    is_plain = dtype is None and where is True and type(a) is np.ndarray and a.dtype.char == "d"
    if is_plain and a.size and a.ndim:
        y = add_reduce(a, axis, None, None, keepdims)  # faster than np.mean
        y = y / (a.size // y.size)
    else:
        y = np.mean(a, axis, dtype, keepdims=keepdims, where=where)
    if y.dtype.kind not in "fc" and severed(y, a):
        return y, constant_back
    return y, mean_back(a, y.size, axis, keepdims, where)


def mean_back(a: Any, size: int, axis: Any, keepdims: bool, where: Any) -> Any:
    """Return the pullback of the mean over an axis; `size` is that of the result."""
    shape, exact = np.shape(a), cotangent_dtype(a)
    real = exact.kind != "c"

    def back(y_bar):
        whole = restore(y_bar.real if real else y_bar, axis, keepdims, len(shape))
        share = np.divide(whole, counted(shape, size, axis, where))
        return None, masked(spread(share, shape, exact), where)

    return back


def counted(shape: tuple[int, ...], size: int, axis: Any, where: Any) -> Any:
    """Return how many elements enter each result."""
    if where is not True:
        return np.sum(np.broadcast_to(where, shape), axis, keepdims=True)
    return math.prod(shape) // size if size else 1


COUNTS = (int, float, np.integer, np.floating)
"""Types of `ddof` and `correction` that the rules take."""


def numbers(a: Any, where: Any) -> Any:
    """Return where `a` is not NaN and `where` selects it."""
    return ~np.isnan(a) if where is True else ~np.isnan(a) & np.asarray(where, bool)


def _spread(f: Any, *also: Any, root: bool, skips: bool = False) -> None:
    """Register the variance, or its root; `skips` tells whether NaN are left out."""

    @array_rule(f, *also, operands="a mean ddof correction")
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
        lost = ddof if correction is NONE else correction
        if out is not None or not isinstance(lost, COUNTS) or not _selects(where):
            return NotImplemented
        options = given(mean=mean, correction=correction)
        y = f(a, axis, dtype, None, ddof, keepdims, where=where, **options)
        if severed(y, a):
            return y, constant_back
        where = numbers(a, where) if skips else where
        back = _var_back(a, y, axis, dtype, (ddof, correction), keepdims, where, mean)
        return y, _std_back(back, y) if root else back


_spread(np.var, *methods("var"), root=False)
_spread(np.std, *methods("std"), root=True)
_spread(np.nanvar, root=False, skips=True)
_spread(np.nanstd, root=True, skips=True)


def _selects(where: Any) -> bool:
    """Return whether `where` counts each element at most once; NumPy counts by numbers above 1."""
    return where is True or np.asarray(where).dtype.kind == "b" or bool(np.all(np.less(where, 2)))


def _spread_of(f: Any, name: str) -> None:
    """Register the source of the function for the method, where the rule declines."""

    @substitute((np.generic, name))
    def _(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True):
        return f(np.asarray(a), axis, dtype, out, ddof, keepdims, where=where)


_spread_of(np.var, "var")
_spread_of(np.std, "std")


def _std_back(back: Any, y: Any) -> Any:
    """Turn the pullback of the variance into that of its root, which is 0 at a deviation of 0."""
    return lambda y_bar: back(np.where(y == 0, 0, y_bar / (2 * np.where(y == 0, 1, y))))


_mean_of: Any = np.mean  # the stubs know fewer mixtures of its keywords


def _centre(a: Any, axis: Any, dtype: Any, where: Any) -> Any:
    """Return the mean in a shape that broadcasts to that of `a`; a single mean is a number, which
    is faster than an array."""
    if axis is None and dtype is None and where is True and type(a) is np.ndarray:
        if a.dtype is FLOAT64 and a.size:
            return add_reduce(a, None) / a.size
    return _mean_of(a, axis, dtype, keepdims=axis is not None, where=where)


def _var_back(
    a: Any, y: Any, axis: Any, dtype: Any, less: Any, keepdims: bool, where: Any, mean: Any
) -> Any:
    """Return the pullback of the variance, which is real in any `dtype`.

    `less` is ``(ddof, correction)``.
    """
    ddof, correction = less
    lost = ddof if correction is NONE else correction

    def var_back(y_bar):
        centre = _centre(a, axis, dtype, where) if mean is NONE else mean
        n = counted(np.shape(a), np.size(y), axis, where) - lost
        n = n if type(n) is int and n > 0 else np.maximum(n, 0)
        slope = restore(y_bar.real, axis, keepdims, np.ndim(a)) * 2 / n
        a_bar = a - centre
        if isinstance(lost, int | np.integer):
            lost_bar = None
        else:
            lost_bar = np.sum(masked(np.abs(a_bar) ** 2 * slope / (2 * n), where))
        if isinstance(a_bar, np.ndarray) and np.result_type(slope, a_bar) == a_bar.dtype:
            a_bar *= slope
        else:
            a_bar = a_bar * slope
        a_bar = masked(a_bar, where)
        mean_bar = None if mean is NONE else -np.sum(a_bar, axis, keepdims=True)
        if correction is NONE:
            return None, a_bar, mean_bar, lost_bar, None
        return None, a_bar, mean_bar, None, lost_bar

    return var_back


@array_rule(np.average, operands="a weights")
def _(a, axis=None, weights=None, returned=False, *, keepdims=False):
    y = np.average(a, axis, weights, returned, keepdims=keepdims)
    average, shape, ndim = y[0] if returned else y, np.shape(a), np.ndim(a)
    if weights is None:
        back = mean_back(a, np.size(average), axis, keepdims, True)
        if not returned:
            return y, back
        return y, lambda y_bar: (None, None) if y_bar[0] is None else back(y_bar[0])
    w = as_precise(weights_of(np.asarray(weights), shape, axis), np.result_type(average))
    total = np.sum(np.broadcast_to(w, shape), axis, keepdims=True)
    centre = np.reshape(average, np.shape(total))

    def average_back(y_bar):
        bar, total_bar = y_bar if returned else (y_bar, None)
        share = restore(np.zeros(np.shape(average)) if bar is None else bar, axis, keepdims, ndim)
        share = share / conj(total)
        w_bar = share * conj(a - centre)
        if total_bar is not None:
            w_bar = w_bar + restore(total_bar, axis, keepdims, ndim)
        if np.shape(weights) != shape:
            axes = normalized(axis, ndim)
            w_bar = np.sum(w_bar, tuple(i for i in range(ndim) if i not in axes))
            w_bar = np.transpose(w_bar, np.argsort(np.argsort(axes)))
        return None, share * conj(w), w_bar

    return y, average_back


@array_frule(np.average, operands="a weights")
def _(dots, y, a, axis=None, weights=None, returned=False, *, keepdims=False):
    a_dot, weights_dot = dots
    if weights is None:
        moved = np.mean(a_dot, axis, keepdims=keepdims)
        return (moved, None) if returned else moved
    average, shape = y[0] if returned else y, np.shape(a)
    w = weights_of(np.asarray(weights), shape, axis).astype(average.dtype)
    total = np.sum(np.broadcast_to(w, shape), axis, keepdims=True)
    moved, total_dot = 0.0 if a_dot is None else w * a_dot, None
    if weights_dot is not None:
        w_dot = weights_of(weights_dot, shape, axis)
        moved = moved + w_dot * (a - np.sum(w * a, axis, keepdims=True) / total)
        total_dot = np.sum(np.broadcast_to(w_dot, shape), axis, keepdims=keepdims)
    moved = np.sum(moved / total, axis, keepdims=keepdims)
    return (moved, total_dot) if returned else moved


def normalized(axis: Any, ndim: int) -> tuple[int, ...]:
    """Return one or several axes as a tuple of numbers from 0 on."""
    return tuple(int(i) % ndim for i in (axis if isinstance(axis, tuple) else (axis,)))


def weights_of(w: Any, shape: tuple[int, ...], axis: Any) -> Any:
    """Reshape weights, whose axes are in the order of `axis`, so that they broadcast to `shape`."""
    if np.ndim(w) == len(shape):
        return w
    if isinstance(axis, int):
        return np.expand_dims(w, [i for i in range(len(shape)) if i != axis % len(shape)])
    axes = normalized(axis, len(shape))
    return np.reshape(
        np.transpose(w, np.argsort(axes)),
        [n if i in axes else 1 for i, n in enumerate(shape)],
    )


linear_frule(np.sum, np.mean, *methods("sum", "mean"), positional=2)

# ---- products ------------------------------------------------------------------------------------


def cast(a: Any, dtype: Any) -> Any:
    """Convert an array to the dtype that NumPy computes in, which may be real for complex `a`."""
    return np.asarray(a).astype(dtype, copy=False)


def merged_rows(a: Any, axis: Any) -> tuple[Any, Any]:
    """Return `a` with the reduced axes merged into the last axis, and the inverse function."""
    ndim = np.ndim(a)
    axes = tuple(range(ndim)) if axis is None or not ndim else normalized(axis, ndim)
    last = tuple(range(ndim - len(axes), ndim))
    moved = np.moveaxis(a, axes, last)
    kept = moved.shape[: ndim - len(axes)]
    rows = np.reshape(moved, (*kept, math.prod(moved.shape[len(kept) :])))
    return rows, lambda bar: np.moveaxis(np.reshape(bar, moved.shape), last, axes)


def others(rows: Any) -> Any:
    """Return the products of all other elements along the last axis, without divisions."""
    result = np.ones_like(rows)
    np.cumprod(rows[..., :-1], axis=-1, out=result[..., 1:])
    result[..., :-1] *= np.cumprod(rows[..., :0:-1], axis=-1)[..., ::-1]
    return result


UNIT = 1
SAFE = 1e290
"""Numbers between 1 / SAFE and SAFE, and their quotients, have full precision."""


def _quotients(y_bar: Any, y: Any, a: Any, axis: Any, keepdims: bool) -> Any:
    """Return the cotangents of the factors and the sum of those of an initial factor 1, by
    division; None where division loses precision."""
    if type(a) is not np.ndarray or a.dtype is not FLOAT64 or not is_constant(a):
        return None  # second derivatives would lose all digits beside small factors
    if type(y) is np.float64 and type(y_bar) in REALS:
        number = float(y_bar) * float(y)
        if not (_is_regular(y) and (_is_regular(number) or y_bar == 0)):
            return None
        return number / a, number
    if getattr(y, "dtype", None) != FLOAT64 or getattr(y_bar, "dtype", None) != FLOAT64:
        return None
    share = y_bar * y
    if not np.all(_is_regular(y) & (_is_regular(share) | np.equal(y_bar, 0))):
        return None
    return restore(share, axis, keepdims, np.ndim(a)) / a, np.sum(share)


def _is_regular(x: Any) -> Any:
    size = abs(x)
    return (size > 1 / SAFE) & (size < SAFE)


@array_rule(np.prod, *methods("prod"), operands="a initial")
def _(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    if out is not None:
        return NotImplemented
    y = multiply_reduce(a, axis, dtype, None, keepdims, initial, where)
    if severed(y, a, initial):
        return y, constant_back

    def prod_back(y_bar):
        if initial is UNIT and where is True:
            bars = _quotients(y_bar, y, a, axis, keepdims)
            if bars is not None:
                return None, *bars
        factors = cast(a if where is True else np.where(where, a, 1), cotangent_dtype(y))
        rows, undo = merged_rows(factors, axis)
        product = np.multiply.reduce(factors, axis, keepdims=keepdims)
        a_bar = restore(y_bar * conj(initial), axis, keepdims, np.ndim(a)) * conj(
            undo(others(rows))
        )
        return None, masked(a_bar, where), np.sum(y_bar * conj(product))

    return y, prod_back


# ---- extrema: ties share equally -----------------------------------------------------------------


def _extremum(names: tuple[Any, ...], f: Any, reduce: Any) -> None:
    @array_rule(*names, operands="a initial", exact=True)
    def _(a, axis=None, out=None, keepdims=False, initial=NONE, where=True):
        if out is not None:
            return NotImplemented
        y = reduce(a, axis, None, None, keepdims, **given(initial=initial), where=where)
        return y, extremum_back(a, y, axis, keepdims, initial, where)


def extremum_back(
    a: Any, y: Any, axis: Any, keepdims: bool, initial: Any = NONE, where: Any = True
) -> Any:
    """Return the pullback of a maximum or minimum; tied elements share the cotangent equally."""
    if y.dtype.kind not in "fc" and severed(y, a, 0 if initial is NONE else initial):
        return constant_back

    ndim = np.ndim(a)

    def back(y_bar):
        full = restore(y, axis, keepdims, ndim)
        hits = a == full
        if axis is None and initial is NONE and where is True and (count := np.count_nonzero(hits)):
            return None, project(_share_at(hits, y_bar / count), a)
        if initial is NONE and where is True and np.count_nonzero(hits) == y.size:
            # One per result, unless one is NaN.
            if finite(y) or np.all(np.equal(y, y)):
                return None, project(_share_at(hits, restore(y_bar, axis, keepdims, ndim)), a)
        hits |= a != a  # where one is NaN, so is the result
        if where is not True:
            hits &= np.asarray(where, bool)  # NumPy takes lists of integers too
        count = np.maximum(np.sum(hits, axis, keepdims=True), 0 if initial is not NONE else 1)
        if initial is NONE:
            share = restore(y_bar, axis, keepdims, ndim) / count
            return None, project(_share_at(hits, share), a)
        first = np.asarray(initial).astype(y.dtype) == full
        share = restore(y_bar, axis, keepdims, ndim) / (count + first)
        return None, project(_share_at(hits, share), a), np.sum(_share_at(first, share))

    return back


def _share_at(hits: Any, share: Any) -> Any:
    """Return the share at the hits; a product would make NaN of 0 times infinity."""
    return held(hits, share) if finite(share) else np.where(hits, share, 0)


_extremum((np.max, np.amax, *methods("max")), np.max, np.maximum.reduce)
_extremum((np.min, np.amin, *methods("min")), np.min, np.minimum.reduce)


# Arrays of NumPy 2 still have the attribute, which raises.
ptp_methods: Any = methods("ptp") if np.__version__ < "2" else ()


@array_rule(np.ptp, *ptp_methods)
def _(a, axis=None, out=None, keepdims=False):
    if out is not None:
        return NotImplemented
    high = extremum_back(a, np.max(a, axis, keepdims=keepdims), axis, keepdims)
    low = extremum_back(a, np.min(a, axis, keepdims=keepdims), axis, keepdims)
    return np.ptp(a, axis, keepdims=keepdims), lambda y_bar: (None, high(y_bar)[1] - low(y_bar)[1])


reduction_frule(np.prod, np.var, np.std, *methods("prod", "var", "std"))
reduction_frule(
    np.max, np.min, np.amax, np.amin, np.ptp, *methods("max", "min"), *ptp_methods, selects=True
)
