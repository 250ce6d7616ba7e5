"""``sum``: the value is Python's own, which is compensated from CPython 3.12 on."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast import tier
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
    for _ in range(100):
        xs = [rng.choice(kinds) for _ in range(rng.randrange(1, 7))] + [0.5]
        for f in (FUNCTIONS[0], lambda xs: sum(x for x in xs), lambda xs: sum([xs[0], True, *xs])):
            expected = f(xs)
            assert ad.withgradient(f, xs).value == expected
            dots = [1.0 if type(x) is float else None for x in xs]
            assert ad.pushforward(f, (xs,), (dots,))[0] == expected
            with generic_tier():
                value, (bars,) = ad.withgradient(f, xs)
            assert value == expected and bars[-1] in (1.0, 2.0)


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
