"""``sum``: the value is Python's own, which is compensated from CPython 3.12 on."""

from __future__ import annotations

import math
import random
import sys

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store as tier
from tests.fast.agreeing import generic_tier
from tests.structures import difference

CANCELLING = [1e16, 1.0, -1e16]


def filtered(xs):
    return sum((x * 1.0 for x in xs if x != 3.0), 0)


def nested(xs):
    return sum(sum(x * y for y in xs) for x in xs)


def started(xs):
    return sum((math.sin(x) for x in xs), xs[0])


def branching(xs):
    s = 0.0
    for x in xs:
        if x > 0.0:
            s = s + sum([x, 1e-17, xs[0], 0.5])
    return s


FUNCTIONS = [
    lambda xs: sum(xs),
    lambda xs: sum(x * 1.0 for x in xs),
    lambda xs: sum([xs[0], xs[1], xs[2]]),
    lambda xs: sum(map(lambda t: t * 1.0, xs)),
    lambda xs: sum(xs, 0.5),
    lambda xs: sum([2, *xs, 3]),
    lambda xs: xs[0] * sum([0.1, 0.2, 0.3, 0.1]),
    lambda xs: xs[0] * sum(c for c in [1e16, 1.0, -1e16]),
    lambda xs: xs[1] * sum((k * 0.1 for k in (1.0, 2.0, 3.0)), 0.5),
    filtered,
    nested,
    started,
    branching,
]


@pytest.mark.parametrize("f", FUNCTIONS)
@pytest.mark.parametrize("xs", [CANCELLING, CANCELLING * 20, [0.1] * 10, [0.3, -0.7, 1.2, 5.0]])
def test_values_are_pythons(f, xs):
    tier.forget()  # a function has no more than a few programs
    value, bars = ad.withgradient(f, xs)
    assert value == f(xs) and type(value) is type(f(xs))
    with generic_tier():
        expected = ad.withgradient(f, xs)
    assert value == expected.value
    assert not difference(bars, expected.gradient, rtol=1e-12)
    assert ad.tier(f, xs).tier == "fast"


def test_truth_values_among_the_numbers():
    """Python adds them, and whole numbers, to what it compensates."""
    rng = random.Random(0)
    kinds = [0.1, 1.5, 1e16, -1e16, 1e200, -1e200, 3, 2**60, True, False]
    first_twice = lambda xs: sum([xs[0], True, *xs])
    for _ in range(100):
        xs = [rng.choice(kinds) for _ in range(rng.randrange(7))]
        xs.insert(rng.randrange(len(xs) + 1), 0.5)
        for f in (FUNCTIONS[0], lambda xs: sum(x for x in xs), first_twice):
            expected = f(xs)
            slopes = [1.0 + (f is first_twice and i == 0) for i in range(len(xs))]
            dots = [rng.random() if type(x) is float else None for x in xs]
            y, y_dot = ad.pushforward(f, (xs,), (dots,))
            along = sum(slope * (dot or 0.0) for slope, dot in zip(slopes, dots))
            assert y == expected and y_dot == pytest.approx(along)
            for found in (ad.withgradient(f, xs), generically(f, xs)):
                assert found.value == expected
                assert all(bar in (slope, None) for bar, slope in zip(found.gradient[0], slopes))
                assert found.gradient[0][xs.index(0.5)] == slopes[xs.index(0.5)]


def generically(f, *args):
    with generic_tier():
        return ad.withgradient(f, *args)


@pytest.mark.parametrize("start", [True, 1, 1.0])
def test_truth_value_as_the_start(start):
    """Python does not compensate then."""
    xs = [0.1] * 10 + CANCELLING

    def f(xs):
        return sum(xs, start)

    def g(xs, b):
        return sum([x * 1.0 for x in xs], b)

    for found in (ad.withgradient(f, xs), generically(f, xs)):
        assert found.value == f(xs)
    assert ad.withgradient(g, xs, start).value == g(xs, start)


def test_second_derivatives_beside_truth_values():
    f = lambda x: sum([x * x, True, x**3])
    assert ad.pushforward(f, (2.0,), (1.0,)) == (13.0, 16.0)
    assert ad.hessian(f, 2.0) == 14.0
    assert ad.gradient(lambda x: ad.gradient(f, x)[0], 2.0) == (14.0,)


def test_sums_of_other_numbers():
    """Only Python's own numbers are added so; what stands among them ends it."""

    def f(xs, y):
        return sum([*xs, y, 1.0, *xs])

    def g(u):
        return sum(u * u)

    y = np.float64(0.25)
    for call in (lambda: ad.withgradient(f, CANCELLING, y), lambda: ad.withgradient(g, np.ones(9))):
        found = call()
        with generic_tier():
            expected = call()
        assert found.value == expected.value and type(found.value) is type(expected.value)
    assert ad.withgradient(sum, [1, 2, 3.5]).value == 6.5
    tier.forget()


