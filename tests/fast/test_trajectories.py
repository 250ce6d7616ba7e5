"""Events and dense output of `solve_ivp` as operations of programs, and attributes of functions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

import adjoint as ad
from adjoint.errors import NoDerivativeError
from tests.fast.agreeing import generic_tier
from tests.fast.solving import value_and_gradient

P = np.array([1.2, 0.7, 0.4])
V = np.array([0.3, -0.8, 0.5])
T = np.linspace(0.0, 3.0, 7)
TIGHT = {"rtol": 1e-9, "atol": 1e-10}


def swing(t, y, p):
    return np.array([p[0] * y[1], -p[1] * y[0] - p[2] * y[1]])


def falls(p):
    return lambda t, y: np.array([y[1], -p[0] - p[1] * y[1]])


def ground(t, y):
    return y[0]


ground.terminal, ground.direction = True, -1


class Level:
    """An event that is an object."""

    terminal = 2

    def __init__(self, height):
        self.height = height

    def __call__(self, t, y):
        return y[0] - self.height


def dense_at_times(p):
    found = integrate.solve_ivp(swing, (0, 3), [1.0, p[2]], dense_output=True, args=(p,), **TIGHT)
    return np.sum(found.sol(T) ** 2) + found.y[0, -1] * found.sol(p[0])[1]


def dense_in_a_loop(p):
    found = integrate.solve_ivp(
        swing, (0.0, 3.0), [1.0, p[2]], "Radau", dense_output=True, args=(p,), rtol=1e-7
    )
    total = 0.0
    for k in range(3):
        total = total * p[1] + found.sol(p[0] * k + 0.1)[0]
    return total


def dense_by_lsoda(p):
    found = integrate.solve_ivp(
        swing, (0.0, 3.0), [1.0, p[2]], "LSODA", [0.5, p[0]], True, args=(p,), **TIGHT
    )
    return found.sol(T)[1] @ T + found.t @ found.y[0]


def until_the_ground(p):
    found = integrate.solve_ivp(falls(p), (0, 50), [2.0, p[2]], events=ground, **TIGHT)
    return found.t[-1] * found.y[1, -1] + found.t_events[0][0] * found.status


def until_a_local_event(p):
    def hit(t, y):
        return y[0] - p[2] / 4

    hit.terminal = True
    hit.direction = -1.0
    found = integrate.solve_ivp(
        falls(p), (0, 50), [2.0, p[2]], t_eval=[0.1, 0.5, p[1], 40.0], events=hit, **TIGHT
    )
    return np.sum(found.t * found.y[0]) + found.y_events[0][0, 1]


def several_events(p):
    def low(t, y, p):
        return y[0] + 0.1 * p[2]

    low.direction = -1
    found = integrate.solve_ivp(
        swing,
        (0.0, 12.0),
        [1.0, p[2]],
        "DOP853",
        events=[low, lambda t, y, p: y[1] - 0.1 * p[0]],
        args=(p,),
        max_step=0.5,
        **TIGHT,
    )
    first, second = found.t_events
    return np.sum(first) * second[0] + np.sum(found.y_events[1] ** 2) + found.y[0, -1]


def an_object_that_ends(p):
    found = integrate.solve_ivp(
        lambda t, y: swing(t, y, p), (0.0, 20.0), [1.0, 0.0], events=(Level(p[2]),), **TIGHT
    )
    return found.t[-1] + len(found.t_events[0]) * found.y[1, -1]


def bounces(p):
    state, now, total = np.array([1.0, 0.0]), 0.0, 0.0
    for _ in range(3):
        found = integrate.solve_ivp(falls(p), (now, now + 9), state, events=ground, **TIGHT)
        now = found.t[-1]
        state = np.array([0.0, -p[2] * found.y[1, -1]]) + 1e-3
        total = total + now * state[1]
    return total


def dense_until_an_event(p):
    found = integrate.solve_ivp(
        falls(p), (0, 50), [2.0, p[2]], events=ground, dense_output=True, **TIGHT
    )
    last = found.t_events[0][-1]
    return found.sol(last / 2)[0] + found.sol(last)[1]


def an_event_that_does_not_happen(p):
    found = integrate.solve_ivp(
        lambda t, y: swing(t, y, p), (0.0, 2.0), [1.0, p[2]], events=Level(90.0), **TIGHT
    )
    return found.y[0, -1] + np.sum(found.t_events[0]) + len(found.t_events[0])


def in_columns(p):
    found = integrate.solve_ivp(
        lambda t, y: np.array([p[0] * y[1], -p[1] * y[0]]),
        (0.0, 2.0), [1.0, p[2]], vectorized=True, **TIGHT,
    )  # fmt: skip
    return found.y[0, -1]


FUNCTIONS = [
    dense_at_times, dense_in_a_loop, dense_by_lsoda, until_the_ground, until_a_local_event,
    several_events, an_object_that_ends, bounces, dense_until_an_event,
    an_event_that_does_not_happen, in_columns,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives(f):
    """Values are SciPy's; derivatives those of the generic tier, and of differences."""
    for p in (P, 0.9 * P + 0.05):
        bar = value_and_gradient(f, p)[1]
        along, dot = ad.hvp(f, p, V), ad.pushforward(f, (p,), (V,))[1]
        _, back = ad.pullback(f, p)
        with generic_tier():
            expected = ad.gradient(f, p)[0]
            second = ad.hvp(f, p, V) if p is P else along
        for found in (bar, back(1.0)[1], back(2.0)[1] / 2):
            np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(along, second, rtol=1e-6, atol=1e-8)
        assert dot == pytest.approx(expected @ V, rel=1e-8, abs=1e-10)
        h = 1e-4
        slopes = [(f(p + h * e) - f(p - h * e)) / (2 * h) for e in np.eye(3)]
        np.testing.assert_allclose(bar, slopes, rtol=1e-3, atol=1e-4)


