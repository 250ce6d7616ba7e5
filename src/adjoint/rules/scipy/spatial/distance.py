"""Rules of `scipy.spatial.distance`: all distances between the points of one or two sets.

Sums over pairs run point by point, so no array holds all differences. Metrics with weights or
variances are differentiated at the leaves, because SciPy may compute the variances from the points.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.spatial import distance

from adjoint.rulekit.elementwise_forward import filled
from adjoint.rulekit.registry import frule, substitute
from adjoint.rules.numpy.operands import array_rule
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule
from adjoint.rules.scipy.spatial.differences import divided, products, weighted
from adjoint.rules.scipy.spatial.metrics import METRICS, Metric, Settings, settings

ALIASES = {
    "euclid": "euclidean", "eu": "euclidean", "e": "euclidean", "sqe": "sqeuclidean",
    "sqeuclid": "sqeuclidean", "cblock": "cityblock", "cb": "cityblock", "c": "cityblock",
    "chebychev": "chebyshev", "cheby": "chebyshev", "cheb": "chebyshev", "ch": "chebyshev",
    "mi": "minkowski", "m": "minkowski", "pnorm": "minkowski", "cos": "cosine",
    "co": "correlation", "js": "jensenshannon",
}  # fmt: skip


def _name(metric: Any) -> str | None:
    """Return the name of a metric that SciPy computes in C, else ``None``. Python functions, and
    metrics whose variances may come from the points, have none."""
    if isinstance(metric, str):
        name = ALIASES.get(metric.lower(), metric.lower())
    else:
        name = getattr(metric, "__name__", "")
        if getattr(distance, name, None) is not metric:
            return None
    return name if name in METRICS and name not in ("mahalanobis", "seuclidean") else None


# ---- the slopes, point by point ------------------------------------------------------------------


def _bar_of_first(a: Any, b: Any, bars: Any, y: Any, metric: Metric, given: Settings) -> Any:
    """Return the cotangent of the points `a`; row i of `bars` and `y` belongs to point i."""
    a_bar = np.empty(a.shape)
    for i, point in enumerate(a):
        a_bar[i] = bars[i] @ metric.first(point[None], b, y[i][:, None], given)
    return a_bar


def _bar_of_setting(slopes: Any, a: Any, b: Any, bars: Any, y: Any, given: Settings) -> Any:
    total: Any = 0.0
    for i, point in enumerate(a):
        slope = slopes(point[None], b, y[i][:, None], given)
        total = total + np.tensordot(bars[i], slope, 1)
    return total


def _dots(
    a: Any, b: Any, y: Any, metric: Metric, given: Settings, tangents: tuple[Any, Any, Any, Any]
) -> Any:
    """Return the tangents of all distances."""
    a_dot, b_dot, w_dot, p_dot = tangents
    y_dot = np.zeros(y.shape)
    for i, point in enumerate(a):
        pairs = point[None], b, y[i][:, None], given
        if a_dot is not None:
            y_dot[i] += metric.first(*pairs) @ a_dot[i]
        if b_dot is not None:
            y_dot[i] += (metric.first(b, point[None], *pairs[2:]) * b_dot).sum(axis=-1)
        if w_dot is not None and metric.weights is not None:
            y_dot[i] += np.tensordot(metric.weights(*pairs), w_dot, w_dot.ndim)
        if p_dot is not None and metric.order is not None:
            y_dot[i] += metric.order(*pairs)[:, 0] * p_dot
    return y_dot


def _given(w: Any, p: Any) -> Settings:
    return Settings(w, 2.0 if p is None else float(p))


# ---- Euclidean distances -------------------------------------------------------------------------

EUCLIDEAN = "euclidean", "sqeuclidean"


def _weights(y_bar: Any, y: Any, metric: str) -> Any:
    """Return the weights of the differences in the cotangent of the points of Euclidean distances,
    and those of the products of differences in a tangent of the distances."""
    return divided(y_bar, y) if metric == "euclidean" else 2.0 * y_bar


def _between_points(a: Any, b: Any, metric: str) -> Any:
    """Apply the rule of `cdist` for Euclidean distances."""
    y = distance.cdist(a, b, metric)

    def between_points_back(y_bar):
        weights = _weights(y_bar, y, metric)
        return None, weighted(weights, a, b), weighted(weights.T, b, a)

    return y, between_points_back


def _between_points_dot(a: Any, b: Any, metric: str, a_dot: Any, b_dot: Any) -> Any:
    y = distance.cdist(a, b, metric)
    a_dot = 0 * a if a_dot is None else a_dot
    b_dot = 0 * b if b_dot is None else b_dot
    return y, _weights(products(a, b, a_dot, b_dot), y, metric)


def _among_points(x: Any, metric: str) -> Any:
    """Apply the rule of `pdist` for Euclidean distances."""
    y = distance.pdist(x, metric)

    def among_points_back(y_bar):
        return None, weighted(_square(_weights(y_bar, y, metric), len(x)), x, x)

    return y, among_points_back


def _square(distances: Any, n: int) -> Any:
    return distance.squareform(distances, checks=False) if n > 1 else np.zeros((n, n))


# ---- between two sets ----------------------------------------------------------------------------


def between(a: Any, b: Any, w: Any, p: Any, name: str) -> Any:
    """Return all distances between the points of two sets, computed in C."""
    return distance.cdist(a, b, name, **settings(name, w, p))


@matrix_rule(between, "a b w p")
def _(call: Call) -> Any:
    a, b, y, metric, given = call.a, call.b, call.y, METRICS[call.name], _given(call.w, call.p)

    def between_back(y_bar: Any) -> Any:
        w_bar = p_bar = None
        if given.w is not None and metric.weights is not None:
            w_bar = _bar_of_setting(metric.weights, a, b, y_bar, y, given)
        if call.p is not None and metric.order is not None:
            p_bar = _bar_of_setting(metric.order, a, b, y_bar, y, given)[0]
        return (
            _bar_of_first(a, b, y_bar, y, metric, given),
            _bar_of_first(b, a, y_bar.T, y.T, metric, given),
            w_bar,
            p_bar,
        )

    return between_back, lambda *tangents: _dots(a, b, y, metric, given, tangents)


@array_rule(distance.cdist, operands="XA XB p")
def _(XA, XB, metric="euclidean", *, p=None):
    if np.iscomplexobj(XA) or np.iscomplexobj(XB):
        return NotImplemented
    if p is None and metric in EUCLIDEAN:
        return _between_points(np.asarray(XA, float), np.asarray(XB, float), metric)
    name = _name(metric)
    if name is None:
        return NotImplemented
    a, b, given = np.asarray(XA, float), np.asarray(XB, float), _given(None, p)
    y, slopes = distance.cdist(XA, XB, metric, **settings(name, None, p)), METRICS[name]

    def cdist_back(y_bar):
        a_bar = _bar_of_first(a, b, y_bar, y, slopes, given)
        b_bar = _bar_of_first(b, a, y_bar.T, y.T, slopes, given)
        if p is None or slopes.order is None:
            return None, a_bar, b_bar
        return None, a_bar, b_bar, _bar_of_setting(slopes.order, a, b, y_bar, y, given)[0]

    return y, cdist_back


@frule.register(distance.cdist)
def _(dots, XA, XB, metric="euclidean", *, p=None):
    if np.iscomplexobj(XA) or np.iscomplexobj(XB):
        return NotImplemented
    a, b = np.asarray(XA, float), np.asarray(XB, float)
    a_dot = None if dots[0] is None else filled(dots[0], XA)
    b_dot = None if dots[1] is None else filled(dots[1], XB)
    if p is None and metric in EUCLIDEAN:
        return _between_points_dot(a, b, metric, a_dot, b_dot)
    name = _name(metric)
    if name is None:
        return NotImplemented
    y = distance.cdist(XA, XB, metric, **settings(name, None, p))
    return y, _dots(a, b, y, METRICS[name], _given(None, p), (a_dot, b_dot, None, None))


# ---- within one ----------------------------------------------------------------------------------


def _matrix(distances: Any, n: int) -> Any:
    """Return the symmetric matrix with zero diagonal and `distances` above it."""
    matrix = np.zeros((n, n))
    matrix[np.triu_indices(n, 1)] = distances
    return matrix + matrix.T


def within(x: Any, w: Any, p: Any, name: str) -> Any:
    """Return all distances between the points of one set, computed in C."""
    return distance.pdist(x, name, **settings(name, w, p))


@matrix_rule(within, "x w p")
def _(call: Call) -> Any:
    x, metric, given, n = call.x, METRICS[call.name], _given(call.w, call.p), len(call.x)
    y = _matrix(call.y, n)

    def within_back(y_bar: Any) -> Any:
        bars, w_bar, p_bar = _matrix(y_bar, n), None, None
        if given.w is not None and metric.weights is not None:
            w_bar = _bar_of_setting(metric.weights, x, x, bars, y, given) / 2
        if call.p is not None and metric.order is not None:
            p_bar = _bar_of_setting(metric.order, x, x, bars, y, given)[0] / 2
        return _bar_of_first(x, x, bars, y, metric, given), w_bar, p_bar

    def within_push(x_dot: Any, w_dot: Any, p_dot: Any) -> Any:
        dots = _dots(x, x, y, metric, given, (x_dot, x_dot, w_dot, p_dot))
        return dots[np.triu_indices(n, 1)]

    return within_back, within_push


@array_rule(distance.pdist, operands="X p")
def _(X, metric="euclidean", *, p=None):
    if np.iscomplexobj(X):
        return NotImplemented
    if p is None and metric in EUCLIDEAN:
        return _among_points(np.asarray(X, float), metric)
    name = _name(metric)
    if name is None:
        return NotImplemented
    x, n, given, slopes = np.asarray(X, float), len(X), _given(None, p), METRICS[name]
    distances = distance.pdist(X, metric, **settings(name, None, p))
    y = _matrix(distances, n)

    def pdist_back(y_bar):
        bars = _matrix(y_bar, n)
        x_bar = _bar_of_first(x, x, bars, y, slopes, given)
        if p is None or slopes.order is None:
            return None, x_bar
        return None, x_bar, _bar_of_setting(slopes.order, x, x, bars, y, given)[0] / 2

    return distances, pdist_back


@frule.register(distance.pdist)
def _(dots, X, metric="euclidean", *, p=None):
    if np.iscomplexobj(X):
        return NotImplemented
    x, n = np.asarray(X, float), len(X)
    x_dot = None if dots[0] is None else filled(dots[0], X)
    if p is None and metric in EUCLIDEAN:
        y = distance.pdist(x, metric)
        moved = x if x_dot is None else x_dot
        between = distance.squareform(products(x, x, moved, moved), checks=False)
        return y, None if x_dot is None else _weights(between, y, metric)
    name = _name(metric)
    if name is None:
        return NotImplemented
    distances = distance.pdist(X, metric, **settings(name, None, p))
    y_dot = _dots(
        x, x, _matrix(distances, n), METRICS[name], _given(None, p), (x_dot, x_dot, None, None)
    )
    return distances, y_dot[np.triu_indices(n, 1)]


# ---- the leaves ----------------------------------------------------------------------------------


def _into(out: Any, y: Any) -> Any:
    if out is None:
        return y
    out[...] = y
    return out


def _leaves(module: Any, pattern: str, name: str, register: Callable[..., None]) -> None:
    leaf = getattr(module, pattern.format(name), None)
    if leaf is not None:
        register(leaf, name)


def _weighted_between(leaf: Any, name: str) -> None:
    @substitute(leaf)
    def _(x, y, w=None, out=None, p=None):
        return _into(out, between(x, y, w, p, name))


def _weighted_within(leaf: Any, name: str) -> None:
    @substitute(leaf)
    def _(x, w=None, out=None, p=None):
        return _into(out, within(x, w, p, name))


def _writing_between(leaf: Any, name: str) -> None:
    @substitute(leaf)
    def _(XA, XB, dm, V=None, VI=None):
        dm[...] = between(XA, XB, VI if V is None else V, None, name)


def _writing_within(leaf: Any, name: str) -> None:
    @substitute(leaf)
    def _(X, dm, V=None, VI=None):
        dm[...] = within(X, VI if V is None else V, None, name)


_returning = getattr(distance, "_distance_pybind", None)
_filling = getattr(distance, "_distance_wrap", None)
for _metric in METRICS:
    _leaves(_returning, "cdist_{}", _metric, _weighted_between)
    _leaves(_returning, "pdist_{}", _metric, _weighted_within)
    _leaves(_filling, "cdist_{}_double_wrap", _metric, _writing_between)
    _leaves(_filling, "pdist_{}_double_wrap", _metric, _writing_within)


# ---- square and condensed ------------------------------------------------------------------------


@array_rule(distance.squareform, operands="X")
def _(X, force="no", checks=True):
    if not np.ndim(X):
        return NotImplemented
    y = distance.squareform(X, force, checks)

    def squareform_back(y_bar):
        if np.ndim(X) == 1:
            return None, distance.squareform(y_bar + y_bar.T, checks=False)
        return None, np.triu(_square(y_bar, len(X)))

    return y, squareform_back


@frule.register(distance.squareform)
def _(dots, X, force="no", checks=True):
    y = distance.squareform(X, force, checks)
    return y, None if dots[0] is None else distance.squareform(filled(dots[0], X), force, False)
