"""LAPACK's solvers as programs call them: all derivatives are those of solving with the matrix."""

import numpy as np
import pytest
from scipy.linalg import lapack

import adjoint as ad

A = np.array([[4.0, 1.0, 2.0], [1.0, 5.0, 3.0], [0.5, 1.0, 6.0]])
RIGHT = np.array([[1.0, -0.5], [2.0, 0.3], [3.0, 1.1]])


def banded(matrix, dtype=float):
    """The diagonals of a matrix, as LAPACK takes those of one with a single one on each side."""
    ab = np.zeros((4, 3), dtype)
    ab[1, 1:] = np.array([matrix[0, 1], matrix[1, 2]])
    ab[2] = np.diag(matrix)
    ab[3, :-1] = np.array([matrix[1, 0], matrix[2, 1]])
    return ab


def tridiagonal(matrix):
    return np.triu(np.tril(matrix, 1), -1)


def symmetric(matrix):
    return matrix + matrix.T


def twisted(matrix):
    return matrix * (1 + 2j) + 1j * np.outer(matrix[0], matrix[1])


SOLVERS = {
    "dgesv": (lambda a, b: lapack.dgesv(a, b)[2], lambda a: a),
    "dsysv": (lambda a, b: lapack.dsysv(symmetric(a), b)[2], symmetric),
    "dsysv lower": (lambda a, b: lapack.dsysv(symmetric(a), b, lower=1)[2], symmetric),
    "dgbsv": (lambda a, b: lapack.dgbsv(1, 1, banded(a), b)[2], tridiagonal),
    "zgesv": (lambda a, b: lapack.zgesv(twisted(a), b + 0j)[2], twisted),
    "zgbsv": (
        lambda a, b: lapack.zgbsv(1, 1, banded(twisted(a), complex), b + 0j)[2],
        lambda a: tridiagonal(twisted(a)),
    ),
}

DERIVATIVES = {
    "gradient": lambda f, x, v: ad.gradient(f, x)[0],
    "pushforward": lambda f, x, v: ad.pushforward(f, (x,), (v,))[1],
    "forward over reverse": ad.hvp,
    "reverse over forward": ad.vhp,
    "reverse over reverse": lambda f, x, v: ad.gradient(
        lambda x: (ad.gradient(f, x)[0] * v).sum(), x
    )[0],
    "third": lambda f, x, v: ad.pushforward(lambda x: ad.hvp(f, x, v), (x,), (v,))[1],
}


@pytest.mark.parametrize("columns", ["one", "several"])
@pytest.mark.parametrize("name", SOLVERS)
@pytest.mark.parametrize("derivative", DERIVATIVES)
def test_derivatives_are_those_of_solve(name, derivative, columns):
    solver, matrix = SOLVERS[name]
    right = RIGHT[:, 0] if columns == "one" else RIGHT

    def by_routine(a):
        x = solver(a, right * a[0, 0])
        return (np.abs(x) ** 2).sum() + np.real(x).sum()

    def by_solve(a):
        x = np.linalg.solve(matrix(a), right * a[0, 0])
        return (np.abs(x) ** 2).sum() + np.real(x).sum()

    v = np.sin(np.arange(9.0) + 1.0).reshape(3, 3)
    found, expected = (DERIVATIVES[derivative](f, A, v) for f in (by_routine, by_solve))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize(
    "routine",
    [lapack.dgesv, lapack.dsysv, lambda a, b: lapack.dgbsv(1, 1, banded(a), b)],
    ids=["dgesv", "dsysv", "dgbsv"],
)
def test_the_factors_have_no_derivative(routine):
    """Neither mode takes them for constants."""
    with pytest.raises(ad.AdjointError, match="in its factors is needed"):
        ad.gradient(lambda a: routine(a, RIGHT)[0].sum(), A)
    with pytest.raises(ad.AdjointError, match="in its factors is needed"):
        ad.pushforward(lambda a: routine(a, RIGHT)[0].sum(), (A,), (np.ones((3, 3)),))
    # with another right-hand side they are the same
    assert ad.pushforward(lambda b: routine(A, b)[0].sum(), (RIGHT,), (np.ones((3, 2)),))[1] == 0
