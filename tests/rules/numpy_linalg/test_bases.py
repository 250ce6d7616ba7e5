"""Functions of vectors of equal values that are the same in every basis, and others."""

import numpy as np
import pytest
from scipy import linalg, stats
from scipy.stats import Covariance, multivariate_normal, multivariate_t

import adjoint as ad
from adjoint.errors import NoDerivativeError

rng = np.random.default_rng(3)
Y, X = rng.normal(size=(4, 4)), np.array([0.3, -0.7, 1.1])
Q, P = np.linalg.qr(rng.normal(size=(4, 4)))[0], np.linalg.qr(rng.normal(size=(4, 4)))[0]
C = np.linalg.qr(rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4)))[0]
WEIGHT = np.eye(4) + 0.1 * Y @ Y.T


def with_values(q, values):
    return (q * np.array(values)) @ np.conj(q.T)


def symmetric(a):
    return (a + np.conj(a.T)) / 2


def spectral(g, eigh=np.linalg.eigh):
    def f(a):
        w, v = eigh(symmetric(a))
        return np.sum(Y * np.real((v * g(w)) @ np.conj(v.T)))

    return f


def singular(g, svd=np.linalg.svd, **settings):
    def f(a):
        u, s, vh = svd(a, **settings)
        k = len(s)
        return np.sum(Y[: len(a), : a.shape[1]] * np.real(u[:, :k] @ np.diag(g(s)) @ vh[:k]))

    return f


def mahalanobis(a):
    w, v = np.linalg.eigh(symmetric(a))
    z = (v / np.sqrt(w)).T @ Y[1]
    return 0.5 * z @ z + 0.5 * np.log(w).sum()


def whitened(x):
    w, v = np.linalg.eigh(x.T @ x)
    return np.sum(x @ v @ np.diag(w**-0.5) @ v.T * Y[:, :2])


def one_of_another(a):
    """A matrix with equal eigenvalues that is made of the vectors of another one."""
    w, v = np.linalg.eigh(symmetric(a))
    root = (v * np.sqrt(w)) @ v.T
    w, v = np.linalg.eigh(symmetric(root @ (3 * np.eye(4)) @ root))
    return np.sum(Y * ((v * np.sqrt(w)) @ v.T))


def in_place(a):
    """Writes into arrays and a list."""
    w, v = np.linalg.eigh(symmetric(a))
    rows, total = np.zeros((2, 4)), []
    for i in range(4):
        rows[0] += np.sqrt(w[i]) * v[:, i] * v[0, i]
    rows[1] = v @ (v.T @ Y[0])
    total.append(rows.sum() + np.log(w).sum())
    return total[0]


class Gaussian:
    def __init__(self, covariance):
        self.w, self.v = np.linalg.eigh(symmetric(covariance))

    def root(self):
        return (self.v * np.sqrt(self.w)) @ self.v.T


def generalized(a, b):
    w, v = linalg.eigh(symmetric(a), symmetric(b))
    return np.sum(Y * ((v * np.exp(w)) @ v.T))


def no_scale(s):
    return np.ones_like(s)


