"""k-means: the squared distances of points from their nearest centroids, and Newton's direction."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad
from benchmarks.gradbench.evaluation import Function, Functions, Style, choose

__all__ = ["functions", "spread_arrays", "spread_loops"]


def spread_arrays(centroids: Any, points: Any) -> Any:
    """The sum of the squared distances, with whole arrays."""
    norms = np.sum(points**2, axis=1)[:, None]
    squares = norms - 2 * points @ centroids.T + np.sum(centroids**2, axis=1)
    return np.sum(np.min(squares, axis=1))


def spread_loops(centroids: Any, points: Any) -> Any:
    """The sum of the squared distances, element by element."""
    total = 0.0
    for i in range(len(points)):
        closest = np.inf
        for j in range(len(centroids)):
            square = 0.0
            for k in range(points.shape[1]):
                square += (points[i, k] - centroids[j, k]) ** 2
            closest = min(closest, square)
        total += closest
    return total


# ---- what GradBench calls ------------------------------------------------------------------------


def functions(style: Style) -> Functions:
    """``cost`` and ``dir``, the gradient divided by the diagonal of the Hessian."""
    spread = choose(style, arrays=spread_arrays, loops=spread_loops)

    def direction(centroids: Any, points: Any) -> Any:
        # The Hessian is diagonal, so that its product with ones is its diagonal.
        slope, ones = ad.grad(spread), np.ones_like(centroids)
        gradient, diagonal = ad.pushforward(slope, (centroids,), (ones,), points=points)
        return gradient / diagonal

    return {
        "cost": Function(_prepare, spread, float),
        "dir": Function(_prepare, direction, np.ndarray.tolist),
    }


def _prepare(input: Any) -> tuple[Any, ...]:
    return np.array(input["centroids"], float), np.array(input["points"], float)
