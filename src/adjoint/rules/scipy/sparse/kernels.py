"""Products of a sparse array and a dense one as functions of the stored numbers and of the places
of these, closed under derivatives.

The places of an array of format ``csr`` or ``csc`` are its pointers and its indices, those of one
of format ``coo`` its rows and its columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import _sparsetools as tools

from adjoint.rules.scipy.multilinear import multilinear
from adjoint.rules.scipy.sparse.sparsity import major_of

TURNED = {"csr": "csc", "csc": "csr", "coo": "coo"}


def _conj(x: Any) -> Any:
    return np.conj(x) if x.dtype.kind == "c" else x


def turned_product(data: Any, x: Any, first: Any, second: Any, m: int, n: int, kind: str) -> Any:
    """Return the product of the transpose of an array of `m` rows and `n` columns."""
    if kind == "coo":
        return product(data, x, second, first, n, m, kind)
    return product(data, x, first, second, n, m, TURNED[kind])


def _of_entries(y_bar, data, x, first, second, m, n, kind):
    return entry_products(y_bar, _conj(x), first, second, m, n, kind)


def _of_dense(y_bar, data, x, first, second, m, n, kind):
    return turned_product(_conj(data), y_bar, first, second, m, n, kind)


@multilinear(
    lambda data, x, first, second, m, n, kind: np.empty((m, *x.shape[1:]), np.result_type(data, x)),
    _of_entries,
    _of_dense,
)
def product(data: Any, x: Any, first: Any, second: Any, m: int, n: int, kind: str) -> Any:
    """Return the product of an array of `m` rows and `n` columns, and a vector or a matrix."""
    y = np.zeros((m, *x.shape[1:]), np.result_type(data, x))
    if kind == "coo" and x.ndim == 1:
        tools.coo_matvec(len(first), first, second, data, x, y)
    elif kind == "coo":
        for i in range(x.shape[1]):
            column = np.zeros(m, y.dtype)
            tools.coo_matvec(len(first), first, second, data, x[:, i], column)
            y[:, i] = column
    elif x.ndim == 1:
        f = tools.csr_matvec if kind == "csr" else tools.csc_matvec
        f(m, n, first, second, data, np.ascontiguousarray(x), y)
    else:
        f = tools.csr_matvecs if kind == "csr" else tools.csc_matvecs
        f(m, n, x.shape[1], first, second, data, x.ravel(), y.ravel())
    return y


def _of_left(bar, left, right, first, second, m, n, kind):
    return product(bar, _conj(right), first, second, m, n, kind)


def _of_right(bar, left, right, first, second, m, n, kind):
    return turned_product(bar, _conj(left), first, second, m, n, kind)


@multilinear(
    lambda left, right, first, second, m, n, kind: np.empty(
        len(second), np.result_type(left, right)
    ),
    _of_left,
    _of_right,
)
def entry_products(
    left: Any, right: Any, first: Any, second: Any, m: int, n: int, kind: str
) -> Any:
    """Return the stored entries of left rightᵀ."""
    rows, columns = first, second
    if kind != "coo":
        major, minor = major_of(first), second[: int(first[-1])]  # there may be unused space
        rows, columns = (major, minor) if kind == "csr" else (minor, major)
    found = left[rows] * right[columns]
    if found.ndim > 1:
        found = np.sum(found, axis=1)
    if len(found) < len(second):
        found = np.concatenate([found, np.zeros(len(second) - len(found), found.dtype)])
    return found
