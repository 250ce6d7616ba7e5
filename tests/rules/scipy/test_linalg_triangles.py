"""`adjoint.rules.scipy.linalg.lapack`: routines for triangular factors."""

import numpy as np
import pytest
from scipy.linalg import get_lapack_funcs

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.testing import check_gradient
from tests.rules.harness import complexes, reals
from tests.support import check_reverse

potrf, potrs, trtri = get_lapack_funcs(("potrf", "potrs", "trtri"), dtype="d")
A, B = reals(4, 4) + 4 * np.eye(4), reals(4, 2, seed=1)
POSITIVE = A @ A.T

SINGLE_RESULTS = {
    "factor": lambda a: potrf(a)[0],
    "lower factor": lambda a: potrf(a, lower=1)[0],
    "factor beside the other triangle": lambda a: potrf(a, clean=False)[0],
    "by position": lambda a: potrf(a, 1, 0)[0],
    "inverse": lambda a: trtri(a)[0],
    "lower inverse": lambda a: trtri(a, lower=True)[0],
    "with ones": lambda a: trtri(a, unitdiag=1)[0],
    "by position, with ones": lambda a: trtri(a, 1, 1)[0],
    "of a list": lambda a: trtri([[a[0, 0], 1.0], [a[1, 0], a[1, 1]]], lower=1)[0],
}


@pytest.mark.parametrize("name", SINGLE_RESULTS)
def test_factors_and_inverses(name):
    check_gradient(SINGLE_RESULTS[name], POSITIVE)


@pytest.mark.parametrize("lower", [0, 1, True])
@pytest.mark.parametrize("b", [B, B[:, 0], np.asfortranarray(B)])
def test_solutions(lower, b):
    """Of the other triangle, nothing is read."""
    check_gradient(lambda c, b: potrs(c, b, lower=lower)[0], A, b)


@pytest.mark.parametrize("dtype", "fFD")
def test_other_precisions(dtype):
    draw = complexes if dtype in "FD" else reals
    a, b = (draw(3, 3) + 4 * np.eye(3)).astype(dtype), draw(3, 2).astype(dtype)
    factor, solve, invert = get_lapack_funcs(("potrf", "potrs", "trtri"), dtype=dtype)

    def value(a, b):
        x, status = solve(a, b)
        assert x.dtype == dtype and status == 0
        positive = np.eye(3) + a @ np.conj(a.T)
        inverse = invert(factor(positive, lower=1)[0], lower=1)[0]
        return inverse.astype("D") @ x.astype("D")

    tolerances = {"rtol": 2e-2, "atol": 2e-2} if dtype in "fF" else {}
    check_reverse(value, a, b, **tolerances)


OVERWRITTEN = {
    "factor": lambda a: potrf(a, overwrite_a=1),
    "lower factor": lambda a: potrf(a, lower=1, clean=0, overwrite_a=1),
    "inverse": lambda a: trtri(a, overwrite_c=True),
    "inverse, by position": lambda a: trtri(a, 1, 0, 1),
    "solution": lambda a: potrs(2.0 * np.eye(4), a, overwrite_b=1),
}


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("name", OVERWRITTEN)
def test_what_is_overwritten(name, order):
    """Arrays in the order of Fortran are where the result is."""

    def value(a):
        given = np.array(a @ a.T, order=order)
        y, _ = OVERWRITTEN[name](given)
        assert np.shares_memory(y, given) == (order == "F")
        return np.sum(np.sin(given) * y)

    check_gradient(value, A)


def test_what_has_failed():
    singular = np.diag([1.0, 0.0, 2.0])
    for f in (potrf, trtri):
        y, status = f(singular)
        made, back = ad.pullback(lambda a, f=f: f(a)[0], singular)
        np.testing.assert_array_equal(made, y)
        assert ad.pullback(lambda a, f=f: f(a)[1], singular)[0] == status != 0
        with pytest.raises(NoDerivativeError, match="has failed"):
            back(np.ones((3, 3)))
        with pytest.raises(NoDerivativeError, match="has failed"):
            ad.pushforward(lambda a, f=f: np.sum(f(a)[0]), (singular,), (singular,))
    with np.errstate(all="ignore"), pytest.raises(NoDerivativeError, match="has failed"):
        ad.gradient(lambda c: np.sum(potrs(c, B[:3])[0]), singular)
