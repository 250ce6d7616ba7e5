"""Slopes of the distances of `scipy.spatial.distance`.

Most distances between points a and b depend only on u = a − b. A distance without a slope, such as
that of a point to itself, gets the slope 0; coordinates with equal differences share a slope.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Settings:
    """Parameters of a metric: weights of the coordinates, and the order. The weights are the
    variances for `seuclidean`, and the inverse covariances for `mahalanobis`."""

    w: Any
    p: float

    @property
    def weights(self) -> Any:
        return 1.0 if self.w is None else self.w


@dataclass(frozen=True, slots=True)
class Metric:
    """One distance, of rows of points `a` and `b`, with the distances `d` as a column.

    Attributes
    ----------
    first
        ``first(a, b, d, settings)`` returns the slopes in `a`, shaped like it. Distances are
        symmetric, so the slopes in `b` are those of d(b, a).
    weights
        Returns the slopes in the weights: a row or a matrix for each pair.
    order
        Returns the slopes in the order as a column.
    """

    first: Callable[[Any, Any, Any, Settings], Any]
    weights: Callable[[Any, Any, Any, Settings], Any] | None = None
    order: Callable[[Any, Any, Any, Settings], Any] | None = None


def over(x: Any, y: Any) -> Any:
    """Return x / y, and 0 where `y` is 0."""
    shape = np.broadcast_shapes(np.shape(x), np.shape(y))
    return np.divide(x, y, out=np.zeros(shape), where=np.not_equal(y, 0))


# ---- differences ---------------------------------------------------------------------------------


def _chebyshev(a: Any, b: Any, d: Any, s: Settings) -> Any:
    u = a - b
    largest = (np.abs(u) == d) & (u != 0)
    if s.w is not None:
        largest = largest & (s.w > 0)
    return over(np.sign(u) * largest, largest.sum(axis=-1, keepdims=True))


def _minkowski(a: Any, b: Any, d: Any, s: Settings) -> Any:
    u = a - b
    return s.weights * np.sign(u) * over(np.abs(u), d) ** (s.p - 1.0)


def _minkowski_weights(a: Any, b: Any, d: Any, s: Settings) -> Any:
    return over(np.abs(a - b), d) ** s.p * d / s.p


def _minkowski_order(a: Any, b: Any, d: Any, s: Settings) -> Any:
    """Return ∂d/∂p from ln d = ln(Σ w |u|ᵖ) / p."""
    parts = over(np.abs(a - b), d)
    logs = np.log(np.where(parts > 0, parts, 1.0))
    return d / s.p * np.sum(s.weights * parts**s.p * logs, axis=-1, keepdims=True)


def _seuclidean_weights(a: Any, b: Any, d: Any, s: Settings) -> Any:
    return -over((a - b) ** 2, 2.0 * d * s.w**2)


def _mahalanobis(a: Any, b: Any, d: Any, s: Settings) -> Any:
    return over((a - b) @ (s.w + s.w.T), 2.0 * d)


def _mahalanobis_weights(a: Any, b: Any, d: Any, s: Settings) -> Any:
    u = a - b
    return over(u[..., :, None] * u[..., None, :], 2.0 * d[..., None])


# ---- metrics of other functions of the points ----------------------------------------------------


def _canberra(a: Any, b: Any, d: Any, s: Settings) -> Any:
    size = np.abs(a) + np.abs(b)
    return s.weights * over(np.sign(a - b) * size - np.abs(a - b) * np.sign(a), size**2)


def _braycurtis(a: Any, b: Any, d: Any, s: Settings) -> Any:
    size = np.sum(s.weights * np.abs(a + b), axis=-1, keepdims=True)
    return s.weights * over(np.sign(a - b) - d * np.sign(a + b), size)


def _braycurtis_weights(a: Any, b: Any, d: Any, s: Settings) -> Any:
    size = np.sum(s.weights * np.abs(a + b), axis=-1, keepdims=True)
    return over(np.abs(a - b) - d * np.abs(a + b), size)


def _jensenshannon(a: Any, b: Any, d: Any, s: Settings) -> Any:
    """Return the slope from d² = (KL(p | m) + KL(q | m)) / 2, with the mean m of p and q."""
    total = np.sum(a, axis=-1, keepdims=True)
    p, q = a / total, b / np.sum(b, axis=-1, keepdims=True)
    p_bar = over(np.log(np.where(p > 0, over(2.0 * p, p + q), 1.0)), 4.0 * d)
    return (p_bar - np.sum(p_bar * p, axis=-1, keepdims=True)) / total


def _cosine(a: Any, b: Any, d: Any, s: Settings) -> Any:
    length = np.sqrt(np.sum(a * a, axis=-1, keepdims=True))
    v = b / np.sqrt(np.sum(b * b, axis=-1, keepdims=True))
    return ((1.0 - d) * a / length - v) / length


def _correlation(a: Any, b: Any, d: Any, s: Settings) -> Any:
    """Return the slope of the cosine distance of deviations from the mean."""
    a = a - np.mean(a, axis=-1, keepdims=True)
    return _cosine(a, b - np.mean(b, axis=-1, keepdims=True), d, s)


METRICS = {
    "braycurtis": Metric(_braycurtis, _braycurtis_weights),
    "canberra": Metric(_canberra, lambda a, b, d, s: over(np.abs(a - b), np.abs(a) + np.abs(b))),
    "chebyshev": Metric(_chebyshev, lambda a, b, d, s: np.zeros(np.shape(a - b))),
    "cityblock": Metric(
        lambda a, b, d, s: s.weights * np.sign(a - b), lambda a, b, d, s: np.abs(a - b)
    ),
    "correlation": Metric(_correlation),
    "cosine": Metric(_cosine),
    "euclidean": Metric(
        lambda a, b, d, s: s.weights * over(a - b, d),
        lambda a, b, d, s: over((a - b) ** 2, 2.0 * d),
    ),
    "jensenshannon": Metric(_jensenshannon),
    "mahalanobis": Metric(_mahalanobis, _mahalanobis_weights),
    "minkowski": Metric(_minkowski, _minkowski_weights, _minkowski_order),
    "seuclidean": Metric(lambda a, b, d, s: over(a - b, d * s.w), _seuclidean_weights),
    "sqeuclidean": Metric(
        lambda a, b, d, s: 2.0 * s.weights * (a - b), lambda a, b, d, s: (a - b) ** 2
    ),
}

WEIGHTS = {"mahalanobis": "VI", "seuclidean": "V"}


def settings(name: str, w: Any, p: Any) -> dict[str, Any]:
    """Return the keyword arguments of `cdist` for these settings."""
    named = {} if w is None else {WEIGHTS.get(name, "w"): w}
    return named if p is None else {**named, "p": p}
