"""Rules of NumPy's running sums and products, and of differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.partials import is_constant
from adjoint.rulekit.projection import unbroadcast
from adjoint.rules.numpy.aggregates.reductions import cast, constant_back
from adjoint.rules.numpy.forward_rules import array_frule, linear_frule
from adjoint.rules.numpy.operands import (
    array_rule,
    cotangent_dtype,
    dense,
    methods,
    severed,
)


def reversed_cumsum(bar: Any, axis: int) -> Any:
    """Sum from each element to the end, the transpose of `np.cumsum`."""
    if bar.ndim == 1:
        return np.cumsum(bar[::-1])[::-1]
    return np.flip(np.cumsum(np.flip(bar, axis), axis), axis)


def _cumsum(f: Any, *also: Any, skips: bool) -> None:
    """Register a running sum; `skips` tells whether NaN are left out."""

    @array_rule(f, *also)
    def _(a, axis=None, dtype=None, out=None):
        if out is not None:
            return NotImplemented
        y = f(a, axis, dtype)
        if severed(y, a):
            return y, constant_back
        there = ~np.isnan(a) if skips else None
        shape, along = np.shape(a), 0 if axis is None else axis

        def cumsum_back(y_bar):
            bar = reversed_cumsum(y_bar, along)
            bar = bar if y_bar.shape == shape else np.reshape(bar, shape)
            return None, bar if there is None else bar * there

        return y, cumsum_back


_cumsum(np.cumsum, *methods("cumsum"), skips=False)
_cumsum(np.nancumsum, skips=True)
linear_frule(np.cumsum, *methods("cumsum"), positional=2)


@array_frule(np.nancumsum)
def _(dots, y, a, axis=None, dtype=None, out=None):
    return np.cumsum(np.where(np.isnan(a), 0, dots[0]), axis)


def cumprod_transpose(factors: Any, y: Any, y_bar: Any, axis: int) -> Any:
    """Return the cotangent of the factors of a running product ``y = cumprod(factors, axis)``."""
    divides = is_constant(factors)  # second derivatives would lose digits beside small factors
    factors, y = np.conj(factors), np.conj(y)
    if divides:
        with np.errstate(all="ignore"):
            plain = reversed_cumsum(y_bar * y, axis) / factors
        if np.all(y != 0) and np.all(np.isfinite(plain)):
            return plain
    # Division fails where a factor is zero or the product underflows. Without division: the product
    # of the factors before, times the recurrence tail[i] = y_bar[i] + factors[i + 1] * tail[i + 1].
    factors, tail = np.moveaxis(factors, axis, 0), np.moveaxis(np.array(y_bar), axis, 0)
    for i in range(len(tail) - 2, -1, -1):
        tail[i] += factors[i + 1] * tail[i + 1]
    tail[1:] *= np.moveaxis(y, axis, 0)[:-1]
    return np.moveaxis(tail, 0, axis)


def cumprod_tangent(factors: Any, dots: Any, axis: int) -> Any:
    """Return the tangent of ``cumprod(factors, axis)``, from those of the factors."""
    y = np.cumprod(factors, axis)
    if is_constant(factors):
        with np.errstate(all="ignore"):
            plain = y * np.cumsum(dots / factors, axis)
        if np.all(y != 0) and np.all(np.isfinite(plain)):
            return plain
    # the same recurrence without division: y[i]' = y[i - 1]' factors[i] + y[i - 1] factors[i]'
    rows, values = np.moveaxis(factors, axis, 0), np.moveaxis(y, axis, 0)
    moved = list(np.moveaxis(dots, axis, 0))
    for i in range(1, len(moved)):
        moved[i] = moved[i - 1] * rows[i] + values[i - 1] * moved[i]
    return np.moveaxis(np.stack(moved), 0, axis) if moved else dots


def _cumprod(f: Any, *keys: Any) -> None:
    @array_rule(f, *keys)
    def _(a, axis=None, dtype=None, out=None):
        if out is not None:
            return NotImplemented
        y = f(a, axis, dtype)
        if severed(y, a):
            return y, constant_back

        def cumprod_back(y_bar):
            there = True if f is np.cumprod else ~np.isnan(a)
            factors = cast(a if there is True else np.where(there, a, 1), cotangent_dtype(y))
            factors, along = (np.ravel(factors), 0) if axis is None else (factors, axis)
            return None, np.reshape(
                cumprod_transpose(factors, y, y_bar, along), np.shape(a)
            ) * there

        return y, cumprod_back

    @array_frule(f, *keys)
    def _(dots, y, a, axis=None, dtype=None, out=None):
        factors, a_dot = a, dots[0]
        if f is np.nancumprod:
            factors, a_dot = np.where(np.isnan(a), 1, a), np.where(np.isnan(a), 0, a_dot)
        factors = cast(factors, cotangent_dtype(y))
        if axis is None:
            return cumprod_tangent(np.ravel(factors), np.ravel(a_dot), 0)
        return cumprod_tangent(factors, a_dot, axis)


_cumprod(np.cumprod, *methods("cumprod"))
_cumprod(np.nancumprod)


def _cumulative(name: str, transpose: Any) -> None:
    """Register a function of the array standard, which may begin with the empty sum or product."""
    f = getattr(np, name, None)
    if f is None:
        return

    @array_rule(f, operands="x")
    def _(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
        if out is not None:
            return NotImplemented
        y = f(x, axis=axis, dtype=dtype, include_initial=include_initial)
        if severed(y, x):
            return y, constant_back
        along = 0 if axis is None else axis % max(np.ndim(x), 1)
        rest = (slice(None),) * along + (slice(int(include_initial), None),)
        return y, lambda y_bar: (
            None,
            np.reshape(transpose(np.atleast_1d(x), y[rest], y_bar[rest], along), np.shape(x)),
        )


def _cumulative_prod(x: Any, y: Any, y_bar: Any, axis: int) -> Any:
    return cumprod_transpose(cast(x, y.dtype), y, y_bar, axis)


if hasattr(np, "cumulative_prod"):

    @array_frule(np.cumulative_prod, operands="x")
    def _(dots, y, x, /, *, axis=None, dtype=None, out=None, include_initial=False):
        along = 0 if axis is None else axis % max(np.ndim(x), 1)
        moved = cumprod_tangent(np.atleast_1d(cast(x, y.dtype)), np.atleast_1d(dots[0]), along)
        if not include_initial:
            return moved
        return np.concatenate([np.zeros_like(np.take(y, [0], along)), moved], along)


_cumulative("cumulative_sum", lambda x, y, y_bar, axis: reversed_cumsum(y_bar, axis))
_cumulative("cumulative_prod", _cumulative_prod)
if hasattr(np, "cumulative_sum"):
    linear_frule(np.cumulative_sum)

# ---- differences ---------------------------------------------------------------------------------


def undiff(bar: Any, axis: int) -> Any:
    """Apply the transpose of ``np.diff(x, axis=axis)``."""
    shape = list(bar.shape)
    shape[axis] = 1
    edge = np.zeros(shape, bar.dtype)
    return -np.diff(bar, axis=axis, prepend=edge, append=edge)


@array_rule(np.diff, operands="a prepend append", alias=True)
def _(a, n=1, axis=-1, prepend=np._NoValue, append=np._NoValue):
    y = np.diff(a, n, axis, prepend, append)
    if n == 0:  # `a` itself, without prepend and append
        return y, lambda y_bar: (None, y_bar)
    if np.result_type(a).kind == "b":
        return NotImplemented
    shape, axis = np.shape(a), axis % np.ndim(a)
    ends = [_end(end, shape, axis) for end in (prepend, append)]
    length = shape[axis] + ends[0][axis] + ends[1][axis]

    def diff_back(y_bar):
        if n >= length:  # an empty result
            y_bar = np.zeros((*shape[:axis], length, *shape[axis + 1 :]), y_bar.dtype)
        else:
            for _ in range(n):
                y_bar = undiff(y_bar, axis)
        first, last = ends[0][axis], ends[0][axis] + shape[axis]
        a_bar, rest = y_bar[_slice(axis, first, last)], []
        for end, value, part in (
            (ends[0], prepend, _slice(axis, 0, first)),
            (ends[1], append, _slice(axis, last, None)),
        ):
            rest.append(
                None
                if value is np._NoValue
                else unbroadcast(y_bar[part], end if np.ndim(value) else (1,) * len(end)).reshape(
                    np.shape(value)
                )
            )
        return None, a_bar, *rest

    return y, diff_back


@array_frule(np.diff, operands="a prepend append", alias=True)
def _(dots, y, a, n=1, axis=-1, prepend=np._NoValue, append=np._NoValue):
    if n > 0 and np.result_type(a).kind == "b":
        return NotImplemented
    ends = [
        end if end is np._NoValue else dense(dot, end)
        for dot, end in zip(dots[1:], (prepend, append), strict=True)
    ]
    return np.diff(dense(dots[0], a), n, axis, *ends)


def _end(end: Any, shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    """Return the shape of `prepend` or `append`."""
    if end is np._NoValue:
        return (*shape[:axis], 0, *shape[axis + 1 :])
    return np.shape(end) if np.ndim(end) else (*shape[:axis], 1, *shape[axis + 1 :])


def _slice(axis: int, start: int | None, stop: int | None) -> tuple[slice, ...]:
    return (slice(None),) * axis + (slice(start, stop),)


@array_rule(np.ediff1d, operands="ary to_end to_begin")
def _(ary, to_end=None, to_begin=None):
    y = np.ediff1d(ary, to_end, to_begin)
    shape, first, last = (
        np.shape(ary),
        np.size(to_begin) * (to_begin is not None),
        np.size(to_end) * (to_end is not None),
    )

    def ediff1d_back(y_bar):
        middle = y_bar[first : len(y_bar) - last]
        ary_bar = np.reshape(undiff(middle, 0), shape) if np.size(ary) else np.zeros(shape)
        return (
            None,
            ary_bar,
            None if to_end is None else np.reshape(y_bar[len(y_bar) - last :], np.shape(to_end)),
            None if to_begin is None else np.reshape(y_bar[:first], np.shape(to_begin)),
        )

    return y, ediff1d_back


@array_frule(np.ediff1d, operands="ary to_end to_begin")
def _(dots, y, ary, to_end=None, to_begin=None):
    ary_dot, end, begin = dots
    return np.ediff1d(
        dense(ary_dot, ary),
        None if to_end is None else np.zeros(np.shape(to_end)) if end is None else end,
        None if to_begin is None else np.zeros(np.shape(to_begin)) if begin is None else begin,
    )


# ---- counting ------------------------------------------------------------------------------------


@array_rule(np.bincount, operands="x weights")
def _(x, /, weights=None, minlength=0):
    y = np.bincount(x, weights, minlength)
    return y, lambda y_bar: (None, None, None if weights is None else y_bar[np.asarray(x)])


@array_frule(np.bincount, operands="weights")
def _(dots, y, x, /, weights=None, minlength=0):
    if weights is None:  # counts are constants
        return np.zeros(y.shape)
    return np.bincount(x, dots[0], minlength)
