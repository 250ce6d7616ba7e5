"""Numbers whose precision only a call decides."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad

V = np.array([0.3, 0.71, 1.13])
T = float(V.sum() * 0.1)
LOW = [np.float16(0.9), np.float32(0.9)]


def _greatest(v, w):
    t = v.sum() * 0.1
    return max(w, t, -2.0) + t


def _factor(v, w):
    t = v.sum() * 0.1
    z = w if t > 0 else t
    return z * t


def _divisor(v, w):
    t = v.sum() * 0.1
    z = w if t > 0 else t
    return t / z


def _least(v, w):
    t = v.sum() * 0.1
    z = min(v[0], w + 0.0 * v[0], 5.0) if t < 0 else w
    return z * (t * t)


def _later(v, w):
    t = v.sum() * 0.1
    z = w if t > 0 else t
    if t > 0.1:
        y = z * t
    elif t > 0.05:
        y = t
    else:
        y = z
    return y * 0.1


def _both(v, w):
    t = v.sum() * 0.1
    a = t if t > 0 else w
    b = w if t > 0 else t
    return (a * b) * 0.1


# the slope in each element of `v`, of a double
SLOPES = {
    _greatest: lambda w: 0.1,
    _factor: lambda w: w * 0.1,
    _divisor: lambda w: 0.1 / w,
    _least: lambda w: 2 * w * T * 0.1,
    _later: lambda w: w * 0.01,
    _both: lambda w: w * 0.01,
}


@pytest.mark.parametrize("w", LOW, ids=["half", "single"])
@pytest.mark.parametrize("f", SLOPES, ids=lambda f: f.__name__)
def test_cotangents_have_the_digits_of_their_primals(f, w):
    assert ad.tier(f, V, w).tier == "fast"
    expected = np.full(3, SLOPES[f](float(w)))
    for tier in ("fast", "generic"):
        v_bar, w_bar = ad.grad(f, (0, 1), tier=tier)(V, w)
        np.testing.assert_allclose(v_bar, expected, rtol=1e-14)
        assert type(w_bar) is type(w)


@pytest.mark.parametrize("w", LOW, ids=["half", "single"])
def test_a_single_beside_a_double(w):
    def f(w, x):
        return (w * x) * 0.1

    assert ad.tier(f, w, np.float64(0.3)).tier == "fast"
    assert ad.grad(f, 1)(w, np.float64(0.3)) == pytest.approx(float(w) * 0.1, rel=1e-15)


def test_complex_numbers_of_two_precisions():
    def f(x, w):
        z = w if x > 0 else x * 1j
        return abs(z * x) * 0.1

    w = np.complex64(0.3 + 0.4j)
    assert ad.tier(f, np.float64(0.7), w).tier == "fast"
    found = ad.grad(f)(np.float64(0.7), w)
    assert found == pytest.approx(0.1 * abs(complex(w)), rel=1e-14)
