"""Where a spline is read: the knots around each coordinate along one axis, and their weights.

This is what SciPy's compiled code does for each output element (Unser, *Splines: a perfect fit for
signal and image processing* (1999), for the weights), in arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adjoint.rules.scipy.ndimage.extending import (
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
        The places of ``order + 1`` knots on the axis, their weights and the derivatives of these in
        the coordinate, along a first axis.
    share, leaning
        The sums of the weights and of the slopes. What is missing to one is the share of the
        constant.
    """

    places: Any
    weights: Any
    slopes: Any
    share: Any
    leaning: Any


def knots(at: Any, n: int, order: int, mode: int, npad: int) -> Knots:
    """The knots around coordinates on an axis of length `n`, of which `npad` at either end were
    added."""
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
    """The coordinates that the mode takes for those beyond the edges, and the slope of that."""
    below, above = x < 0, x > n - 1
    same = np.ones_like(x)
    if mode in (GRID_CONSTANT, NEAREST):
        return x, same  # only knots are looked for elsewhere
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
        back = np.where(below, turned >= n - 1, turned >= n)  # between, there are knots beyond
        turned = np.where(back, 2 * n - 2 - turned, turned)
        return turned, np.where(back != below, -same, same)
    turned = np.mod(x + 0.5, 2 * n)
    back = turned > n
    return np.where(back, 2 * n - turned, turned) - 0.5, np.where(back, -same, same)


def _of_grid(position: Any, n: int, mode: int) -> Any:
    """The places of knots, which lie beyond the edges as well."""
    if mode == GRID_CONSTANT:
        return np.where((position < 0) | (position >= n), -1, position)
    if mode == NEAREST:
        return np.clip(position, 0, n - 1)
    if mode == GRID_WRAP:
        return position % n
    if mode == REFLECT:
        turned = position % (2 * n)
        return np.minimum(turned, 2 * n - 1 - turned)
    turned = position % max(2 * n - 2, 1)  # others go on as in a mirror
    return np.minimum(turned, 2 * n - 2 - turned)


def _weights(u: Any, order: int) -> tuple[Any, Any]:
    """The values at `u` between two knots of the ``order + 1`` B-splines that are not zero there,
    and their derivatives."""
    values, slopes = [np.ones_like(u)], [np.zeros_like(u)]
    for k in range(1, order + 1):
        left, right = [0.0, *values], [*values, 0.0]
        slopes = [a - b for a, b in zip(left, right, strict=True)]
        values = [
            ((k - j + u) * a + (j + 1 - u) * b) / k
            for j, (a, b) in enumerate(zip(left, right, strict=True))
        ]
    return np.stack(values), np.stack(slopes)
