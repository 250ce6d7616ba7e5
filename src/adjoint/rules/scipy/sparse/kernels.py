"""Products of a sparse array and a dense one as functions of the stored numbers and of the places
of these, closed under derivatives.

The places of an array of format ``csr`` or ``csc`` are its pointers and its indices, those of one
of format ``coo`` its rows and its columns.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import _sparsetools as tools
from scipy.sparse import linalg as sl

from adjoint.rulekit.registry import frule, rrule
from adjoint.rulekit.tangents import tangent_of
from adjoint.rules.scipy.equivalents import result_like
from adjoint.rules.scipy.multilinear import multilinear, of_kind
from adjoint.rules.scipy.sparse.sparsity import leaf, major_of

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


# ---- diagonals -----------------------------------------------------------------------------------


def _strips(offsets: Any, length: int, m: int, n: int) -> Any:
    """Yield for each diagonal its number, and its rows and columns in an array of `m` rows and `n`
    columns; element j of a diagonal stands in column j."""
    for k, offset in enumerate(offsets.tolist()):
        first, last = max(0, offset), min(m + offset, n, length)
        if first < last:
            yield k, slice(first - offset, last - offset), slice(first, last)


def _spread_out(diagonal: Any, x: Any) -> Any:
    return diagonal if x.ndim == 1 else diagonal[:, None]


def _of_diagonals(y_bar, data, x, offsets, m, n):
    return diagonal_entries(y_bar, _conj(x), offsets, m, n, data.shape[1])


def _of_columns(y_bar, data, x, offsets, m, n):
    return turned_diagonal_product(_conj(data), y_bar, offsets, m, n)


@multilinear(
    lambda data, x, offsets, m, n: np.empty((m, *x.shape[1:]), np.result_type(data, x)),
    _of_diagonals,
    _of_columns,
)
def diagonal_product(data: Any, x: Any, offsets: Any, m: int, n: int) -> Any:
    """Return the product of an array of diagonals, and a vector or a matrix."""
    y = np.zeros((m, *x.shape[1:]), np.result_type(data, x))
    rows = data.shape[0]
    if x.ndim == 1:
        tools.dia_matvec(m, n, rows, data.shape[1], offsets, data, np.ascontiguousarray(x), y)
    elif (matvecs := leaf("dia_matvecs")) is not None:
        matvecs(m, n, rows, data.shape[1], offsets, data, x.shape[1], np.ascontiguousarray(x), y)
    else:
        for i in range(x.shape[1]):
            y[:, i] = diagonal_product(data, x[:, i], offsets, m, n)
    return y


def _of_turned_diagonals(x_bar, data, y, offsets, m, n):
    return diagonal_entries(_conj(y), x_bar, offsets, m, n, data.shape[1])


def _of_turned_columns(x_bar, data, y, offsets, m, n):
    return diagonal_product(_conj(data), x_bar, offsets, m, n)


@multilinear(
    lambda data, y, offsets, m, n: np.empty((n, *y.shape[1:]), np.result_type(data, y)),
    _of_turned_diagonals,
    _of_turned_columns,
)
def turned_diagonal_product(data: Any, y: Any, offsets: Any, m: int, n: int) -> Any:
    """Return the product of the transpose of an array of diagonals, and a vector or a matrix."""
    x = np.zeros((n, *y.shape[1:]), np.result_type(data, y))
    for k, rows, columns in _strips(offsets, data.shape[1], m, n):
        x[columns] += _spread_out(data[k, columns], y) * y[rows]
    return x


def _of_upper(bar, y, x, offsets, m, n, length):
    return diagonal_product(bar, _conj(x), offsets, m, n)


def _of_lower(bar, y, x, offsets, m, n, length):
    return turned_diagonal_product(bar, _conj(y), offsets, m, n)


@multilinear(
    lambda y, x, offsets, m, n, length: np.empty((len(offsets), length), np.result_type(y, x)),
    _of_upper,
    _of_lower,
)
def diagonal_entries(y: Any, x: Any, offsets: Any, m: int, n: int, length: int) -> Any:
    """Return the diagonals of y xᵀ."""
    data = np.zeros((len(offsets), length), np.result_type(y, x))
    for k, rows, columns in _strips(offsets, length, m, n):
        found = y[rows] * x[columns]
        data[k, columns] = found if found.ndim == 1 else np.sum(found, axis=1)
    return data


# ---- equations -----------------------------------------------------------------------------------


@result_like(lambda data, b, first, second, n, kind, order: b)
def solution(data: Any, b: Any, first: Any, second: Any, n: int, kind: str, order: Any) -> Any:
    """Return what `scipy.sparse.linalg.spsolve` returns for an array in canonical format."""
    make = sparse.csr_array if kind == "csr" else sparse.csc_array
    a = make((data, second, first), shape=(n, n))
    if not a.has_canonical_format:
        raise ValueError("an array of unsorted entries, which SciPy changes")
    return sl.spsolve(a, b, permc_spec=order)


@rrule.register(solution)
def _(data, b, first, second, n, kind, order):
    x = solution(data, b, first, second, n, kind, order)

    def solution_back(x_bar, *, wanted):
        b_bar = solution(_conj(data), x_bar, first, second, n, TURNED[kind], order)
        data_bar = None
        if wanted[0]:
            data_bar = of_kind(-entry_products(b_bar, _conj(x), first, second, n, n, kind), data)
        return None, data_bar, of_kind(b_bar, b), None, None, None, None, None

    return x, solution_back


@tangent_of(solution)
def _solution_dot(dots, x, data, b, first, second, n, kind, order):
    data_dot, b_dot = dots[0], dots[1]
    if data_dot is None:
        return solution(data, b_dot, first, second, n, kind, order)
    moved = product(data_dot, x, first, second, n, n, kind)
    right = -moved if b_dot is None else b_dot - moved
    return solution(data, right, first, second, n, kind, order)


@frule.register(solution)
def _(dots, data, b, first, second, n, kind, order):
    x = solution(data, b, first, second, n, kind, order)
    if dots[0] is None and dots[1] is None:
        return x, None
    return x, _solution_dot(dots, x, data, b, first, second, n, kind, order)
