"""Ordinary functions of NumPy arrays in programs of all kinds."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import adjoint as ad
from tests.fast.second_order import check_programs

RNG = np.random.default_rng(0)
X, M = RNG.normal(size=14), RNG.normal(size=(6, 5))
POINTS = np.linspace(0, 1, 14) ** 2
COUNTS = np.arange(14) % 4
TRAPEZOID = getattr(np, "trapezoid", None) or np.trapz  # noqa: NPY201


def size(y):
    return (y**2).sum()


def both(pair):
    a, b = pair
    return size(a) + size(b * a)


FUNCTIONS = {
    "gradient": (lambda x: size(np.gradient(x * x, 0.1)), X),
    "gradient at points": (lambda x: size(np.gradient(x * x, POINTS)), X),
    "at points, edges": (lambda x: size(np.gradient(x * x, POINTS, edge_order=2)), X),
    "edges": (lambda x: size(np.gradient(x * x, 0.1, edge_order=2)), X),
    "both axes": (lambda x: both(np.gradient(x * x)), M),
    "several distances": (lambda x: both(np.gradient(x * x, 0.1, 0.2, edge_order=2)), M),
    "two distances": (lambda x: both(np.gradient(x * x, 0.1, POINTS[:5])), M),
    "chosen axes": (lambda x: both(np.gradient(x * x, axis=(1, 0))), M),
    "one axis": (lambda x: size(np.gradient(x * x, 0.3, axis=-1)), M),
    "windows": (lambda x: size(sliding_window_view(x * x, (2, 3)).max(axis=(-1, -2))), M),
    "windows of an axis": (lambda x: size(sliding_window_view(x * x, 3, axis=1).std(-1)), M),
    "windows of axes": (lambda x: size(sliding_window_view(x, (2, 3), axis=(1, 0))[1:, 0]), M),
    "ediff1d": (lambda x: size(np.ediff1d(x * x)), M),
    "indices": (lambda x: size(np.indices((3, 4))[1] * x[0] + np.indices((3, 4))[0] * x[1]), X),
    "fromfunction": (lambda x: size(np.fromfunction(lambda i, j: x[0] * i + j * x[1], (3, 4))), X),
    "delete": (lambda x: size(np.delete(x * x, [3, 4])), X),
    "delete one": (lambda x: size(np.delete(x * x, -2)), X),
    "delete rows": (lambda x: size(np.delete(x * x, [0, 2], axis=0)), M),
    "repeat": (lambda x: size(np.repeat(x * x, COUNTS)), X),
    "repeat columns": (lambda x: size(np.repeat(x * x, COUNTS[:5], axis=1)), M),
    "repeat each": (lambda x: size(np.repeat(x * x, 2)), X),
    "trapezoid": (lambda x: TRAPEZOID(x * x, dx=0.1) ** 2, X),
    "unwrap": (lambda x: size(np.unwrap(x * 3)), X),
    "r_ of integers": (lambda x: size(x[np.r_[COUNTS, COUNTS[::-1]]]), X),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs(name):
    f, x = FUNCTIONS[name]
    check_programs(f, x)
    assert ad.withgradient(f, x)[0] == pytest.approx(f(x), rel=1e-13)
