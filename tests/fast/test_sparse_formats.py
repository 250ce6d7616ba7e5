"""Sparse arrays that are made, converted and added inside of a function, in programs of all
kinds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

import adjoint as ad
from tests.fast.second_order import check_programs

N = 12
V = np.random.default_rng(0).uniform(1, 2, size=N)
I, J = np.arange(N), np.arange(N) * 7 % N
ONES = np.ones(N)


def tridiagonal(v):
    a = sparse.diags([-v[1:], 4 + v, -v[:-1]], [-1, 0, 1], format="csc")
    return (linalg.spsolve(a, ONES) ** 2).sum()


def potential(v):
    laplacian = sparse.diags([-1, 2.0, -1], [-1, 0, 1], shape=(N, N)).tocsr()
    a = laplacian + sparse.diags(v)
    return (linalg.spsolve(a.tocsc(), ONES) ** 2).sum()


def heat(v):
    a = sparse.diags([-1, 4.0, -1], [-1, 0, 1], shape=(N, N), format="csc")
    u = v
    for _ in range(3):
        u = linalg.spsolve(a, u)
    return (u**2).sum()


def twice(v):
    """Entries at the same place are added."""
    data = np.concatenate([v, v**2])
    a = sparse.csr_matrix((data, (np.r_[I, I], np.r_[J, J])), shape=(N, N))
    return (linalg.spsolve(a, ONES) ** 2).sum() + (a.data * np.arange(N)).sum()


def graph(v):
    w = sparse.coo_matrix((v**2, (I, (J + 1) % N)), shape=(N, N)).tocsr()
    degrees = w @ ONES
    laplacian = sparse.diags(degrees) - w
    return v @ (laplacian @ v)


def plane(v):
    d = sparse.diags([-1, 2.0, -1], [-1, 0, 1], shape=(4, 4))
    a = sparse.kron(sparse.eye(3), d, format="csr") + sparse.kron(
        sparse.diags([-1, 2.0, -1], [-1, 0, 1], shape=(3, 3)), sparse.eye(4), format="csr"
    )
    return (linalg.spsolve((a + sparse.diags(v)).tocsc(), ONES) ** 2).sum()


def ordered(a):
    """What depends on the order of the entries."""
    whole = a.tocoo()
    weights = np.arange(1.0, whole.nnz + 1)
    return (whole.data**2 * weights).sum() + (whole.row * whole.data * weights).sum()


DENSE = np.where(np.abs(I[:, None] - I) < 2, 2.0 + np.cos(I), 0.0)


def of_constant(v):
    return (sparse.csr_matrix(DENSE) @ v) @ (sparse.csc_array(DENSE).T @ v)


def of_dense(v):
    a = sparse.csr_array(np.outer(v, v)) + sparse.coo_matrix(v[:, None] * DENSE[0, 0] + v)
    return v @ (a @ v)


def of_lists(v):
    a = sparse.coo_matrix(([v[0], v[1] * v[0], 2.0], ([0, 1, 1], [0, 1, 0])), shape=(2, 2))
    b = sparse.csr_matrix((v[:3], ([0, 1, 1], [0, 1, 0])), shape=(2, 2))
    return ((a.tocsr() @ v[:2]) * (b @ v[:2])).sum()


FUNCTIONS = {
    "tridiagonal": tridiagonal,
    "potential": potential,
    "heat": heat,
    "twice": twice,
    "of a constant": of_constant,
    "of a dense array": of_dense,
    "of lists": of_lists,
    "graph": graph,
    "plane": plane,
    "diags": lambda v: ((sparse.diags(v) @ v) ** 2).sum(),
    "diags_array": lambda v: ((sparse.diags_array(v, offsets=1) @ np.ones(N + 1)) ** 2).sum(),
    "diags of one": lambda v: ((sparse.diags([v**2], [0]) @ v) ** 2).sum(),
    "identity": lambda v: (((sparse.eye(N) * 2 + sparse.diags(v)) @ v) ** 2).sum(),
    "coordinates": lambda v: ((sparse.coo_matrix((v**2, (I, J)), shape=(N, N)) @ v) ** 2).sum(),
    "rows": lambda v: ((sparse.csr_array((v**2, (I, J)), shape=(N, N)) @ v) ** 2).sum(),
    "columns": lambda v: ((sparse.csc_array((v**2, (I, J)), shape=(N, N)) @ v) ** 2).sum(),
    "transposed": lambda v: ((sparse.csr_matrix((v**2, (I, J)), (N, N)).T @ v) ** 2).sum(),
    "dense": lambda v: (sparse.csr_matrix((v**2, (I, J)), (N, N)).toarray() @ v).sum() ** 2,
    "constant": lambda v: ((sparse.csr_matrix((ONES, (I, J)), (N, N)) @ v**2) ** 2).sum(),
    "csr to csc": lambda v: ordered(sparse.csr_array((v**2, (I, J)), (N, N)).tocsc()),
    "csc to csr": lambda v: ordered(sparse.csc_array((v**2, (I, J)), (N, N)).tocsr()),
    "dia to csr": lambda v: ordered(sparse.diags([v[1:], v, v[:-2]], [1, 0, -2]).tocsr()),
    "dia to csc": lambda v: ordered(sparse.diags([v[1:], v[1:], v[3:]], [1, -1, 3]).tocsc()),
    "difference": lambda v: ordered(
        sparse.csr_array((v**2, (I, J)), (N, N)) - sparse.csr_array((v, (J, I)), (N, N))
    ),
    "wide": lambda v: ordered(sparse.diags([v[:7], v[:6]], [2, -1], shape=(7, 9)).tocsr()),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs(name):
    check_programs(FUNCTIONS[name], V, 1e-5)


@pytest.mark.parametrize("name", ["csr to csc", "dia to csr", "twice"])
def test_the_value_is_that_of_scipy(name):
    f = FUNCTIONS[name]
    assert ad.withgradient(f, V)[0] == pytest.approx(f(V), rel=1e-12)


def test_entries_that_are_zero():
    """SciPy leaves out entries that are zero, and the generic tier refuses their derivative."""

    def f(v):
        a = sparse.diags([v, 2 * v[1:]], [0, 1]).tocsr() + sparse.eye(len(v), format="csr")
        return (a @ ONES[: len(v)]).sum() + a.nnz

    v = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(ad.gradient(f, v)[0], [1.0, 3.0, 3.0])
    for zero in ([1.0, 0.0, 3.0], [-1.0, 2.0, 3.0]):
        with pytest.raises(ad.NoDerivativeError, match="which are zero"):
            ad.gradient(f, np.array(zero))


def test_elements_that_are_zero():
    def f(v):
        return (sparse.csr_matrix(np.outer(v, v)) @ v).sum()

    np.testing.assert_allclose(ad.gradient(f, np.array([1.0, 2.0]))[0], [11.0, 17.0])
    with pytest.raises(ad.NoDerivativeError, match="which are zero"):
        ad.gradient(f, np.array([1.0, 0.0]))


def test_other_diagonals():
    for wrong in ([1.0, 2.0], [[1.0, 2.0], [1.0]]):
        with pytest.raises(ValueError, match="diagonals and offsets"):
            ad.gradient(lambda v, w=wrong: sparse.diags([*w, v], [0, 1]).sum(), V)