def test_third_derivatives():
    along = lambda p: ad.hvp(until_the_ground, p, V) @ V
    found = ad.gradient(along, P)[0]
    with generic_tier():
        np.testing.assert_allclose(found, ad.gradient(along, P)[0], rtol=1e-6, atol=1e-7)


def test_an_attribute_of_an_event_that_changes_between_calls():
    f = lambda a: integrate.solve_ivp(lambda t, y: [-a], (0, 9), [2.0], events=moving).t[-1]

    def moving(t, y):
        return y[0]

    for terminal, slope in ((True, -2.0), (False, 0.0), (True, -2.0)):
        moving.terminal = terminal
        assert ad.gradient(f, 1.0)[0] == pytest.approx(slope)
        assert ad.gradient(f, 1.0)[0] == pytest.approx(slope)


def test_an_event_that_only_touches_zero_is_refused():
    def f(a):
        found = integrate.solve_ivp(
            lambda t, y: [a], (0, 2), [-1.0], events=lambda t, y: 0.0 * y[0] if t > 1 else -1.0
        )
        return found.t_events[0][0]

    with pytest.raises(NoDerivativeError, match="does not cross"):
        ad.gradient(f, 1.0)


# ---- attributes of functions ---------------------------------------------------------------------


def counts(a):
    def f(x):
        return f.factor * x

    f.factor = a
    first = f(a)
    f.factor = f.factor + 1.0
    return first * f(2.0) + (f.other if hasattr(f, "other") else 0.0)


def in_each_iteration(a):
    total = 0.0
    for k in range(3):

        def f(x):
            return x

        f.scale = a * k
        total = total + f(a) * f.scale * getattr(f, "missing", 1.0)
    return total


def of_two_names(a):
    f = lambda x: x * a
    g = f
    g.scale = a
    return f(3.0) * f.scale


@pytest.mark.parametrize("f", [counts, in_each_iteration, of_two_names])
def test_attributes_of_functions(f):
    slope = ad.gradient(f, 1.3)[0]
    assert str(ad.tier(f, 1.3)).splitlines()[0].endswith("fast tier"), ad.tier(f, 1.3)
    assert slope == pytest.approx((f(1.3 + 1e-6) - f(1.3 - 1e-6)) / 2e-6, rel=1e-6)
    assert ad.pushforward(f, (1.3,), (1.0,))[1] == pytest.approx(slope, rel=1e-12)


def of_a_branch(a):
    f, g = (lambda x: x * a), (lambda x: x)
    h = f if a > 1.0 else f
    if a > 2.0:
        h.scale = a
    h.other = a
    return h(3.0) * f.other + g(a) * getattr(f, "scale", 1.0)


def of_one_of_two(a):
    def make(scale):
        def f(x):
            return x * scale

        return f

    f, g = make(a), make(a * a)
    h = f if a > 1.0 else g
    h.scale = a
    return h(3.0) * getattr(f, "scale", 2.0) * getattr(g, "scale", 3.0)


def of_the_last_iteration(a):
    several = []
    for k in range(30):

        def f(x):
            return x

        if k % 2:
            several.append(f)
    f.scale = a
    return a * getattr(several[-1], "scale", 5.0) * getattr(several[0], "scale", 7.0)


@pytest.mark.parametrize("f", [of_a_branch, of_one_of_two, of_the_last_iteration])
@pytest.mark.parametrize("a", [0.7, 1.3, 2.4])
def test_attributes_that_depend_on_a_branch(f, a):
    slope = (f(a + 1e-6) - f(a - 1e-6)) / 2e-6
    assert ad.gradient(f, a)[0] == pytest.approx(slope, rel=1e-6)
