"""Products of SciPy's sparse arrays in programs: derivatives of any order in both factors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import spsolve

import adjoint as ad
from tests.fast.agreeing import generic_tier
from tests.fast.test_interpolation import compare

RNG = np.random.default_rng(5)
DENSE = RNG.random((6, 5)) * (RNG.random((6, 5)) > 0.4)
V, W = RNG.random(5), RNG.random(6)
M = RNG.random((5, 3))
FORMATS = ("csr", "csc", "coo")
KINDS = (sparse.csr_array, sparse.csc_matrix, sparse.coo_array, sparse.csr_matrix)


def products(a):
    squares = sparse.csr_array(a.T @ a)
    return (
        (lambda v: np.sum((a @ v) ** 2), V),
        (lambda m: np.sum((a @ m) ** 2), M),
        (lambda m: np.sum((a @ m[:, :1]) ** 3), M),
        (lambda w: np.sum((a.T @ w) ** 2), W),
        (lambda w: np.sum((w @ a) ** 2), W),
        (lambda v: np.sum(a.dot(v) ** 2), V),
        (lambda v: v @ (squares @ v) + np.sum(v**3), V),
    )


@pytest.mark.parametrize("kind", KINDS)
def test_of_a_constant(kind):
    for f, x in products(kind(DENSE)):
        compare(f, (x,))


@pytest.mark.parametrize("kind", (sparse.csr_array, sparse.csc_array))
def test_of_numbers_that_are_given(kind):
    a = kind(DENSE)

    def of_vector(data, v):
        return np.sum((kind((data, a.indices, a.indptr), shape=a.shape) @ v) ** 2)

    def of_matrix(data, m):
        return np.sum((kind((data, a.indices, a.indptr), shape=a.shape) @ m) ** 2)

    compare(of_vector, (a.data.copy(), V))
    compare(of_matrix, (a.data.copy(), M))


def test_other_numbers_in_the_same_array():
    a = sparse.csr_array(DENSE)

    def f(v):
        return np.sum((a @ v) ** 2)

    for factor in (1.0, 2.0, -1.5):
        a.data *= factor
        np.testing.assert_allclose(ad.gradient(f, V)[0], 2 * a.T @ (a @ V))


def test_unused_space():
    """A part of an array is not an array of its own."""
    a = sparse.csr_array(DENSE)
    data = np.append(a.data, [7.0, 8.0])
    indices = np.append(a.indices, [0, 0])

    def f(v):
        return np.sum((sparse.csr_array((data, indices, a.indptr), shape=a.shape) @ v) ** 2)

    np.testing.assert_allclose(ad.gradient(f, V)[0], 2 * a.T @ (a @ V))


def test_kinds_of_numbers():
    counts = sparse.csr_array(np.ceil(DENSE).astype(int))
    single = sparse.csr_array(DENSE.astype(np.float32))
    turned = sparse.csr_array(DENSE * (1 + 0.5j))
    for a in (counts, single, turned):
        f = lambda v: np.sum(np.abs(a @ v) ** 2)  # noqa: B023
        dense = a.toarray()
        expected = 2 * np.real(np.conj(dense.T) @ (dense @ V))
        np.testing.assert_allclose(ad.gradient(f, V)[0], expected, rtol=1e-6)
        with generic_tier():
            np.testing.assert_allclose(ad.gradient(f, V)[0], expected, rtol=1e-6)
    small = V.astype(np.float32)
    found = ad.gradient(lambda v: np.sum((single @ v) ** 2), small)[0]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, 2 * single.T @ (single @ small), rtol=1e-5)


def test_complex_vectors():
    a = sparse.csr_array(DENSE * (1 + 0.5j))
    z = V * (1 - 2j)

    def f(z):
        return np.sum(np.abs(a @ z) ** 2)

    with generic_tier():
        expected = ad.gradient(f, z)[0]
    np.testing.assert_allclose(ad.gradient(f, z)[0], expected)


def test_another_length_raises():
    a = sparse.csr_array(DENSE)

    def f(v):
        return np.sum(a @ v)

    ad.gradient(f, V)
    with pytest.raises(ValueError, match="mismatch"):
        ad.gradient(f, W)


def test_coordinates_that_are_given():
    a = sparse.coo_array(DENSE)

    def f(data, v):
        return np.sum((sparse.coo_array((data, (a.row, a.col)), shape=a.shape) @ v) ** 2)

    compare(f, (a.data.copy(), V))

    def of_too_few_rows(v):
        return np.sum(sparse.coo_array((v, (a.row[-5:], a.col[-5:])), shape=(3, 5)) @ v)

    with pytest.raises(ValueError, match="exceeds"):
        ad.gradient(of_too_few_rows, V)


# ---- diagonals and equations ---------------------------------------------------------------------

DIAGONALS = RNG.random((3, 6))


@pytest.mark.parametrize("shape", ((6, 6), (5, 6), (7, 6), (6, 4)))
def test_diagonals(shape):
    a = sparse.dia_array((DIAGONALS, [-1, 0, 2]), shape=shape)
    x = RNG.random(shape[1])
    compare(lambda v: np.sum((a @ v) ** 2), (x,))
    compare(lambda m: np.sum((a @ m) ** 2), (np.stack([x, x**2], axis=1),))
    np.testing.assert_allclose(
        ad.gradient(lambda v: np.sum((a @ v) ** 2), x)[0], 2 * a.toarray().T @ (a @ x)
    )


def test_diagonals_that_are_given():
    def f(data, v):
        return np.sum((sparse.dia_array((data, np.array([-1, 0, 2])), shape=(6, 6)) @ v) ** 2)

    x = RNG.random(6)
    with generic_tier():
        expected = ad.gradient(f, DIAGONALS, x)
    for found, other in zip(ad.gradient(f, DIAGONALS, x), expected, strict=True):
        np.testing.assert_allclose(found, other, atol=1e-12)


def test_steps_in_a_loop():
    a = sparse.diags_array([np.ones(5), -2 * np.ones(6), np.ones(5)], offsets=[-1, 0, 1])

    def f(v):
        for _ in range(4):
            v = v + 0.1 * (a @ v) - 0.01 * v**3
        return np.sum(v**2)

    compare(f, (RNG.random(6),))


SYSTEM = DENSE[:5, :5] + 3 * np.eye(5)


@pytest.mark.parametrize("kind", (sparse.csr_array, sparse.csc_matrix))
def test_spsolve(kind):
    a = kind(SYSTEM)

    def of_given(data, v):
        matrix = kind((data, a.indices, a.indptr), shape=a.shape)
        return np.sum(spsolve(matrix, v) ** 2)

    compare(lambda v: np.sum(spsolve(a, v) ** 2), (V,))
    compare(lambda m: np.sum(spsolve(a, m) ** 2), (M,))
    compare(of_given, (a.data.copy(), V))


def test_other_equations():
    """Entries that are not sorted, a column, and a singular matrix are left to the generic tier."""
    a = sparse.csc_array(SYSTEM)
    twice = sparse.csc_array(
        (
            np.append(a.data, [1.0]),
            np.append(a.indices, [4]),
            np.append(a.indptr[:-1], [len(a.data) + 1]),
        ),
        shape=a.shape,
    )
    expected = ad.gradient(lambda v: np.sum(np.linalg.solve(twice.toarray(), v) ** 2), V)[0]
    kept = twice.copy()
    np.testing.assert_allclose(
        ad.gradient(lambda v: np.sum(spsolve(twice, v) ** 2), V)[0], expected
    )
    assert kept.nnz - twice.nnz in (0, 1)
    expected = ad.gradient(lambda v: np.sum(np.linalg.solve(SYSTEM, v) ** 2), V)[0]
    np.testing.assert_allclose(
        ad.gradient(lambda v: np.sum(spsolve(a, v[:, None]) ** 2), V)[0], expected
    )
    with pytest.raises(ValueError, match="mismatch"):
        ad.gradient(lambda v: np.sum(spsolve(a, v)), W)
