"""Multilinear interpolation in the cells of a grid, as a function closed under derivatives.

A point in a cell of an axis, at the distance s from 0 to 1, has the weights 1 − s and s there.
Their derivatives of order 1 are −1 and 1, those of higher order 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import _rgi_cython

from adjoint.rulekit.registry import frule, non_differentiable, rrule
from adjoint.rulekit.tangents import tangent_of
from adjoint.rules.scipy.equivalents import result_like

_find_indices: Any = _rgi_cython.find_indices
_evaluate_linear: Any = getattr(_rgi_cython, "evaluate_linear_2d", None)

AXES = tuple([tuple(range(rank)) for rank in range(33)])
"""The axes of an array, by its rank."""


@result_like(lambda points, x: np.searchsorted(points, x))
@non_differentiable
def cell_of(points: Any, x: Any) -> Any:
    """Return the cells of the positions `x` along an axis."""
    rows = np.ascontiguousarray(x)[None]
    return np.asarray(_find_indices((np.ascontiguousarray(points),), rows)[0])[0]


def distance_in(points, places, x):
    """Return how far positions are from the left ends of their cells, as a part of these."""
    after = np.minimum(places + 1, len(points) - 1)
    left = points[places]
    return (x - left) / (points[after] - left)


def _parts(values: Any, places: Any, distances: Any, orders: Any) -> tuple[Any, Any]:
    """Return the flat indices of all corners of each cell, and their weights."""
    flat = np.zeros((places.shape[1], 1), int)
    weights = np.ones((places.shape[1], 1))
    for n, i, s, order in zip(values.shape, places, distances, orders, strict=False):
        ends = np.stack([i, np.minimum(i + 1, n - 1)], axis=1)
        shares = np.empty((len(s), 2))
        shares[:, 1] = s if order == 0 else float(order == 1)
        shares[:, 0] = 1 - s if order == 0 else -float(order == 1)
        flat = (flat[:, :, None] * n + ends[:, None, :]).reshape(len(s), -1)
        weights = (weights[:, :, None] * shares[:, None, :]).reshape(len(s), -1)
    return flat, weights


def _rest(values: Any, places: Any) -> tuple[int, ...]:
    return values.shape[places.shape[0] :]  # type: ignore[no-any-return]


@result_like(
    lambda values, places, distances, orders: np.empty(
        (places.shape[1], *values.shape[places.shape[0] :]), values.dtype
    )
)
def corners(values: Any, places: Any, distances: Any, orders: Any) -> Any:
    """Return the weighted sums of the values at the corners of the cells.

    Parameters
    ----------
    places, distances
        One row per axis, one column per point.
    orders
        The order of the derivative along each axis.
    """
    if not any(orders) and values.ndim == 2 == len(places) and _evaluate_linear is not None:
        if values.dtype in (np.float64, np.complex128) and values.flags.writeable:
            out = np.empty(places.shape[1], values.dtype)
            grid = tuple(np.arange(float(n)) for n in values.shape)
            return np.asarray(_evaluate_linear(values, places, distances, grid, out))
    rest = _rest(values, places)
    flat, weights = _parts(values, places, distances, orders)
    table, total = values.reshape(-1, *rest), np.zeros((len(flat), *rest), values.dtype)
    for i in range(flat.shape[1]):  # the order of additions is that of SciPy
        total += table[flat[:, i]] * weights[:, i].reshape(-1, *(1,) * len(rest))
    return total


@result_like(lambda y, values, places, distances, orders: np.empty(values.shape, y.dtype))
def corners_spread(y: Any, values: Any, places: Any, distances: Any, orders: Any) -> Any:
    """Return the adjoint of `corners` as a function of the values, at `y`."""
    rest = _rest(values, places)
    flat, weights = _parts(values, places, distances, orders)
    columns = y.reshape(len(y), -1)
    size = int(np.prod(values.shape[: len(places)]))
    total = np.empty((size, columns.shape[1]), y.dtype)
    for i in range(columns.shape[1]):
        total[:, i] = _sums(flat.ravel(), (weights * columns[:, i, None]).ravel(), size)
    return total.reshape(*values.shape[: len(places)], *rest)


def _sums(places: Any, terms: Any, n: int) -> Any:
    if terms.dtype.kind == "c":
        return _sums(places, terms.real, n) + 1j * _sums(places, terms.imag, n)
    return np.bincount(places, terms, n)


# ---- rules ---------------------------------------------------------------------------------------


def _raised(orders, axis):
    """Return orders of derivatives of which one is raised."""
    return tuple([order + 1 if i == axis else order for i, order in enumerate(orders)])


def _inner(slopes, y_bar):
    """Return the real inner product for each point."""
    found = np.real(np.conj(slopes) * y_bar) if slopes.dtype.kind == "c" else slopes * y_bar
    return found if found.ndim == 1 else np.sum(np.reshape(found, (len(found), -1)), axis=1)


def _column(s, like):
    return s if like.ndim == 1 else np.reshape(s, (len(s),) + (1,) * (like.ndim - 1))


def _distances_bar(y_bar, values, places, distances, orders):
    slopes = []
    for axis in AXES[len(orders)]:
        if orders[axis] == 0:
            found = corners(values, places, distances, _raised(orders, axis))
            slopes.append(_inner(found, y_bar))
        else:
            slopes.append(np.zeros(len(y_bar)))
    return np.stack(slopes)


@rrule.register(corners)
def _(values, places, distances, orders):
    def corners_back(y_bar, *, wanted):
        values_bar = distances_bar = None
        if wanted[0]:
            values_bar = corners_spread(y_bar, values, places, distances, orders)
        if wanted[2]:
            distances_bar = _distances_bar(y_bar, values, places, distances, orders)
        return None, values_bar, None, distances_bar, None

    return corners(values, places, distances, orders), corners_back


def _total(terms):
    total = terms[0]
    for i in range(1, len(terms)):
        total = total + terms[i]
    return total


@tangent_of(corners)
def _corners_tangent(dots, y, values, places, distances, orders):
    values_dot, distances_dot = dots[0], dots[2]
    terms = []
    if values_dot is not None:
        terms.append(corners(values_dot, places, distances, orders))
    if distances_dot is not None:
        for axis in AXES[len(orders)]:
            if orders[axis] == 0:
                slopes = corners(values, places, distances, _raised(orders, axis))
                terms.append(slopes * _column(distances_dot[axis], y))
    return _total(terms) if terms else np.zeros_like(y)


@frule.register(corners)
def _(dots, values, places, distances, orders):
    y = corners(values, places, distances, orders)
    if dots[0] is None and dots[2] is None:
        return y, None
    return y, _corners_tangent(dots, y, values, places, distances, orders)


@rrule.register(corners_spread)
def _(y, values, places, distances, orders):
    def spread_back(bar, *, wanted):
        y_bar = distances_bar = None
        if wanted[0]:
            y_bar = corners(bar, places, distances, orders)
        if wanted[3]:
            distances_bar = _distances_bar(y, bar, places, distances, orders)
        return None, y_bar, None, None, distances_bar, None

    return corners_spread(y, values, places, distances, orders), spread_back


@tangent_of(corners_spread)
def _spread_tangent(dots, found, y, values, places, distances, orders):
    y_dot, distances_dot = dots[0], dots[3]
    terms = []
    if y_dot is not None:
        terms.append(corners_spread(y_dot, values, places, distances, orders))
    if distances_dot is not None:
        for axis in AXES[len(orders)]:
            if orders[axis] == 0:
                along = y * _column(distances_dot[axis], y)
                raised = _raised(orders, axis)
                terms.append(corners_spread(along, values, places, distances, raised))
    return _total(terms) if terms else np.zeros_like(found)


@frule.register(corners_spread)
def _(dots, y, values, places, distances, orders):
    found = corners_spread(y, values, places, distances, orders)
    if dots[0] is None and dots[3] is None:
        return found, None
    return found, _spread_tangent(dots, found, y, values, places, distances, orders)
