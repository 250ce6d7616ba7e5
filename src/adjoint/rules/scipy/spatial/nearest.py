"""Distances to near points: `KDTree.query`, `sparse_distance_matrix`, `directed_hausdorff`.

Compiled code chooses the points; the distances to them are differentiated. A tree is a compiled
object that keeps a view of its points, so the cotangent of ``tree.data`` belongs to the shadow of
the tree.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_matrix
from scipy.spatial import _hausdorff, cKDTree

from adjoint.cotangents.accumulate import accumulate
from adjoint.rulekit.refusal import NoDerivative
from adjoint.rulekit.registry import non_differentiable, primitive, substitute
from adjoint.rules.scipy.equivalents import carried, refusing, with_derivative_of
from adjoint.runtime.memory.memory import Memory

# ---- trees ---------------------------------------------------------------------------------------

BOX = NoDerivative("the size of its box", "has no rule")

non_differentiable(cKDTree.__new__)  # returns an empty tree


def plant(tree: Any, points: Any, *options: Any) -> None:
    """Initialize a tree with contiguous points of double precision, without a copy."""
    cKDTree.__init__(tree, points, *options)


@substitute((cKDTree, "__init__"))
def fill(
    self, data, leafsize=16, compact_nodes=True, copy_data=False, balanced_tree=True, boxsize=None
):
    if copy_data:
        points = np.array(data, float, order="C")
    else:
        points = np.asarray(data, float, order="C")
    if boxsize is not None:
        points = refusing(points, cKDTree, BOX, boxsize)
    plant(self, points, leafsize, compact_nodes, False, balanced_tree, boxsize)


@substitute(cKDTree)
def grow(*args, **kwargs):
    tree = cKDTree.__new__(cKDTree)
    tree.__init__(*args, **kwargs)
    return tree


@primitive(plant)
def _(record: list[Any], slot: int, tree: Any, points: Any, *options: Any) -> None:
    memory: Memory = record[0]

    def plant_back(_: Any) -> tuple[Any, ...]:
        bar = accumulate(memory.take_entry(tree, "data"), memory.take_entry(tree, "*"))
        return None, None, bar, *(None,) * len(options)

    record[slot] = plant_back
    plant(tree, points, *options)


@primitive((cKDTree, "data"))
def _(record: list[Any], slot: int, tree: Any) -> Any:
    memory: Memory = record[0]
    level = memory.level
    if level is not None and any(one.holds(tree) for one in level.down()):
        return NotImplemented  # compiled code has made the tree from active values

    def data_back(y_bar: Any) -> tuple[Any, ...]:
        memory.add_entry(tree, "data", y_bar)
        return None, None

    record[slot] = data_back
    return tree.data


@non_differentiable
def nearest(tree: Any, *args: Any) -> Any:
    """Return the distances to the nearest points, and their indices."""
    return cKDTree.query(tree, *args)


@substitute((cKDTree, "query"))
def query(self, x, k=1, eps=0.0, p=2.0, distance_upper_bound=np.inf, workers=1):
    x = np.asarray(x, float)
    y, found = nearest(self, x, k, eps, p, distance_upper_bound, workers)
    near = self.data[np.minimum(found, self.n - 1)]
    u = round_torus(self, near - (x[..., None, :] if np.ndim(found) == x.ndim else x))
    carrier = np.where(np.isfinite(y), np.linalg.norm(u, p, -1), np.inf)
    return with_derivative_of(y, carrier, cKDTree.query, 1e-6, 1e-9), found


@non_differentiable
def box_of(tree: Any) -> Any:
    return tree.boxsize


def round_torus(tree: Any, u: Any) -> Any:
    box = box_of(tree)
    if box is None:
        return u
    return u - np.where(box > 0, box * np.round(u / np.where(box > 0, box, 1.0)), 0.0)


@non_differentiable
def near(tree: Any, *args: Any) -> Any:
    """Return the distances of all close pairs, and their indices."""
    pairs = cKDTree.sparse_distance_matrix(tree, *args, "ndarray")
    return pairs["v"].copy(), pairs["i"].copy(), pairs["j"].copy()


@substitute((cKDTree, "sparse_distance_matrix"))
def sparse_distance_matrix(self, other, max_distance, p=2.0, output_type="dok_matrix"):
    kinds = ("dok_matrix", "coo_matrix", "dict", "ndarray")
    if output_type not in kinds:
        raise ValueError(f"output_type must be one of {kinds}")
    y, i, j = near(self, other, max_distance, p)
    carrier = np.linalg.norm(round_torus(self, self.data[i] - other.data[j]), p, -1)
    v = with_derivative_of(y, carrier, cKDTree.sparse_distance_matrix, 1e-6, 1e-9)
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
    """Return the indices of the pair of points whose distance is the result."""
    _, i, j = _hausdorff.directed_hausdorff(a, b, seed)
    return i, j


@carried(_hausdorff.directed_hausdorff)
def directed_hausdorff(ar1, ar2, seed=0):
    i, j = farthest(ar1, ar2, seed)
    return np.linalg.norm(ar1[i] - ar2[j]), i, j
