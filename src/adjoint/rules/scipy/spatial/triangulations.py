"""Rules of triangulations, whose simplices and point locations are locally constant.

`Delaunay` is a compiled class. Its methods store results for later calls, which does not change the
object: equal points give equal results.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import Delaunay

from adjoint.rulekit.registry import non_differentiable, substitute
from adjoint.rules.scipy.equivalents import with_derivative_of

_methods = vars(Delaunay)
non_differentiable(
    (Delaunay, "find_simplex"),
    *(
        _methods[name].fget
        for name in ("convex_hull", "vertex_neighbor_vertices", "vertex_to_simplex")
    ),
)


@non_differentiable
def found(made: Any) -> tuple[Any, Any]:
    """Return SciPy's transforms, and a mask of the simplices that have one."""
    y = made.transform
    return y, np.isfinite(y).all(axis=(1, 2))


@substitute(_methods["transform"].fget)
def transform(self):
    """Return the inverse of the sides of each simplex, and the position of its last corner."""
    y, there = found(self)
    corners = self.points[self.simplices]
    last = corners[:, -1:]
    sides = np.swapaxes(corners[:, :-1] - last, 1, 2)
    regular = np.where(there[:, None, None], sides, np.eye(self.ndim))
    made = np.concatenate([np.linalg.inv(regular), last], axis=1)
    carrier = np.where(there[:, None, None], made, y)
    return with_derivative_of(y, carrier, Delaunay, 1e-6, 1e-9)
