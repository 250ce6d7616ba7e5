"""LAPACK routines that SciPy's own code and other libraries call: solvers and triangular factors.

The values are LAPACK's. The derivatives are those of the equivalent SciPy functions; those of the
factors that a solver returns beside the solution are refused. An argument that may be overwritten
gets LAPACK's contents, see `adjoint.rules.scipy.overwrite_options`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cholesky, get_lapack_funcs, solve, solve_banded, solve_triangular

from adjoint.rulekit.refusal import NoDerivative
from adjoint.rulekit.registry import non_differentiable, substitute
from adjoint.rules.scipy.equivalents import refusing, with_derivative_of
from adjoint.rules.scipy.overwrite_options import take_overwritten

FAILED = NoDerivative("its matrix", "does not exist: the routine has failed")
FACTORS = NoDerivative("its factors", "has no rule")


def _routine(name: str, dtype: Any) -> tuple[Any, Callable[..., Any]]:
    """Return a routine, and a non-differentiable function that calls it."""
    f = get_lapack_funcs((name,), dtype=dtype)[0]
    return f, non_differentiable(lambda *args: f(*args))


@non_differentiable
def slack(y: Any) -> float:
    """Return the tolerance between two ways of computing `y`."""
    return float(np.sqrt(np.finfo(y.dtype).eps))


@non_differentiable
def size(y: Any) -> float:
    return float(np.max(np.abs(y), initial=0.0))


@non_differentiable
def is_singular(a: Any, unit: Any) -> bool:
    return not unit and not np.all(np.diagonal(a))


@non_differentiable
def triangle(a: Any, lower: Any, unit: Any) -> Any:
    """Return a mask of the elements that a routine reads and writes."""
    kept = np.tri(len(a), k=-1 if unit else 0, dtype=bool)
    return kept if lower else kept.T


def valued(y: Any, carrier: Any, f: Any) -> Any:
    return with_derivative_of(y, np.reshape(carrier, y.shape), f, slack(y), slack(y) * size(y))


# ---- solvers -------------------------------------------------------------------------------------


def _solved(f: Any, y: Any, solver: Any, a: Any, b: Any) -> Any:
    """Return the results of `f` with the derivative of ``solver(a, b)`` for the solution."""
    *factors, x, info = y
    known = [refusing(part, f, FACTORS, a) for part in factors]
    if info:
        return (*known, refusing(x, f, FAILED, a, b), info)
    return (*known, valued(x, solver(a, b), f), info)


def _general(dtype: Any) -> None:
    f, native = _routine("gesv", dtype)

    @substitute(f)
    def general(a, b, overwrite_a=0, overwrite_b=0):
        y = native(a, b)
        return _solved(f, y, np.linalg.solve, np.asarray(a, dtype), np.asarray(b, dtype))

    take_overwritten([f])


def _symmetric(dtype: Any) -> None:
    f, _ = _routine("sysv", dtype)
    native = non_differentiable(lambda a, b, lower: f(a, b, lower=lower))

    @substitute(f)
    def symmetric(a, b, lower=0, overwrite_a=0, overwrite_b=0):
        y, half = native(a, b, lower), bool(lower)
        solver = lambda a, b: solve(a, b, lower=half, assume_a="sym", check_finite=False)
        return _solved(f, y, solver, np.asarray(a, dtype), np.asarray(b, dtype))

    take_overwritten([f])


def _banded(dtype: Any) -> None:
    f, native = _routine("gbsv", dtype)

    @substitute(f)
    def banded(kl, ku, ab, b, overwrite_ab=0, overwrite_b=0):
        y, widths = native(kl, ku, ab, b), (int(kl), int(ku))
        solver = lambda ab, b: solve_banded(widths, ab[widths[0] :], b, check_finite=False)
        return _solved(f, y, solver, np.asarray(ab, dtype), np.asarray(b, dtype))

    take_overwritten([f])


# ---- triangular factors --------------------------------------------------------------------------


def _solution(dtype: Any) -> None:
    f, native = _routine("potrs", dtype)

    @substitute(f)
    def solution(c, b, lower=0, overwrite_b=0):
        y, info = native(c, b, lower)
        c, b = np.asarray(c, dtype), np.asarray(b, dtype)
        if info or is_singular(c, False):
            return refusing(y, f, FAILED, c, b), info
        first, second = (0, 2) if lower else (2, 0)
        x = solve_triangular(c, b, first, bool(lower), check_finite=False)
        x = solve_triangular(c, x, second, bool(lower), check_finite=False)
        return valued(y, x, f), info

    take_overwritten([f])


def _inverse(dtype: Any) -> None:
    f, native = _routine("trtri", dtype)

    @substitute(f)
    def inverse(c, lower=0, unitdiag=0, overwrite_c=0):
        y, info = native(c, lower, unitdiag)
        c = np.asarray(c, dtype)
        if info or is_singular(c, unitdiag):
            return refusing(y, f, FAILED, c), info
        one = np.eye(len(c), dtype=c.dtype)
        x = solve_triangular(c, one, 0, bool(lower), bool(unitdiag), check_finite=False)
        return valued(y, np.where(triangle(c, lower, unitdiag), x, c), f), info

    take_overwritten([f])


def _factor(dtype: Any) -> None:
    f, native = _routine("potrf", dtype)

    @substitute(f)
    def factor(a, lower=0, clean=1, overwrite_a=0):
        y, info = native(a, lower, clean)
        a = np.asarray(a, dtype)
        if info:
            return refusing(y, f, FAILED, a), info
        made = cholesky(a, bool(lower), check_finite=False)
        if not clean:
            made = np.where(triangle(a, lower, False), made, a)
        return valued(y, made, f), info

    take_overwritten([f])


for _dtype in "fdFD":
    _general(_dtype)
    _symmetric(_dtype)
    _banded(_dtype)
    _solution(_dtype)
    _inverse(_dtype)
    _factor(_dtype)
