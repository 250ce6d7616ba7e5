"""Sparse Jacobians and Hessians: the same entries as the dense ones, by fewer sweeps."""

import numpy as np
import pytest
from scipy import sparse

import adjoint as ad
from adjoint.derivatives.colouring import colours, detected
from adjoint.errors import ArgumentError


def banded(x):
    return np.sin(x[1:-1]) * x[2:] - x[:-2] ** 2


def arrow(x):
    return np.concatenate([x[:1] * x.sum(), x[1:] * x[0]])


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def by_loop(x):
    y = np.zeros((x.size, 2))
    for i in range(x.size):
        y[i, 0] = x[i] * x[i - 1]
        y[-i, 1] += x[i // 2] ** 2
    return y


FUNCTIONS = {
    "banded": (banded, 30),
    "arrow": (arrow, 12),
    "by_loop": (by_loop, 9),
    "dense": (lambda x: np.cumsum(x) * x.sum(), 7),
    "diagonal": (np.exp, 40),
    "tall": (lambda x: np.repeat(x, 30) ** 2, 4),
    "zero": (lambda x: x * 0.0 + 1.0, 5),
    "empty_result": (lambda x: x[:0], 5),
    "empty_argument": (lambda x: x * 2.0, 0),
    "one": (lambda x: x**2, 1),
}


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("mode", ["forward", "reverse", None])
def test_as_the_dense_one(name, mode):
    f, n = FUNCTIONS[name]
    x = np.linspace(0.3, 1.7, n)
    dense = ad.jacobian(f, x).reshape(-1, n) if f(x).size and n else np.zeros((f(x).size, n))
    found = ad.sparse_jacobian(f, x, mode=mode)
    assert isinstance(found, sparse.csr_array) and found.dtype == float
    np.testing.assert_allclose(found.toarray(), dense, rtol=1e-13, atol=1e-15)
    assert found.nnz == np.count_nonzero(dense)
    again = ad.sparse_jacobian(f, x * 1.1, mode=mode, pattern=found)
    np.testing.assert_allclose(again.toarray(), ad.jacobian(f, x * 1.1).reshape(dense.shape))


def test_hessians():
    x = np.linspace(-1.0, 1.0, 12)
    found = ad.sparse_hessian(rosenbrock, x)
    np.testing.assert_allclose(found.toarray(), ad.hessian(rosenbrock, x), atol=1e-11)
    assert found.nnz == 3 * 12 - 2
    pattern = np.eye(12) + np.eye(12, k=1) + np.eye(12, k=-1)
    again = ad.sparse_hessian(rosenbrock, x, pattern=np.tril(pattern))
    np.testing.assert_allclose(again.toarray(), found.toarray())
    scaled = ad.sparse_hessian(lambda x, *, k: k * rosenbrock(x), x, k=2.0)
    np.testing.assert_allclose(scaled.toarray(), 2.0 * found.toarray())


def test_sweeps_do_not_grow_with_the_size():
    counts = []
    for n in (100, 400, 1600):
        x, products = np.linspace(0.1, 1.0, n), []
        _, back = ad.pullback(banded, x)

        def product(weights):
            products.append(weights)
            return back(weights)[1]

        rows = detected(product, n - 2, n)
        assert sum(map(len, rows)) == 3 * (n - 2)
        assert max(colours(rows, n)) == 2
        counts.append(len(products))
    assert counts[-1] <= counts[0] + 5 * 4


def test_random_patterns():
    rng = np.random.default_rng(0)
    for density in (0.01, 0.1, 0.5):
        matrix = sparse.random_array((40, 60), density=density, rng=rng).toarray()
        rows = detected(lambda w: w @ matrix, 40, 60)
        found = np.zeros((40, 60), bool)
        for i, columns in enumerate(rows):
            found[i, columns] = True
        np.testing.assert_array_equal(found, matrix != 0)


def test_dtypes_and_shapes():
    x = np.linspace(0.1, 1.0, 6, dtype=np.float32).reshape(2, 3)
    found = ad.sparse_jacobian(lambda x: np.tanh(x).T, x)
    assert found.dtype == np.float32 and found.shape == (6, 6)
    np.testing.assert_allclose(
        found.toarray(), ad.jacobian(lambda x: np.tanh(x).T, x).reshape(6, 6), rtol=1e-6
    )
    assert ad.sparse_jacobian(lambda x: x * 1.5, np.arange(3)).toarray()[1, 1] == 1.5


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_nested(mode):
    def total(c):
        return np.sum(ad.sparse_jacobian(lambda x: banded(c * x), np.ones(6), mode=mode).data ** 2)

    expected = (total(0.7 + 1e-5) - total(0.7 - 1e-5)) / 2e-5
    assert ad.gradient(total, 0.7)[0] == pytest.approx(expected, rel=1e-6)
    assert ad.derivative(total)(0.7) == pytest.approx(expected, rel=1e-6)


def test_a_function_that_overwrites_its_argument():
    def f(x):
        x *= 2.0
        return x[1:] * x[:-1]

    x = np.array([1.0, 2.0, 3.0])
    found = ad.sparse_jacobian(f, x.copy(), mode="reverse")
    np.testing.assert_allclose(found.toarray(), [[8.0, 4.0, 0.0], [0.0, 12.0, 8.0]])
    with pytest.raises(ArgumentError, match="overwrites its argument"):
        ad.sparse_jacobian(f, x.copy(), mode="forward")


REFUSED = {
    "outside the pattern": lambda x: ad.sparse_jacobian(banded, x, pattern=np.eye(8, 10)),
    "the pattern has shape": lambda x: ad.sparse_jacobian(banded, x, pattern=np.eye(3)),
    "mode is": lambda x: ad.sparse_jacobian(banded, x, mode="up"),
    "not in a list": lambda x: ad.sparse_jacobian(banded, [1.0, 2.0, 3.0]),
    "not in an array of complex128": lambda x: ad.sparse_jacobian(banded, x * 1j),
    "returns one real array": lambda x: ad.sparse_jacobian(np.sum, x),
}


@pytest.mark.parametrize("message", REFUSED)
def test_refused(message):
    with pytest.raises(ArgumentError, match=message):
        REFUSED[message](np.linspace(0.1, 1.0, 10))
