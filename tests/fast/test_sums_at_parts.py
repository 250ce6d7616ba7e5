"""Sums in place at parts of arrays, ``y[i, :n] += v``: one operation of a program."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build.modes import GRADIENT
from adjoint.fast.programs import store as tier
from adjoint.testing import check_gradient
from tests.fast.agreeing import generic_tier
from tests.structures import difference

RNG = np.random.default_rng(3)
X, V = RNG.normal(size=(4, 4)), RNG.normal(size=4)


def rows(x, v):
    y = x * x
    for i in range(len(v)):
        y[i, : i + 1] += v[i] * x[: i + 1, i]
        y[i] -= y[i - 1] * v
    return np.sum(y * y)


def columns_backwards(x, v):
    y = np.zeros_like(x)
    for i in range(len(v)):
        y[:, i] += np.flip(v) * x[i]
        y[::-1, i] -= np.flip(x[:, i]) ** 2
    return np.sum(np.flip(y, 0) * x) + np.sum(np.flip(y) ** 2)


def broadcast(x, v):
    y = x + 0.0
    for i in range(1, 3):
        y[i:, :i] += v[i : i + 1, None] * v[:i]
        y[: i + 1] += v[None, :]
        y[0, i:] -= v[i : i + 1] * x[0, 0]
    return np.sum(np.sin(y))


def overlapping(x, v):
    y = np.outer(v, v)
    y[1:] += y[:-1] * x[1:]
    y[:, 1:] -= y[:, :-1]
    y[2] += y[1]
    return np.sum(y * x)


def shown_parts(x, v):
    y = x * 2.0
    t = y[1]
    before = t * 1.0
    t += v
    u = y[:, 2]
    y[1] -= before * v
    u += t
    return np.sum(y * y) + np.sum(t * u)


def written_terms(x, v):
    y, w = np.zeros_like(x), v * x[0]
    for i in range(4):
        y[i] += w
        w[i] = np.sum(y[i] * v)
        y[i, 1:3] += w[1:3]
        y[i] *= 0.5
    return np.sum(y**3)


def of_the_argument(x, v):
    x[1] += v * x[0]
    x[:, 0] -= v
    return np.sum(x**2)


def sometimes(x, v):
    y = x.copy()
    for i in range(4):
        if v[i] > 0.0:
            y[i] += v * v[i]
        y[i, :0] += v[:0]
    return np.sum(y * y * v)


FUNCTIONS = [
    rows,
    columns_backwards,
    broadcast,
    overlapping,
    shown_parts,
    written_terms,
    of_the_argument,
    sometimes,
]
NAMED = {"argvalues": FUNCTIONS, "ids": lambda f: f.__name__}


@pytest.mark.parametrize("f", **NAMED)
def test_sums_at_parts_in_every_mode(f):
    def all_modes():
        x, dot = X.copy(), (np.sin(X), np.cos(V))
        yield tuple(ad.withgradient(f, X.copy(), V))
        y, back = ad.pullback(f, X.copy(), V)
        yield y, back(1.0), back(-2.0)
        yield ad.pushforward(f, (X.copy(), V), dot)
        yield ad.hvp(lambda z: f(z[0].copy(), z[1]), (x, V), dot)
        yield ad.hessian(lambda v: f(X.copy(), v))(V)
        yield ad.jacobian(lambda v: ad.grad(lambda x: f(x.copy(), v))(x))(V)
        yield ad.vmap(lambda v: f(X.copy(), v))(np.stack([V, V + 1.0, -V]))

    tier.forget()
    assert tier.run(f, (X.copy(), V), GRADIENT) is not tier.MISS
    found = [*all_modes()]
    with generic_tier():
        expected = [*all_modes()]
    for one, other in zip(found, expected, strict=True):
        assert not difference(one, other, rtol=1e-10), (one, other)
    assert found[0][0] == f(X.copy(), V)
    check_gradient(lambda x, v: f(x.copy(), v), X, V)


@pytest.mark.parametrize("dtype", [np.float32, np.complex128])
@pytest.mark.parametrize("f", **NAMED)
def test_sums_at_parts_of_other_dtypes(f, dtype):
    if dtype is np.complex128 and f is sometimes:
        return
    x, v = X.astype(dtype) * (1 + 0.5j if dtype is np.complex128 else 1), V.astype(dtype)

    def real(x, v):
        return np.real(f(x, v))

    value, bars = ad.withgradient(real, x.copy(), v)
    with generic_tier():
        expected = tuple(ad.withgradient(real, x.copy(), v))
    tolerance = 1e-10 if dtype is np.complex128 else 1e-4
    assert not difference((value, bars), expected, rtol=tolerance)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_shapes_that_do_not_fit_raise_and_change_nothing(n):
    def f(x, v):
        x[0] += 1.0
        x[1, :2] += v
        return np.sum(x * x)

    x, v = np.ones((2, 3)), np.arange(1.0, n + 1.0)
    if n < 3:
        agreeing = ad.gradient(f, x.copy(), v)
        with generic_tier():
            assert not difference(agreeing, ad.gradient(f, x.copy(), v), rtol=1e-12)
        return
    with pytest.raises(ValueError, match="broadcast"):
        ad.gradient(f, x, v)
    np.testing.assert_array_equal(x[1], 1.0)


def test_one_operation_and_no_copy_of_the_array():
    source = str(ad.code(rows, X.copy(), V))
    assert source.count("+=") >= 4
    assert "y_bar[index] = 0" not in source


def test_reads_that_raise_stay():
    def f(x, v):
        x[5]
        if v[0] > 100.0:
            x[5] += v
        return np.sum(x)

    with pytest.raises(IndexError):
        ad.gradient(f, X.copy(), V)
