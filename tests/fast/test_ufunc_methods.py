"""Methods of ufuncs, and maxima that begin with a number, in programs of all kinds."""

from __future__ import annotations

import numpy as np
import pytest

import adjoint as ad
from tests.fast.second_order import check_programs

RNG = np.random.default_rng(0)
X, M = RNG.normal(size=40), RNG.normal(size=(6, 8))
STARTS = np.array([0, 3, 4, 30])


def drawdown(x):
    p = np.exp(np.cumsum(x) * 0.1)
    peak = np.maximum.accumulate(p)
    fall = (peak - p) / peak
    return fall.max() + (fall**2).sum()


def forward_algorithm(x):
    steps = np.log(np.full((3, 3), 1 / 3.0))
    steps[0, 2] = -np.inf
    d = np.full(3, -np.inf)
    d[0] = 0
    for v in x[:8]:
        d = np.logaddexp.reduce(d[:, None] + steps, axis=0) - (v - np.arange(3)) ** 2
    return np.logaddexp.reduce(d)


def table_of_logarithms(x):
    n = 8
    table = np.full((n, 4), -np.inf)
    table[0, 0] = x[0]
    for t in range(1, n):
        for s in range(4):
            v = table[t - 1, s]
            if s > 0:
                v = np.logaddexp(v, table[t - 1, s - 1])
            table[t, s] = v + x[t] * x[20 + s]
    return np.logaddexp(table[n - 1, 3], table[n - 1, 2])


GROUPS = np.random.default_rng(2).integers(0, 5, 40)


def softmax_of_groups(x):
    greatest = np.full(6, -np.inf)
    np.maximum.at(greatest, GROUPS, x)
    e = np.exp(x - greatest[GROUPS])
    total = np.zeros(6)
    np.add.at(total, GROUPS, e)
    return (e / total[GROUPS]) @ np.sin(np.arange(40.0)) + (greatest[:5] ** 2).sum()


def least_at_pairs(m):
    y = m * m
    np.minimum.at(y, ([0, 0, -1], [1, 1, 2]), [m[1, 1], m[2, 2] * 2, -3])
    np.maximum.at(y, 1, m[2] ** 2)
    np.maximum.at(y[:, 0], [4, 3, 4], 0.8 * m[0, 0])
    return (y * np.cos(np.arange(48.0).reshape(6, 8))).sum()


FUNCTIONS = {
    "drawdown": (drawdown, X),
    "a forward algorithm": (forward_algorithm, X),
    "a table of logarithms": (table_of_logarithms, X),
    "minimum.accumulate": (lambda x: (np.minimum.accumulate(x**2) ** 2).sum(), X),
    "along the last axis": (lambda x: (np.maximum.accumulate(x * x, axis=1) ** 2).sum(), M),
    "along the first axis": (lambda x: (np.maximum.accumulate(x * x) ** 2).sum(), M),
    "add.accumulate": (lambda x: (np.add.accumulate(x * x) ** 2).sum(), X),
    "multiply.accumulate": (lambda x: (np.multiply.accumulate(1 + x * x / 9, 1) ** 2).sum(), M),
    "add.reduceat": (lambda x: (np.add.reduceat(x**2, STARTS) ** 2).sum(), X),
    "reduceat after 2": (lambda x: (np.add.reduceat(x**2, STARTS + 2) ** 2).sum(), X),
    "reduceat of columns": (lambda x: (np.add.reduceat(x * x, [0, 2, 5], axis=0) ** 2).sum(), M),
    "reduceat of rows": (lambda x: (np.add.reduceat(x * x, [0, 2, 5], axis=1) ** 2).sum(), M),
    "logaddexp.reduce": (lambda x: np.logaddexp.reduce(x * x) ** 2, X),
    "of rows": (lambda x: (np.logaddexp.reduce(x * x, axis=1) ** 2).sum(), M),
    "of all": (lambda x: np.logaddexp.reduce(x * x, axis=None) ** 2, M),
    "keepdims": (lambda x: ((x - np.logaddexp.reduce(x, -1, keepdims=True)) ** 2).sum(), M),
    "maximum.reduce": (lambda x: (np.maximum.reduce(x * x, axis=1) ** 2).sum(), M),
    "maximum.at": (softmax_of_groups, X),
    "minimum.at": (least_at_pairs, M),
    "max of at least": (lambda x: np.max(x * x, initial=0.0) ** 2, X),
    "min of at most": (lambda x: np.min(x * x, initial=10.0) ** 2, X),
    "max of rows": (lambda x: (np.max(x * x, axis=1, initial=1.0) ** 2).sum(), M),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs(name):
    f, x = FUNCTIONS[name]
    check_programs(f, x)


@pytest.mark.parametrize("name", ["minimum.accumulate", "add.reduceat", "logaddexp.reduce"])
def test_single_precision(name):
    f, x = FUNCTIONS[name]
    check_programs(f, x.astype(np.float32))


def test_running_maxima_after_nan():
    x = np.array([1.0, np.nan, 3.0, 2.0])
    for tier in ("fast", "generic"):
        bar = ad.grad(lambda x: np.maximum.accumulate(x)[0] * 2.0, tier=tier)(x)
        np.testing.assert_array_equal(bar, [2.0, 0.0, 0.0, 0.0])
    y = ad.withgradient(lambda x: np.maximum.accumulate(x)[3], x)[0]
    assert np.isnan(y)


def test_segments_that_are_not_in_order():
    def f(x):
        return (np.add.reduceat(x**2, [5, 2, 2, 9]) ** 2).sum()

    ad.testing.check_gradient(f, X)


def test_shares_of_nothing():
    """No element of a sum of nothing has a share in it, without a warning."""
    none = np.full(3, -np.inf)

    def f(x):
        y = np.logaddexp.reduce(none + x)
        return np.logaddexp(x[0], y)

    bar = ad.gradient(f, np.zeros(3))[0]
    np.testing.assert_array_equal(bar, [1.0, 0.0, 0.0])


def test_equal_numbers_at_places():
    """They share as in successive calls of `np.maximum`; of NaN, the generic tier decides."""
    x = np.array([1.0, 2.0, 2.0, 2.0, -np.inf, 0.0])

    def f(x):
        y = np.zeros(4)
        np.maximum.at(y, [0, 0, 0, 0, 1, 2], x)
        np.minimum.at(y, [3, 3], x[:2])
        return y @ np.arange(1.0, 5.0)

    for v, expected in ((x, [0, 0.25, 0.25, 0.5, 0, 1.5]), (np.minimum(x, np.nan), None)):
        with np.errstate(invalid="ignore"):
            value, (g,) = ad.withgradient(f, v)
            np.testing.assert_equal(value, f(v))
            np.testing.assert_equal(g, ad.grad(f, tier="generic")(v))
        assert expected is None or list(g) == expected
