"""Recursion whose depth an integer argument or the length of an array says."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from tests.fast.agreeing import generic_tier
from tests.fast.agreement import agrees, refused


def power(x, n):
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half * (x if n % 2 else 1.0)


def legendre(x, n):
    if n < 2:
        return x if n == 1 else 1.0
    return ((2 * n - 1) * x * legendre(x, n - 1) - (n - 1) * legendre(x, n - 2)) / n


def falling(x, n):
    return x if n <= 0 else n * falling(x, n - 1)


@pytest.mark.parametrize("f", [power, legendre, falling], ids=lambda f: f.__name__)
def test_depth_of_an_integer(f):
    for n in (5, 0, 3, 6):  # the derivative in the integer is that of the arithmetic
        agrees(f, 0.7, n)
    found = ad.pushforward(f, (0.7, 5), (1.5, None)), ad.hvp(lambda x: f(x, 5), 0.7, 2.0)
    with generic_tier():
        assert found[0] == pytest.approx(ad.pushforward(f, (0.7, 5), (1.5, None)), rel=1e-12)
        slopes = [ad.gradient(f, 0.7 + step, 5)[0] for step in (1e-5, -1e-5)]
    assert found[1] == pytest.approx((slopes[0] - slopes[1]) / 1e-5, rel=1e-6, abs=1e-9)


def test_depth_of_data():
    def halved(x):
        return x * x if x < 0.1 else x + halved(x / 2.0)

    assert "calls more than 60 deep, or recursion" in refused(halved, 3.0)


def test_depth_of_a_long_array():
    def total(a):
        return a[0] if len(a) == 1 else total(a[: len(a) // 2]) + total(a[len(a) // 2 :]) * 2.0

    agrees(total, np.arange(1.0, 7.0))
    with generic_tier():
        expected = ad.gradient(total, np.arange(1.0, 90.0))
    np.testing.assert_array_equal(ad.gradient(total, np.arange(1.0, 90.0)), expected)
