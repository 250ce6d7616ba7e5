"""Determinants, also of singular matrices."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.rules.numpy.linalg.determinants import adjugate
from adjoint.testing import check_rule
from tests.rules.harness import table
from tests.rules.numpy_linalg.matrices import check_second, complex_square, complexes, reals, square
from tests.support import check_reverse

A, CA = square(3, 3), complex_square(3, 3)
RANK_ONE = np.outer(reals(3), reals(3, seed=1))
RANK_TWO = reals(3, 2) @ reals(2, 3, seed=1)
COMPLEX_RANK_TWO = complexes(3, 2) @ complexes(2, 3, seed=4)

CASES = {
    np.linalg.det: [
        (A,),
        (CA,),
        (square(2, 3, 3),),
        (complex_square(2, 1, 2, 2),),
        (A.astype(np.float32),),
        (CA.astype(np.complex64),),
        (A.tolist(),),
        (np.array([[3, 1], [1, 2]]),),
        (np.array([[2.5]]),),
        (np.zeros((0, 0)),),
        (np.zeros((0, 3, 3)),),
        (np.zeros((2, 2)),),
        (np.zeros((3, 3)),),
        (np.array([[1.0, 2.0], [2.0, 4.0]]),),
        (RANK_ONE,),
        (RANK_TWO,),
        (COMPLEX_RANK_TWO,),
        (np.stack([RANK_TWO, A, np.zeros((3, 3))]),),
        (np.diag([1.0, 1e-12, 1.0]),),
    ],
    np.linalg.slogdet: [
        (A,),
        (-A,),
        (CA,),
        (square(2, 3, 3),),
        (complex_square(2, 1, 2, 2),),
        (A.astype(np.float32),),
        (CA.astype(np.complex64),),
        (A.tolist(),),
        (np.array([[3, 1], [1, 2]]),),
        (np.zeros((0, 0)),),
        (1e200 * A,),
    ],
    adjugate: [(A,), (CA,), (RANK_ONE,), (np.zeros((2, 3, 3)),), (COMPLEX_RANK_TWO,)],
}
test_rules = table(CASES)


@pytest.mark.parametrize("f", [np.linalg.det, np.linalg.slogdet])
@pytest.mark.parametrize("a", [A, CA, square(2, 2, 2)])
def test_forward_rules_are_differentiable(f, a):
    check_second(f, a)


def test_the_second_derivative_of_a_singular_determinant():
    check_second(np.linalg.det, np.zeros((3, 3)))
    check_second(np.linalg.det, np.array([[1.0, 2.0], [2.0, 4.0]]))


@pytest.mark.parametrize("modes", ["ff", "fr", "rf", "rr"])
@pytest.mark.parametrize("rank", [0, 1, 2, 4])
def test_the_second_derivative_at_any_rank(rank, modes):
    a, move = reals(4, rank) @ reals(rank, 4, seed=1), reals(4, 4, seed=2)
    f = lambda t: np.linalg.det(a + t * move)  # noqa: E731
    coefficients = np.polyfit(x := np.linspace(-1, 1, 5), [f(t) for t in x], 4)
    for mode in modes:
        if mode == "f":
            f = lambda t, g=f: ad.pushforward(g, (t,), (1.0,))[1]  # noqa: E731
        else:
            f = lambda t, g=f: ad.gradient(g, t)[0]  # noqa: E731
    np.testing.assert_allclose(f(0.0), 2 * coefficients[2], rtol=1e-9, atol=1e-10)


def test_the_gradient_of_a_rank_one_determinant_of_3_by_3_is_zero():
    np.testing.assert_allclose(ad.gradient(np.linalg.det, RANK_ONE)[0], 0, atol=1e-15)


def test_the_logarithm_at_a_singular_matrix_is_a_pole():
    def log_of(a):
        return np.linalg.slogdet(a)[1]

    with np.errstate(all="ignore"):
        bar = ad.gradient(log_of, np.diag([0.0, 2.0]))[0]
    assert bar[0, 0] == np.inf
    stack = np.stack([np.eye(2), np.zeros((2, 2))])
    bars = ad.gradient(lambda a: log_of(a)[0], stack)[0]
    np.testing.assert_array_equal(bars, [np.eye(2), np.zeros((2, 2))])


def test_only_one_part_is_used():
    _, back = ad.pullback(np.linalg.slogdet, CA)
    check_reverse(lambda a: np.linalg.slogdet(a)[0], CA)
    check_reverse(lambda a: np.linalg.slogdet(a).logabsdet, CA)
    assert isinstance(np.linalg.slogdet(CA), type(ad.pullback(np.linalg.slogdet, CA)[0]))


def test_the_logarithm_of_what_underflows():
    def log_of(a):
        return np.linalg.slogdet(a)[1]

    tiny, usual = ad.gradient(log_of, 1e-200 * CA)[0], ad.gradient(log_of, CA)[0]
    np.testing.assert_allclose(tiny, usual * 1e200, rtol=1e-12)


def test_condition_numbers_in_between():
    for small in (1e-5, 1e-7, 1e-9, 1e-13, 0.0):
        u, _, vh = np.linalg.svd(A)
        check_rule(np.linalg.det, u @ np.diag([1.0, 0.5, small]) @ vh)
