"""Small arrays held as numbers: what is computed, and in which programs."""

import warnings

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store as tier
from tests.structures import difference

A = np.array([[1.2, -0.3], [0.4, 0.8]])


def euler(x, v):
    for i in range(5):
        force = -x / np.sqrt(np.sum(x**2)) ** 3
        x = x + 0.1 * v
        v = v + 0.1 * force
    return np.sum(x * v)


def until_close(x, v):
    while np.sqrt(np.sum((x - v) ** 2)) > 1e-3:
        x = x - 0.3 * (x - v)
    return np.sum(x) * v[0]


def descent(x, v):
    for _ in range(4):
        x = x - 0.1 * ad.gradient(lambda y: np.sum(np.sin(y) * v) + np.sum(y**2), x)[0]
    return np.dot(x, v)


def directions(x, v):
    def f(y):
        return np.sum(np.exp(y) * v)

    for _ in range(3):
        x = x - 0.1 * np.array([ad.pushforward(f, (x,), (d,))[1] for d in np.eye(len(x))])
    return np.sum(x)


def branches(x, v):
    for i in range(6):
        if x[0] > v[1]:
            x = x * np.array([0.5, 0.9])
        elif i > 4:
            break
        else:
            x, v = v - x, 2 * v
    return np.sum(x / v)


def norms(x, v):
    total = 0.0
    for i in range(3):
        x = x / np.linalg.norm(x) + v
        total = total + np.linalg.norm(x - i)
    return total


def products(x, v):
    for _ in range(3):
        x = x * np.dot(x, v) + v * (x @ v) - x.dot(x) * v
    return np.sum(x)


def writes(x, v):
    y = np.zeros(2)
    for i in range(3):
        y += x * v
        y[0] *= 1.5
        x = x - 0.1 * y
    return np.sum(x * y)


def written_view(x, v):
    y = x * v
    part = y[:1]
    for _ in range(3):
        part += 1.0
        x = x + 0.5 * y
    return np.sum(x * x)


def parts(x, v):
    for _ in range(3):
        x = np.concatenate([x[1:], x[:1] * v[0]])
        x = np.stack([x[-1], x[0] + v[1]]) + x[::-1]
    return x[0] - x[1] ** 2


def matrices(x, v):
    m = np.array([x, v])
    for _ in range(3):
        m = m * 0.5 + m.copy()[::-1] * np.array([1.0, -2.0])
    return np.sum(m[0] * m[1]) + m[1, 0]


def functions(x, v):
    for _ in range(2):
        x = np.tanh(x) + np.exp(-v) * np.sqrt(np.abs(x) + 1.0)
        x = np.maximum(x, 0.3 * v) + np.cos(x) ** 3 + (x * x + 1.0) ** -0.5 + 2.0**x
    return np.sum(x)


def constants(x, v):
    y = np.ones(2) * 2
    for _ in range(3):
        y = y + np.zeros_like(x) - x * np.full(2, 0.5) + np.eye(2)[0]
    return np.sum(y * v)


def numbers(x, v):
    w, n = float(x[0]), 3
    for k in range(3):
        x = x * w + n - np.array([k, 1.5 * w]) / (k + 1)
    return np.sum(x * v)


def products_of_matrices(x, v):
    for _ in range(4):
        x = np.tanh(A @ x + v)
    return np.sum(x**2)


def integers(x, v):
    q = np.array([1, 2])
    while np.sum((q - x) ** 2) > 1e-4:
        q = q - 0.5 * (q - x)
    return np.sum(q**2 * v)


def unassigned(x, v):
    for i in range(3):
        if i == 0:
            y = x
        y = y * v + x
    return np.sum(y)


def names(x, v):
    y = x
    for _ in range(3):
        z = y
        y = z + 0.1 * v
        x = z * y
    return np.sum(x + z)


def mean(x, v):
    for _ in range(3):
        x = (x - np.mean(x)) * v + x.sum() / len(x)
    return x.mean()


def thirds(x, v):
    for _ in range(3):
        x = x + 0.1 * v**3 - 0.2 * x**1.5
    return np.sum(x)


def several(x, v):
    def f(y):
        return ad.gradient(lambda z: np.sum(z**3 * y), y)[0] @ v

    for _ in range(2):
        x = x - 0.01 * ad.gradient(f, x)[0]
    return np.sum(x)


def straight(x, v):
    u, w = x - v, x + 2 * v
    return 1 / np.sqrt(np.sum(u**2)) + 1 / np.sqrt(np.sum(w**2)) + np.dot(u, w)


FUNCTIONS = (
    euler,
    until_close,
    descent,
    directions,
    branches,
    norms,
    products,
    writes,
    written_view,
    parts,
    matrices,
    functions,
    constants,
    numbers,
    products_of_matrices,
    integers,
    unassigned,
    names,
    mean,
    thirds,
    several,
    straight,
)
X, V = np.array([1.1, 0.7]), np.array([0.6, 1.3])
ARRAYS = {"writes", "written_view", "products_of_matrices"}
"""Functions in which the arrays stay arrays."""


def results(f, x, v):
    """Value and derivatives in all modes."""
    dots = np.array([0.3, -0.7]), np.array([0.2, 0.5])
    return (
        ad.withgradient(f, x, v),
        ad.pushforward(f, (x, v), dots),
        ad.hvp(lambda x: f(x, v), x, dots[0]),
        ad.pullback(f, x, v)[1](0.7),
    )


@pytest.fixture
def is_generic():
    def run(f, *args):
        before, tier.is_enabled[0] = tier.is_enabled[0], False
        try:
            return f(*args)
        finally:
            tier.is_enabled[0] = before

    return run


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_is_as_in_the_generic_tier(f, is_generic):
    before = X.copy(), V.copy()
    found, expected = results(f, X, V), is_generic(results, f, X, V)
    assert not difference(found, expected, rtol=1e-11), (found, expected)
    assert type(found[0][0]) is type(f(X, V))
    np.testing.assert_equal((X, V), before)
    assert ad.tier(f, X, V).is_fast if hasattr(ad.tier(f, X, V), "is_fast") else True


@pytest.mark.parametrize("f", FUNCTIONS, ids=lambda f: f.__name__)
def test_values_are_those_of_numpy(f):
    value, slopes = ad.withgradient(f, X, V)
    np.testing.assert_allclose(value, f(X, V), rtol=1e-14)
    for slope, move in zip(slopes, (lambda h: (X + h, V), lambda h: (X, V + h)), strict=True):
        steps = 1e-6 * np.eye(2)
        differences = [(f(*move(h)) - f(*move(-h))) / 2e-6 for h in steps]
        np.testing.assert_allclose(slope, differences, rtol=2e-5, atol=1e-6)
