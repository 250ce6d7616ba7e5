"""Cotangents in fewer passes over arrays: what they give is what the products with the slopes
give."""

import numpy as np
import pytest

import adjoint as ad
from tests.rules.harness import reals

LARGE = 1e200


def by_slopes(f, y_bar, *args):
    """What the rule gives for lists, which take no short way."""
    _, *bars = ad.rrule(f, *[x.tolist() for x in args])[1](y_bar)
    return [np.array(bar) for bar in bars]


def by_rule(f, y_bar, *args):
    y, back = ad.rrule(f, *args)
    _, *bars = back(y_bar)
    _, *again = back(y_bar)
    for first, second in zip(bars, again, strict=True):
        np.testing.assert_array_equal(first, second)
    return bars


ODD = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 1e-310, -LARGE, LARGE, 5e-324, 2.0])
A, B = (x.ravel() for x in np.meshgrid(ODD, ODD))
COTANGENTS = [
    np.ones_like(A),
    np.zeros_like(A),
    np.where(reals(A.size) > 0, 0.0, 1e-5),
    reals(A.size, seed=3),
]
UNARY = [np.exp, np.log, np.log2, np.log10, np.log1p, np.sqrt, np.cbrt, np.square, np.arctan]
BINARY = [np.multiply, np.true_divide, np.maximum, np.minimum, np.hypot, np.arctan2]


@pytest.mark.parametrize("f", UNARY)
@pytest.mark.parametrize("y_bar", COTANGENTS)
def test_of_one_operand(f, y_bar):
    with np.errstate(all="ignore"):
        (found,), (expected,) = by_rule(f, y_bar, A), by_slopes(f, y_bar, A)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("f", BINARY)
@pytest.mark.parametrize("y_bar", COTANGENTS)
def test_of_two_operands(f, y_bar):
    with np.errstate(all="ignore"):
        bars = zip(by_rule(f, y_bar, A, B), by_slopes(f, y_bar, A, B), strict=True)
        for found, expected in bars:
            # What lies below the smallest number with all digits has lost some.
            np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-290)


@pytest.mark.parametrize("f", [*BINARY, *UNARY])
def test_of_large_arrays(f):
    args = [np.abs(reals(40, 50, seed=i)) for i in range(2 if f in BINARY else 1)]
    y_bar = reals(40, 50, seed=7)
    for found, expected in zip(by_rule(f, y_bar, *args), by_slopes(f, y_bar, *args), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-13)


@pytest.mark.parametrize("f", [np.maximum, np.minimum])
@pytest.mark.parametrize("n", [3, 100])
def test_extrema_in_a_sweep(f, n):
    """Ties, numbers that are none, infinite cotangents of what was not selected."""
    a, b = reals(n), reals(n, seed=1)
    for change in ({}, {0: (1.0, 1.0)}, {1: (np.nan, 0.0)}, {2: (np.inf, np.inf)}):
        for i, (x, y) in change.items():
            a[i], b[i] = x, y
        for y_bar in (reals(n, seed=2), np.full(n, np.inf), np.zeros(n)):
            with np.errstate(invalid="ignore"):
                expected = by_slopes(f, y_bar, a, b)
                ways = by_rule(f, y_bar, a, b), ad.pullback(f, a, b)[1](y_bar)[1:]
            for found in ways:
                for bar, wanted in zip(found, expected, strict=True):
                    np.testing.assert_array_equal(bar, wanted)


def test_a_later_cotangent_may_overflow():
    a, b = np.array([0.0, 1.0]), np.array([1e-310, 1.0])
    back = ad.rrule(np.true_divide, a, b)[1]
    with np.errstate(over="ignore", invalid="ignore"):
        assert back(np.array([1e-5, 1.0]))[2][0] == 0.0
        assert back(np.array([1e5, 1.0]))[2][0] == 0.0


FACTORS = [
    reals(3, 4),
    np.array([1e-200, 1e200, 3.0, 1e-5]),
    np.array([1e-200, 1e-200, 3.0, 1e-5]),
    np.array([1e200, 1e200, 3.0, 1e-300]),
    np.array([0.0, 2.0, 3.0]),
    np.array([np.inf, 2.0, 3.0]),
    np.array([np.nan, 2.0, 3.0]),
    np.full((2, 500), 0.1),
]


@pytest.mark.parametrize("x", FACTORS)
@pytest.mark.parametrize("axis", [None, -1])
@pytest.mark.parametrize("scale", [1.0, 0.0, 1e-250, 1e250])
def test_products(x, axis, scale):
    with np.errstate(all="ignore"):
        y, back = ad.rrule(np.prod, x, axis=axis)
        rows = x.reshape(1, -1) if axis is None else x.reshape(-1, x.shape[-1])
        y_bar = np.full(np.shape(y), scale)[()]
        expected = [[np.prod(np.delete(row, i)) for i in range(row.size)] for row in rows]
        expected = scale * np.array(expected).reshape(x.shape)
        np.testing.assert_allclose(back(y_bar)[1], expected, rtol=1e-11, atol=0)


@pytest.mark.parametrize("f", [np.max, np.min])
def test_extrema_of_rows(f):
    x = reals(4, 5)
    x[1, 2] = x[1, 3] = np.max(x) + 1.0
    x[2, :] = np.nan, 1.0, 2.0, 3.0, np.nan
    for rows in (x[:1], x[3:], x[[0, 3]], x, x[[0, 2]]):
        y_bar = reals(len(rows), seed=5)
        y, back = ad.rrule(f, rows, axis=1)
        hits = (rows == y[:, None]) | np.isnan(rows)
        expected = hits * (y_bar / hits.sum(1))[:, None]
        np.testing.assert_array_equal(back(y_bar)[1], expected)
        np.testing.assert_array_equal(back(np.full(len(rows), np.inf))[1][~hits], 0.0)
