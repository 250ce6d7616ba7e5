"""Tables of ordinary functions that run in the fast tier, in every mode: the numbers are those of
the generic tier, and of differences."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from tests.fast import (
    ordinary_classes,
    ordinary_dicts,
    ordinary_exceptions,
    ordinary_programs,
    ordinary_python,
)
from tests.fast.agreeing import generic_tier

TABLES = (
    ordinary_programs,
    ordinary_python,
    ordinary_dicts,
    ordinary_exceptions,
    ordinary_classes,
)
TABLE = {name: f for table in TABLES for name, f in table.TABLE.items()}
POINT = np.array([0.7, 1.3, -0.6, 0.9])
DIRECTION = np.array([0.3, -0.5, 0.8, 0.2])
STEP = 1e-5


def along(f, x, direction):
    return (f(x + STEP * direction) - f(x - STEP * direction)) / (2 * STEP)


@pytest.mark.parametrize("name", TABLE)
def test_program(name):
    f = TABLE[name]
    assert "fast tier" in str(ad.tier(f, POINT)), ad.tier(f, POINT)
    (slope,) = ad.gradient(f, POINT)
    assert slope @ DIRECTION == pytest.approx(along(f, POINT, DIRECTION), rel=1e-5, abs=1e-7)
    others = [POINT, POINT * 1.1 + 0.05]  # the program is made for the first
    for x in others:
        with generic_tier():
            y, (expected,) = ad.withgradient(f, x)
        found, (slope,) = ad.withgradient(f, x)
        assert type(found) is type(y) and found == pytest.approx(y, rel=1e-13)
        np.testing.assert_allclose(slope, expected, rtol=1e-10, atol=1e-12)
        y, back = ad.pullback(f, x)
        for y_bar in (2.0, -1.0):
            np.testing.assert_allclose(back(y_bar)[1], y_bar * expected, rtol=1e-10, atol=1e-12)
        y, dot = ad.pushforward(f, (x,), (DIRECTION,))
        assert dot == pytest.approx(expected @ DIRECTION, rel=1e-10, abs=1e-12)


@pytest.mark.parametrize("name", TABLE)
def test_second_order(name):
    f = TABLE[name]
    found = ad.hvp(f, POINT, DIRECTION)
    with generic_tier():
        expected = along(lambda x: ad.gradient(f, x)[0], POINT, DIRECTION)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)
