"""Rules of `bottleneck`: reductions that skip NaN, and moving windows, in C.

The values are those of the package. The derivatives are those of NumPy functions of the elements
that are not NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from adjoint.extensions.pandas.windows import rolled_median, where_equal
from adjoint.rulekit.loading import registering
from adjoint.rulekit.registry import non_differentiable, primitive
from adjoint.rules.numpy.aggregates.grouped_sums import totals
from adjoint.rules.scipy.equivalents import with_derivative_of
from adjoint.runtime.dispatch.source_call import call_function

_CONSTANT = (
    "allnan anynan argpartition move_argmax move_argmin move_rank nanargmax nanargmin nanrankdata"
    " rankdata"
).split()


def _by_source(f: Any, by_source: Callable[..., Any]) -> None:
    """Run `by_source` in place of `f` for arrays of numbers."""

    @primitive(f)
    def run(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
        a = args[0] if args else kwargs.get("a")
        if isinstance(a, np.ndarray) and a.dtype.kind not in "biufc":
            return NotImplemented
        return call_function(record, slot, by_source, args, kwargs)


def _follow(f: Any, twin: Callable[..., Any]) -> None:
    """Give `f` the derivative of `twin`, which takes the value of `f` as its first argument."""

    @non_differentiable
    def plain(*args: Any, **kwargs: Any) -> Any:
        return np.asarray(f(*args, **kwargs))

    def followed(a, *args, **kwargs):
        y = plain(a, *args, **kwargs)
        x = np.asarray(a)
        if x.size:
            with np.errstate(all="ignore"):  # the C code does not warn
                carrier = twin(y, _widened(x), *args, **kwargs)
            y = with_derivative_of(y, carrier, f, *_tolerances(y, x, f))
        return y if y.ndim else y.item()

    _by_source(f, followed)


def _widened(x):
    return x.astype(np.result_type(x.dtype, float))


@non_differentiable
def _tolerances(y: Any, x: Any, f: Any) -> tuple[float, float]:
    """Return relative and absolute tolerances of a value that is computed in two ways. The absolute
    one scales with the operand, which also covers values near zero."""
    eps = float(np.finfo(y.dtype if y.dtype.kind in "fc" else float).eps)
    slack, size = float(np.sqrt(eps)), _largest(x)
    rounding = 16 * eps * size**2 if f.__name__.endswith("var") else 4 * slack * size
    return slack, slack * _largest(y) + rounding


def _largest(x: Any) -> float:
    return float(np.max(np.abs(x), initial=0.0, where=np.isfinite(x)))


# ---- reductions ----------------------------------------------------------------------------------


def _where_any(n, x):
    """Return `x`, and NaN where `n` is zero."""
    return np.where(n > 0, x, np.nan)


def _sum(y, x, axis=None):
    return np.nansum(x, axis)


def _squares(y, x, axis=None):
    return np.sum(x * x, axis)


def _mean(y, x, axis=None):
    n = np.sum(~np.isnan(x), axis)
    return _where_any(n, np.nansum(x, axis) / np.maximum(n, 1))


def _variance(y, x, axis=None, ddof=0):
    there = ~np.isnan(x)
    n = np.sum(there, axis, keepdims=True)
    mean = np.nansum(x, axis, keepdims=True) / np.maximum(n, 1)
    gaps = np.where(there, x - mean, 0.0)
    free = np.sum(there, axis) - ddof
    return _where_any(free, np.sum(gaps * gaps, axis) / np.maximum(free, 1))


def _deviation(y, x, axis=None, ddof=0):
    return _root(_variance(y, x, axis, ddof))


def _root(x):
    """Return the square root; at zero its derivative is zero, as in NumPy's standard deviation."""
    positive = x > 0
    return np.where(positive, np.sqrt(np.where(positive, x, 1.0)), _fixed(x))


@non_differentiable
def _fixed(x: Any) -> Any:
    return np.array(x)


def _extreme(y, x, axis=None):
    """Return the extreme; equal elements share the derivative."""
    chosen = x == (y if axis is None else np.expand_dims(y, axis))
    n = np.sum(chosen, axis)
    return _where_any(n, np.sum(np.where(chosen, x, 0.0), axis) / np.maximum(n, 1))


def _median(y, x, axis=None):
    return np.median(x, axis)


def _median_of_numbers(y, x, axis=None):
    there = np.any(~np.isnan(x), axis, keepdims=True)
    found = np.nanmedian(np.where(there, x, 0.0), axis)
    return _where_any(np.any(~np.isnan(x), axis), found)


# ---- windows -------------------------------------------------------------------------------------


def _counts(x, window, min_count):
    """Return the count of numbers in each window along the last axis, 0 if there are too few."""
    n = _window_sums((~np.isnan(x)).astype(float), window)
    return np.where(n >= (window if min_count is None else min_count), n, 0)


