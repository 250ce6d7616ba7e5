"""Sparse arrays that are made entry by entry: lists of lists, and dictionaries of keys."""

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse import linalg

import adjoint as ad
from tests.support import Sample, check_sample

X = np.array([0.6, 1.7, -0.8, 2.3])
KINDS = [sparse.lil_array, sparse.lil_matrix, sparse.dok_array, sparse.dok_matrix]


def filled(kind, x):
    a = kind((3, 4))
    a[0, 1], a[1, 0], a[1, 3], a[2, 2] = x[0], x[1], x[2] * x[3], x[3]
    return a


def weighted(a):
    dense = np.asarray(a.todense()) if sparse.issparse(a) else np.atleast_2d(a)
    return (dense * np.arange(1.0, dense.size + 1.0).reshape(dense.shape)).sum()


def changed(a, key, value):
    a[key] = value
    return a


def added(a, key, value):
    a[key] += value
    return a


def mesh(kind, x):
    """A bar of elements with their own stiffness, held at one end and pulled at the other."""
    k = kind((5, 5))
    for e in range(4):
        for a, b, sign in ((0, 0, 1.0), (0, 1, -1.0), (1, 0, -1.0), (1, 1, 1.0)):
            k[e + a, e + b] += sign * x[e] ** 2
    k[0, :] = 0
    k[0, 0] = 1.0
    return linalg.spsolve(k.tocsc(), np.array([0.0, 0.0, 0.0, 0.0, 1.0]))


USES = {
    "sum": lambda a, x: a.sum() * x[0],
    "entry": lambda a, x: a[1, 3] * a[0, 1] + a[-1, -2] * x[0] + a[0, 0],
    "row": lambda a, x: a[[1], :],
    "rows": lambda a, x: a[1:, :],
    "columns": lambda a, x: a[:, 1:3],
    "columns backwards": lambda a, x: a[::-1, ::-2],
    "strided": lambda a, x: a[::2, 1::2],
    "chosen": lambda a, x: a[np.array([0, 1]), np.array([1, 3])],
    "chosen block": lambda a, x: a[np.array([[0], [1]]), np.array([[1, 3]])],
    "written again": lambda a, x: changed(a, (1, 0), x[2] * 3.0),
    "another entry": lambda a, x: changed(a, (2, 0), x[2] * x[1]),
    "taken out": lambda a, x: changed(a, (1, 0), 0),
    "row of zeros": lambda a, x: changed(a, (1, slice(None)), 0),
    "written row": lambda a, x: changed(a, (0, slice(None)), x),
    "written entries": lambda a, x: changed(a, ([0, 2], [3, 1]), x[:2] * x[2]),
    "written block": lambda a, x: changed(a, (slice(0, 2), slice(0, 2)), x.reshape(2, 2)),
    "added to": lambda a, x: added(a, (1, 3), x[0]),
    "added to nothing": lambda a, x: added(a, (0, 2), x[1]),
    "times": lambda a, x: a * 3.0,
    "times active": lambda a, x: x[1] * a,
    "divided": lambda a, x: a / x[1],
    "negative": lambda a, x: -a,
    "plus": lambda a, x: a + a.tocsr() * 2.0,
    "vector": lambda a, x: a @ x,
    "transposed": lambda a, x: a.T @ x[:3],
    "copy": lambda a, x: changed(a.copy(), (0, 0), x[1]) + a,
    "csr": lambda a, x: a.tocsr().data,
    "csc": lambda a, x: a.tocsc(),
    "coo": lambda a, x: a.tocoo(),
}


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", USES)
def test_uses(kind, name):
    check_sample(Sample(lambda x: weighted(USES[name](filled(kind, x), x)), (X,)))


@pytest.mark.parametrize("kind", KINDS)
def test_assembled_and_solved(kind):
    """The end of springs in a row moves by the sum of the inverse stiffnesses."""
    np.testing.assert_allclose(ad.grad(lambda x: mesh(kind, x)[-1])(X), -2 / X**3, rtol=1e-12)
    check_sample(Sample(lambda x: weighted(mesh(kind, x)), (X,)))


