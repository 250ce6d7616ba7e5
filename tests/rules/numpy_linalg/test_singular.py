"""Singular values and vectors: shapes, phases, completed bases, equal and zero values."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.rules.numpy.linalg.gauges import nan_derivative, nan_derivative_pair
from tests.rules.harness import case, table
from tests.rules.numpy_linalg.matrices import (
    check_second,
    complex_positive,
    complex_square,
    complex_tall,
    positive,
    reals,
    square,
    tall,
)
from tests.support import check_reverse

A, CA = square(3, 3), complex_square(3, 3)
T, CT = tall(5, 3), complex_tall(5, 3)
VERY_WIDE = np.swapaxes(complex_tall(12, 2), 0, 1)  # LAPACK takes another way
SHAPES = [
    A,
    CA,
    T,
    CT,
    T.T,
    CT.T,
    VERY_WIDE,
    VERY_WIDE.T,
    tall(2, 4, 3),
    complex_tall(2, 2, 4, 3),
    np.swapaxes(complex_tall(2, 4, 3), 1, 2),
    T.astype(np.float32),
    CT.astype(np.complex64),
    T.tolist(),
    np.array([[3, 1], [1, 2]]),
    np.array([[2.0]]),
    np.array([[2.0 + 1j]]),
    np.array([[2.0 + 1j, 1.0]]),
    np.zeros((0, 0)),
    np.zeros((0, 3)),
    np.zeros((3, 0)),
    np.zeros((0, 2, 3)),
]
S, C = positive(3, 3) - 4 * np.eye(3), complex_positive(3, 3) - 3 * np.eye(3)  # indefinite

CASES = {
    # Where nothing is equal; test_nesting has the rest.
    nan_derivative: [(reals(3), np.zeros(3, bool))],
    nan_derivative_pair: [(reals(3), reals(3, seed=1), np.zeros(3, bool))],
    np.linalg.svd: [
        *(case(a, full_matrices=False) for a in SHAPES),
        *(case(a, compute_uv=False) for a in SHAPES),
        (A,),
        (CA,),
        (tall(4, 3),),  # one vector completes the basis: nothing is left open
        (tall(4, 3).T, True),
        (tall(2, 4, 3), True),
        case(S, hermitian=True),
        case(C, hermitian=True),
        case(np.stack([S, S + 0.1]), hermitian=True),
        case(S, compute_uv=False, hermitian=True),
        case(C, compute_uv=False, hermitian=True),
        case(reals(3, 3), hermitian=True),
    ],
}
if hasattr(np.linalg, "svdvals"):
    CASES[np.linalg.svdvals] = [(a,) for a in SHAPES]
test_rules = table(CASES)


@pytest.mark.parametrize("a", [A, CA, T, CT, CT.T, tall(2, 4, 3)])
def test_forward_rules_are_differentiable(a):
    check_second(np.linalg.svd, a, full_matrices=False, rtol=1e-5)
    check_second(np.linalg.svd, a, compute_uv=False, rtol=1e-5)
    if hasattr(np.linalg, "svdvals"):
        check_second(np.linalg.svdvals, a, rtol=1e-5)


@pytest.mark.parametrize("a", [S, C])
def test_forward_rules_of_hermitian_matrices_are_differentiable(a):
    check_second(np.linalg.svd, a, hermitian=True, rtol=1e-5)
    check_second(np.linalg.svd, a, compute_uv=False, hermitian=True, rtol=1e-5)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.linalg.svd(a, full_matrices=False)[0],
        lambda a: np.linalg.svd(a, full_matrices=False)[1][:2],
        lambda a: np.linalg.svd(a, full_matrices=False).Vh,
        lambda a: np.linalg.svd(a, full_matrices=False).U[:, 0],
        lambda a: np.linalg.svd(a)[2][:2],
        lambda a: np.linalg.svd(a, compute_uv=False).sum(),
    ],
)
@pytest.mark.parametrize("a", [A, CA, T, CT, T.T, CT.T])
def test_parts_of_the_result(f, a):
    check_reverse(f, a)


@pytest.mark.parametrize("a", [A, CA, T, CT, CT.T])
def test_the_nearest_orthogonal_matrix(a):
    def polar(m):
        u, _, vh = np.linalg.svd(m, full_matrices=False)
        return u @ vh

    check_reverse(polar, a)


def test_the_result_keeps_its_type():
    assert type(ad.pullback(np.linalg.svd, A)[0]) is type(np.linalg.svd(A))
    assert type(ad.frule(np.linalg.svd, (A,), A)[1]) is type(np.linalg.svd(A))


# ---- completed bases -----------------------------------------------------------------------------


@pytest.mark.parametrize("a", [T, CT, T.T, CT.T, tall(2, 5, 3)])
def test_the_projector_on_the_rest_of_the_space(a):
    def projector(m):
        u, s, vh = np.linalg.svd(m)
        k = s.shape[-1]
        left, right = u[..., k:], np.conj(np.swapaxes(vh, -1, -2))[..., k:]
        return left @ np.conj(np.swapaxes(left, -1, -2)) + 0.0, right @ np.conj(
            np.swapaxes(right, -1, -2)
        )

    check_reverse(projector, a)
    y_bar = tuple(reals(*part.shape, seed=i) for i, part in enumerate(projector(a)))
    a_bar = ad.pullback(projector, a)[1](y_bar)[1]
    u_dot, _, vh_dot = ad.frule(np.linalg.svd, (1.0 * a,), a)[1]
    assert u_dot.shape[-1] == a.shape[-2] and vh_dot.shape[-1] == a.shape[-1]
    np.testing.assert_allclose(np.vdot(a_bar, a).real, 0, atol=1e-12)  # it does not see the scale


def test_forward_mode_of_completed_bases():
    direction = reals(5, 3, seed=9)

    def projector(u):
        return u[:, 3:] @ u[:, 3:].T

    u_dot = ad.frule(np.linalg.svd, (direction,), T)[1][0]
    u = np.linalg.svd(T)[0]
    got = u_dot[:, 3:] @ u[:, 3:].T + u[:, 3:] @ u_dot[:, 3:].T
    h = 1e-6
    ahead, behind = (projector(np.linalg.svd(T + t * direction)[0]) for t in (h, -h))
    np.testing.assert_allclose(got, (ahead - behind) / (2 * h), atol=1e-8)


def test_a_vector_of_the_rest_is_refused():
    with pytest.raises(NoDerivativeError, match="complete the basis"):
        ad.gradient(lambda a: np.linalg.svd(a)[0][0, 4], T)


# ---- equal and zero values -----------------------------------------------------------------------

Q = np.linalg.qr(reals(3, 3))[0]
EQUAL = Q @ np.diag([2.0, 1.0, 1.0])
RANK_TWO = T[:, :2] @ reals(2, 3)


def test_vectors_of_equal_values_are_refused():
    for a in (EQUAL, np.eye(3)):
        with pytest.raises(NoDerivativeError, match="vectors of equal values"):
            ad.gradient(lambda a: np.linalg.svd(a)[0].sum(), a)
    check_reverse(lambda a: np.abs(np.linalg.svd(a)[0][:, 0]), EQUAL)


def test_symmetric_functions_of_equal_values():
    bar = ad.gradient(lambda a: (np.linalg.svd(a, compute_uv=False) ** 2).sum(), EQUAL)[0]
    np.testing.assert_allclose(bar, 2 * EQUAL, atol=1e-14)


@pytest.mark.parametrize("shape", ["tall", "wide"])
def test_vectors_of_zero_are_refused_and_others_are_not(shape):
    a = RANK_TWO if shape == "tall" else RANK_TWO.T

    def best(m, k):
        u, s, vh = np.linalg.svd(m, full_matrices=False)
        return (u[:, :k] * s[:k] ** 2) @ vh[:k]

    with pytest.raises(NoDerivativeError, match="a singular value that is zero"):
        ad.gradient(lambda m: best(m, 3).sum() + np.linalg.svd(m, full_matrices=False)[0].sum(), a)
    check_reverse(lambda m: best(m, 1), a)
    # the two largest, along matrices of rank two
    check_reverse(lambda x, y: best(x @ y, 2), T[:, :2], reals(2, 3))


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize("rows", [3, 5])
def test_the_vector_of_zero_on_the_shorter_side(rows, dtype):
    """It is determined up to a factor, which the function does not depend on."""
    left = reals(rows, 2) if dtype is float else reals(rows, 2) * np.exp(1j * reals(rows, 2))
    right = reals(2, 3) * (1.0 if dtype is float else 1.0 - 0.5j)

    def of_rows(x):
        v = np.conj(np.linalg.svd(left @ (right * x))[2][2])
        return np.abs(v[0] / v.sum()) ** 2 + (np.abs(v) * np.arange(3.0)).sum()

    def of_columns(x):
        u = np.linalg.svd((left @ (right * x)).T)[0][:, 2]
        return np.abs(u[0] / u.sum()) ** 2 + (np.abs(u) * np.arange(3.0)).sum()

    x = np.array([1.0, 0.75, -1.25])
    for f in (of_rows, of_columns) if rows > 3 else (of_rows,):
        check_reverse(f, x)
        v = np.array([0.5, -1.0, 0.25])
        along = ad.pushforward(f, (x,), (v,))[1]
        np.testing.assert_allclose(along, ad.gradient(f, x)[0] @ v, rtol=1e-9)


def test_the_phase_of_a_left_vector_of_zero_is_refused():
    a = (reals(3, 2) + 1j * reals(3, 2) ** 2) @ reals(2, 3)
    with pytest.raises(NoDerivativeError, match="a singular value that is zero"):
        ad.gradient(lambda x: np.linalg.svd(x * a)[0][0, 2].real, 1.5)
    check_reverse(
        lambda x: np.abs(np.linalg.svd(a.T * x)[0][:, 2]).sum(), np.array([1.0, 2.0, 3.0])
    )


def test_a_square_real_matrix_may_have_one_zero():
    a = A.copy()
    a[2] = a[0] + a[1]
    u, s, vh = np.linalg.svd(a)
    bar = ad.pullback(lambda m: np.linalg.svd(m)[0][:, :2], a)[1](reals(3, 2))[1]
    assert np.isfinite(bar).all()


def test_forward_mode_marks_vectors_of_equal_values():
    u_dot, s_dot, _ = ad.frule(np.linalg.svd, (reals(3, 3, seed=4),), EQUAL)[1]
    assert np.isfinite(s_dot).all()
    np.testing.assert_array_equal(np.isnan(u_dot).all(0), [False, True, True])


# ---- phases --------------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [(3, 3), (5, 3), (40, 3), (3, 5), (3, 40), (30, 30)])
def test_the_phases_that_lapack_chooses(shape):
    m, n = shape
    u, _, vh = np.linalg.svd(reals(m, n) + 1j * reals(m, n, seed=1), full_matrices=False)
    first = vh[:, 0] if m >= n else u[0]
    np.testing.assert_allclose(first.imag, 0, atol=1e-15)


def test_a_phase_that_nothing_determines_is_refused_only_where_it_shows():
    a = np.diag([3.0 + 0j, 2.0, 1.0])[:, [1, 0, 2]]  # V has zeros in its first row
    with pytest.raises(NoDerivativeError, match="phase"):
        ad.gradient(lambda m: np.linalg.svd(m)[0].imag.sum(), a)
    for part in (0, 2):
        bar = ad.gradient(lambda m: (np.abs(np.linalg.svd(m)[part]) ** 2).sum(), a)[0]
        np.testing.assert_allclose(bar, 0, atol=1e-14)
