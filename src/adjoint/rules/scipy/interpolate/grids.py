"""Rules of the leaves of `RegularGridInterpolator`: cell search and linear interpolation.

A point on the grid has the slopes of the cell that SciPy takes the value from.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.interpolate import _rgi_cython

from adjoint.rulekit.registry import non_differentiable, substitute
from adjoint.rules.scipy.equivalents import carried, with_derivative_of

_find_indices: Any = _rgi_cython.find_indices
_evaluate_linear: Any = getattr(_rgi_cython, "evaluate_linear_2d", None)


@non_differentiable
def cells(grid: Any, xi: Any) -> Any:
    """Return the cell of each point along each axis."""
    return np.asarray(_find_indices(grid, np.ascontiguousarray(xi))[0])


@carried(_find_indices)
def find_indices(grid, xi):
    """Return the cells, and the position of each point in its cell, from 0 to 1."""
    found, along = cells(grid, xi), []
    for axis in range(len(grid)):
        points, places = grid[axis], found[axis]
        after = np.minimum(places + 1, len(points) - 1)
        left, width = points[places], points[after] - points[places]
        along.append(
            np.where(width == 0, 0.0, (xi[axis] - left) / np.where(width == 0, 1.0, width))
        )
    return found, np.stack(along)


if _evaluate_linear is not None:

    @non_differentiable
    def plain(values: Any, indices: Any, norm_distances: Any, grid: Any) -> Any:
        out = np.empty(indices.shape[1], values.dtype)
        return np.asarray(_evaluate_linear(values, indices, norm_distances, grid, out))

    @substitute(_evaluate_linear)
    def evaluate_linear_2d(values, indices, norm_distances, grid, out):
        y = plain(values, indices, norm_distances, grid)
        (i, j), (s, t) = indices, norm_distances
        after_i = np.minimum(i + 1, values.shape[0] - 1)
        after_j = np.minimum(j + 1, values.shape[1] - 1)
        carrier = (
            values[i, j] * (1 - s) * (1 - t)
            + values[i, after_j] * (1 - s) * t
            + values[after_i, j] * s * (1 - t)
            + values[after_i, after_j] * s * t
        )
        out[...] = with_derivative_of(y, carrier, _evaluate_linear, 1e-6, 1e-9)
        return out