def truss(kind, x):
    """The stiffness of bars in some directions, added up entry by entry, block by block or at once;
    many of its entries are zero."""
    k = kind((4, 4))
    k.setdiag(np.array([1.0, 2.0, 3.0, 4.0]))
    for stiffness, c, s in ((x[0], 1.0, 0.0), (x[1], 0.0, 1.0), (x[2], 0.6, 0.8)):
        for p in range(2):
            for q in range(2):
                k[p, q] += stiffness * (c, s)[p] * (c, s)[q]
    k[2:, 2:] += x[0] * np.array([[1.0, 0.0], [0.0, 0.0]])
    dofs = np.array([0, 3])
    k[np.ix_(dofs, dofs)] += x[1] * np.array([[0.0, 1.0], [1.0, 0.0]])
    k[dofs, 2] = x[2] * np.array([0.0, 1.0])
    return k


def held(k):
    k[0, :] = 0
    k[0, 0] = 1.0
    return k


LOAD = np.array([0.3, 1.0, -0.4, 0.8])
SOLVED = {
    "csr": lambda k: linalg.spsolve(k.tocsr(), LOAD),
    "csc": lambda k: linalg.splu(k.tocsc()).solve(LOAD),
    "coo": lambda k: k.tocoo() @ LOAD,
    "dense": lambda k: np.linalg.solve(np.asarray(k.todense()), LOAD),
    "product": lambda k: k @ LOAD,
    "transposed": lambda k: k.T @ LOAD,
    "part": lambda k: linalg.spsolve(k[1:, 1:].tocsc(), LOAD[1:]),
    "sum": lambda k: linalg.spsolve((2 * k + k.tocsr() + sparse.eye_array(4)).tocsc(), LOAD),
    "square": lambda k: (held(k).tocsr() @ k.tocsr()) @ LOAD,
    "row held": lambda k: linalg.spsolve(held(k).tocsr(), LOAD),
}


@pytest.mark.filterwarnings("ignore::scipy.sparse.SparseEfficiencyWarning")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", SOLVED)
def test_entries_that_are_zero_here(kind, name):
    for x in (np.array([1.0, 4.0, 2.0]), np.array([1.0, 0.0, 2.0])):
        f = lambda x: SOLVED[name](truss(kind, x)).sum()  # noqa: E731
        check_sample(Sample(f, (x,)))
        found = ad.grad(f, tier="generic")(x)
        for i, direction in enumerate(np.eye(3)):
            moved = ad.pushforward(f, (x,), (direction,))[1]
            np.testing.assert_allclose(moved, found[i], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_a_number_that_is_zero_here(kind):
    def f(v):
        a = kind((2, 2))
        a[0, 0], a[0, 1] = 2.0, v
        return (a.toarray() * v).sum() + (a * v).sum()

    for v in (0.0, 0.5):  # 2 v + v² twice
        np.testing.assert_allclose(ad.grad(f)(v), 4 + 4 * v)
        np.testing.assert_allclose(ad.derivative(ad.grad(f))(v), 4.0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", [(3, 0), (0, 4), (-4, 0), (0, -5)])
def test_indices_outside(kind, key):
    def f(x):
        return filled(kind, x)[key]

    def g(x):
        return changed(filled(kind, x), key, x[0]).sum()

    for function in (f, g):
        with pytest.raises(IndexError) as plain:
            function(X)
        with pytest.raises(IndexError) as differentiated:
            ad.grad(function)(X)
        assert str(differentiated.value) == str(plain.value)


def test_sums_and_products_of_nothing_but_zeros():
    diagonal = sparse.csr_matrix(np.diag([1.0, 2.0]))

    def twice(x):
        m = sparse.lil_matrix((2, 2))
        m[0, 1] = x
        return (m + m).sum()

    for f, slope in ((twice, 2.0), (lambda x: ((diagonal * x) @ diagonal).sum(), 5.0)):
        assert ad.grad(f)(0.0) == slope
        assert ad.pushforward(f, (0.0,), (1.0,))[1] == slope
