"""The user's function of a solver is a program, and derivatives of roots and minima are exact."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, optimize

import adjoint as ad
from adjoint.rulekit.registry import frule, rrule
from adjoint.rules.scipy.integrate.solver_steps import collocation, settled
from adjoint.runtime.dispatch import program_call
from adjoint.runtime.dispatch.unit_call import MISSING, specialised_call
from tests.rules.harness import table

X = np.linspace(0.0, 1.0, 20)
DATA = 2.0 * np.exp(-1.3 * X) + 0.01 * np.cos(20 * X)
P = np.array([1.0, 1.1, 0.7])


def rate(t, y, a, b):
    u, v = y
    return np.array([a * u - u * v, b * v * (u - 1.0)])


def by_rk45(p):
    found = integrate.solve_ivp(
        rate, (0.0, 2.0), [2.0, 1.0], t_eval=[1.0, 2.0], args=(p[0], p[1]), rtol=1e-8
    )
    return found.y.sum()


def by_odeint(p):
    return integrate.odeint(lambda y, t: rate(t, y, p[0], p[1]), [2.0, 1.0], [0.0, 1.0, 2.0]).sum()


def by_quad(p):
    return integrate.quad(lambda x: np.exp(-p[0] * x * x) * np.cos(p[1] * x), 0.0, 3.0)[0]


def by_brentq(p):
    return optimize.brentq(lambda x: p[0] * x**3 + x - p[1], 0.0, 5.0)


def by_newton(p):
    return optimize.newton(lambda x, a: a * x**3 + x - p[1], 1.0, args=(p[0],))


def by_fixed_point(p):
    return optimize.fixed_point(lambda x: np.cos(p[0] * x) * p[1] / 2, np.array([0.4, 0.6])).sum()


def by_root(p):
    def balance(x):
        return np.array([p[0] * x[0] ** 3 + x[1] - p[1], x[1] ** 2 * p[2] + x[0] - 1.0])

    return optimize.root(balance, np.ones(2), tol=1e-12).x.sum()


def by_least_squares(p):
    return optimize.least_squares(
        lambda z: z[0] * np.exp(-z[1] * X) * p[0] - DATA * p[1], np.ones(2), xtol=1e-12
    ).x.sum()


def by_curve_fit(p):
    found, _ = optimize.curve_fit(
        lambda x, a, b: a * np.exp(-b * x) * p[0], X, DATA * p[1], p0=np.ones(2)
    )
    return found.sum()


def by_bfgs(p):
    found = optimize.minimize(
        lambda z: (z[0] - p[0]) ** 2 + p[1] * (z[1] - p[0] * z[0]) ** 2, np.zeros(2), tol=1e-8
    )
    return found.x.sum() + found.fun


def by_brent(p):
    return optimize.minimize_scalar(lambda z: (z - p[0]) ** 2 + z**4 * p[1]).x


FUNCTIONS = [
    by_rk45, by_odeint, by_quad, by_brentq, by_newton, by_fixed_point, by_root, by_least_squares,
    by_curve_fit, by_bfgs, by_brent,
]  # fmt: skip


@pytest.fixture(name="calls")
def _calls(monkeypatch):
    """A list that gets, for each call that is to be a program, whether it is one."""
    calls, run = [], specialised_call[0]

    def watched(*given):
        y = run(*given)
        calls.append(y is not MISSING)
        return y

    monkeypatch.setattr(program_call, "specialised_call", [watched])
    return calls


@pytest.mark.parametrize("f", FUNCTIONS)
def test_programs(f, calls):
    """Each part of a solution that calls the function of the user is one program."""
    value, (found,) = ad.withgradient(f, P)
    assert value == f(P)
    assert calls or ad.tier(f, P).tier == "fast"
    assert all(calls)
    h = 1e-4
    expected = [(f(P + h * e) - f(P - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
    moved = ad.pushforward(f, (P,), (np.ones(3),))[1]
    np.testing.assert_allclose(moved, found.sum(), rtol=1e-7)


def test_many_functions(calls):
    """Programs of one solver for many functions do not crowd each other out."""
    space = {}
    for k in range(12):
        exec(f"def rate(t, y, a):\n    return -a * y * {k + 1}\n", space)
        decay = space["rate"]

        def last(a, decay=decay):
            return integrate.solve_ivp(decay, (0.0, 0.1), [1.0], args=(a,), rtol=1e-8).y[0, -1]

        expected = -0.1 * (k + 1) * np.exp(-0.1 * (k + 1))
        assert ad.gradient(last, 1.0)[0] == pytest.approx(expected, rel=1e-5)
    assert calls
    assert all(calls)


def unfinished(a):
    return optimize.minimize(
        lambda z: (z[0] - a) ** 4 + z[0] ** 2, [3.0 * a], method="BFGS", options={"maxiter": 2}
    ).x[0]


def test_steps_of_an_unfinished_search():
    """A search that has not arrived is differentiated step by step."""
    h = 1e-5
    expected = (unfinished(1.0 + h) - unfinished(1.0 - h)) / (2 * h)
    assert ad.gradient(unfinished, 1.0)[0] == pytest.approx(expected, rel=1e-2)


# ---- implicit steps ------------------------------------------------------------------------------

NONE = np.zeros((0, 1, 1))
CASES = {settled: [(NONE, NONE, NONE)]}
test_rules = table(CASES)


def test_stages_that_solve_their_equations():
    """The forward and the reverse rule are adjoint, and solve the equations of all stages."""
    rng = np.random.default_rng(0)
    matrix = rng.normal(size=(2, 2))
    begins, lengths = np.array([0.0, 0.2, 0.5]), np.array([0.2, 0.3, 0.1])
    values = rng.normal(size=(3, 3, 2))
    steps, _, _ = collocation(lambda t, y: matrix @ y, 0.0, np.ones(2), begins, lengths, 3, values)
    end = steps.stages[-1, -1]  # of a linear equation, after one Newton step
    exact = np.linalg.matrix_power(np.eye(2) + matrix * 0.6 / 2**20, 2**20) @ np.ones(2)
    np.testing.assert_allclose(end, exact, rtol=1e-4)
    dot, bar = rng.normal(size=(2, 3, 3, 2))
    y_dot = frule(settled, (None, dot, None), values, values, steps.inverse)[1]
    residual_bar = rrule(settled, values, values, steps.inverse)[1](bar)[2]
    assert np.sum(y_dot * bar) == pytest.approx(np.sum(dot * residual_bar))
    assert np.array_equal(frule(settled, (dot, None, None), values, values, steps.inverse)[1], dot)


@pytest.mark.parametrize("method", ["RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA"])
def test_counts_of_evaluations(method):
    """Differentiation changes no count: neither SciPy's nor that of the user's function."""
    counts = {"calls": 0}

    def decay(t, y, a):
        counts["calls"] += 1
        return -a * y

    def reported(a):
        found = integrate.solve_ivp(decay, (0.0, 1.0), [1.0], method, args=(a,))
        return found.y[0, -1] * 0.0 + found.nfev

    def counted(f):
        counts["calls"] = 0
        return f(), counts["calls"]

    expected = counted(lambda: reported(1.3))
    assert counted(lambda: ad.withgradient(reported, 1.3)[0]) == expected
    assert counted(lambda: ad.pushforward(reported, (1.3,), (1.0,))[0]) == expected
