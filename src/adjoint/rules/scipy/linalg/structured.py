"""Rules of linear equations with banded and Toeplitz matrices, in linear time and memory.

The formulas are those of full matrices (`solving`). Only the stored diagonals of the outer product
−b̄ xᴴ, or its sums along diagonals, are computed.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg as sl

from adjoint.rulekit.projection import project
from adjoint.rulekit.registry import frule, rrule
from adjoint.rulekit.tangents import tangent_of
from adjoint.rules.numpy.linalg.factors import cholesky_back, cholesky_dot
from adjoint.rules.scipy.equivalents import result_like
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule
from adjoint.rules.scipy.multilinear import multilinear, of_kind

# ---- banded storage: row u + i − j of column j holds the entry (i, j) ----------------------------


def _diagonals(lower: int, upper: int, n: int) -> Any:
    """Yield for each diagonal its row of the storage, and its rows and columns in the matrix."""
    for k in range(-lower, upper + 1):
        columns = slice(max(k, 0), min(n, n + k))
        rows = slice(max(-k, 0), min(n, n - k))
        if rows.start < rows.stop:
            yield upper - k, rows, columns


def _inside(n: int, k: int) -> Any:
    """Return a mask of the columns that have an entry on the diagonal `k`."""
    j = np.arange(n)
    return (j >= k) & (j < n + k)


def transposed_band(ab: Any, lower: int, upper: int) -> Any:
    """Return the storage of the transpose."""
    n = ab.shape[-1]
    turned = np.zeros_like(ab)
    for row in range(lower + upper + 1):
        k = lower - row
        if abs(k) < n:
            turned[row, max(k, 0) : n + min(k, 0)] = ab[upper + k, max(-k, 0) : n - max(k, 0)]
    return turned


_turned: Any = multilinear(
    lambda ab, lower, upper: ab, lambda bar, ab, lower, upper: _turned(bar, upper, lower)
)(transposed_band)


def _mirrored(ab: Any, lower: int, upper: int) -> Any:
    """Return the storage of the conjugate transpose."""
    return _turned(_conj(ab), lower, upper)


def _of_left(bar, left, right, lower, upper):
    return banded_product(bar, _conj(right), lower, upper)


def _of_right(bar, left, right, lower, upper):
    return banded_product(_turned(bar, lower, upper), _conj(left), upper, lower)


@multilinear(
    lambda left, right, lower, upper: np.empty(
        (lower + upper + 1, len(left)), np.result_type(left, right)
    ),
    _of_left,
    _of_right,
)
def _banded_products(left: Any, right: Any, lower: int, upper: int) -> Any:
    """Return the stored diagonals of left rightᵀ."""
    n = left.shape[0]
    bar = np.zeros((lower + upper + 1, n), np.result_type(left, right))
    for row, rows, columns in _diagonals(lower, upper, n):
        bar[row, columns] = np.sum(left[rows] * right[columns], axis=1)
    return bar


def _banded_outer(left: Any, right: Any, lower: int, upper: int) -> Any:
    """Return the stored diagonals of left rightᴴ."""
    return _banded_products(left, _conj(right), lower, upper)


def _of_band(bar, ab, x, lower, upper):
    return _banded_outer(bar, x, lower, upper)


def _of_columns(bar, ab, x, lower, upper):
    return banded_product(_mirrored(ab, lower, upper), bar, upper, lower)


@multilinear(
    lambda ab, x, lower, upper: np.empty(x.shape, np.result_type(ab, x)), _of_band, _of_columns
)
def banded_product(ab: Any, x: Any, lower: int, upper: int) -> Any:
    """Return the product of a banded matrix and columns."""
    n = x.shape[0]
    total = np.zeros(x.shape, np.result_type(ab, x))
    for row, rows, columns in _diagonals(lower, upper, n):
        total[rows] += ab[row, columns, None] * x[columns]
    return total


def _conj(x: Any) -> Any:
    return np.conj(x) if x.dtype.kind == "c" else x


@result_like(lambda ab, b, lower, upper, check_finite: np.empty(b.shape, np.result_type(ab, b)))
def banded_solution(ab: Any, b: Any, lower: int, upper: int, check_finite: bool) -> Any:
    """Return A⁻¹ b for columns `b`."""
    return sl.solve_banded((lower, upper), ab, b, check_finite=check_finite)


@rrule.register(banded_solution)
def _(ab, b, lower, upper, check_finite):
    x = banded_solution(ab, b, lower, upper, check_finite)

    def banded_back(x_bar, *, wanted):
        turned = _mirrored(ab, lower, upper)
        b_bar = banded_solution(turned, x_bar, upper, lower, False)
        ab_bar = None
        if wanted[0]:
            ab_bar = of_kind(-_banded_outer(b_bar, x, lower, upper), ab)
        return None, ab_bar, of_kind(b_bar, b), None, None, None

    return x, banded_back


@tangent_of(banded_solution)
def _banded_dot(dots, x, ab, b, lower, upper, check_finite):
    ab_dot, b_dot = dots[0], dots[1]
    if ab_dot is None:
        return banded_solution(ab, b_dot, lower, upper, False)
    moved = banded_product(ab_dot, x, lower, upper)
    right = -moved if b_dot is None else b_dot - moved
    return banded_solution(ab, right, lower, upper, False)


@frule.register(banded_solution)
def _(dots, ab, b, lower, upper, check_finite):
    x = banded_solution(ab, b, lower, upper, check_finite)
    if dots[0] is None and dots[1] is None:
        return x, None
    return x, _banded_dot(dots, x, ab, b, lower, upper, check_finite)


def _matrix(x: Any) -> Any:
    return x[:, None] if x.ndim == 1 else x


@matrix_rule(sl.solve_banded, "*l_and_u ab b")
def _(call: Call) -> Any:
    lower, upper = call.l_and_u
    ab, x = call.ab, call.y
    if ab.ndim != 2 or np.ndim(call.b) > 2:
        return NotImplemented
    shape, columns = np.shape(call.b), _matrix(x)

    def back(x_bar: Any) -> Any:
        bar = sl.solve_banded((upper, lower), _mirrored(ab, lower, upper), _matrix(x_bar))
        return None, _banded_outer(-bar, columns, lower, upper), np.reshape(bar, shape)

    def push(_: Any, ab_dot: Any, b_dot: Any) -> Any:
        right: Any = 0.0 if b_dot is None else _matrix(b_dot)
        if ab_dot is not None:
            right = right - banded_product(ab_dot, columns, lower, upper)
        return np.reshape(sl.solve_banded((lower, upper), ab, right), np.shape(x))

    return back, push


# ---- Hermitian banded matrices, of which one triangle is stored ----------------------------------


def _half_outer(left: Any, right: Any, width: int, lower: bool) -> Any:
    """Return the cotangent of one stored triangle: from left rightᴴ and its mirror image."""
    sides = (width, 0) if lower else (0, width)
    bar = _banded_outer(left, right, *sides)
    mirror = _banded_outer(right, left, *sides)
    middle = 0 if lower else width
    main = np.arange(width + 1)[:, None] == middle
    return np.where(main, np.real(bar), bar + mirror)


def _half_product(ab: Any, x: Any, lower: bool) -> Any:
    """Return the Hermitian matrix with the stored triangle `ab`, times `x`."""
    width = ab.shape[0] - 1
    sides, others = ((width, 0), (0, width)) if lower else ((0, width), (width, 0))
    main = np.arange(width + 1)[:, None] == (0 if lower else width)
    mirror = _mirrored(np.where(main, 0, ab), *sides)
    whole = np.where(main, np.real(ab), ab)
    return banded_product(whole, x, *sides) + banded_product(mirror, x, *others)


@matrix_rule(sl.solveh_banded, "ab b", one_by_one=True)
def _(call: Call) -> Any:
    ab, x, lower = call.ab, call.y, bool(call.lower)
    if ab.ndim != 2 or np.ndim(call.b) > 2:
        return NotImplemented
    width, shape, columns = ab.shape[0] - 1, np.shape(call.b), _matrix(x)

    def back(x_bar: Any) -> Any:
        bar = sl.solveh_banded(ab, _matrix(x_bar), lower=lower)
        return _half_outer(-bar, columns, width, lower), np.reshape(bar, shape)

    def push(ab_dot: Any, b_dot: Any) -> Any:
        right: Any = 0.0 if b_dot is None else _matrix(b_dot)
        if ab_dot is not None:
            right = right - _half_product(ab_dot, columns, lower)
        return np.reshape(sl.solveh_banded(ab, right, lower=lower), np.shape(x))

    return back, push


def whole(ab: Any, lower: bool) -> Any:
    """Return the triangular matrix whose diagonals `ab` holds."""
    width, n = ab.shape[0] - 1, ab.shape[1]
    total: Any = 0.0
    for d in range(min(width, n - 1) + 1):
        line = ab[d, : n - d] if lower else ab[width - d, d:]
        total = total + np.diag(line, -d if lower else d)
    return total


def stored(a: Any, width: int, lower: bool) -> Any:
    """Return the diagonals of a triangular matrix in the layout of `whole`."""
    n = a.shape[0]
    lines = []
    for d in range(width + 1):
        line = np.diagonal(a, -d if lower else d) if d < n else a[0, :0]
        lines.append(np.pad(line, (0, min(d, n)) if lower else (min(d, n), 0)))
    return np.stack(lines if lower else lines[::-1])


@matrix_rule(sl.cholesky_banded, "ab", one_by_one=True)
def _(call: Call) -> Any:
    """Differentiate by way of the full matrix."""
    ab, lower = call.ab, bool(call.lower)
    if ab.ndim != 2:
        return NotImplemented
    width, factor = ab.shape[0] - 1, whole(call.y, lower)
    diagonals = [-d if lower else width - d for d in range(width + 1)]
    # entries of the storage outside the matrix stay unchanged
    beside = np.stack([~_inside(ab.shape[1], k) for k in diagonals])

    def back(y_bar: Any) -> Any:
        _, a_bar = cholesky_back(factor, not lower)(whole(y_bar, lower))
        return (stored(a_bar, width, lower) + y_bar * beside,)

    def push(ab_dot: Any) -> Any:
        dot = cholesky_dot(factor, whole(ab_dot, lower), not lower)
        return stored(dot, width, lower) + ab_dot * beside

    return back, push


@matrix_rule(sl.cho_solve_banded, "*cb_and_lower b")
def _(call: Call) -> Any:
    """Solve with A = L Lᴴ: Ā = −b̄ xᴴ, so L̄ is the stored part of (Ā + Āᴴ) L."""
    cb, lower = call.cb_and_lower
    stored, x = np.asarray(cb), call.y
    if stored.ndim != 2 or np.ndim(call.b) > 2:
        return NotImplemented
    width, columns = stored.shape[0] - 1, _matrix(x)
    sides, others = ((width, 0), (0, width)) if lower else ((0, width), (width, 0))
    mirror = _mirrored(stored, *sides)

    def back(x_bar: Any) -> Any:
        bar = sl.cho_solve_banded((stored, lower), _matrix(x_bar))
        # a factor times an outer product is banded work: a product with each vector
        if lower:
            of_x = banded_product(mirror, columns, *others)
            of_bar = banded_product(mirror, bar, *others)
            c_bar = -_banded_outer(bar, of_x, *sides) - _banded_outer(columns, of_bar, *sides)
        else:
            of_x, of_bar = (banded_product(stored, v, *sides) for v in (columns, bar))
            c_bar = -_banded_outer(of_x, bar, *sides) - _banded_outer(of_bar, columns, *sides)
        return (project(c_bar, cb), None), np.reshape(bar, np.shape(call.b))

    def push(dots: Any, b_dot: Any) -> Any:
        right: Any = 0.0 if b_dot is None else _matrix(b_dot)
        c_dot = None if dots is None else dots[0]
        if c_dot is not None:
            right = right - _moved(stored, c_dot, columns, sides, others, bool(lower))
        return np.reshape(sl.cho_solve_banded((stored, lower), right), np.shape(x))

    return back, push


def _moved(c: Any, c_dot: Any, x: Any, sides: Any, others: Any, lower: bool) -> Any:
    """Return (L̇ Lᴴ + L L̇ᴴ) x, or with the factors in the other order."""

    def times(ab: Any, y: Any) -> Any:
        return banded_product(ab, y, *sides)

    def mirrored_times(ab: Any, y: Any) -> Any:
        return banded_product(_mirrored(ab, *sides), y, *others)

    if lower:
        return times(c_dot, mirrored_times(c, x)) + times(c, mirrored_times(c_dot, x))
    return mirrored_times(c_dot, times(c, x)) + mirrored_times(c, times(c_dot, x))


# ---- Toeplitz matrices: c is the first column, r the first row without its first entry -----------


def _column_and_row(c_or_cr: Any) -> tuple[Any, Any, bool]:
    """Return column and row, and whether the row was an argument."""
    if isinstance(c_or_cr, tuple):
        c, r = c_or_cr
        return np.ravel(c), np.ravel(r), True
    c = np.ravel(c_or_cr)
    return c, np.conj(c), False


def _is_plain(c_or_cr: Any) -> bool:
    """Return whether these are single numeric vectors, not batches."""
    parts = c_or_cr if isinstance(c_or_cr, tuple) else (c_or_cr,)
    return all(np.ndim(part) == 1 and np.asarray(part).dtype.kind in "fciub" for part in parts)


def _diagonal_sums(left: Any, right: Any, rows: int, columns: int) -> tuple[Any, Any]:
    """Return the sums of left rightᴴ along diagonals, by first column and by first row."""
    of_column = np.zeros(rows, np.result_type(left, right))
    of_row = np.zeros(columns, of_column.dtype)
    for u, v in zip(left.T, right.T, strict=True):
        sums = np.correlate(u, v, "full")  # entry k: Σ u[j + k − (columns − 1)] v[j]*
        of_column += sums[columns - 1 :]
        of_row += sums[columns - 1 :: -1]
    of_row[:1] = 0
    return of_column, of_row


def _toeplitz_bars(c_or_cr: Any, of_column: Any, of_row: Any, given: bool) -> Any:
    if given:
        c, r = c_or_cr
        return project(np.reshape(of_column, np.shape(c)), c), project(of_row, r)
    return project(of_column + np.conj(of_row), c_or_cr)


def _toeplitz_dots(c_or_cr: Any, dots: Any) -> Any:
    """Return the tangents of column and row in the form of the arguments."""
    if not isinstance(c_or_cr, tuple):
        return dots
    return tuple(
        [
            np.zeros(np.shape(x)) if dot is None else dot
            for dot, x in zip(dots, c_or_cr, strict=True)
        ]
    )


@matrix_rule(sl.solve_toeplitz, "*c_or_cr b")
def _(call: Call) -> Any:
    if not _is_plain(call.c_or_cr) or np.ndim(call.b) > 2:
        return NotImplemented
    c, r, given = _column_and_row(call.c_or_cr)
    if not len(c):
        return NotImplemented
    x, shape = call.y, np.shape(call.b)
    columns = np.reshape(x, (len(c), -1))

    def back(x_bar: Any) -> Any:
        top = np.conj(c)
        side = np.concatenate([top[:1], np.conj(r[1:])])
        # SciPy may demand writeable memory without need.
        bar = sl.solve_toeplitz((side, top), np.array(np.reshape(x_bar, (len(c), -1))))
        sums = _diagonal_sums(-bar, columns, len(c), len(c))
        return _toeplitz_bars(call.c_or_cr, *sums, given), np.reshape(bar, shape)

    def push(dots: Any, b_dot: Any) -> Any:
        right: Any = 0.0 if b_dot is None else np.reshape(b_dot, columns.shape)
        if dots is not None:
            moved = _toeplitz_dots(call.c_or_cr, dots)
            matrix = sl.toeplitz(*moved) if given else sl.toeplitz(moved)
            right = right - matrix @ columns
        return np.reshape(sl.solve_toeplitz((c, r), right), np.shape(x))

    return back, push


@matrix_rule(sl.matmul_toeplitz, "*c_or_cr x")
def _(call: Call) -> Any:
    if not _is_plain(call.c_or_cr) or np.ndim(call.x) > 2:
        return NotImplemented
    c, r, given = _column_and_row(call.c_or_cr)
    if not len(r):
        return NotImplemented
    x = np.reshape(call.x, (len(r), -1))

    def back(y_bar: Any) -> Any:
        bar = np.reshape(y_bar, (len(c), -1))
        side = np.concatenate([np.conj(c[:1]), np.conj(r[1:])])
        x_bar = sl.matmul_toeplitz((side, np.conj(c)), bar)
        sums = _diagonal_sums(bar, x, len(c), len(r))
        return _toeplitz_bars(call.c_or_cr, *sums, given), np.reshape(x_bar, np.shape(call.x))

    def push(dots: Any, x_dot: Any) -> Any:
        total: Any = 0.0
        if x_dot is not None:
            total = sl.matmul_toeplitz(call.c_or_cr, x_dot)
        if dots is not None:
            total = total + sl.matmul_toeplitz(_toeplitz_dots(call.c_or_cr, dots), call.x)
        return total

    return back, push
