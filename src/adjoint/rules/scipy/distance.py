"""Rules of `scipy.spatial.distance`: all distances between the points of one or two sets.

A distance d(a, b) of the first kind depends on a − b alone, so that its slopes in a and in b are
opposite; sums over pairs go point by point, which needs no array of all differences. The other kind
compares directions: d = 1 − a·b / (|a| |b|), for `correlation` with each point's mean taken out.
At the point where a distance has no slope, between a point and itself, it is taken for 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial import distance

from adjoint.rules.numpy.operands import array_rule
from adjoint.rules.registry import frule
from adjoint.rules.tangents import filled

# ---- the distances -------------------------------------------------------------------------------


def _over(x: Any, y: Any) -> Any:
    return np.divide(x, y, out=np.zeros(np.broadcast_shapes(x.shape, y.shape)), where=y != 0)


def _chebyshev(u: Any, d: Any, p: float) -> Any:
    """Coordinates that are equally far apart share the slope."""
    largest = (np.abs(u) == d) & (u != 0)
    return _over(np.sign(u) * largest, largest.sum(axis=1, keepdims=True))


SLOPES: dict[str, Callable[[Any, Any, float], Any]] = {
    "euclidean": lambda u, d, p: _over(u, d),
    "sqeuclidean": lambda u, d, p: 2.0 * u,
    "cityblock": lambda u, d, p: np.sign(u),
    "chebyshev": _chebyshev,
    "minkowski": lambda u, d, p: np.sign(u) * _over(np.abs(u), d) ** (p - 1.0),
}
"""∂d/∂u of the differences u = a − b, one per row, and the distances d as a column."""

DIRECTIONS = ("cosine", "correlation")

ALIASES = {
    "euclid": "euclidean", "eu": "euclidean", "e": "euclidean", "sqe": "sqeuclidean",
    "sqeuclid": "sqeuclidean", "cblock": "cityblock", "cb": "cityblock", "c": "cityblock",
    "chebychev": "chebyshev", "cheby": "chebyshev", "cheb": "chebyshev", "ch": "chebyshev",
    "mi": "minkowski", "m": "minkowski", "pnorm": "minkowski", "cos": "cosine",
    "co": "correlation",
}  # fmt: skip


def _name(metric: Any) -> str | None:
    """A metric as SciPy computes it in C; ``None`` for a function of somebody else's."""
    if isinstance(metric, str):
        name = ALIASES.get(metric.lower(), metric.lower())
    else:
        name = getattr(metric, "__name__", "")
        if getattr(distance, name, None) is not metric:
            return None
    return name if name in SLOPES or name in DIRECTIONS else None


def _bar_of_first(a: Any, b: Any, bars: Any, y: Any, name: str, p: float) -> Any:
    """The cotangent of the points `a`, of which each row of `bars` and `y` holds one's distances to
    all of `b`."""
    if name in DIRECTIONS:
        return _bar_of_direction(a, b, bars, y, name)
    a_bar = np.empty(a.shape)
    for i, point in enumerate(a):
        a_bar[i] = bars[i] @ SLOPES[name](point - b, y[i][:, None], p)
    return a_bar


def _unit(x: Any, name: str) -> tuple[Any, Any]:
    if name == "correlation":
        x = x - x.mean(axis=1, keepdims=True)
    length = np.sqrt((x * x).sum(axis=1, keepdims=True))
    return x / length, length


def _bar_of_direction(a: Any, b: Any, bars: Any, y: Any, name: str) -> Any:
    (u, length), (v, _) = _unit(a, name), _unit(b, name)
    u_bar = -bars @ v
    a_bar = (u_bar - (u_bar * u).sum(axis=1, keepdims=True) * u) / length
    return a_bar - a_bar.mean(axis=1, keepdims=True) if name == "correlation" else a_bar


def _settings(p: Any) -> tuple[dict[str, Any], float]:
    return ({}, 2.0) if p is None else ({"p": p}, float(p))


# ---- between two sets ----------------------------------------------------------------------------


@array_rule(distance.cdist, operands="XA XB")
def _(XA, XB, metric="euclidean", *, p=None):
    name = _name(metric)
    if name is None or np.iscomplexobj(XA) or np.iscomplexobj(XB):
        return NotImplemented
    named, order = _settings(p)
    y = distance.cdist(XA, XB, metric, **named)

    def cdist_back(y_bar):
        return (
            None,
            _bar_of_first(XA, XB, y_bar, y, name, order),
            _bar_of_first(XB, XA, y_bar.T, y.T, name, order),
        )

    return y, cdist_back


@frule.register(distance.cdist)
def _(dots, XA, XB, metric="euclidean", *, p=None):
    name = _name(metric)
    if name not in SLOPES:
        return NotImplemented
    named, order = _settings(p)
    y = distance.cdist(XA, XB, metric, **named)
    a, b = np.asarray(XA), np.asarray(XB)
    a_dot, b_dot = filled(dots[0], a), filled(dots[1], b)
    rows = [
        (SLOPES[name](point - b, d[:, None], order) * (point_dot - b_dot)).sum(axis=1)
        for point, point_dot, d in zip(a, a_dot, y, strict=True)
    ]
    return y, np.array(rows).reshape(y.shape)


# ---- within one ----------------------------------------------------------------------------------


def _matrix(distances: Any, n: int) -> Any:
    """A symmetric matrix with zeros on the diagonal, of the distances above it."""
    matrix = np.zeros((n, n))
    matrix[np.triu_indices(n, 1)] = distances
    return matrix + matrix.T


@array_rule(distance.pdist, operands="X")
def _(X, metric="euclidean", *, p=None):
    name = _name(metric)
    if name is None or np.iscomplexobj(X):
        return NotImplemented
    named, order = _settings(p)
    y = distance.pdist(X, metric, **named)
    n = len(X)

    def pdist_back(y_bar):
        return None, _bar_of_first(X, X, _matrix(y_bar, n), _matrix(y, n), name, order)

    return y, pdist_back


@array_rule(distance.squareform, operands="X")
def _(X, force="no", checks=True):
    y = distance.squareform(X, force, checks)
    n = len(y if np.ndim(X) == 1 else X)
    above = np.triu_indices(n, 1)

    def squareform_back(y_bar):
        if np.ndim(X) == 1:
            return None, y_bar[above] + y_bar.T[above]
        x_bar = np.zeros((n, n), np.asarray(y_bar).dtype)
        x_bar[above] = y_bar
        return None, x_bar

    return y, squareform_back


@frule.register(distance.squareform)
def _(dots, X, force="no", checks=True):
    y = distance.squareform(X, force, checks)
    return y, None if dots[0] is None else distance.squareform(filled(dots[0], X), force, False)
