"""Simpson's and Romberg's rules, and tests of integers as numbers, in programs."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate

import adjoint as ad
from tests.fast.agreeing import generic_tier

RNG = np.random.default_rng(3)
Y = {n: RNG.normal(size=n) for n in (3, 4, 9, 10)}
X = {n: np.cumsum(RNG.uniform(0.5, 1.5, n)) for n in Y}


def at_places(y, x):
    return integrate.simpson(y, x=x) ** 2


def between_equal_steps(y, x):
    return integrate.simpson(y, dx=x[0]) * x[1]


def along_the_first_axis(y, x):
    rows = np.stack([y, y * y, np.sin(y)], axis=1)
    return np.sum(integrate.simpson(rows, x=x, axis=0) ** 2)


def at_places_of_each_row(y, x):
    return np.sum(integrate.simpson(np.stack([y, y * y]), x=np.stack([x, x * x])) ** 2)


def backwards(y, x):
    return integrate.simpson(y[::-1], x=x[::-1]) * y[0]


FUNCTIONS = [
    at_places, between_equal_steps, along_the_first_axis, at_places_of_each_row, backwards
]  # fmt: skip


@pytest.mark.parametrize("n", Y)
@pytest.mark.parametrize("f", FUNCTIONS)
def test_simpson(f, n):
    _agrees(f, Y[n], X[n])


@pytest.mark.parametrize("n", [3, 9, 17])
def test_romb(n):
    y, step = RNG.normal(size=(2, n)), 0.3
    _agrees(lambda y, h: np.sum(integrate.romb(y, dx=h) ** 2), y, step)
    _agrees(lambda y, h: np.sum(integrate.romb(y.T, h, axis=0) ** 2), y, step)
    _agrees(lambda y, h: integrate.romb(y[0], h) ** 2, y, step)


def _agrees(f, *args):
    value, bars = ad.withgradient(f, *args)
    report = ad.tier(f, *args)
    assert str(report).splitlines()[0].endswith("fast tier"), report
    assert not report.opaque, report
    assert value == f(*args)
    assert type(value) is type(f(*args))
    along = tuple(np.cos(np.arange(np.size(x))).reshape(np.shape(x))[()] for x in args)
    second = ad.hvp(lambda z: f(*z), list(args), list(along))
    dot = ad.pushforward(f, args, along)[1]
    with generic_tier():
        expected = ad.gradient(f, *args)
        expected_second = ad.hvp(lambda z: f(*z), list(args), list(along))
    for found, given in ((bars, expected), (second, expected_second)):
        for one, other in zip(found, given, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-11)
    assert dot == pytest.approx(sum(np.sum(a * b) for a, b in zip(bars, along, strict=True)))


@pytest.mark.parametrize(
    "y", [np.ones(2), np.ones(4, np.float32), np.ones(5) + 1j, np.arange(4), np.ones(1)]
)
def test_other_samples_are_as_in_the_generic_tier(y):
    f = lambda y: np.abs(integrate.simpson(y, dx=0.5)) ** 2
    found = ad.withgradient(f, y)
    with generic_tier():
        expected = ad.withgradient(f, y)
    assert found[0] == expected[0] == f(y)
    np.testing.assert_allclose(found[1][0], expected[1][0], rtol=1e-6)
    assert found[1][0].dtype == expected[1][0].dtype


def test_places_that_coincide():
    f = lambda x: integrate.simpson(np.arange(5.0) ** 2, x=x)
    x = np.array([0.0, 1.0, 1.0, 2.0, 3.0])
    found = ad.withgradient(f, x)
    with generic_tier():
        expected = ad.withgradient(f, x)
    assert found[0] == expected[0]
    np.testing.assert_allclose(found[1][0], expected[1][0])


def test_integers_are_finite():
    def f(a, n, x):
        if math.isnan(n) or math.isinf(len(x)) or not math.isfinite(x.size):
            return a * a
        return a * (2.0 if math.isinf(a) else 3.0) if not math.isnan(a) else 0.0 * n

    for a, slope in ((1.0, 3.0), (math.inf, 2.0), (math.nan, 0.0)):
        assert ad.gradient(f, a, 3, np.ones(2))[0] == slope
        assert "fast tier" in str(ad.tier(f, a, 3, np.ones(2)))