THREE, PAIRS = with_values(Q, [2.0, 2, 2, 5]), with_values(Q, [1.0, 1, -0.5, -0.5])
BOTH = {"numpy": (np.linalg.eigh, np.linalg.svd), "scipy": (linalg.eigh, linalg.svd)}
SAME = {
    "logarithm at 1": (lambda a: spectral(np.log)(a) + np.linalg.eigh(a)[0].sum(), np.eye(4)),
    "an entry of it": (
        lambda a: (lambda w, v: (v * np.log(w)) @ v.T)(*np.linalg.eigh(a))[1, 0], np.eye(3),
    ),
    "Hermitian svd": (singular(np.sqrt, hermitian=True), with_values(Q, [2.0, 2, -3, -3])),
    "Mahalanobis": (mahalanobis, 2 * np.eye(4)),
    "whitened": (whitened, Q[:, :2]),
    "one of another": (one_of_another, 2 * np.eye(4)),
    "in place": (in_place, THREE),
    "in an object": (lambda a: np.sum(Y * Gaussian(a).root()), THREE),
    "pair": (lambda a: generalized(a, WEIGHT), 1.5 * WEIGHT),
    "weights of a pair": (lambda b: generalized(1.5 * WEIGHT, b), WEIGHT),
    "banded": (
        lambda a: (lambda w, v: np.sum(Y * ((v * np.exp(w)) @ v.T)))(*linalg.eig_banded(a, True)),
        np.array([[2.0, 2.0, 2.0, 2.0], [0.0, 0.0, 0.0, 0.0]]),
    ),
    "beside equal ones": (
        lambda a: (lambda v: (v[:, -1] @ Y[0]) * v[:, -1] @ Y[1])(np.linalg.eigh(a)[1]), THREE,
    ),
    "logpdf": (lambda a: multivariate_normal.logpdf(X, np.zeros(3), a + a.T), 0.8 * np.eye(3)),
    "frozen": (lambda a: multivariate_normal(X, a + a.T).pdf(np.zeros(3)), 0.8 * np.eye(3)),
    "t": (lambda a: multivariate_t.logpdf(X, np.zeros(3), a + a.T, df=4.0), 0.8 * np.eye(3)),
    "entropy": (lambda a: multivariate_normal.entropy(None, a + a.T), 0.8 * np.eye(3)),
    "of eigenvalues": (
        lambda a: multivariate_normal.logpdf(
            X, None, Covariance.from_eigendecomposition(np.linalg.eigh(a + a.T))
        ),
        0.8 * np.eye(3),
    ),
}  # fmt: skip
for _library, (_eigh, _svd) in BOTH.items():
    SAME |= {
        f"{_library} root": (spectral(np.sqrt, _eigh), THREE),
        f"{_library} pairs": (spectral(np.exp, _eigh), PAIRS),
        f"{_library} complex": (spectral(np.exp, _eigh), with_values(C, [1.0, 1, 1, -0.5])),
        f"{_library} complex pairs": (spectral(np.exp, _eigh), with_values(C, [1.0, 1, 0.3, 0.3])),
        f"{_library} polar": (singular(no_scale, _svd), 1.3 * Q),
        f"{_library} polar at 1": (singular(no_scale, _svd), np.eye(3)),
        f"{_library} Procrustes": (singular(lambda s: s**-0.5, _svd), (Q * [2, 2, 1, 1]) @ P),
        f"{_library} tall": (singular(np.log, _svd, full_matrices=False), 2 * Q[:, :2]),
        f"{_library} complex svd": (singular(np.sqrt, _svd), C * [2, 2, 2, 1]),
    }


def differences(f, a, h=1e-4):
    """The gradient by differences of the fourth order."""
    found = np.zeros_like(a)
    for place in np.ndindex(a.shape):
        for unit in (1.0, 1j) if a.dtype.kind == "c" else (1.0,):
            step = np.zeros_like(a)
            step[place] = unit * h
            first, second = f(a + step) - f(a - step), f(a + 2 * step) - f(a - 2 * step)
            found[place] += unit * (8 * first - second) / (12 * h)
    return found


@pytest.mark.parametrize("name", SAME)
def test_the_same_in_every_basis(name):
    f, a = SAME[name]
    expected, before = differences(f, a.copy()), a.copy()
    scale = np.max(np.abs(expected))
    for tier in ("fast", "generic"):
        value, found = ad.value_and_grad(f, tier=tier)(a)
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8 * scale)
        assert value == f(a.copy())
        np.testing.assert_array_equal(a, before)
    a_dot = rng.normal(size=a.shape) * (1.0 if a.dtype.kind == "f" else 1 - 0.3j)
    value, moved = ad.pushforward(f, (a,), (a_dot,))
    assert value == f(a.copy())
    np.testing.assert_allclose(moved, np.sum(np.conj(expected) * a_dot).real, rtol=1e-7, atol=1e-8)


def root(a):
    w, v = np.linalg.eigh(a)
    return (v * np.sqrt(w)) @ v.T


def test_other_operators():
    a = symmetric(THREE)
    inverse = np.linalg.inv(np.kron(root(a), np.eye(4)) + np.kron(np.eye(4), root(a)))
    lower = np.tril(np.ones((4, 4)))
    doubled = np.reshape(inverse, (4,) * 4)
    doubled = np.where(lower > 0, doubled + np.swapaxes(doubled, 2, 3), 0)
    expected = doubled * (1 - 0.5 * np.eye(4))  # the lower triangle is read
    for jacobian in (ad.jacobian, ad.jacobian_reverse):
        np.testing.assert_allclose(jacobian(root, a), expected, atol=1e-12)
    _, back = ad.pullback(lambda p: root(p["a"] * p["b"][0]), {"a": a, "b": [1.0]})
    for _ in range(2):
        found = back(Y)[1]["a"]
        np.testing.assert_allclose(found, np.einsum("ij,ijkl", Y, expected), atol=1e-12)
    many = ad.jacobian(lambda v: root(v * np.eye(6)), 4.0)  # columns are fewer than rows
    np.testing.assert_allclose(many, np.eye(6) / 4, atol=1e-12)


def test_what_a_call_does_is_done_once():
    calls = []

    def counted(a):
        calls.append(a)
        a *= 2.0
        return np.sum(root(a))

    a = np.eye(3)
    np.testing.assert_allclose(ad.gradient(counted, a)[0].sum(), 9 / np.sqrt(2))
    np.testing.assert_array_equal(a, 2 * np.eye(3))
    assert len(calls) == 1
    ad.pushforward(counted, (a,), (np.ones((3, 3)),))
    np.testing.assert_array_equal(a, 4 * np.eye(3))


