"""Functions of `scipy.linalg` in terms of others: the definitions that programs inline."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from adjoint.fast.evaluate.callees.linear_models import moved_solution, of_doubles
from adjoint.fast.evaluate.callees.numpy_definitions import definition, with_derivative
from adjoint.fast.not_covered import Deoptimize
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import result_like
from adjoint.rules.scipy.linalg.structured import banded_solution


@definition(linalg.cho_factor)
def cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    if overwrite_a or np.ndim(a) != 2:
        raise ValueError("other options")
    c = linalg.cholesky(a, lower=lower, check_finite=check_finite)
    return c + (np.triu(a, 1) if lower else np.tril(a, -1)), lower  # SciPy leaves the rest as it is


@definition(linalg.cho_solve)
def cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    c, lower = c_and_lower
    if overwrite_b or np.ndim(c) != 2 or np.iscomplexobj(c):
        raise ValueError("other options")
    first, second = (0, 1) if lower else (1, 0)
    y = linalg.solve_triangular(c, b, first, lower, check_finite=check_finite)
    moved = linalg.solve_triangular(c, y, second, lower, check_finite=check_finite)
    return with_derivative(_solved(moved, c, lower, b, check_finite), moved)


@result_like(lambda like, *given: like)
@non_differentiable
def _solved(like, c, lower, b, check_finite):
    """Return SciPy's solution, to the last bit."""
    return linalg.cho_solve((c, lower), b, check_finite=check_finite)


@definition(linalg.lu_solve)
def lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    lu, piv = lu_and_piv
    if overwrite_b or np.ndim(lu) != 2 or trans not in (0, 1) or np.iscomplexobj(lu):
        raise ValueError("other options")
    order = _order(piv)
    if trans == 0:
        y = linalg.solve_triangular(lu, b[order], 0, True, True, check_finite=check_finite)
        moved = linalg.solve_triangular(lu, y, 0, False, check_finite=check_finite)
    else:
        y = linalg.solve_triangular(lu, b, 1, False, check_finite=check_finite)
        y = linalg.solve_triangular(lu, y, 1, True, True, check_finite=check_finite)
        places = np.argsort(order)  # of SciPy's layout, which decides on the order of sums
        moved = y[places] if np.ndim(y) == 1 else np.take(y.T, places, axis=1).T
    return with_derivative(_solved_by_lu(moved, lu, piv, b, trans, check_finite), moved)


@result_like(lambda piv: np.argsort(piv))
@non_differentiable
def _order(piv):
    """Return the order of rows that LAPACK's exchanges give."""
    order = [*range(len(piv))]
    for i, other in enumerate(piv.tolist()):
        order[i], order[other] = order[other], order[i]
    return np.array(order, np.intp)


@result_like(lambda like, *given: like)
@non_differentiable
def _solved_by_lu(like, lu, piv, b, trans, check_finite):
    """Return SciPy's solution, to the last bit."""
    return linalg.lu_solve((lu, piv), b, trans, check_finite=check_finite)


# ---- least squares -------------------------------------------------------------------------------


@definition(linalg.lstsq)
def lstsq(
    a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True, lapack_driver=None
):  # fmt: skip
    if overwrite_a or overwrite_b or lapack_driver not in (None, "gelsd") or np.ndim(a) != 2:
        raise ValueError("other options")
    a, b = of_doubles(np.asarray(a)), of_doubles(np.asarray(b))
    m, n = a.shape
    columns = b if np.ndim(b) == 2 else np.reshape(b, (m, 1))
    found = _least_squares(a, columns, cond, check_finite, np.ndim(b) == 1)
    x = moved_solution(a, columns, found[:-1])
    residues = with_derivative(found[-1], np.sum((columns - a @ x) ** 2, axis=0))
    s = with_derivative(_values(a, columns, cond), np.linalg.svd(a, compute_uv=False))
    if np.ndim(b) == 2:
        return x, residues if m > n else np.zeros(0), min(m, n), s
    return x[:, 0], residues[0] if m > n else np.zeros(0), min(m, n), s


@result_like(lambda a, b, cond, check_finite, is_vector: np.concatenate([a.T @ b, b[:1]]))
@non_differentiable
def _least_squares(a, b, cond, check_finite, is_vector):
    """Return SciPy's solution, and in a further row the residues."""
    given = b[:, 0] if is_vector else b
    x, residues, rank, _ = linalg.lstsq(a, given, cond, check_finite=check_finite)
    if rank < min(a.shape):
        raise Deoptimize("a matrix that is not of full rank")
    last = np.reshape(residues, -1) if np.size(residues) else np.zeros(b.shape[1])
    return np.concatenate([np.reshape(x, (a.shape[1], -1)), [last]])


@result_like(lambda a, b, cond: np.linalg.svd(a, compute_uv=False))
@non_differentiable
def _values(a, b, cond):
    return linalg.lstsq(a, b, cond)[3]


@definition(linalg.solve_banded)
def solve_banded(l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True):
    if overwrite_ab or overwrite_b or np.ndim(ab) != 2 or np.ndim(b) not in (1, 2):
        raise ValueError("other options")
    lower, upper = l_and_u
    columns = np.reshape(b, (len(b), 1)) if np.ndim(b) == 1 else b
    x = banded_solution(ab, columns, lower, upper, check_finite)
    return np.reshape(x, np.shape(b)) if np.ndim(b) == 1 else x


# ---- matrices of constant diagonals --------------------------------------------------------------


@definition(linalg.toeplitz)
def toeplitz(c, r=None):
    if np.ndim(c) != 1 or (r is not None and np.ndim(r) != 1):
        raise ValueError("several matrices")
    row = np.conj(c) if r is None else r
    values = np.concatenate([c[::-1], row[1:]])
    return values[len(c) - 1 - np.arange(len(c))[:, None] + np.arange(len(row))]


@definition(linalg.hankel)
def hankel(c, r=None):
    if np.ndim(c) != 1 or (r is not None and np.ndim(r) != 1):
        raise ValueError("several matrices")
    row = np.zeros_like(c) if r is None else r
    return np.concatenate([c, row[1:]])[np.arange(len(c))[:, None] + np.arange(len(row))]


@definition(linalg.circulant)
def circulant(c):
    if np.ndim(c) != 1:
        raise ValueError("several matrices")
    places = np.arange(len(c))
    return c[(places[:, None] - places) % len(c)]
