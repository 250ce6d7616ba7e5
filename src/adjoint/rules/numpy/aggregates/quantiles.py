"""Rules of medians, percentiles and quantiles, with and without NaN.

A quantile is a mean of the two elements beside its *level*, a place in the order of the elements.
Elements that are equal share the cotangent of their place equally, as those of a maximum do.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint.rulekit.elementwise_forward import contributions, like_result
from adjoint.rulekit.registry import frule
from adjoint.rulekit.tangents import steady_in
from adjoint.rules.numpy.aggregates.reductions import merged_rows
from adjoint.rules.numpy.operands import array_rule, cotangent_dtype, dense

MOVING = {
    "linear": (-1.0, 1.0),
    "interpolated_inverted_cdf": (0.0, 0.0),
    "hazen": (0.0, 1 / 2),
    "weibull": (1.0, 0.0),
    "median_unbiased": (1 / 3, 1 / 3),
    "normal_unbiased": (1 / 4, 3 / 8),
}
"""Methods whose level moves with the probability: it is (n + first) q + second - 1.

References
----------
Hyndman & Fan, *Sample Quantiles in Statistical Packages*, The American Statistician 50 (1996).
"""
PICKING = {"lower", "higher", "nearest", "inverted_cdf", "closest_observation"}
"""Methods whose result is an element. The other step functions take the mean of two."""


quantile: Any = np.quantile


class _Quantiles:
    """The elements, and their weights, of which quantiles over an axis are means.

    The reduced axes are merged into the last axis, those of the probabilities into the first.
    """

    def __init__(self, a: Any, y: Any, q: Any, axis: Any, method: str, skip: bool) -> None:
        rows, self._undo = merged_rows(np.asarray(a), axis)
        if rows.dtype.kind == "b":  # booleans cannot be subtracted
            rows = rows.astype(np.float64)
        self._rows, self._q, self._method = rows, np.ravel(q), method
        shape = (self._q.size, *rows.shape[:-1], 1)
        if not rows.size:
            self._low = self._high = self._above = self._rise = np.zeros(shape)
        elif method in PICKING:
            self._low = self._high = np.reshape(y, shape)
            self._above = self._rise = np.zeros(shape)
        else:
            self._between(shape, skip)

    def _between(self, shape: tuple[int, ...], skip: bool) -> None:
        if skip:
            n = np.maximum(np.sum(~np.isnan(self._rows), -1), 1)
        else:
            n = np.full((1,) * (self._rows.ndim - 1), self._rows.shape[-1])
        levels, rise = _levels(self._q, n, self._method)
        low = np.clip(np.floor(levels), 0, np.maximum(n - 2, 0)).astype(int)
        high = np.minimum(low + 1, n - 1)
        self._above = np.broadcast_to((levels - low)[..., None], shape)
        self._rise = np.broadcast_to(rise[..., None], shape)
        if skip:
            ordered = np.sort(self._rows, -1)  # NaN comes last
            whole = np.broadcast_to(ordered, (*shape[:-1], ordered.shape[-1]))
            low, high = (np.broadcast_to(place[..., None], shape) for place in (low, high))
            self._low = np.take_along_axis(whole, low, -1)
            self._high = np.take_along_axis(whole, high, -1)
        else:
            places = np.unique(np.stack([low, high]))
            ordered = np.moveaxis(np.partition(self._rows, places, -1), -1, 0)
            self._low, self._high = (ordered[place.ravel(), ..., None] for place in (low, high))

    def parts(self) -> Iterator[Any]:
        """Yield the slope of the quantile in each element, for each probability."""
        for low, high, above in zip(self._low, self._high, self._above, strict=True):
            share = self._share(low)
            yield share + above * (self._share(high) - share) if above.any() else share

    def _share(self, value: Any) -> Any:
        hits = self._rows == value
        return hits / np.maximum(np.sum(hits, -1, keepdims=True), 1)

    def back(self, y_bar: Any) -> tuple[Any, Any]:
        """Return the cotangents of the array and of the probabilities."""
        parts = np.reshape(y_bar, self._low.shape)
        rows_bar = np.zeros(self._rows.shape, cotangent_dtype(y_bar))
        for part, share in zip(parts, self.parts(), strict=True):
            rows_bar += part * share
        slopes = np.conj(self._high - self._low) * self._rise
        return self._undo(rows_bar), np.sum(parts * slopes, tuple(range(1, parts.ndim)))

    def forward(self, a_dot: Any, q_dot: Any, axis: Any) -> Any:
        """Return the tangents, one row per probability."""
        moved = (self._high - self._low)[..., 0] * self._rise[..., 0]
        q_dot = np.reshape(q_dot, (-1,) + (1,) * (moved.ndim - 1))
        rows_dot, _ = merged_rows(np.asarray(a_dot), axis)
        shared = [np.sum(contributions(share, rows_dot, True), -1) for share in self.parts()]
        return np.reshape(shared, moved.shape) + moved * q_dot


def _levels(q: Any, n: Any, method: str) -> tuple[Any, Any]:
    """Return the levels of probabilities among `n` elements of each row, and their slopes."""
    q = np.reshape(q, (-1,) + (1,) * n.ndim)
    if method in MOVING:
        spread, start = MOVING[method]
        levels = q * (n + spread) + start - 1
        rise = np.where((levels < 0) | (levels > n - 1), 0, n + spread)
        return np.clip(levels, 0, n - 1), rise
    levels = np.empty(np.broadcast_shapes(q.shape, n.shape))
    for count in np.unique(n).tolist():
        of_count = quantile(np.arange(float(count)), np.ravel(q), method=method)
        np.copyto(levels, np.reshape(of_count, q.shape), where=n == count)
    return levels, np.zeros(levels.shape)


def mixes(a: Any, q: Any, axis: Any) -> bool:
    """Return whether NumPy's functions that ignore NaN misplace the axes of `q` or, for an empty
    array, drop them."""
    if not np.size(a):
        return np.ndim(q) > 0 and np.size(np.sum(a, axis)) > 0
    return np.ndim(q) > 1 and isinstance(axis, tuple)


def _quantile(f: Any, scale: float, skip: bool) -> None:
    def prepared(a, q, axis, method, keepdims, weights):
        named = {} if weights is None else {"weights": weights}
        y = f(a, q, axis, method=method, keepdims=keepdims, **named)
        return y, _Quantiles(a, y, np.divide(q, scale), axis, method, skip)

    steady_in(f)  # in the elements, at a given fraction

    @array_rule(f, operands="a q weights")
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
        if out is not None or overwrite_input or (skip and mixes(a, q, axis)):
            return NotImplemented
        y, quantiles = prepared(a, q, axis, method, keepdims, weights)

        def quantile_back(y_bar):
            a_bar, q_bar = quantiles.back(y_bar)
            return None, a_bar, np.reshape(q_bar / scale, np.shape(q))

        return y, quantile_back

    @frule.register(f)
    def _(
        dots,
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
        if out is not None or overwrite_input or (skip and mixes(a, q, axis)):
            return NotImplemented
        y, quantiles = prepared(a, q, axis, method, keepdims, weights)
        a_dot, q_dot = (*dots, None, None)[:2]
        y_dot = quantiles.forward(dense(a_dot, a), np.divide(dense(q_dot, q), scale), axis)
        return y, like_result(np.reshape(y_dot, np.shape(y))[()], y)


def _median(f: Any, skip: bool) -> None:
    steady_in(f)

    @array_rule(f)
    def _(a, axis=None, out=None, overwrite_input=False, keepdims=False):
        if out is not None or overwrite_input:
            return NotImplemented
        y = f(a, axis, keepdims=keepdims)
        quantiles = _Quantiles(a, y, 0.5, axis, "linear", skip)
        return y, lambda y_bar: (None, quantiles.back(y_bar)[0])

    @frule.register(f)
    def _(dots, a, axis=None, out=None, overwrite_input=False, keepdims=False):
        if out is not None or overwrite_input:
            return NotImplemented
        y = f(a, axis, keepdims=keepdims)
        y_dot = _Quantiles(a, y, 0.5, axis, "linear", skip).forward(dense(dots[0], a), 0.0, axis)
        return y, like_result(np.reshape(y_dot, np.shape(y))[()], y)


for _f, _scale in ((np.quantile, 1.0), (np.percentile, 100.0)):
    _quantile(_f, _scale, False)
for _f, _scale in ((np.nanquantile, 1.0), (np.nanpercentile, 100.0)):
    _quantile(_f, _scale, True)
_median(np.median, False)
_median(np.nanmedian, True)