def of_values(a, f):
    return f(*np.linalg.eigh(symmetric(a)))


CHOOSING = {
    "a component": (lambda a: of_values(a, lambda w, v: v[0, 0]), 2 * np.eye(4)),
    "its square": (lambda a: of_values(a, lambda w, v: v[0, 0] ** 2), 2 * np.eye(4)),
    "a product": (lambda a: of_values(a, lambda w, v: (v[0, 0] * v[0, 1]) ** 2), 2 * np.eye(4)),
    "cut between equal ones": (
        lambda a: of_values(a, lambda w, v: np.sum(Y * (v[:, :2] @ v[:, :2].T))),
        with_values(Q, [1.0, 2, 2, 3]),
    ),
    "one of equal values": (lambda a: of_values(a, lambda w, v: w[0] + v[0] @ v[0]), THREE),
    "other weights": (
        lambda a: of_values(a, lambda w, v: np.sum(Y * ((v * w * np.arange(4.0)) @ v.T))),
        np.eye(4),
    ),
    "one side": (lambda a: np.linalg.svd(a)[0].sum(), np.eye(3)),
    "noise": (lambda a: spectral(np.sqrt)(a) * (1 + 0.1 * rng.random()), THREE),
}


@pytest.mark.parametrize("name", CHOOSING)
def test_what_depends_on_the_basis_is_refused(name):
    f, a = CHOOSING[name]
    for tier in ("fast", "generic"):
        with pytest.raises(NoDerivativeError, match="vectors of equal values"):
            ad.grad(f, tier=tier)(a)
    if name != "one of equal values":  # which part, on one side
        assert np.isnan(ad.pushforward(f, (a,), (rng.normal(size=a.shape),))[1])


def test_second_derivatives_are_refused():
    with pytest.raises(NoDerivativeError, match="vectors of equal values"):
        ad.hessian(lambda v: root(v * np.eye(3)).sum(), 2.0)


@pytest.mark.parametrize("modes", ["ff", "fr", "rf", "rr"])
def test_second_derivatives_of_densities(modes):
    """−(3 log v + x² / v) / 2 and a constant."""
    f = lambda v: multivariate_normal.logpdf(X, np.zeros(3), v * np.eye(3))  # noqa: E731
    for mode in modes:
        f = ad.derivative(f) if mode == "f" else ad.grad(f)
    np.testing.assert_allclose(f(1.7), 1.5 / 1.7**2 - X @ X / 1.7**3, rtol=1e-12)


def test_covariances():
    """By the eigenvectors, where the rank is not full, and by the Cholesky factor, where it is."""
    thin = rng.normal(size=(3, 2))
    for make in (lambda a: a @ a.T, lambda a: a @ a.T + np.eye(3)):
        f = lambda a: multivariate_normal.logpdf(  # noqa: E731
            thin @ np.array([0.3, 0.7]),
            None,
            make(a),
            allow_singular=True,  # noqa: B023
        )
        a_dot = rng.normal(size=(2, 2))
        along = lambda t: f(thin @ (np.eye(2) + t * a_dot))  # noqa: B023, E731
        h = 1e-4
        expected = (8 * (along(h) - along(-h)) - (along(2 * h) - along(-2 * h))) / (12 * h)
        np.testing.assert_allclose(ad.grad(along)(0.0), expected, rtol=1e-8)
        np.testing.assert_allclose(ad.derivative(along)(0.0), expected, rtol=1e-8)
    wishart = lambda v: stats.wishart.logpdf(WEIGHT, 5, v * np.eye(4))  # noqa: E731
    expected = np.trace(WEIGHT) / (2 * 1.7**2) - 5 * 4 / (2 * 1.7)
    np.testing.assert_allclose(ad.grad(wishart)(1.7), expected)
    matrix = lambda v: stats.matrix_normal.logpdf(Y, None, v * np.eye(4), np.eye(4))  # noqa: E731
    np.testing.assert_allclose(ad.grad(matrix)(1.7), (Y**2).sum() / (2 * 1.7**2) - 8 / 1.7)


def test_vectors_beside_many_equal_ones():
    x = rng.normal(size=(6, 40))

    def leading(x):
        w, v = np.linalg.eigh(x.T @ x)  # most eigenvalues are zero
        s = v[:, -3:] * np.sqrt(w[-3:])
        return np.sum((s @ s.T)[:5])

    direction, h = rng.normal(size=x.shape), 1e-4
    along = lambda t: leading(x + t * direction)  # noqa: E731
    expected = (8 * (along(h) - along(-h)) - (along(2 * h) - along(-2 * h))) / (12 * h)
    np.testing.assert_allclose(np.sum(ad.grad(leading)(x) * direction), expected, rtol=1e-7)
