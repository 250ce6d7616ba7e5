"""Distances to near points: `KDTree.query`, `sparse_distance_matrix` and `directed_hausdorff`.

Which points these are is chosen in C; the distances to them are differentiated. A tree is an object
of C, which has no place for the cotangent of its points: where these have a derivative that is
needed, it is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.spatial import _hausdorff, cKDTree

from adjoint.rules.registry import non_differentiable, substitute
from adjoint.rules.scipy.carried import carried, carrying

__all__: list[str] = []


# ---- trees ---------------------------------------------------------------------------------------


@non_differentiable
def nearest(tree: Any, *args: Any) -> Any:
    """The distances to the nearest points, and which they are."""
    return cKDTree.query(tree, *args)


@substitute((cKDTree, "query"))
def query(self, x, k=1, eps=0.0, p=2.0, distance_upper_bound=np.inf, workers=1):
    x = np.asarray(x, float)
    y, found = nearest(self, x, k, eps, p, distance_upper_bound, workers)
    near = self.data[np.minimum(found, self.n - 1)]
    u = round_torus(self, near - (x[..., None, :] if np.ndim(found) == x.ndim else x))
    carrier = np.where(np.isfinite(y), np.linalg.norm(u, p, -1), np.inf)
    return carrying(y, carrier, cKDTree.query, 1e-6, 1e-9), found


def round_torus(tree: Any, u: Any) -> Any:
    box = tree.boxsize
    if box is None:
        return u
    return u - np.where(box > 0, box * np.round(u / np.where(box > 0, box, 1.0)), 0.0)


@non_differentiable
def near(tree: Any, *args: Any) -> Any:
    """The distances of the pairs that are not far apart, and which they are."""
    pairs = cKDTree.sparse_distance_matrix(tree, *args, "ndarray")
    return pairs["v"].copy(), pairs["i"].copy(), pairs["j"].copy()


@substitute((cKDTree, "sparse_distance_matrix"))
def sparse_distance_matrix(self, other, max_distance, p=2.0, output_type="dok_matrix"):
    kinds = ("dok_matrix", "coo_matrix", "dict", "ndarray")
    if output_type not in kinds:
        raise ValueError(f"output_type must be one of {kinds}")
    y, i, j = near(self, other, max_distance, p)
    carrier = np.linalg.norm(round_torus(self, self.data[i] - other.data[j]), p, -1)
    v = carrying(y, carrier, cKDTree.sparse_distance_matrix, 1e-6, 1e-9)
    if output_type == "dict":
        return dict(zip(zip(i.tolist(), j.tolist(), strict=True), v.tolist(), strict=True))
    if output_type == "ndarray":
        pairs = np.zeros(len(v), [("i", np.intp), ("j", np.intp), ("v", float)])
        pairs["i"], pairs["j"], pairs["v"] = i, j, v
        return pairs
    matrix = coo_matrix((v, (i, j)), (self.n, other.n))
    return matrix if output_type == "coo_matrix" else matrix.todok()


non_differentiable(
    (cKDTree, "count_neighbors"), (cKDTree, "query_ball_point"), (cKDTree, "query_pairs")
)


# ---- Hausdorff's distance ------------------------------------------------------------------------


@non_differentiable
def farthest(a: Any, b: Any, seed: Any) -> Any:
    """The pair of points that the distance is between."""
    _, i, j = _hausdorff.directed_hausdorff(a, b, seed)
    return i, j


@carried(_hausdorff.directed_hausdorff)
def directed_hausdorff(ar1, ar2, seed=0):
    i, j = farthest(ar1, ar2, seed)
    return np.linalg.norm(ar1[i] - ar2[j]), i, j
