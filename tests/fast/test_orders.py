"""Orders of lists of unknown length, in specialised programs."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store


def lowest(x):
    return sum(sorted(x)[:3]) * x[0]


def median(x):
    v = sorted(a * a for a in x)
    n = len(v)
    return v[n // 2] if n % 2 else (v[n // 2 - 1] + v[n // 2]) / 2


def by_key(x):
    total = 0.0
    found = sorted([a for a in x if a > -2], key=lambda a: -abs(a), reverse=True)
    for i, v in enumerate(found):
        total += v * v * i
    return total


def places(x):
    order = sorted(range(len(x)), key=lambda i: x[i])
    return x[order[0]] * 2 + x[order[-1]] ** 3 + sum(x[j] * k for k, j in enumerate(order))


def gini(x):
    s = sorted(abs(v) for v in x)
    n = len(s)
    return sum((2 * i - n - 1) * v for i, v in enumerate(s, 1)) / (n * sum(s))


def pairs(x):
    return sum(a * b * i for i, (a, b) in enumerate(sorted(zip(x, x[::-1], strict=True))))


def greatest(x):
    return sorted(x, reverse=True)[0] ** 2 * sorted(list(x))[1]


PROGRAMS = [lowest, median, by_key, places, gini, pairs, greatest]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_program(f):
    store.forget()
    for n in (5, 30, 31):
        x, v = np.random.default_rng(n).normal(size=(2, n))
        g, product = ad.gradient(f, x)[0], ad.hvp(f, x, v)
        np.testing.assert_allclose(g, ad.grad(f, tier="generic")(x), rtol=1e-11, atol=1e-14)
        h = 1e-6
        ends = [ad.gradient(f, x + sign * h * v)[0] for sign in (1, -1)]
        slope = (ends[0] - ends[1]) / (2 * h)
        np.testing.assert_allclose(product, slope, rtol=1e-5, atol=1e-6 * np.abs(g).max())
    kept = [*store._kept.values()]
    assert [one.reason for known in kept for one in known.refused.values()] == []
    assert {entry.failures.last for known in kept for entry in known.entries} == {""}


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_ties(f):
    for n in (6, 40):
        x = np.round(np.random.default_rng(n).normal(size=n), 1)
        x[3] = x[1]
        np.testing.assert_allclose(
            ad.gradient(f, x)[0], ad.grad(f, tier="generic")(x), rtol=1e-11, atol=1e-14
        )


@pytest.mark.parametrize("values", [[1.0, np.nan, 0.5, 0.2], [0.0, -0.0, 1.0], [], [2.0]])
def test_as_python_sorts(values):
    def f(x, weights):
        return sum(w * v for w, v in zip(weights, sorted(list(x)), strict=True)) + weights[0]

    x, weights = np.array(values * 10), np.arange(1.0, 42.0)[: len(values) * 10 or 1]
    if not values:
        x, weights = np.zeros(0), np.ones(1)[:1]
        f = lambda x, weights: sum(sorted(x), weights[0])  # noqa: E731
    for _ in range(2):
        found = ad.gradient(f, x, weights)
    expected = ad.grad(f, argnums=(0, 1), tier="generic")(x, weights)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)
