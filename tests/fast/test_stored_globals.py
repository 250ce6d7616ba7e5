"""Global variables that a program stores: what they hold afterwards is what the function leaves."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import adjoint as ad
from tests.fast.agreeing import generic_tier
from tests.structures import difference

POINT = np.array([0.7, 1.3, -0.6])
V = np.array([0.3, -0.2, 0.5])
counter = 0
last = None
state = {"total": 1.0}
limit = 0.5


@pytest.fixture(autouse=True)
def fresh():
    reset()
    yield
    reset()


def reset():
    global counter, last, state, limit
    counter, last, state, limit = 0, None, {"total": 1.0}, 0.5
    globals().pop("made_by_a_call", None)


def held():
    names = ("counter", "last", "state", "limit", "made_by_a_call")
    return [globals().get(name) for name in names]


def counts_its_calls(a):
    global counter
    counter += 1
    return np.sum(a * a) * counter


def keeps_the_last_array(a):
    global last
    y = a * a[0]
    last = y
    y[0] = a[1] ** 2
    return np.sum(last * a)


def in_a_callee_and_a_branch(a):
    def bump(x):
        global limit
        if x > 0.5:
            limit = limit * x
        return limit

    return bump(a[0]) * bump(a[1]) + bump(a[2] * a[2]) + sys.modules[__name__].limit


def in_a_loop(a):
    global limit
    for x in a:
        limit = limit + x * x
    return limit * a[0]


def makes_a_variable(a):
    global made_by_a_call
    made_by_a_call = [a[0] * 2.0, (a[1], "text")]
    return made_by_a_call[0] * made_by_a_call[1][0]


def replaces_a_dict(a):
    global state
    state = {"total": state["total"] * a[0], "step": 2}
    state["total"] += a[1]
    return state["total"] ** 2


FAST = [
    counts_its_calls,
    keeps_the_last_array,
    in_a_callee_and_a_branch,
    in_a_loop,
    makes_a_variable,
    replaces_a_dict,
]


def reader(x):
    return x * limit


def read_by_others(a):
    global limit
    limit = a[0] * 2.0
    return reader(a[1]) + sum(map(reader, a))


def raises_afterwards(a):
    global counter
    counter += 1
    if a[0] > 0.5:
        raise ValueError("too large")
    return a[0]


ALL = [*FAST, read_by_others]


def outcome(run):
    reset()
    try:
        found = run()
    except ValueError as error:
        found = str(error)
    return found, held()


@pytest.mark.parametrize("f", FAST, ids=lambda f: f.__name__)
def test_stored_by_programs(f):
    for _ in range(2):
        reset()
        ad.gradient(f, POINT)
    reset()
    assert ad.tier(f, POINT).tier == "fast"


@pytest.mark.parametrize("f", [*ALL, raises_afterwards], ids=lambda f: f.__name__)
def test_what_is_left(f):
    for point in (POINT, POINT * 0.6, POINT):
        _, left = outcome(lambda: f(point.copy()))
        runs = (
            lambda: ad.gradient(f, point),
            lambda: ad.withgradient(f, point),
            lambda: ad.pullback(f, point)[1](1.0),
            lambda: ad.pushforward(f, (point,), (V,)),
            lambda: ad.hvp(f, point, V),
        )
        for i, run in enumerate(runs * 2):
            found = outcome(run)
            with generic_tier():
                expected = outcome(run)
            assert not difference(found, expected, rtol=1e-9), i
            if i < 2:
                assert not difference(found[1], left, rtol=1e-12)
