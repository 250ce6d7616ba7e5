"""Check of functions that solve by SciPy."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from tests.fast.agreeing import generic_tier


def value_and_gradient(f, p):
    """Return both from a program; require that the value is SciPy's."""
    value, (bar,) = ad.withgradient(f, p)
    assert str(ad.tier(f, p)).splitlines()[0].endswith("fast tier"), ad.tier(f, p)
    assert value == f(p)
    assert type(value) is type(f(p))
    return value, bar


def check_derivatives(f, p, v):
    """Require that values are SciPy's, and derivatives those of the generic tier and of
    differences."""
    value, bar = value_and_gradient(f, p)
    y, y_dot = ad.pushforward(f, (p,), (v,))
    along = ad.hvp(f, p, v)
    _, back = ad.pullback(f, p)
    with generic_tier():
        expected = ad.gradient(f, p)[0]
        second = ad.hvp(f, p, v)
    assert y == value
    assert y_dot == pytest.approx(expected @ v, rel=1e-8, abs=1e-10)
    for found in (bar, back(1.0)[1], back(2.0)[1] / 2):
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(along, second, rtol=1e-6, atol=1e-8)
    h = 1e-4
    slopes = [(f(p + h * e) - f(p - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(bar, slopes, rtol=1e-4, atol=1e-5)
    moved = (ad.gradient(f, p + h * v)[0] - ad.gradient(f, p - h * v)[0]) / (2 * h)
    np.testing.assert_allclose(along, moved, rtol=1e-3, atol=1e-4)
