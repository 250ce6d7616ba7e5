"""Triangulations: which simplices there are, and in which a point lies, moves in jumps only.

`Delaunay` is a class of C. Its methods fill what it keeps for later calls, which is no change of
its own: the same points always give the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.spatial import Delaunay

from adjoint.rulekit.registry import non_differentiable, substitute
from adjoint.rules.scipy.carried import carrying

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
    """What C calculates, and for which simplices it exists."""
    y = made.transform
    return y, np.isfinite(y).all(axis=(1, 2))


@substitute(_methods["transform"].fget)
def transform(self):
    """The inverse of the sides of each simplex, and where the last of its corners stands."""
    y, there = found(self)
    corners = self.points[self.simplices]
    last = corners[:, -1:]
    sides = np.swapaxes(corners[:, :-1] - last, 1, 2)
    regular = np.where(there[:, None, None], sides, np.eye(self.ndim))
    made = np.concatenate([np.linalg.inv(regular), last], axis=1)
    carrier = np.where(there[:, None, None], made, y)
    return carrying(y, carrier, Delaunay, 1e-6, 1e-9)
