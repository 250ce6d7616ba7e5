"""Sums and products of the differences a_i − b_j between the points of two sets.

The derivatives of Euclidean distances consist of them, to any order. They are exact also where the
points are close to each other: differences are taken first, of blocks of points.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint.rulekit.registry import frule, rrule
from adjoint.rules.scipy.equivalents import result_like

MOST = 2**18
"""The largest number of elements of the differences that are held at a time."""


def _blocks(a: Any, b: Any) -> Iterator[slice]:
    """Yield the blocks of the points `a` whose differences from all of `b` are held at a time."""
    step = max(MOST // max(b.size, 1), 1)
    return (slice(i, i + step) for i in range(0, len(a), step))


@result_like(lambda weights, a, b: weights @ b)
def weighted(weights: Any, a: Any, b: Any) -> Any:
    """Return Σ_j w_ij (a_i − b_j)."""
    parts = [np.matmul(weights[i, None, :], a[i, None, :] - b)[:, 0, :] for i in _blocks(a, b)] or [
        np.zeros(a.shape)
    ]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


@rrule.register(weighted)
def _(weights, a, b):
    def weighted_back(y_bar):
        sums = np.sum(weights, 1)[:, None]
        return None, products(a, b, y_bar, 0 * b), sums * y_bar, -(weights.T @ y_bar)

    return weighted(weights, a, b), weighted_back


@frule.register(weighted)
def _(dots, weights, a, b):
    weights_dot, a_dot, b_dot = dots
    y_dot: Any = 0.0
    if weights_dot is not None:
        y_dot = weighted(weights_dot, a, b)
    if a_dot is not None or b_dot is not None:
        moved = 0 * a if a_dot is None else a_dot, 0 * b if b_dot is None else b_dot
        y_dot = y_dot + weighted(weights, *moved)
    return weighted(weights, a, b), y_dot


@result_like(lambda a, b, c, e: a @ b.T)
def products(a: Any, b: Any, c: Any, e: Any) -> Any:
    """Return the inner products of a_i − b_j and c_i − e_j."""
    parts = [
        np.einsum("ijk,ijk->ij", a[i, None, :] - b, c[i, None, :] - e) for i in _blocks(a, b)
    ] or [np.zeros((0, len(b)))]
    return parts[0] if len(parts) == 1 else np.concatenate(parts)


@rrule.register(products)
def _(a, b, c, e):
    def products_back(y_bar):
        return (
            None,
            weighted(y_bar, c, e),
            weighted(y_bar.T, e, c),
            weighted(y_bar, a, b),
            weighted(y_bar.T, b, a),
        )

    return products(a, b, c, e), products_back


@frule.register(products)
def _(dots, a, b, c, e):
    y_dot: Any = 0.0
    for i in range(2):
        first, second = dots[2 * i : 2 * i + 2]
        if first is not None or second is not None:
            points, others = ((a, b), (c, e))[i], ((c, e), (a, b))[i]
            first = 0 * points[0] if first is None else first
            second = 0 * points[1] if second is None else second
            y_dot = y_dot + products(first, second, *others)
    return products(a, b, c, e), y_dot


def divided(x: Any, y: Any) -> Any:
    """Return x / y, and 0 where `y` is 0."""
    none = np.equal(y, 0)
    return np.where(none, 0, x / np.where(none, 1, y))
