"""`adjoint.rules.scipy.linalg.eigen` and `hermitian`."""

import numpy as np
import pytest
import scipy.linalg as sl

import adjoint as ad
from adjoint.errors import NoDerivativeError
from tests.rules.harness import case, table
from tests.rules.numpy_linalg.matrices import (
    check_second,
    complex_positive,
    complex_square,
    positive,
    reals,
    square,
)
from tests.support import check_reverse

A, C, S, H = square(4, 4), complex_square(4, 4), positive(4, 4), complex_positive(4, 4)
B, D = square(4, 4, seed=9) + 2 * np.eye(4), complex_square(4, 4, seed=9) + 2 * np.eye(4)
P, Q = positive(4, 4, seed=9), complex_positive(4, 4, seed=9)
ROTATING = np.array([[1.0, 2.0, 0.3], [-2.0, 1.5, 0.4], [0.2, 0.1, 3.0]])  # a pair of eigenvalues
SIDES = [{"left": left, "right": right} for left in (False, True) for right in (False, True)]
PLAIN = {"driver": "evd"}  # the one that is taken by default has vectors of any sign
SUBSETS = [
    {"subset_by_index": [1, 2]}, {"subset_by_index": [0, 0]}, {"subset_by_value": [1.5, np.inf]},
]  # fmt: skip


def band(complex_too, lower):
    ab = reals(3, 5) + 0.0
    if complex_too:
        ab = ab + 0.5j * reals(3, 5, seed=3)
    ab[0 if lower else -1] = np.arange(5) * 1.5
    return ab


CASES = {
    sl.eig: [
        *(case(a, **sides) for a in (A, C, ROTATING, S) for sides in SIDES),
        *(case(A, b, **sides) for b in (B, P) for sides in SIDES),
        case(ROTATING, np.diag([1.0, 2.0, 3.0]), right=False), (S, P),
        case(A.astype("f4"), right=False),
        (A.tolist(),), (np.array([[3, 1], [1, 2]]),), case(A, overwrite_a=True),
    ],
    sl.eigvals: [
        (A,), (C,), (ROTATING,), (A, B), (C, D), (A.astype("f4"),), (A, P), (np.diag([1.0, 2.0]),),
    ],
    sl.eigh: [
        *(case(a, lower=lower, **PLAIN) for a in (S, H, A, C) for lower in (False, True)),
        *(case(S, eigvals_only=True, **subset) for subset in ({}, *SUBSETS)),
        *(
            case(a, lower=lower, driver="evx", **subset)
            for a in (S, H) for subset in SUBSETS for lower in (False, True)
        ),
        *(case(S, P, type=k, lower=lower) for k in (1, 2, 3) for lower in (False, True)),
        *(case(H, Q, type=k, eigvals_only=True, lower=l) for k in (1, 2, 3) for l in (0, 1)),
        case(H, Q, lower=False), case(H, Q, lower=False, type=2), case(H, Q, type=3),
        case(A, B + 3 * np.eye(4)), case(S, P, subset_by_index=[1, 2]),
        *(case(S, driver=driver) for driver in ("ev", "evd", "evx")),
        *(case(S, P, driver=driver) for driver in ("gv", "gvd", "gvx")),
        case(S.astype("f4"), eigvals_only=True), case(S.tolist(), **PLAIN),
    ],
    sl.eigvalsh: [
        (S,), (H,), case(A, lower=False), (S, P), (H, Q), case(S, P, type=3),
        (np.diag([1.0, 2.0]),),
        *(case(S, **subset) for subset in SUBSETS),
    ],
    sl.eig_banded: [
        *(case(band(z, l), lower=l) for z in (False, True) for l in (False, True)),
        case(band(False, True), True, select="i", select_range=[1, 2]),
        case(band(False, True), True, eigvals_only=True), (band(False, False).astype("f4"),),
    ],
    sl.eigvals_banded: [
        *(case(band(z, l), lower=l) for z in (False, True) for l in (False, True)),
        case(band(False, True), True, select="i", select_range=[1, 2]),
    ],
    sl.eigh_tridiagonal: [
        case(np.arange(4) * 1.5, reals(3), lapack_driver="stev"),
        case(np.arange(4) * 1.5, reals(3), eigvals_only=True),
        case(np.arange(4) * 1.5, reals(3), select="i", select_range=[1, 2]),
    ],
    sl.eigvalsh_tridiagonal: [
        (np.arange(4) * 1.5, reals(3)),
        case(np.arange(4) * 1.5, reals(3), select="i", select_range=[0, 1]),
    ],
}  # fmt: skip
test_rules = table(CASES)


@pytest.mark.parametrize(
    "f, args",
    [
        (sl.eig, (A,)),
        (sl.eig, (S, P)),
        (sl.eigvals, (A,)),
        (sl.eigh, (S,)),
        (sl.eigh, (S, P)),
        (sl.eigvalsh, (H,)),
    ],
)
def test_forward_rules_are_differentiable(f, args):
    check_second(f, *args, rtol=1e-5)


@pytest.mark.parametrize("kind", [1, 2, 3])
@pytest.mark.parametrize("lower", [False, True])
def test_complex_pairs_without_a_phase(kind, lower):
    """What does not show the phases has a derivative for each kind."""

    def sizes(a, b):
        w, v = sl.eigh(a, b, type=kind, lower=lower)
        return np.abs(v) ** 2 @ w

    check_reverse(sizes, H, Q)


def test_a_phase_that_nothing_determines_is_refused():
    with pytest.raises(NoDerivativeError, match="the phase of a vector shows"):
        ad.gradient(lambda a: sl.eigh(a, Q, lower=True)[1].sum().real, H)
    with pytest.raises(NoDerivativeError, match="the phase of a vector shows"):
        ad.gradient(lambda a: sl.eig(a, D)[1].sum().real, C)
    check_reverse(lambda a, b: np.abs(sl.eig(a, b)[1]) ** 2, C, D)


@pytest.mark.parametrize("a", [S, H])
def test_the_driver_that_is_taken_by_default(a):
    """What does not show the signs."""
    check_reverse(lambda a: np.abs(sl.eigh(a)[1]) ** 2 @ sl.eigh(a)[0], a)
    check_reverse(lambda a: np.abs(sl.eigh(a, subset_by_index=[1, 2])[1]) ** 2, a)


def test_equal_eigenvalues_and_singular_pairs():
    with pytest.raises(NoDerivativeError, match="vectors of equal values"):
        ad.gradient(lambda a: sl.eigh(a)[1][0, 0], np.eye(3))
    with pytest.raises(NoDerivativeError, match="defective"):
        ad.gradient(lambda a: sl.eigvals(a).sum().real, np.array([[1.0, 1.0], [0.0, 1.0]]))
    with pytest.raises(NoDerivativeError, match="b is singular"):
        ad.gradient(lambda a: sl.eigvals(a, np.diag([1.0, 0.0])).real[0], square(2, 2))
    check_reverse(lambda a: sl.eigvalsh(a).sum(), np.eye(3))


def test_in_programs():
    def stiffness(k, m):
        w, v = sl.eigh(k, m, subset_by_index=[0, 1])
        return np.sum(np.sqrt(w)) + np.sum((m @ v) ** 2)

    check_reverse(stiffness, S, P)
    check_reverse(lambda a: np.log(sl.eigvals(a)).sum().real, A)
