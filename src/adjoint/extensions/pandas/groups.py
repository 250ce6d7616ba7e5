"""Rules of compiled reductions of pandas: groups of rows, windows, differences of rows.

The values are those of pandas. The derivatives are those of sums over the entries that are in a
group, not masked and not NaN.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from adjoint.extensions.pandas.objects import numbers_among
from adjoint.rulekit.registry import frule, non_differentiable, plain, rrule, substitute
from adjoint.rules.numpy.aggregates.grouped_sums import totals
from adjoint.rules.scipy.equivalents import with_derivative_of


def register(groupby: Any, windows: Any, algos: Any) -> None:
    for name, twin in EQUIVALENTS.items():
        if not hasattr(groupby, name):
            continue  # missing in older versions of pandas
        _reducing(getattr(groupby, name), twin)
    for name, of_window in WINDOWS.items():
        _moving(getattr(windows, name), of_window)
    _differing(algos.diff_2d)
    _correlating(algos.nancorr)


# ---- groups --------------------------------------------------------------------------------------


def averages(x: Any, place: Any, size: Any) -> Any:
    return totals(x, place, size) / counts(place, size)


def counts(place: Any, size: int) -> Any:
    """Return the number of entries at each place, but at least 1."""
    return np.maximum(np.bincount(place, minlength=size), 1)


def squares(x: Any, place: Any, size: Any, ddof: Any) -> Any:
    gaps = x - averages(x, place, size)[place]
    free = np.bincount(place, minlength=size) - ddof
    return totals(gaps * gaps, place, size) / np.maximum(free, 1)


def _variance(x, place, size, found, ddof=1, name="var"):
    variance = squares(x, place, size, ddof)
    if name == "var":
        return variance
    root = np.sqrt(variance)
    return root / np.sqrt(counts(place, size)) if name == "sem" else root


def _product(x, place, size, found):
    product = np.ones(size, x.dtype)
    np.multiply.at(product, place, x)
    return product


def _best(x, place, size, found):
    """Return the extreme; equal entries share the derivative."""
    chosen = x == found[place]
    shares = x[chosen] / counts(place[chosen], size)[place[chosen]]
    return totals(shares, place[chosen], size)


def _first(x, place, size, found, rank=1):
    return _at(x, place, size, np.unique(place, return_index=True)[1])


def _last(x, place, size, found):
    behind = np.unique(place[::-1], return_index=True)[1]
    return _at(x, place, size, len(place) - 1 - behind)


def _first_high_low_last(x, place, size, found):
    """Return four results of each group of one column, side by side."""
    groups, (_, high, low, _) = size // 4, found.reshape(-1, 4).T
    each = (
        _first(x, place, groups, None),
        _best(x, place, groups, high),
        _best(x, place, groups, low),
        _last(x, place, groups, None),
    )
    return np.stack(each, 1).ravel()


def _at(x, place, size, chosen):
    found = np.zeros(size, x.dtype)
    found[place[chosen]] = x[chosen]
    return found


def skewed(n: Any, second: Any, third: Any) -> Any:
    """Return the skewness from the number of elements and central moments."""
    return _where_it_varies(second, third * np.sqrt(n * (n - 1)) / np.maximum(n - 2, 1), 1.5)


def peaked(n: Any, second: Any, fourth: Any) -> Any:
    """Return the unbiased excess kurtosis from the number of elements and central moments."""
    scaled = _where_it_varies(second, (n * n - 1) * fourth, 2)
    return (scaled - 3 * (n - 1) ** 2) / np.maximum((n - 2) * (n - 3), 1)


def _where_it_varies(variance, x, power):
    varies = variance > 0
    return np.where(varies, x / np.where(varies, variance, 1.0) ** power, 0.0)


def _skew(x, place, size, found):
    return _moment(x, place, size, 3, skewed)


def _kurtosis(x, place, size, found):
    return _moment(x, place, size, 4, peaked)


def _moment(x, place, size, power, from_means):
    gaps, n = x - averages(x, place, size)[place], counts(place, size)
    second, other = (totals(gaps**k, place, size) / n for k in (2, power))
    return from_means(n, second, other)


@non_differentiable
def _middles(x: Any, place: Any, size: int) -> Any:
    """Return the middle entries at each place, and how many of them there are."""
    order = np.lexsort((x, place))
    ends = np.searchsorted(place[order], np.arange(size + 1))
    n = np.diff(ends)[place[order]]
    rank = np.arange(len(x)) - ends[place[order]]
    chosen = order[(rank == (n - 1) // 2) | (rank == n // 2)]
    return chosen, counts(place[chosen], size)


def _median(x, place, size, found):
    chosen, several = _middles(x, place, size)
    return totals(x[chosen], place[chosen], size) / several


EQUIVALENTS: dict[Any, Any] = {
    "group_sum": lambda x, place, size, found: totals(x, place, size),
    "group_mean": lambda x, place, size, found: averages(x, place, size),
    "group_var": _variance,
    "group_prod": _product,
    "group_min": _best,
    "group_max": _best,
    "group_median_float64": _median,
    "group_skew": _skew,
    "group_kurt": _kurtosis,
    "group_nth": _first,
    "group_last": _last,
    "group_ohlc": _first_high_low_last,
}
OPTIONS = ("ddof", "name")


@non_differentiable
def written(f: Any, given: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """Return the results of a function, and its other outputs: numbers of entries, and the mask of
    missing results."""
    names = [name for name in ("out", "counts", "result_mask") if given.get(name) is not None]
    outputs = {name: np.array(given[name]) for name in names}
    f(**{**given, **outputs})
    return outputs.pop("out"), outputs


def write_others(given: Any, others: Any) -> Any:
    for name, values in others.items():
        given[name][...] = values


@non_differentiable
def entries(values: Any, labels: Any, mask: Any) -> tuple[Any, Any, Any]:
    """Return rows and columns of the entries that count, and the places of their results."""
    there = ~np.isnan(values) & (labels >= 0)[:, None]
    if mask is not None:
        there &= ~np.asarray(mask, bool)
    rows, columns = np.nonzero(there)
    return rows, columns, labels[rows] * values.shape[1] + columns


def _numbers_in(values):
    """Return numbers as an array, NaN for other objects; ``None`` if there are no floats."""
    if values.dtype.kind in "fc":
        return values
    plain = _as_floats(values)
    return None if plain is None else numbers_among(values, plain)


@non_differentiable
def _as_floats(values: Any) -> Any:
    if values.dtype.kind != "O" or not _are_floats(values).any():
        return None
    parts = [part if isinstance(part, _NUMBERS) else np.nan for part in values.flat]
    return np.array(parts, float).reshape(values.shape)


@non_differentiable
def _are_floats(values: Any) -> Any:
    return np.reshape([isinstance(part, float | np.floating) for part in values.flat], values.shape)


_NUMBERS = (float, int, np.floating, np.integer)


def _fill(out, found, numbers):
    """Write `found`, with the derivatives of the numbers equal to it."""
    if out.dtype.kind == "O":
        out[...] = found
        known = _are_floats(found)
        out[known] = numbers[known]
    else:
        out[...] = numbers


def _reducing(f: Any, twin: Any) -> None:
    names = list(inspect.signature(f).parameters)
    options = [name for name in OPTIONS if name in names]

    @substitute(f)
    def write(*args, **kwargs):
        given = {**dict(zip(names, args)), **kwargs}  # noqa: B905 (it is lowered)
        values, labels = given["values"], given["labels"]
        found, others = written(f, given)
        x, y = _numbers_in(values), _numbers_in(found)
        if x is not None and y is not None and given.get("rank", 1) == 1:
            rows, columns, place = entries(x, labels, given.get("mask"))
            chosen = {name: given[name] for name in options if name in given}
            carrier = twin(x[rows, columns], place, y.size, y.ravel(), **chosen)
            carrier = np.where(np.isnan(y), y, np.reshape(carrier, y.shape))
            _fill(given["out"], found, with_derivative_of(y, carrier, f, *tolerances(y, f)))
        else:
            given["out"][...] = found
        write_others(given, others)


@non_differentiable
def tolerances(y: Any, f: Any) -> tuple[float, float]:
    """Return tolerances for values of `f` that are computed in two ways."""
    slack = float(np.sqrt(np.finfo(y.dtype).eps))
    least = 1.0 if f.__name__.endswith(_WITHOUT_UNIT) else 0.0
    return slack, slack * float(np.max(np.abs(y), initial=least, where=np.isfinite(y)))


_WITHOUT_UNIT = ("skew", "kurt")
"""Endings of function names whose values are of order 1, or differences of such values."""


# ---- windows -------------------------------------------------------------------------------------


def sums(x: Any, start: Any, end: Any) -> Any:
    """Return the sums of elements from `start` to before `end`, one for each window."""
    before = np.concatenate([np.zeros(1), np.cumsum(x)])
    return before[np.maximum(start, end)] - before[start]


@rrule.register(sums)
def _(x, start, end):
    n = len(x)

    def sums_back(y_bar):
        change = np.zeros(n + 1)
        np.add.at(change, start, y_bar)
        np.add.at(change, np.maximum(start, end), -y_bar)
        return None, np.cumsum(change)[:n], None, None

    return sums(x, start, end), sums_back


@frule.register(sums)
def _(dots, x, start, end):
    return sums(x, start, end), None if dots[0] is None else sums(dots[0], start, end)


def _window_sum(x, there, start, end):
    return sums(x, start, end)


def _window_mean(x, there, start, end):
    return sums(x, start, end) / np.maximum(sums(there, start, end), 1)


def _window_variance(x, there, start, end, ddof=1):
    n = sums(there, start, end)
    x = np.where(there > 0, x - middle(x, there), 0.0)
    total = sums(x, start, end)
    return (sums(x * x, start, end) - total * total / np.maximum(n, 1)) / np.maximum(n - ddof, 1)


@non_differentiable
def middle(x: Any, there: Any) -> float:
    """Return a number near the elements, which makes differences from it accurate."""
    return float(np.sum(x) / max(np.sum(there), 1))


WINDOWS: dict[Any, Any] = {
    "roll_sum": _window_sum,
    "roll_mean": _window_mean,
    "roll_var": _window_variance,
}


def _moving(f: Any, of_window: Any) -> None:
    run = plain(f)

    @substitute(f)
    def moved(values, start, end, minp, *options, **named):
        y = run(values, start, end, minp, *options, **named)
        known = np.isfinite(values)
        carrier = of_window(
            np.where(known, values, 0.0), known.astype(float), start, end, *options, **named
        )
        carrier = np.where(np.isfinite(y), carrier, y)
        return with_derivative_of(y, carrier, f, *tolerances(y, f))


# ---- differences ---------------------------------------------------------------------------------


def _differing(diff: Any) -> None:
    @non_differentiable
    def differenced(arr: Any, out: Any, *options: Any) -> Any:
        out = np.array(out)
        diff(arr, out, *options)
        return out

    @substitute(diff)
    def differences(arr, out, periods, axis, datetimelike=False):
        if arr.dtype.kind not in "fc":
            out[...] = differenced(arr, out, periods, axis, datetimelike)
            return
        n = arr.shape[axis]
        periods = min(max(periods, -n), n)
        rows = [slice(None), slice(None)]
        later, earlier = list(rows), list(rows)
        later[axis] = slice(max(periods, 0), n + min(periods, 0))
        earlier[axis] = slice(max(-periods, 0), n - max(periods, 0))
        out[tuple(later)] = arr[tuple(later)] - arr[tuple(earlier)]


# ---- correlations --------------------------------------------------------------------------------


def _correlating(f: Any) -> None:
    """Register correlations of columns over the rows in which both are numbers."""

    run = plain(f)

    @non_differentiable
    def middles(mat: Any, there: Any) -> Any:
        return np.sum(mat, axis=0, where=there) / np.maximum(np.sum(there, axis=0), 1)

    @substitute(f)
    def correlations(mat, cov=False, minp=None):
        y = run(mat, cov, minp)
        there = np.isfinite(mat)
        x, known = np.where(there, mat - middles(mat, there), 0.0), there.astype(float)
        n = np.maximum(known.T @ known, 2)
        means = x.T @ known / n
        both = x.T @ x - n * means * means.T
        if cov:
            carrier = both / (n - 1)
        else:
            squares = (x * x).T @ known - n * means * means
            carrier = both / np.sqrt(squares * squares.T)
        return with_derivative_of(y, np.where(np.isfinite(y), carrier, y), f, *tolerances(y, f))
