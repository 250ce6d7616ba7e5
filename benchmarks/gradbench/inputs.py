"""Inputs of the evaluations, of any size: random ones from a fixed seed.

GradBench reads those of ``ba`` and ``ht`` from files and draws the others in the same way and from
the same seed (``python/gradbench/gradbench/evals`` of its repository). Those here have the same
form, other numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["ba", "det", "gmm", "ht", "kmeans", "llsq", "lse", "lstm", "ode"]

Input = dict[str, Any]

SEED = 31337
BONES, ANGLES, WEIGHTS = 22, 26, 3
"""Of a hand: the bones, the parameters of its pose, and the bones that move one vertex."""


def ba(n: int, m: int, p: int) -> Input:
    """`n` cameras see `m` points in `p` observations; all cameras and all points are alike."""
    rotation, centre = [-0.8, -1.1, -0.9], [34.0, 40.0, 54.0]
    camera = [*rotation, *centre, 420.0, 6.0, -8.0, 0.1, 0.003]
    point = {"cam": camera, "x": [7.0, 0.1, 3.0], "w": 0.4, "feat": [270.0, 830.0]}
    return {"n": n, "m": m, "p": p} | point


def det(ell: int) -> Input:
    """A matrix of `ell` rows."""
    return {"A": _generator().random(ell * ell).tolist(), "ell": ell}


def gmm(d: int, k: int, n: int) -> Input:
    """`n` points in `d` dimensions, and a mixture of `k` Gaussians."""
    rng = _generator()
    arrays = {
        "x": rng.normal(size=(n, d)),
        "alpha": rng.normal(size=k),
        "mu": rng.uniform(size=(k, d)),
        "q": rng.normal(size=(k, d)),
        "l": rng.normal(size=(k, d * (d - 1) // 2)),
    }
    lists = {name: array.tolist() for name, array in arrays.items()}
    return {"d": d, "k": k, "n": n, "m": 0, "gamma": 1.0} | lists


def ht(vertices: int, points: int, within_triangles: bool = False) -> Input:
    """A hand of random shape, and `points` measured; with barycentric coordinates if
    `within_triangles`."""
    rng = _generator()
    parents = [-1]
    for finger in range(5):
        parents += [0, *(4 * finger + joint for joint in (1, 2, 3))]
    parents.append(0)
    relatives = np.tile(np.eye(4), (BONES, 1, 1))
    relatives[:, :3, :3] = np.linalg.qr(rng.normal(size=(BONES, 3, 3)))[0]
    relatives[:, :3, 3] = rng.normal(0.0, 0.05, size=(BONES, 3))
    absolutes: list[Any] = []
    for parent, relative in zip(parents, relatives, strict=True):
        absolutes.append(relative if parent == -1 else absolutes[parent] @ relative)
    weights = np.zeros((vertices, BONES))
    for row in weights:
        row[rng.choice(BONES, WEIGHTS, replace=False)] = rng.dirichlet(np.ones(WEIGHTS))
    positions = rng.normal(0.0, 0.05, size=(vertices, 3))
    model = {
        "parents": parents,
        "base_relatives": relatives.tolist(),
        "inverse_base_absolutes": np.linalg.inv(np.stack(absolutes)).tolist(),
        "base_positions": np.column_stack([positions, np.ones(vertices)]).tolist(),
        "weights": weights.tolist(),
        "triangles": rng.integers(vertices, size=(vertices, 3)).tolist(),
        "is_mirrored": False,
    }
    data = {
        "model": model,
        "correspondences": rng.integers(vertices, size=points).tolist(),
        "points": rng.normal(0.5, 0.3, size=(points, 3)).tolist(),
    }
    us = rng.random((points, 2)).tolist() if within_triangles else []
    return {"theta": rng.normal(0.0, 0.7, size=ANGLES).tolist(), "data": data, "us": us}


def kmeans(k: int, n: int, d: int) -> Input:
    """`n` points in `d` dimensions, the last `k` of which are the centroids."""
    points = _generator().random((n, d)).tolist()
    return {"points": points, "centroids": points[-k:]}


def llsq(n: int, m: int) -> Input:
    """`m` coefficients and `n` points."""
    return {"x": _generator().random(m).tolist(), "n": n}


def lse(n: int) -> Input:
    """`n` numbers."""
    return {"x": _generator().random(n).tolist()}


def lstm(layers: int, characters: int, bits: int = 14) -> Input:
    """A text of random printable characters of ASCII."""
    rng = _generator()
    codes = rng.integers(32, 127, size=characters).tolist()
    return {
        "main_params": rng.random((2 * layers, 4 * bits)).tolist(),
        "extra_params": rng.random((3, bits)).tolist(),
        "state": rng.random((2 * layers, bits)).tolist(),
        "sequence": [[float(code >> b & 1) for b in reversed(range(bits))] for code in codes],
    }


def ode(n: int, s: int) -> Input:
    """A chain of `n`, in `s` steps; no factor is small, so that the gradient is not lost."""
    return {"x": (2 + _generator().random(n)).tolist(), "s": s}


def _generator() -> np.random.Generator:
    return np.random.default_rng(SEED)
