"""Cholesky and QR factors."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import NoDerivativeError
from tests.rules.harness import case, complexes, reals, table
from tests.rules.numpy_linalg.matrices import (
    check_second,
    complex_positive,
    complex_square,
    complex_tall,
    positive,
    square,
    tall,
)
from tests.support import check_reverse

S, C = positive(3, 3), complex_positive(3, 3)
A, CA = square(3, 3), complex_square(3, 3)
T, CT = tall(5, 3), complex_tall(5, 3)
IN_ONE_TRIANGLE = np.tril(S) + np.triu(reals(3, 3), 1)

POSITIVE = [
    S,
    C,
    IN_ONE_TRIANGLE,
    positive(2, 3, 3),
    complex_positive(2, 2, 2, 2),
    S.astype(np.float32),
    C.astype(np.complex64),
    S.tolist(),
    np.array([[3, 1], [1, 2]]),
    np.array([[2.0]]),
    np.zeros((0, 0)),
    np.zeros((0, 2, 2)),
]
SHAPES = [
    A,
    CA,
    T,
    CT,
    T.T,
    CT.T,
    complexes(2, 6),
    tall(2, 4, 3),
    complex_tall(2, 2, 4, 3),
    np.swapaxes(complex_tall(2, 4, 3), 1, 2),
    T.astype(np.float32),
    CT.astype(np.complex64),
    T.tolist(),
    np.array([[3, 1], [1, 2]]),
    np.array([[2.0 + 1j]]),
    np.zeros((0, 0)),
    np.zeros((3, 0)),
    np.zeros((0, 3)),
    np.zeros((0, 3, 2)),
]
KNOWS_UPPER = np.lib.NumpyVersion(np.__version__) >= "2.0.0"
CASES = {
    np.linalg.cholesky: [
        *((a,) for a in POSITIVE),
        *(case(np.conj(np.swapaxes(a, -1, -2)), upper=True) for a in POSITIVE if KNOWS_UPPER),
    ],
    np.linalg.qr: [
        *((a,) for a in SHAPES),
        *(case(a, mode="r") for a in SHAPES),
        case(A, mode="complete"),
        case(CA, mode="complete"),
        case(tall(4, 3), mode="complete"),  # one vector completes the basis: nothing is left open
        case(T.T, "complete"),
    ],
}
test_rules = table(CASES)


@pytest.mark.parametrize("a", [S, C, positive(2, 3, 3)])
def test_forward_rule_of_cholesky_is_differentiable(a):
    check_second(np.linalg.cholesky, a)
    if KNOWS_UPPER:
        check_second(np.linalg.cholesky, a, upper=True)


@pytest.mark.parametrize("a", [A, CA, T, CT, T.T, CT.T, tall(2, 4, 3)])
@pytest.mark.parametrize("mode", ["reduced", "r"])
def test_forward_rule_of_qr_is_differentiable(a, mode):
    check_second(np.linalg.qr, a, mode=mode)


@pytest.mark.parametrize("a", [A, CA, T, CT, T.T, CT.T])
def test_parts_of_the_result(a):
    check_reverse(lambda m: np.linalg.qr(m)[0], a)
    check_reverse(lambda m: np.linalg.qr(m).R, a)
    assert type(ad.pullback(np.linalg.qr, a)[0]) is type(np.linalg.qr(a))
    assert type(ad.frule(np.linalg.qr, (a,), a)[1]) is type(np.linalg.qr(a))


@pytest.mark.parametrize("a", [T, CT, tall(2, 5, 2)])
def test_the_projector_on_the_rest_of_the_space(a):
    n = a.shape[-1]

    def projector(m):
        rest = np.linalg.qr(m, "complete")[0][..., n:]
        return rest @ np.conj(np.swapaxes(rest, -1, -2))

    check_reverse(projector, a)


def test_a_vector_of_the_rest_is_refused():
    with pytest.raises(NoDerivativeError, match="complete the basis"):
        ad.gradient(lambda m: np.linalg.qr(m, "complete")[0][0, 4], T)


def test_dependent_columns_are_refused():
    with pytest.raises(NoDerivativeError, match="linearly dependent"):
        ad.gradient(lambda m: np.linalg.qr(m)[1].sum(), np.array([[1.0, 0.0], [1.0, 0.0]]))


def test_reflectors_are_refused_when_needed():
    with pytest.raises(NoDerivativeError, match="'raw'"):
        ad.gradient(lambda m: np.linalg.qr(m, mode="raw")[0].sum(), T)

    def shape_only(m):
        return m.sum() * len(np.linalg.qr(m, mode="raw"))

    np.testing.assert_array_equal(ad.gradient(shape_only, T)[0], np.full(T.shape, 2.0))


def test_a_matrix_that_is_not_positive_raises_numpys_own_error():
    with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
        ad.pullback(np.linalg.cholesky, -np.eye(2))


@pytest.mark.parametrize("of_complex", [False, True])
def test_cholesky_of_large_matrices(of_complex):
    rng = np.random.default_rng(3)
    root, direction, weights = rng.normal(size=(3, 201, 201)) * (1 + 0.5j * of_complex)
    if not of_complex:
        root, direction, weights = root.real, direction.real, weights.real
    a = root @ root.conj().T + 201 * np.eye(201)
    y, back = ad.pullback(np.linalg.cholesky, a)
    a_bar = back(weights)[1]
    assert np.array_equal(a_bar, np.tril(a_bar))
    direction = direction + direction.conj().T
    h = 1e-5
    y_dot = (np.linalg.cholesky(a + h * direction) - np.linalg.cholesky(a - h * direction)) / (
        2 * h
    )
    given = np.sum(np.conj(weights) * y_dot).real
    assert np.sum(np.conj(a_bar) * direction).real == pytest.approx(given, rel=1e-7)


def test_the_log_determinant_by_cholesky():
    """The cotangent stands in the triangle that is read; of both it is the inverse."""

    def log_determinant(a):
        return 2 * np.log(np.diagonal(np.linalg.cholesky(a))).sum()

    lower = ad.gradient(log_determinant, S)[0]
    np.testing.assert_array_equal(np.triu(lower, 1), 0)
    np.testing.assert_allclose((lower + lower.T) / 2, np.linalg.inv(S), rtol=1e-12)
