"""Functions of `scipy.linalg` in terms of others: the definitions that programs inline."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from adjoint.fast.evaluate.callees.definitions import definition, with_derivative
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


@definition(linalg.solve_banded)
def solve_banded(l_and_u, ab, b, overwrite_ab=False, overwrite_b=False, check_finite=True):
    if overwrite_ab or overwrite_b or np.ndim(ab) != 2 or np.ndim(b) not in (1, 2):
        raise ValueError("other options")
    lower, upper = l_and_u
    columns = np.reshape(b, (len(b), 1)) if np.ndim(b) == 1 else b
    x = banded_solution(ab, columns, lower, upper, check_finite)
    return np.reshape(x, np.shape(b)) if np.ndim(b) == 1 else x
