"""Pseudo-inverses and least squares, of full rank, of less, and cut off."""

import numpy as np
import pytest

import adjoint as ad
from tests.rules.harness import case, table
from tests.rules.numpy_linalg.matrices import (
    check_second,
    check_second_order,
    complex_positive,
    complex_square,
    complex_tall,
    complexes,
    positive,
    reals,
    square,
    tall,
)
from tests.support import check_reverse

A, T, CT = square(3, 3), tall(5, 3), complex_tall(5, 3)
SPREAD = np.linalg.qr(reals(5, 5))[0][:, :4] @ np.diag([3.0, 1.0, 0.2, 0.05]) @ square(4, 4)
S = positive(3, 3) - 4 * np.eye(3)
NUMPY_2 = np.lib.NumpyVersion(np.__version__) >= "2.0.0"

CASES = {
    np.linalg.pinv: [
        (A,),
        (T,),
        (T.T,),
        (complex_square(3, 3),),
        (CT,),
        (CT.T,),
        (tall(2, 4, 3),),
        (complex_tall(2, 2, 4, 3),),
        (T.astype(np.float32),),
        (CT.astype(np.complex64),),
        (T.tolist(),),
        (np.array([[3, 1], [1, 2]]),),
        (np.array([[2.0, 1.0]]),),
        (SPREAD, 0.03),
        (SPREAD.T, 0.03),
        (SPREAD + 1j * complexes(5, 4) * 1e-2, 0.03),
        case(np.stack([SPREAD, SPREAD[::-1]]), rcond=0.03),
        case(np.stack([SPREAD, SPREAD[::-1]]), rcond=np.array([0.03, 1e-12])),
        case(SPREAD, 0.9),
        case(S, hermitian=True),
        case(complex_positive(3, 3), hermitian=True),
        case(reals(3, 3), hermitian=True),
        case(S, rcond=0.5, hermitian=True),
        (np.zeros((0, 3)),),
        (np.zeros((3, 0)),),
        (np.zeros((2, 0, 3)),),
        (SPREAD, np.float64(0.03)),
    ],
    np.linalg.lstsq: [
        (T, reals(5), None),
        (T, reals(5, 2), None),
        (T.T, reals(3), None),
        (T.T, reals(3, 2), None),
        (A, reals(3, 2), None),
        (CT, complexes(5), None),
        (CT, reals(5, 2), None),
        (T, complexes(5, 2), None),
        (CT.T, complexes(3), None),
        (SPREAD, reals(5), 0.03),
        (SPREAD, reals(5, 2), 0.03),
        (SPREAD.T, reals(4, 2), 0.03),
        case(T, reals(5), rcond=-1),
        (T.astype(np.float32), reals(5, dtype=np.float32), None),
        (T.tolist(), [1.0, 2.0, 3.0, 4.0, 5.0], None),
        (np.array([[3, 1], [1, 2], [0, 1]]), np.array([1, 2, 3]), None),
        (T, np.zeros((5, 0)), None),
    ],
}
test_rules = table(CASES)


@pytest.mark.parametrize(
    "args", [(T,), (T.T,), (CT,), (SPREAD, 0.03), (SPREAD.T, 0.03), (tall(2, 4, 3),)]
)
def test_forward_rule_of_pinv_is_differentiable(args):
    check_second(np.linalg.pinv, args[0], rtol=1e-5, **dict(zip(["rcond"], args[1:])))


def test_forward_rule_of_hermitian_pinv_is_differentiable():
    check_second(np.linalg.pinv, S, hermitian=True)


@pytest.mark.parametrize(
    "a, b", [(T, reals(5)), (T.T, reals(3, 2)), (CT, complexes(5)), (A, reals(3))]
)
def test_tangents_of_lstsq_are_differentiable(a, b):
    check_second_order(np.linalg.lstsq, a, b, rcond=None)


@pytest.mark.parametrize("hermitian", [False, True])
def test_along_matrices_of_constant_rank(hermitian):
    def inverse_of_product(x, y):
        return np.linalg.pinv(x @ x.T if hermitian else x @ y, 1e-10, hermitian)

    check_reverse(inverse_of_product, tall(5, 2), reals(2, 4))


def test_least_squares_along_matrices_of_constant_rank():
    check_reverse(
        lambda x, y, b: np.linalg.lstsq(x @ y, b, rcond=1e-10)[0], tall(5, 2), reals(2, 4), reals(5)
    )


@pytest.mark.parametrize("part", [0, 1, 3])
def test_parts_of_the_solution(part):
    check_reverse(lambda a, b: np.linalg.lstsq(a, b, rcond=None)[part], T, reals(5, 2))


@pytest.mark.skipif(not NUMPY_2, reason="a keyword of NumPy 2")
def test_the_other_name_of_the_cutoff():
    for cutoff in (0.03, None):
        check_reverse(lambda a: np.linalg.pinv(a, rtol=cutoff), SPREAD)


def test_the_rank_has_no_derivative():
    for f in (lambda a: np.linalg.lstsq(a, reals(5), None)[2], np.linalg.matrix_rank):
        (bar,) = ad.gradient(lambda a, f=f: float(f(a)), T)
        np.testing.assert_array_equal(bar, np.zeros(T.shape))


def test_the_normal_equations_agree():
    b = reals(5, 2)
    one = ad.gradient(lambda a: (np.linalg.lstsq(a, b, rcond=None)[0] ** 2).sum(), T)[0]
    other = ad.gradient(lambda a: (np.linalg.solve(a.T @ a, a.T @ b) ** 2).sum(), T)[0]
    np.testing.assert_allclose(one, other, rtol=1e-12)