def _window_sums(x, window):
    sums = np.cumsum(x, -1)
    before = np.zeros(x.shape[:-1] + (window,), sums.dtype)
    return sums - np.concatenate([before, sums[..., :-window]], -1)


def _along(axis, of_windows, x, *settings):
    found = of_windows(np.moveaxis(x, axis, -1), *settings)
    return np.moveaxis(found, -1, axis)


def _sums(x, window, min_count):
    n = _counts(x, window, min_count)
    return _where_any(n, _window_sums(np.where(np.isnan(x), 0.0, x), window))


def _means(x, window, min_count):
    n = _counts(x, window, min_count)
    sums = _window_sums(np.where(np.isnan(x), 0.0, x), window)
    return _where_any(n, sums / np.maximum(n, 1))


def _variances(x, window, min_count, ddof):
    """Compute each window separately, because differences of sums lose all digits."""
    before = np.full(x.shape[:-1] + (window - 1,), np.nan)
    windows = np.lib.stride_tricks.sliding_window_view(np.concatenate([before, x], -1), window, -1)
    n = _counts(x, window, min_count)
    return _where_any(n, _variance(None, windows, -1, ddof))


def _deviations(x, window, min_count, ddof):
    return _root(_variances(x, window, min_count, ddof))


@non_differentiable
def _bounds(x: Any, window: int) -> tuple[Any, Any]:
    """Return the beginnings and ends of windows in lanes stored one after the other."""
    place, length = np.arange(x.size), x.shape[-1]
    return np.maximum(place - window + 1, place // length * length), place + 1


def _medians(x, window, min_count):
    start, end = _bounds(x, window)
    found = rolled_median(np.ravel(x), start, end, 1)
    return _where_any(_counts(x, window, min_count), np.reshape(found, x.shape))


def _extremes(x, y, window):
    start, end = _bounds(x, window)
    elements, place, several = where_equal(np.ravel(x), np.ravel(y), start, end)
    found = totals(np.ravel(x)[elements] / several, place, x.size)
    return np.where(np.isnan(y), y, np.reshape(found, x.shape))


def _moving(of_windows):
    def moving(y, x, window, min_count=None, axis=-1):
        return _along(axis, of_windows, x, window, min_count)

    return moving


def _moving_variance(of_windows):
    def moving(y, x, window, min_count=None, axis=-1, ddof=0):
        return _along(axis, of_windows, x, window, min_count, ddof)

    return moving


def _moving_extreme(y, x, window, min_count=None, axis=-1):
    return _along(axis, _extremes, x, np.moveaxis(y, axis, -1), window)


# ---- rearranged elements -------------------------------------------------------------------------


@non_differentiable
def _sources(x: Any, n: Any) -> Any:
    """Return the source of the element at each place along the last axis."""
    places = np.broadcast_to(np.arange(x.shape[-1]), x.shape)
    last = np.maximum.accumulate(np.where(np.isnan(x), -1, places), -1)
    near = (last >= 0) & (places - last <= (x.shape[-1] if n is None else n))
    return np.where(near, last, places)


def _pushed(y, x, n=None, axis=-1):
    lanes = np.moveaxis(x, axis, -1)
    return np.moveaxis(np.take_along_axis(lanes, _sources(lanes, n), -1), -1, axis)


def _partitioned(places, y, x, kth, axis=-1):
    order = places(x, kth, axis)
    return np.ravel(x)[order] if axis is None else np.take_along_axis(x, order, axis)


def _replacing(f: Any) -> None:
    @non_differentiable
    def plain(a: Any, old: Any, new: Any) -> Any:
        replaced = np.array(a) if isinstance(a, np.ndarray) else a
        f(replaced, old, new)
        return replaced

    def replace(a, old, new):
        plain(a, old, new)  # an error is raised before anything is written
        a[np.isnan(a) if old != old else a == old] = new

    _by_source(f, replace)


EQUIVALENTS: dict[str, Callable[..., Any]] = {
    "nansum": _sum,
    "ss": _squares,
    "nanmean": _mean,
    "nanvar": _variance,
    "nanstd": _deviation,
    "nanmin": _extreme,
    "nanmax": _extreme,
    "median": _median,
    "nanmedian": _median_of_numbers,
    "move_sum": _moving(_sums),
    "move_mean": _moving(_means),
    "move_var": _moving_variance(_variances),
    "move_std": _moving_variance(_deviations),
    "move_min": _moving_extreme,
    "move_max": _moving_extreme,
    "move_median": _moving(_medians),
    "push": _pushed,
}


@registering("bottleneck")
def _(bottleneck: Any) -> None:
    for name in _CONSTANT:
        non_differentiable(getattr(bottleneck, name))
    for name, twin in EQUIVALENTS.items():
        _follow(getattr(bottleneck, name), twin)
    _follow(bottleneck.partition, partial(_partitioned, bottleneck.argpartition))
    _replacing(bottleneck.replace)
