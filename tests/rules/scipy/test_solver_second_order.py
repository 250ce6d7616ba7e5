"""Second derivatives of what calls a program many times are those of programs."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

import adjoint as ad
from adjoint.fast.programs.tangents import along_of
from adjoint.levels import programs_on_levels
from adjoint.levels.programs_on_levels import Function, bars_of, value_of
from tests.rules.harness import table

P = np.array([1.0, 1.1, 0.7])
V = np.array([0.3, -0.2, 0.5])
TIMES = np.linspace(0.0, 1.0, 4)
METHODS = ["RK45", "DOP853", "Radau", "LSODA"]


def product(x, y):
    return x * np.sin(y)


CASES = {
    value_of: [(Function(product), np.array([0.5, 1.5]), 0.7)],
    bars_of: [(Function(product), np.array([0.2, 0.4]), np.array([0.5, 1.5]), 0.7)],
}
test_rules = table(CASES)


def rate(t, y, a, b):
    return np.array([a * y[0] - y[0] * y[1], b * y[1] * (y[0] - 1.0) + np.sin(t)])


def by_solve_ivp(p, method):
    found = integrate.solve_ivp(
        rate, (0.0, 1.0), [p[0], 1.0], method, t_eval=TIMES, args=(p[1], p[2]), rtol=1e-9,
        atol=1e-10,
    )  # fmt: skip
    return np.sum((found.y - 1.0) ** 2)


def by_odeint(p):
    y = integrate.odeint(rate, [p[0], 1.0], TIMES, args=(p[1], p[2]), tfirst=True, rtol=1e-10)
    return np.sum((y - 1.0) ** 2)


def by_closure(p):
    found = integrate.solve_ivp(lambda t, y: rate(t, y, p[1], p[2]), (0.0, 1.0), [p[0], 1.0])
    return found.y[0, -1] ** 2


def by_captured_and_args(p):
    def grow(t, y, a):
        return a * y * p[2]

    return integrate.solve_ivp(grow, (0.0, 1.0), [p[0]], args=(p[1],)).y[0, -1]


def by_array_of_args(p):
    def grow(t, y, a, scale):
        return a[0] * y * a[1] / scale

    return integrate.solve_ivp(grow, (0.0, p[0]), [1.0], args=(p[1:], 2)).y[0, -1]


def by_complex(p):
    def turn(t, y, a):
        return 1j * a * y

    y = integrate.solve_ivp(turn, (0.0, p[0]), [1.0 + 0j], args=(p[1],), rtol=1e-9).y[0, -1]
    return y.real * p[2]


@pytest.fixture(name="calls")
def _calls(monkeypatch):
    """A list that gets a function for each product with a Hessian by a program."""
    calls, plain = [], programs_on_levels._bars_pushed
    monkeypatch.setattr(
        programs_on_levels, "_bars_pushed", lambda *given: calls.append(given) or plain(*given)
    )
    return calls


FUNCTIONS = [
    *[pytest.param(lambda p, m=m: by_solve_ivp(p, m), id=m) for m in METHODS],
    by_odeint, by_closure, by_captured_and_args, by_array_of_args, by_complex,
]  # fmt: skip


@pytest.mark.parametrize("f", FUNCTIONS)
def test_second_derivatives(f):
    def slope(p):
        return ad.gradient(f, p)[0]

    h = 1e-3
    near = [slope(P + s * h * V) for s in (-2, -1, 1, 2)]
    expected = (8 * (near[2] - near[1]) - near[3] + near[0]) / (12 * h)
    allowed = {"rtol": 1e-3, "atol": 1e-4}
    np.testing.assert_allclose(ad.hvp(f, P, V), expected, **allowed)
    np.testing.assert_allclose(ad.vhp(f, P, V), expected, **allowed)
    np.testing.assert_allclose(ad.hessian(f, P) @ V, expected, **allowed)
    np.testing.assert_allclose(ad.gradient(lambda p: slope(p) @ V, P)[0], expected, **allowed)
    np.testing.assert_allclose(ad.pushforward(slope, (P,), (V,))[1], expected, **allowed)


def by_an_event_that_branches(p):
    found = integrate.solve_ivp(
        rate, (0.0, 1.0), [p[0], 1.0], t_eval=TIMES, args=(p[1], p[2]), rtol=1e-9, atol=1e-10,
        events=lambda t, y, *_: y[0] if t > -1.0 else 1.0,
    )  # fmt: skip
    return np.sum((found.y - 1.0) ** 2)


@pytest.mark.parametrize("f", [f for f in FUNCTIONS if f is not by_complex])
def test_they_are_programs(f):
    f = f.values[0] if hasattr(f, "values") else f
    assert ad.tier(f, P).tier == "fast"
    for mode in ("pushforward", "hvp"):
        assert along_of(mode, f, (P,), {}, (0,), is_single=mode == "hvp") is not None


def test_parts_are_programs(calls):
    """In the generic tier, what calls the function of the user is a program."""
    assert ad.tier(by_an_event_that_branches, P).tier == "generic"
    calls.clear()
    ad.hvp(by_an_event_that_branches, P, V)
    assert len(calls) == 2  # of the steps, and of the values at the times
