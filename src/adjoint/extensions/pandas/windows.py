"""Rules of moving windows of pandas: medians, moments, decaying weights, user functions.

The values are those of pandas; the equivalents here follow its algorithms step by step.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.extensions.pandas.groups import middle, peaked, skewed, sums, tolerances
from adjoint.rulekit.registry import non_differentiable, plain, substitute
from adjoint.rules.numpy.aggregates.grouped_sums import totals
from adjoint.rules.scipy.equivalents import with_derivative_of


def register(windows: Any, algos: Any) -> None:
    for module, twins in ((windows, OF_WINDOWS), (algos, OF_ALGOS)):
        for name, twin in twins.items():
            if hasattr(module, name):  # missing in older versions of pandas
                _follow(getattr(module, name), twin)
    for f in (windows.roll_max, windows.roll_min):
        _follow(f, _extreme(f))
    substitute(windows.roll_apply)(_applied)
    substitute(algos.ensure_float64)(_as_floats)
    for f in (algos.rank_1d, algos.rank_2d, windows.roll_rank, algos.nancorr_spearman):
        non_differentiable(f)  # ranks are locally constant
    if hasattr(windows, "roll_nunique"):
        non_differentiable(windows.roll_nunique)


def _follow(f: Any, twin: Any) -> None:
    """Give `f` the derivative of `twin`, which has the same parameters."""

    @non_differentiable
    def plain(*args: Any, **kwargs: Any) -> Any:
        return np.asarray(f(*args, **kwargs))

    @substitute(f)
    def followed(*args, **kwargs):
        y = plain(*args, **kwargs)
        carrier = np.where(np.isfinite(y), twin(*args, **kwargs), y)
        found = with_derivative_of(y, carrier, f, *tolerances(y, f))
        return found if y.ndim else found.item()


# ---- order statistics ----------------------------------------------------------------------------


@non_differentiable
def _between(values: Any, start: Any, end: Any, quantile: float, interpolation: Any) -> Any:
    """Return the two elements that a quantile lies between in each window, and its distance. The
    distance is from the first element. For a window without numbers the elements are arbitrary."""
    low, high, far = (np.zeros(len(start), kind) for kind in (int, int, float))
    for i, (s, e) in enumerate(zip(start, end, strict=True)):
        window = values[s:e]
        order = np.argsort(window, kind="stable")[: np.count_nonzero(~np.isnan(window))]
        if len(order):
            at = quantile * (len(order) - 1)
            below = int(at)
            above = min(below + 1, len(order) - 1)
            low[i], high[i] = s + order[below], s + order[above]
            far[i] = INTERPOLATIONS[interpolation](at - below, below)
    return low, high, far


def _nearest(far: float, below: int) -> float:
    return float(below % 2 if far == 0.5 else far > 0.5)


INTERPOLATIONS: dict[Any, Any] = {
    "linear": lambda far, _: far,
    "lower": lambda far, _: 0.0,
    "higher": lambda far, _: float(far > 0),
    "midpoint": lambda far, _: 0.5 * (far > 0),
    "nearest": _nearest,
}


def _rolled_quantile(values, start, end, minp, quantile, interpolation):
    low, high, far = _between(values, start, end, quantile, interpolation)
    return values[low] * (1 - far) + values[high] * far


def rolled_median(values: Any, start: Any, end: Any, minp: Any) -> Any:
    return _rolled_quantile(values, start, end, minp, 0.5, "linear")


@non_differentiable
def where_equal(values: Any, extremes: Any, start: Any, end: Any) -> Any:
    """Return elements that equal the extreme of a window, the windows, and the counts per
    window."""
    elements: list[int] = []
    places: list[int] = []
    for i, (s, e) in enumerate(zip(start, end, strict=True)):
        found = s + np.flatnonzero(values[s:e] == extremes[i])
        elements += found.tolist()
        places += [i] * len(found)
    place = np.array(places, int)
    return np.array(elements, int), place, np.bincount(place, minlength=1)[place]


def _extreme(f: Any) -> Any:
    run = plain(f)

    def extreme(values, start, end, minp):
        y = run(values, start, end, minp)
        elements, place, several = where_equal(values, y, start, end)
        return totals(values[elements] / several, place, len(y))

    return extreme


@non_differentiable
def _known_in(values: Any, start: Any, end: Any, step: int) -> Any:
    """Return the first number of each window, or the last one for a `step` of -1. For a window
    without numbers the element is arbitrary."""
    known = np.append(np.flatnonzero(~np.isnan(values)), 0)
    at = np.searchsorted(known[:-1], start if step == 1 else end)
    return known[at if step == 1 else np.maximum(at - 1, 0)]


def _first(values, start, end, minp):
    return values[_known_in(values, start, end, 1)]


def _last(values, start, end, minp):
    return values[_known_in(values, start, end, -1)]


# ---- moments -------------------------------------------------------------------------------------


def _moments(values, start, end, order):
    """Return per window the count of numbers, and central moments of orders 2 and `order`."""
    there = ~np.isnan(values)
    known = there.astype(float)
    x = np.where(there, values, 0.0)
    x = np.where(there, x - middle(x, known), 0.0)
    n = np.maximum(sums(known, start, end), 1.0)
    a, b, c = (sums(x**k, start, end) / n for k in (1, 2, 3))
    variance = b - a * a
    third = c - a**3 - 3 * a * variance
    if order == 3:
        return n, variance, third
    return n, variance, sums(x**4, start, end) / n - a**4 - 6 * variance * a * a - 4 * third * a


def _rolled_skew(values, start, end, minp):
    return skewed(*_moments(values, start, end, 3))


def _rolled_kurtosis(values, start, end, minp):
    return peaked(*_moments(values, start, end, 4))


def _products(x, y, start, end):
    """Return per window the count of pairs of numbers, and sums of squares and products. These are
    sums of deviations from the means."""
    there = ~(np.isnan(x) | np.isnan(y))
    known = there.astype(float)
    n = np.maximum(sums(known, start, end), 1.0)
    x, y = np.where(there, x, 0.0), np.where(there, y, 0.0)
    x = np.where(there, x - middle(x, known), 0.0)
    y = np.where(there, y - middle(y, known), 0.0)
    of_x, of_y = sums(x, start, end), sums(y, start, end)
    return (
        n,
        sums(x * x, start, end) - of_x * of_x / n,
        sums(y * y, start, end) - of_y * of_y / n,
        sums(x * y, start, end) - of_x * of_y / n,
    )


def _rolled_covariance(x, y, start, end, minp, ddof=1):
    n, _, _, both = _products(x, y, start, end)
    return both / np.maximum(n - ddof, 1.0)


def _rolled_correlation(x, y, start, end, minp):
    _, of_x, of_y, both = _products(x, y, start, end)
    squares = of_x * of_y
    vary = squares > 0
    return np.where(vary, both / np.sqrt(np.where(vary, squares, 1.0)), 0.0)


def _means(values, mask, axis, power):
    """Return the count of elements that are not masked, and means of two powers of deviations."""
    counted = ~np.isnan(values)
    if mask is not None:
        counted &= ~np.asarray(mask, bool)
    n = np.maximum(np.sum(counted, axis=axis, keepdims=True), 1)
    x = np.where(counted, values, 0.0)
    gaps = np.where(counted, x - np.sum(x, axis=axis, keepdims=True) / n, 0.0)
    second, other = (np.sum(gaps**k, axis=axis, keepdims=True) / n for k in (2, power))
    return n, second, other


def _skew(values, skipna, mask, axis=None):
    return np.squeeze(skewed(*_means(values, mask, axis, 3)), axis)


def _kurtosis(values, skipna, mask, axis=None):
    return np.squeeze(peaked(*_means(values, mask, axis, 4)), axis)


def _skew_along(values, axis, skipna, mask):
    return _skew(values, skipna, mask, axis)


def _kurtosis_along(values, axis, skipna, mask):
    return _kurtosis(values, skipna, mask, axis)


# ---- weights that fall off -----------------------------------------------------------------------


def _fading_mean(vals, start, end, minp, com, adjust, ignore_na, deltas=None, normalize=True):
    alpha = 1.0 / (1.0 + com)
    fade, new = 1.0 - alpha, 1.0 if adjust else alpha
    y = []
    for s, e in zip(start, end):  # noqa: B905 (it is lowered)
        mean, old = vals[s], 1.0
        y.append(mean)
        for j in range(s + 1, e):
            x = vals[j]
            if mean == mean:
                if x == x or not ignore_na:
                    if normalize:
                        old = old * (fade if deltas is None else fade ** deltas[j - 1])
                        if not adjust and com == 1:  # unevenly spaced times
                            new = 1.0 - old
                    else:
                        mean = fade * mean
                    if x == x:
                        if normalize:
                            mean = (old * mean + new * x) / (old + new)
                            old = old + new if adjust else 1.0
                        else:
                            mean = mean + x
            else:
                mean = x
            y.append(mean)
    return np.array(y)


def _fading_covariance(input_x, start, end, minp, input_y, com, adjust, ignore_na, bias):
    alpha = 1.0 / (1.0 + com)
    fade, new = 1.0 - alpha, 1.0 if adjust else alpha
    y = []
    for s, e in zip(start, end):  # noqa: B905 (it is lowered)
        mean_a = mean_b = np.nan
        covariance, total, squares, old = 0.0, 1.0, 1.0, 1.0
        for j in range(s, e):
            a, b = input_x[j], input_y[j]
            there = a == a and b == b
            if mean_a == mean_a:
                if there or not ignore_na:
                    total, squares, old = total * fade, squares * fade * fade, old * fade
                    if there:
                        before_a, before_b, whole = mean_a, mean_b, old + new
                        mean_a = (old * before_a + new * a) / whole
                        mean_b = (old * before_b + new * b) / whole
                        moved = covariance + (before_a - mean_a) * (before_b - mean_b)
                        covariance = (old * moved + new * (a - mean_a) * (b - mean_b)) / whole
                        total, squares, old = total + new, squares + new * new, whole
                        if not adjust:
                            total, squares, old = total / old, squares / (old * old), 1.0
            elif there:
                mean_a, mean_b = a, b
            free = total * total - squares
            if bias or mean_a != mean_a:
                y.append(covariance)
            else:
                y.append(total * total / free * covariance if free > 0 else 0.0)
    return np.array(y)


def _as_floats(arr):
    if isinstance(arr, np.ndarray) and arr.dtype == np.float64:
        return arr
    return np.array(arr, np.float64)


# ---- weights within windows ----------------------------------------------------------------------


def _windows(values, n):
    """Return for each element itself and those before it; NaN stands before the first."""
    before = np.full(n - 1, np.nan)
    return np.lib.stride_tricks.sliding_window_view(np.concatenate([before, values]), n)


def _weighted_sum(values, weights, minp):
    return np.nansum(_windows(values, len(weights)) * weights, -1)


def _weighted_mean(values, weights, minp):
    there = ~np.isnan(_windows(values, len(weights)))
    total = np.sum(there * weights, -1)
    return _weighted_sum(values, weights, minp) / np.where(total == 0, 1.0, total)


def _weighted_variance(values, weights, minp, ddof):
    """Return the variance with pandas' conventions. A weight belongs to an element, whichever the
    window; the size of a window is that of a full one."""
    n, x = len(weights), _windows(values, len(weights))
    w = _windows(weights[np.arange(len(values)) % n], n)
    there = ~np.isnan(x)
    w = np.where(there, w, 0.0)
    total = np.sum(w, -1)
    total = np.where(total == 0, 1.0, total)
    mean = np.sum(w * np.where(there, x, 0.0), -1) / total
    gaps = np.where(there, x - mean[:, None], 0.0)
    return np.sum(w * gaps * gaps, -1) * n / (max(n - ddof, 1) * total)


# ---- user functions ------------------------------------------------------------------------------


@non_differentiable
def _has_enough(obj: Any, start: Any, end: Any, minp: int) -> Any:
    known = np.isfinite(np.asarray(obj, float)).astype(float)
    return sums(known, start, end) >= max(minp, 0)


def _applied(obj, start, end, minp, function, raw, args, kwargs):
    y = []
    array = np.asarray(obj)
    enough = _has_enough(array, start, end, minp)
    for i, (s, e) in enumerate(zip(start, end)):  # noqa: B905 (it is lowered)
        if not enough[i]:
            y.append(np.nan)
        elif raw:
            y.append(function(array[s:e], *args, **kwargs))
        else:
            y.append(function(obj.iloc[s:e], *args, **kwargs))
    return np.array(y, dtype=float)


OF_WINDOWS: dict[Any, Any] = {
    "roll_median_c": rolled_median,
    "roll_quantile": _rolled_quantile,
    "roll_first": _first,
    "roll_last": _last,
    "roll_cov": _rolled_covariance,
    "roll_corr": _rolled_correlation,
    "roll_skew": _rolled_skew,
    "roll_kurt": _rolled_kurtosis,
    "ewm": _fading_mean,
    "ewmcov": _fading_covariance,
    "roll_weighted_sum": _weighted_sum,
    "roll_weighted_mean": _weighted_mean,
    "roll_weighted_var": _weighted_variance,
}
OF_ALGOS: dict[Any, Any] = {
    "scalar_skew": _skew,
    "scalar_kurt": _kurtosis,
    "axis_skew": _skew_along,
    "axis_kurt": _kurtosis_along,
}
