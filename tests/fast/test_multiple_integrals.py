"""Integrals over several variables: one operation of a program."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import integrate

import adjoint as ad
from adjoint.fast.nested.multiple_quadratures import _nquad
from adjoint.fast.not_covered import Deoptimize
from tests.fast.agreeing import generic_tier
from tests.fast.agreement import refused
from tests.fast.solving import value_and_gradient

P = np.array([1.2, 0.7, 0.4])
V = np.array([0.3, -0.8, 0.5])


def over_a_rectangle(p):
    return integrate.dblquad(lambda y, x: np.exp(-p[0] * x) * math.cos(p[1] * y), 0, 1, 0, p[2])[0]


def over_a_triangle(p):
    def f(y, x):
        return np.exp(-p[0] * x * x - p[1] * y)

    return integrate.dblquad(f, p[2], 1.0, lambda x: 0, lambda x: p[0] * x * x, epsabs=1e-10)[0]


def with_turned_limits(p):
    return integrate.dblquad(lambda y, x: x * y**2 * p[0] + y, 1.0, p[2], p[1], 0.0)[0]


def to_infinity(p):
    return integrate.dblquad(lambda y, x: np.exp(-p[0] * x - p[1] * y), p[2], np.inf, 0, 1)[0]


def from_infinity(p):
    return integrate.nquad(
        lambda x, y: np.exp(x * p[0]) * (1 + p[1] * y), [(-np.inf, p[2]), (0, 1)]
    )[0]


def over_a_box(p):
    def f(z, y, x, a):
        return x * y**2 * (z + 1) ** a + p[0] * np.sin(z)

    return integrate.tplquad(
        f, 0, 1, lambda x: 0, lambda x: x, lambda x, y: p[1] * y, lambda x, y: 1.0, args=(p[2],)
    )[0]


def of_one_variable(p):
    return integrate.nquad(lambda x, a: np.exp(-a * x), [(0.0, p[1])], args=[p[0]])[0] * p[2]


def with_ranges_of_arguments(p):
    def within(y, a):
        return [0.0, a * y]

    def f(x, y, a):
        return a * x * np.cos(y)

    return integrate.nquad(f, [within, [p[1], 1.0]], args=(p[0],), opts={"epsabs": 1e-11})[0]


def with_a_branch(p):
    def f(y, x):
        return p[0] * x if x > -1.0 else p[1] * y

    return integrate.dblquad(f, 0.0, 1.0, 0.0, p[2])[0]


FUNCTIONS = [
    over_a_rectangle, over_a_triangle, with_turned_limits, to_infinity, from_infinity, over_a_box,
    of_one_variable, with_ranges_of_arguments, with_a_branch,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives(f):
    for p in (P, 0.9 * P + 0.05):
        bar = value_and_gradient(f, p)[1]
        along, dot = ad.hvp(f, p, V), ad.pushforward(f, (p,), (V,))[1]
        h = 1e-4
        slopes = [(f(p + h * e) - f(p - h * e)) / (2 * h) for e in np.eye(3)]
        np.testing.assert_allclose(bar, slopes, rtol=1e-6, atol=1e-7)
        assert dot == pytest.approx(bar @ V, rel=1e-10)
        moved = (ad.gradient(f, p + h * V)[0] - ad.gradient(f, p - h * V)[0]) / (2 * h)
        np.testing.assert_allclose(along, moved, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(ad.hessian(f, p) @ V, along, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("f", [over_a_triangle, with_ranges_of_arguments])
def test_derivatives_are_those_of_the_generic_tier(f):
    found = ad.gradient(f, P)[0], ad.hvp(f, P, V)
    with generic_tier():
        expected = ad.gradient(f, P)[0], ad.hvp(f, P, V)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("at", [0.2, 0.25, 0.3, 0.5, 0.75])
@pytest.mark.parametrize("f", [lambda t: float(t > 0), np.sign, abs])
def test_integrands_that_are_not_smooth_have_no_points(f, at):
    for integrand in (lambda x, y: f(x - at), lambda x, y: f(y - at), lambda x, y: f(x + y - at)):
        with pytest.raises(Deoptimize):
            _nquad(integrand, [(0.0, 1.0), (0.0, 1.0)], (), {"limit": 3})


def test_an_integrand_with_effects_is_refused():
    seen = []

    def f(a):
        def g(y, x):
            seen.append(x)
            return a * x * y

        return integrate.dblquad(g, 0.0, 1.0, 0.0, 1.0)[0]

    assert refused(f, 0.9)
    assert ad.gradient(f, 0.9)[0] == pytest.approx(0.25)