# ---- others among the floats: the compensation ends with the first one ---------------------------

SINGLE = np.float32(0.1)
HALVES = np.array([0.3, 0.1, 0.7])


class Scaling:
    def __init__(self, factor):
        self.factor = factor

    def __radd__(self, x):
        return x * self.factor


def either(x, w):
    first = 0.1 * x if x > 0.5 else w[1] * x
    return sum([first, 0.2 * x, 0.3 * x, 0.1 * x])


def numbers_first_or_later(x, w):
    return sum(0.1 * x if i % 4 else w[i % 3] * x for i in range(2, 300))


def from_two_loops(x, w):
    def each():
        for c in w:
            yield c * x
        for _ in range(5):
            yield 0.1 * x

    return sum(each())


def between_two_loops(x, w):
    def each():
        for _ in range(5):
            yield 0.1 * x
        yield w
        for _ in range(5):
            yield 0.1 * x

    return np.sum(sum(each()))


def written_afterwards(x, w):
    total = sum([0.1 * x, 0.2 * x, 0.3 * x, w])
    total[1] = x
    return np.sum(total * total)


MIXED = [
    lambda x, w: sum([0.1 * x, 0.2 * x, 0.3 * x, np.sum(w)]),
    lambda x, w: sum([0.1 * x, 0.2 * x, 0.3 * x, np.sum(w), 0.1 * x, 0.7 * x]),
    lambda x, w: sum([0.1 * x, 0.2 * x, 0.3 * x, SINGLE, 0.1 * x]) * x,
    lambda x, w: sum([np.sum(w), 0.1 * x, 0.2 * x, 0.3 * x]),
    lambda x, w: np.sum(sum([0.1 * x, 0.2 * x, 0.3 * x, w])),
    lambda x, w: np.sum(sum([0.1 * x, 0.2 * x, 0.3 * x, w, 0.1 * x, 0.2 * x, w])),
    lambda x, w: np.sum(sum([w, 0.1 * x, 0.2 * x, 0.3 * x])),
    lambda x, w: sum([0.1 * x, 0.2 * x, 0.3 * x, 1j * x, 0.1 * x]).real,
    lambda x, w: abs(sum([1j * x, 0.1 * x, 0.2 * x, 0.3 * x, 0.1 * x])),
    lambda x, w: sum([1e16, -x, x * 1.37, w[0]]),
    lambda x, w: sum([0.1 * x] * 40 + [0.3, 0.7 * x], np.sum(w)),
    lambda x, w: sum([0.1 * x, 0.2 * x, 0.3 * x], 0.1) + sum([0.1 * x, 0.2 * x, w[0]], 0.3 * x),
    either,
    numbers_first_or_later,
    between_two_loops,
    written_afterwards,
]
GENERIC = [
    from_two_loops,
    lambda x, w: sum([0.1 * x, 0.2 * x, 0.3 * x, Scaling(x), 0.1 * x, 0.2 * x]) + w[0],
]


@pytest.mark.parametrize("f", [*MIXED, *GENERIC])
@pytest.mark.parametrize("x", [1.0, 0.83, 0.4])
@pytest.mark.parametrize("w", [HALVES, np.zeros(3), HALVES * 1e-17])
def test_others_among_floats(f, x, w):
    found = ad.withgradient(f, x, w)
    assert found.value == f(x, w) and type(found.value) is type(f(x, w))
    assert ad.pullback(f, x, w)[0] == f(x, w)
    rtol = 1e-6 if type(found.value) is np.float32 else 1e-12
    assert not difference(found.gradient, generically(f, x, w).gradient, rtol=rtol)
    y, y_dot = ad.pushforward(f, (x, w), (0.7, HALVES))
    x_bar, w_bar = found.gradient
    along = 0.7 * x_bar + (0.0 if w_bar is None else HALVES @ w_bar)
    assert y == f(x, w) and y_dot == pytest.approx(along, rel=rtol)
    compensates = sys.version_info >= (3, 12)  # before, sum adds up plainly
    is_fast = f in MIXED or (f is from_two_loops and not compensates)
    if f is not GENERIC[-1] or compensates:
        assert ad.tier(f, x, w).tier == ("fast" if is_fast else "generic")


def of_list(xs, start):
    return np.sum(sum(xs, start))


