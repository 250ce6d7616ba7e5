"""`adjoint.rules.scipy.linalg.blas`: routines of BLAS and LAPACK that other people's code asks
for."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import blas, lapack

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.testing import check_gradient
from tests.rules.harness import reals

X, Y = reals(4), reals(4, seed=1)
A = reals(4, 3)
FACTOR = np.linalg.cholesky(reals(4, 4) @ reals(4, 4).T + 4.0 * np.eye(4))


def test_norms():
    check_gradient(lambda x: blas.dnrm2(x) * blas.dnrm2(x[::2]), X)
    single = X.astype(np.float32)
    np.testing.assert_allclose(ad.gradient(blas.snrm2, single)[0], X / np.linalg.norm(X), 1e-6)
    check_gradient(lambda x, y: blas.dznrm2(x + 1j * y) ** 3, X, Y)
    assert ad.gradient(blas.dnrm2, np.zeros(3))[0].tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(NoDerivativeError, match="nrm2"):
        ad.gradient(lambda x: blas.dnrm2(x, 2), X)


def rows(a):
    a = a * 1.0
    a[0], a[2] = blas.dswap(a[0], a[2])
    left, right = blas.dswap(a[1], a[3])  # in their own memory
    return a, left * a[1], right


def columns(a):
    a = a * 1.0
    left, right = blas.dswap(a[:, 0], a[:, 2])  # copies
    return a, left, right


def numbers(a):
    b = a[0] * 1.0
    b[0], b[1] = blas.dswap(b[0], b[1])
    return b


def same(a):
    a = a * 1.0
    return blas.dswap(a[1], a[1])[0] * a


def read_only(a):
    x, y = a[0] * 1.0, a[1] * 1.0
    x.flags.writeable = False
    blas.dswap(x, y)
    return x * a[2], y, x.flags.writeable


@pytest.mark.parametrize("f", [rows, columns, numbers, same, read_only])
def test_exchanged_vectors(f):
    check_gradient(f, A)


def test_exchanged_vectors_of_the_caller():
    plain, ours = A.copy(), A.copy()

    def f(a):
        blas.dswap(a[0], a[2])
        return np.sum(np.sin(a) * A)

    f(plain)
    (bar,) = ad.gradient(f, ours)
    np.testing.assert_array_equal(ours, plain)
    np.testing.assert_allclose(bar, np.cos(A) * A[[2, 1, 0, 3]])


def test_equations_by_a_factor():
    check_gradient(lambda c, b: lapack.dpotrs(np.tril(c), b, lower=True)[0], FACTOR, X)
    check_gradient(lambda c, b: lapack.dpotrs(np.triu(c.T), b)[0], FACTOR, A, modes="reverse")

    def overwritten(c, b):
        b = b * 1.0
        x, _ = lapack.dpotrs(c, b, 1, overwrite_b=1)
        return x, b

    check_gradient(overwritten, FACTOR, X, modes="reverse")
