"""Determinant by expansion along the first row, all n! products of it."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad
from benchmarks.gradbench.evaluation import Function, Functions, Style, choose

__all__ = ["determinant_arrays", "determinant_loops", "functions"]


# ---- with whole arrays ---------------------------------------------------------------------------


def minors_arrays(a: Any, row: Any, columns: Any) -> Any:
    """The minors of the rows from `row` on, one for each row of column numbers in `columns`."""
    count, size = columns.shape
    if size == 1:
        return a[row, columns[:, 0]]
    others = np.array([[k for k in range(size) if k != j] for j in range(size)])
    smaller = minors_arrays(a, row + 1, columns[:, others].reshape(-1, size - 1))
    signs = (-1.0) ** np.arange(size)
    return np.sum(signs * a[row, columns] * smaller.reshape(count, size), axis=1)


def determinant_arrays(a: Any) -> Any:
    """Of a square matrix."""
    return minors_arrays(a, 0, np.arange(len(a)).reshape(1, -1))[0]


# ---- element by element --------------------------------------------------------------------------


def minor_loops(a: Any, row: Any, columns: Any) -> Any:
    """The minor of the rows from `row` on and of these columns."""
    if len(columns) == 1:
        return a[row, columns[0]]
    total = 0.0
    for j, column in enumerate(columns):
        term = a[row, column] * minor_loops(a, row + 1, columns[:j] + columns[j + 1 :])
        if j % 2 == 0:
            total += term
        else:
            total -= term
    return total


def determinant_loops(a: Any) -> Any:
    """Of a square matrix."""
    return minor_loops(a, 0, list(range(len(a))))


# ---- what GradBench calls ------------------------------------------------------------------------


def functions(style: Style) -> Functions:
    """``primal`` and ``gradient``; matrices are flat."""
    determinant = choose(style, arrays=determinant_arrays, loops=determinant_loops)

    def gradient(a: Any) -> Any:
        (a_bar,) = ad.gradient(determinant, a)
        return a_bar.ravel()

    return {
        "primal": Function(_prepare, determinant, float),
        "gradient": Function(_prepare, gradient, np.ndarray.tolist),
    }


def _prepare(input: Any) -> tuple[Any, ...]:
    return (np.array(input["A"], float).reshape(input["ell"], input["ell"]),)
