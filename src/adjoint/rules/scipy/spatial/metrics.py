"""The slopes of the distances of `scipy.spatial.distance`: what its rules are made of.

Most distances between points a and b depend on u = a − b alone. Where a distance has no slope, as
between a point and itself, it is taken for 0; coordinates that are equally far apart share it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, slots=True)
class Settings:
    """What a metric is told beside the points: the weights of the coordinates (for `seuclidean` the
    inverse variances, for `mahalanobis` the inverse covariances), and the order."""

    w: Any
    p: float

    @property
    def weights(self) -> Any:
        return 1.0 if self.w is None else self.w


@dataclass(frozen=True, slots=True)
class Metric:
    """One distance, of rows of points `a` and `b` with the distances `d` as a column.

    Attributes
    ----------
    first
        ``first(a, b, d, settings)``: the slopes in a, of the same shape; those in b are those of
        d(b, a), since distances are symmetric.
    weights
        The slopes in the weights: a row for each pair, or a matrix.
    order
        The slopes in the order, a column.
    """

    first: Callable[[Any, Any, Any, Settings], Any]
    weights: Callable[[Any, Any, Any, Settings], Any] | None = None
    order: Callable[[Any, Any, Any, Settings], Any] | None = None


def over(x: Any, y: Any) -> Any:
    """A quotient that is 0 where the divisor is."""
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
    """ln d = ln(Σ w |u|ᵖ) / p."""
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


# ---- others --------------------------------------------------------------------------------------


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
    """d² = (KL(p | m) + KL(q | m)) / 2 with the mean m of the distributions p and q."""
    total = np.sum(a, axis=-1, keepdims=True)
    p, q = a / total, b / np.sum(b, axis=-1, keepdims=True)
    p_bar = over(np.log(np.where(p > 0, over(2.0 * p, p + q), 1.0)), 4.0 * d)
    return (p_bar - np.sum(p_bar * p, axis=-1, keepdims=True)) / total


def _cosine(a: Any, b: Any, d: Any, s: Settings) -> Any:
    length = np.sqrt(np.sum(a * a, axis=-1, keepdims=True))
    v = b / np.sqrt(np.sum(b * b, axis=-1, keepdims=True))
    return ((1.0 - d) * a / length - v) / length


def _correlation(a: Any, b: Any, d: Any, s: Settings) -> Any:
    """The cosine of deviations from the mean; its slope has no mean either."""
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
    """The keyword arguments of `cdist` that say so."""
    named = {} if w is None else {WEIGHTS.get(name, "w"): w}
    return named if p is None else {**named, "p": p}
