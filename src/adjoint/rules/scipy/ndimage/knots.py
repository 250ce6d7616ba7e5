"""The knots around each coordinate of a spline along one axis, and their weights.

SciPy's compiled code computes the same for each output element (Unser, *Splines: a perfect fit for
signal and image processing* (1999), for the weights).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adjoint.rules.scipy.ndimage.boundaries import (
    CONSTANT,
    GRID_CONSTANT,
    GRID_WRAP,
    MIRROR,
    NEAREST,
    REFLECT,
    WRAP,
)


class Knots(NamedTuple):
    """The knots of coordinates of any shape.

    Attributes
    ----------
    places, weights, slopes
        Indices of ``order + 1`` knots on the axis, their weights and the derivatives of the weights
        in the coordinate, along a first axis.
    share, leaning
        The sums of the weights and of the slopes. One minus `share` is the weight of the constant.
    """

    places: Any
    weights: Any
    slopes: Any
    share: Any
    leaning: Any


def knots(at: Any, n: int, order: int, mode: int, npad: int) -> Knots:
    """Return the knots around coordinates on an axis of length `n`. `npad` elements of the axis
    were added at either end."""
    inner, sign = _inside(np.asarray(at, np.float64) + npad, n, mode)
    outside = (inner <= -1.0) & (mode == CONSTANT)
    middle = inner if order % 2 else inner + 0.5
    start = np.floor(middle)
    weights, slopes = _weights(middle - start, order)
    start = np.where(outside, 0, start).astype(np.int64) - order // 2
    positions = start + np.arange(order + 1).reshape(-1, *[1] * np.ndim(at))
    places = _of_grid(positions, n, mode)
    within = (places >= 0) & ~outside
    weights, slopes = np.where(within, weights, 0.0), np.where(within, slopes * sign, 0.0)
    return Knots(np.maximum(places, 0), weights, slopes, weights.sum(0), slopes.sum(0))


def _inside(x: Any, n: int, mode: int) -> tuple[Any, Any]:
    """Map coordinates beyond the edges as the mode does, and return the slope of the map."""
    below, above = x < 0, x > n - 1
    same = np.ones_like(x)
    if mode in (GRID_CONSTANT, NEAREST):
        return x, same  # these modes map knots only
    if mode == CONSTANT:
        return np.where(below | above, -1.0, x), same
    if n <= 1:
        return np.where(below | above, 0.0, x), np.where(below | above, 0.0, same)
    if mode == WRAP:
        period = n - 1
        x = np.where(below, x + period * (np.trunc(-x / period) + 1), x)
        return np.where(above, x - period * np.trunc(x / period), x), same
    if mode == GRID_WRAP:
        return np.where(below | above, np.mod(x, n), x), same
    if mode == MIRROR:
        turned = np.where(below | above, np.mod(np.abs(x), 2 * n - 2), x)
        back = np.where(below, turned >= n - 1, turned >= n)  # in between, knots lie beyond
        turned = np.where(back, 2 * n - 2 - turned, turned)
        return turned, np.where(back != below, -same, same)
    turned = np.mod(x + 0.5, 2 * n)
    back = turned > n
    return np.where(back, 2 * n - turned, turned) - 0.5, np.where(back, -same, same)


def _of_grid(position: Any, n: int, mode: int) -> Any:
    """Return the indices of knots, which may also lie beyond the edges."""
    if mode == GRID_CONSTANT:
        return np.where((position < 0) | (position >= n), -1, position)
    if mode == NEAREST:
        return np.clip(position, 0, n - 1)
    if mode == GRID_WRAP:
        return position % n
    if mode == REFLECT:
        turned = position % (2 * n)
        return np.minimum(turned, 2 * n - 1 - turned)
    turned = position % max(2 * n - 2, 1)  # the other modes extend as MIRROR does
    return np.minimum(turned, 2 * n - 2 - turned)


def _weights(u: Any, order: int) -> tuple[Any, Any]:
    """Return the values at `u` of the nonzero B-splines between two knots, and their slopes."""
    values, slopes = [np.ones_like(u)], [np.zeros_like(u)]
    for k in range(1, order + 1):
        left, right = [0.0, *values], [*values, 0.0]
        slopes = [a - b for a, b in zip(left, right, strict=True)]
        values = [
            ((k - j + u) * a + (j + 1 - u) * b) / k
            for j, (a, b) in enumerate(zip(left, right, strict=True))
        ]
    return np.stack(values), np.stack(slopes)