@pytest.mark.parametrize("xs", [[0.1] * 40 + [0.3, 0.7], [0.1, 0.2, 0.3], CANCELLING * 20])
@pytest.mark.parametrize("start", [np.float64(0.0), np.float32(0.1), 0.1, HALVES, HALVES[:1] * 0])
def test_starts_of_numpy(xs, start):
    """Python does not compensate after one of NumPy's numbers, nor after an array."""
    found, expected = ad.withgradient(of_list, xs, start), of_list(xs, start)
    assert found.value == expected and type(found.value) is type(expected)
    assert not difference(found.gradient, generically(of_list, xs, start).gradient)
    assert found.gradient[0] == [float(np.size(start))] * len(xs)
    assert ad.tier(of_list, xs, start).tier == "fast"


def test_lists_that_become_empty():
    g = lambda xs, y: sum([x for x in xs if x > 0.2], y)
    for xs in ([0.1, 0.2, 0.3], [0.1], [0.3] * 9):
        for y in (1, 0.5, np.float64(0.1), 2j):
            f = g if y != 2j else lambda xs, y: abs(g(xs, y))
            found = ad.withgradient(f, xs, y)
            assert found.value == f(xs, y) and type(found.value) is type(f(xs, y))


def directions(x, m, c):
    y = x[1:] - m[1:, None]
    n = np.sum(y**2, axis=1, keepdims=True)
    return np.sum((y / (1 + n)).sum(-1) * c[1:]) + np.sum(np.sum(x * c[:, None], axis=1) ** 2)


def squares_of_rows(x):
    return np.sum(x.sum(axis=1) ** 2)


def slopes(x, m, c):
    """The gradient, and the product of the Hessian in `x` with `x`."""
    of_x = ad.hvp(lambda x: directions(x, m, c), x, x)
    return (*ad.gradient(directions, x, m, c), of_x)


def test_many_short_rows_are_summed_by_columns():
    rng = np.random.default_rng(7)
    x, m, c = rng.normal(size=(400, 3)), rng.normal(size=400), rng.normal(size=400)
    assert str(ad.code(directions, x, m, c)).count("row_sums") >= 5
    assert "row_sums(" not in str(ad.code(squares_of_rows, x[:4]))
    ad.testing.check_gradient(directions, x, m, c)
    for args in ((x, m, c), (x[:4], m[:4], c[:4]), [np.float32(a) for a in (x, m, c)]):
        found = slopes(*args)
        with generic_tier():
            expected = slopes(*args)
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-3 if a.dtype == "f4" else 1e-10, strict=True)


def arrivals(xs):
    total = xs[0]
    for k in range(5):
        arrived = [x * k for x in xs if k <= x < k + 1]
        total = total * 0.9 + sum(arrived) * xs[1] + sum(x * x for x in xs if x > 2 + k)
    return total


def over_a_limit(xs):
    return sum([x * x for x in xs if x > 2.0])


def over_a_limit_each(xs):
    return sum(x * x for x in xs if x > 2.0)


def largest_of_sums(xs):
    sums = [sum([x * y for y in xs if y > x]) for x in xs]
    return max(sums) ** 2 + np.sum(np.array(sums) * np.arange(len(xs)))


def summed_arrays(xs):
    return np.sum(sum([x * np.ones(2) for x in xs if x > 2.0])) * xs[0]


@pytest.mark.parametrize(
    "f", [arrivals, over_a_limit, over_a_limit_each, largest_of_sums, summed_arrays]
)
def test_sums_of_nothing(f):
    """A program that meets one is followed by one that gives the integer 0 for it."""
    tier.forget()
    some, none = [0.3, 2.5, 1.2, 3.5, 0.4], [0.5, 1.5, 1.1]
    for _ in range(2):
        for xs in (some, none, some, some[:3], none):
            value, (bars,) = ad.withgradient(f, xs)
            assert value == pytest.approx(f(xs), rel=1e-14) and type(value) is type(f(xs))
            assert not difference(bars, ad.grad(f, tier="generic")(xs), rtol=1e-12)
            v = [x - 0.7 for x in xs]
            slope = ad.pushforward(f, (xs,), (v,))[1]
            assert slope == pytest.approx(np.dot(bars, v), rel=1e-12)
            ends = [ad.gradient(f, [x + h * y for x, y in zip(xs, v)])[0] for h in (1e-6, -1e-6)]
            expected = np.subtract(*ends) / 2e-6
            np.testing.assert_allclose(ad.hvp(f, xs, v), expected, rtol=1e-6, atol=1e-6)
    kept = [known for key, known in tier._kept.items() if known.entries]
    assert len(kept) >= 3 and not any(known.refused for known in kept)
    failures = [x.failures.last for known in kept for x in known.entries]
    assert f is summed_arrays or "a sum of nothing" not in failures
