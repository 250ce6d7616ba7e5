"""Solves by the factors of `scipy.linalg` in terms of its other functions: the definitions that
programs inline."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from adjoint.fast.evaluate.callees.definitions import definition, with_derivative
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import result_like


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
