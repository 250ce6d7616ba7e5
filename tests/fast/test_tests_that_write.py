"""Loops whose test writes to what the program made: a list of residuals, a relaxed array."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from tests.fast.agreement import generic

POINT = np.array([0.4, 1.3, 0.7, 1.1, 0.5])


def newton(v):
    residuals = []

    def converged(t):
        residuals.append(t)
        return len(residuals) > 1 and abs(residuals[-1] - residuals[-2]) < 1e-8

    y = v[1]
    while not converged(y):
        y = 0.5 * (y + v[1] / y)
    return y + sum(residuals)


def relaxed(v):
    b, i = v.copy(), 0

    def relax():
        b[1:-1] = 0.5 * (b[:-2] + b[2:])
        return b[1] > 0.1

    while relax():
        i += 1
        if i > 3:
            break
    return (b * v).sum()


def filled(v):
    buffer, i = np.zeros(5), 0

    def more(i):
        buffer[i] = v[0] * v[i]
        return i < 3

    while more(i):
        i += 1
    return buffer.sum()


def scaled(v):
    b, i = v * 1.0, 0

    def small():
        b[0] *= v[1] + 1.0
        return b[0] < 20.0

    while small():
        i += 1
    return b.sum() * i


def items(v):
    xs, i = list(v), 0

    def more(i):
        xs[i] = xs[i] * v[0]
        return i < 3

    while more(i):
        i += 1
    else:
        i += 2
    return sum(xs) * i


def taken(v):
    xs, out = [v[0], v[1], v[2], v[0] * v[3]], []
    while len(xs) > 2 and (out.append(xs.pop()) or True):
        pass
    return sum(out)


def with_an_exit(v):
    seen = []

    def note(t):
        seen.append(t * v[1])
        return len(seen) < 6

    y = v[0]
    while note(y):
        y = y * v[3]
        if y > 0.5:
            return sum(seen)
    return sum(seen) * y


def inner(v):
    seen, total = [], 0.0
    for i in range(3):

        def note(t, i=i):
            seen.append(t * v[i])
            return t < 1.0

        y = v[0]
        while note(y):
            y = y * 1.7
        total = total + y
    return sum(seen) + total


@pytest.mark.parametrize(
    "f",
    [newton, relaxed, filled, scaled, items, taken, with_an_exit, inner],
    ids=lambda f: f.__name__,
)
def test_the_test_of_a_loop_writes(f):
    value, (bar,) = ad.withgradient(f, POINT)
    expected, (expected_bar,) = generic(f, (POINT,))
    assert value == expected
    np.testing.assert_allclose(bar, expected_bar, rtol=1e-12)
    for i in range(len(POINT)):
        step = np.eye(len(POINT))[i] * 1e-6
        slope = (f(POINT + step) - f(POINT - step)) / 2e-6
        np.testing.assert_allclose(bar[i], slope, rtol=1e-6, atol=1e-8)
