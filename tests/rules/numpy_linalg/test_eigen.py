"""Eigenvalues and eigenvectors: phases, triangles, equal eigenvalues, defective matrices."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import NoDerivativeError
from tests.rules.harness import case, table
from tests.rules.numpy_linalg.matrices import (
    check_second,
    complex_positive,
    complex_square,
    complexes,
    positive,
    reals,
    square,
)
from tests.support import check_reverse

S, C = positive(4, 4), complex_positive(4, 4)
A, CA = square(4, 4), complex_square(4, 4)
ROTATING = np.array([[1.0, 2.0, 0.3], [-2.0, 1.5, 0.4], [0.2, 0.1, 3.0]])  # a pair of eigenvalues

HERMITIAN = [
    (S,),
    (C,),
    (S, "U"),
    (C, "U"),
    case(C, UPLO="u"),
    (C, "l"),
    (reals(4, 4),),  # not symmetric: one triangle is read
    (complexes(4, 4),),
    (complexes(4, 4), "U"),
    (positive(2, 3, 3),),
    (complex_positive(2, 2, 3, 3), "U"),
    (S.astype(np.float32),),
    (C.astype(np.complex64),),
    (S.tolist(),),
    (np.array([[3, 1], [1, 2]]),),
    (np.array([[2.0]]),),
    (np.array([[2.0 + 0j]]),),
    (positive(30, 30),),
    (np.zeros((0, 0)),),
    (np.zeros((0, 2, 2)),),
]
GENERAL = [
    (A,),
    (CA,),
    (ROTATING,),
    (S,),
    (C,),
    (square(2, 3, 3),),
    (complex_square(2, 2, 3, 3),),
    (np.stack([ROTATING, square(3, 3)]),),
    (A.astype(np.float32),),
    (CA.astype(np.complex64),),
    (A.tolist(),),
    (np.array([[3, 1], [1, 2]]),),
    (np.array([[2.0]]),),
    (np.zeros((0, 0)),),
    (np.zeros((0, 2, 2)),),
]
CASES = {
    np.linalg.eigh: HERMITIAN,
    np.linalg.eigvalsh: [*HERMITIAN, (np.diag([3.0, 1.0, 2.0]),)],
    np.linalg.eig: GENERAL,
    np.linalg.eigvals: GENERAL,
}
test_rules = table(CASES)


@pytest.mark.parametrize(
    "f", [np.linalg.eigh, np.linalg.eigvalsh, np.linalg.eig, np.linalg.eigvals]
)
@pytest.mark.parametrize("a", [S, C, positive(2, 3, 3)])
def test_forward_rules_are_differentiable(f, a):
    check_second(f, a, rtol=1e-5)


@pytest.mark.parametrize("f", [np.linalg.eig, np.linalg.eigvals])
@pytest.mark.parametrize("a", [A, CA, ROTATING])
def test_forward_rules_of_general_matrices_are_differentiable(f, a):
    check_second(f, a, rtol=1e-5)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.linalg.eigh(a)[0][1:],
        lambda a: np.linalg.eigh(a)[1][:, -1],
        lambda a: np.linalg.eigh(a).eigenvectors @ np.diag(np.linalg.eigh(a).eigenvalues ** 0.5),
        lambda a: np.abs(np.linalg.eig(a)[1]),
        lambda a: np.linalg.eig(a).eigenvalues,
        lambda a: np.sort(np.abs(np.linalg.eigvals(a))),
        lambda a: np.max(np.abs(np.linalg.eigvals(a))),
    ],
)
@pytest.mark.parametrize("a", [S, C])
def test_parts_of_the_result(f, a):
    check_reverse(f, a)


@pytest.mark.parametrize("f", [np.linalg.eigvals, lambda a: np.linalg.eig(a)[0]])
def test_triangular_matrices(f):
    """Their eigenvalues may come in another order a step away, so symmetric functions of them."""
    check_reverse(lambda a: (f(a) ** 3).sum(), np.triu(A))


def test_the_result_keeps_its_type():
    for f in (np.linalg.eigh, np.linalg.eig):
        assert type(ad.pullback(f, S)[0]) is type(f(S))
        assert type(ad.frule(f, (S,), S)[1]) is type(f(S))


@pytest.mark.parametrize("a", [S, C])
def test_matrix_functions(a):
    """A function of the whole matrix by its eigenvectors has the derivative of the function."""

    def square_root(m):
        w, v = np.linalg.eigh(m)
        return (v * np.sqrt(w)) @ np.conj(v.T)

    check_reverse(square_root, a)
    root = square_root(a)
    y_bar = np.conj(root.T) + 1.0
    bar = ad.pullback(square_root, a)[1](y_bar)[1]
    # Sylvester: R X + X R = Y
    n = len(a)
    operator = np.kron(root, np.eye(n)) + np.kron(np.eye(n), root.T)
    expected = np.linalg.solve(operator, y_bar.ravel()).reshape(n, n)
    lower = 2 * np.tril(expected, -1) + np.diag(np.diagonal(expected))
    np.testing.assert_allclose(bar, lower, rtol=1e-10)


# ---- equal eigenvalues ---------------------------------------------------------------------------

Q = np.linalg.qr(reals(3, 3))[0]
EQUAL = Q @ np.diag([1.0, 1.0, 2.0]) @ Q.T


@pytest.mark.parametrize("a", [EQUAL, np.eye(3)])
def test_vectors_of_equal_eigenvalues_are_refused(a):
    def power(m):
        w, v = np.linalg.eig(m)
        return ((v * w**2) @ np.linalg.inv(v)).real.sum()

    with pytest.raises(NoDerivativeError, match="vectors of equal values"):
        ad.gradient(power, a)


@pytest.mark.parametrize("f", [np.linalg.eigh, np.linalg.eig])
def test_the_others_are_not(f):
    _, v = f(EQUAL)

    def projector(a):
        w, v = f(a)
        top = v[:, np.argmax(w.real)]
        return np.outer(top, top).real

    check_reverse(lambda a: projector(a + a.T), EQUAL)


@pytest.mark.parametrize("f", [np.linalg.eigvalsh, np.linalg.eigvals])
def test_symmetric_functions_of_equal_eigenvalues(f):
    bar = ad.gradient(lambda a: (f(a).real ** 3).sum(), EQUAL)[0]
    expected = 3 * EQUAL @ EQUAL
    if f is np.linalg.eigvalsh:
        expected = 2 * np.tril(expected, -1) + np.diag(np.diagonal(expected))
    np.testing.assert_allclose(bar, expected, atol=1e-12)


def test_a_constant_with_equal_eigenvalues_is_no_obstacle():
    def f(x):
        parts = [np.linalg.eigh(m)[1][0, 0] for m in (np.eye(2), S * x)]
        return parts[0] * x + parts[1]

    check_reverse(f, 1.5)


def test_forward_mode_marks_vectors_of_equal_eigenvalues():
    a_dot = positive(3, 3, seed=3)
    w_dot, v_dot = ad.frule(np.linalg.eigh, (a_dot,), EQUAL)[1]
    assert np.isfinite(w_dot).all()
    np.testing.assert_array_equal(np.isnan(v_dot).all(0), [True, True, False])
    _, v_dot = ad.frule(np.linalg.eigh, (EQUAL,), EQUAL)[1]
    np.testing.assert_allclose(v_dot, 0, atol=1e-14)


def test_parts_of_a_batch_that_are_not_used():
    stack = np.stack([S, np.eye(4)])
    check_reverse(lambda a: np.linalg.eigh(a)[1][0], S[None])
    bar = ad.gradient(lambda a: np.linalg.eigh(a)[1][0, 0, 0], stack)[0]
    assert np.isfinite(bar).all() and not bar[1].any()


@pytest.mark.parametrize(
    "a", [np.array([[1.0, 1.0], [0.0, 1.0]]), np.array([[0.0, 1.0], [0.0, 0.0]])]
)
@pytest.mark.parametrize("f", [np.linalg.eigvals, lambda a: np.linalg.eig(a)[0]])
def test_defective_matrices_are_refused(a, f):
    with pytest.raises(NoDerivativeError, match="defective"):
        ad.gradient(lambda m: f(m).real.sum(), a)


# ---- phases --------------------------------------------------------------------------------------


@pytest.mark.parametrize("uplo", ["L", "U"])
@pytest.mark.parametrize("n", [2, 5, 30])
def test_the_phases_that_lapack_chooses(uplo, n):
    _, v = np.linalg.eigh(complex_positive(n, n), uplo)
    assert not v[0 if uplo == "L" else -1].imag.any()


def test_a_phase_that_nothing_determines_is_refused():
    a = np.diag([1.0 + 0j, 2.0])
    with pytest.raises(NoDerivativeError, match="phase"):
        ad.gradient(lambda m: np.linalg.eigh(m)[1][1, 1].imag, a)
    bar = ad.gradient(lambda m: np.abs(np.linalg.eigh(m)[1][1, 1]), a)[0]
    np.testing.assert_allclose(bar, 0, atol=1e-15)
