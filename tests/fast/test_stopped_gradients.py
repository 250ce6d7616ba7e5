"""`stop_gradient` in programs: the numbers of the generic tier, in every mode."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from tests.fast.agreeing import generic_tier

A = np.array([0.3, 0.7, 1.1])


def number(a):
    return np.sum(a * ad.stop_gradient(a[0] * a[1]))


def array(a):
    y = ad.stop_gradient(a * a)
    return np.sum(a * y)


def written_copy(a):
    y = ad.stop_gradient(a)
    y[0] = a[1] * 2.0
    return np.sum(a * y)


def two_copies(a):
    y, z = ad.stop_gradient(a), ad.stop_gradient(a)
    y[0] = 5.0
    return np.sum(a * y) + z[0] * a[2]


def containers(a):
    p = {"a": a * 2.0, "b": [a[0], 3.0], "c": "text"}
    q = ad.stop_gradient(p)
    q["b"].append(a[1])
    return np.sum(p["a"] * q["a"]) * q["b"][0] * q["b"][2] + len(p["b"])


def in_a_loop(a):
    s = a[0]
    for x in a:
        s = s * x + ad.stop_gradient(s)
    return s


@pytest.mark.parametrize(
    "f", [number, array, written_copy, two_copies, containers, in_a_loop], ids=lambda f: f.__name__
)
def test_as_in_the_generic_tier(f):
    v = np.array([0.5, -0.2, 0.8])
    assert ad.tier(f, A).tier == "fast", ad.tier(f, A)

    def answers():
        y, back = ad.pullback(f, A.copy())
        forward = ad.pushforward(f, (A.copy(),), (v,))
        return y, back(1.0)[1], back(2.0)[1], *forward, ad.hvp(f, A.copy(), v)

    found = answers()
    with generic_tier():
        expected = answers()
    for x, y in zip(found, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-12, atol=1e-14)


def test_functions_stay_generic():
    def g(x):
        def inner():
            return x * x

        return ad.stop_gradient(inner)() * x

    assert ad.tier(g, 3.0).tier == "generic"
    assert ad.gradient(g, 3.0) == (9.0,)
