"""SciPy's searches for minima and fits: one operation of a program, without effects."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import optimize

import adjoint as ad
from adjoint.errors import NoDerivativeError
from tests.fast.agreeing import generic_tier
from tests.fast.agreement import refused
from tests.fast.solving import check_derivatives

P = np.array([1.2, 0.7, 0.4])
V = np.array([0.3, -0.8, 0.5])
T = np.linspace(0.0, 1.0, 8)
DATA = 2.0 * np.exp(-1.3 * T) + 0.05 * np.cos(9.0 * T)


def valley(z, p):
    return (z[0] - p[0]) ** 2 + p[1] * (z[1] - p[2] * z[0]) ** 2 + z[0] ** 4


def slope_of_valley(z, p):
    across = 2 * p[1] * (z[1] - p[2] * z[0])
    return np.array([2 * (z[0] - p[0]) - p[2] * across + 4 * z[0] ** 3, across])


def by_minimize_with_slopes(p):
    options = {"args": (p,), "jac": slope_of_valley, "tol": 1e-12}
    return sum(
        optimize.minimize(valley, np.zeros(2), method=method, **options).x @ np.array([1.0, 2.0])
        for method in ("BFGS", "Newton-CG", "trust-constr")
    )


def by_minimize_with_both(p):
    def both(z):
        return valley(z, p), slope_of_valley(z, p)

    found = optimize.minimize(both, np.zeros(2), jac=True, tol=1e-12)
    return found.x[0] * found.fun + found.x[1]


def within_bounds(p):
    found = optimize.minimize(
        valley, [0.1, 0.1], (p,), jac=slope_of_valley, bounds=[(0, 3), (None, 2 + p[0])], tol=1e-13
    )
    return found.x[0] * found.fun + found.x[1] * found.success


def within_constraints(p):
    inside = {"type": "ineq", "fun": lambda z, by: by - z[0] - z[1], "args": (5.0,)}
    found = optimize.minimize(
        valley, [0.1, 0.1], (p,), "SLSQP", slope_of_valley, constraints=[inside], tol=1e-15
    )
    return found.x[0] * found.fun + found.x[1]


def by_least_squares_within_bounds(p):
    found = optimize.least_squares(
        lambda z: z[0] * np.exp(-z[1] * T) - DATA * p[1] - p[2] * T,
        np.ones(2),
        lambda z: np.stack([np.exp(-z[1] * T), -z[0] * T * np.exp(-z[1] * T)], axis=1),
        bounds=([0.0, 0.0], 10.0),
        xtol=1e-15,
        gtol=1e-14,
        ftol=1e-15,
        x_scale=[1.0, 2.0],
    )
    return found.x[0] * found.cost + found.x[1]


def by_curve_fit_within_bounds(p):
    found, _ = optimize.curve_fit(
        lambda t, a, b: a * np.exp(-b * t) * p[0], T, DATA * p[1], bounds=(0.0, [10.0, 10.0])
    )
    return found[0] * found[1]


def by_minimize(p):
    found = optimize.minimize(
        lambda z: (z[0] - p[0]) ** 2 + p[1] * (z[1] - p[2] * z[0]) ** 2 + z[0] ** 4,
        np.zeros(2),
        tol=1e-9,
        method="L-BFGS-B",
        options={"ftol": 1e-15, "gtol": 1e-9},
    )
    return found.x[0] + found.x[1] * found.fun


def by_minimize_scalar(p):
    found = optimize.minimize_scalar(lambda z: (z - p[0]) ** 2 + p[1] * z**4)
    return found.x + found.fun * p[2]


def by_bounded(p):
    return optimize.minimize_scalar(
        lambda z: (z - p[0]) ** 2 + p[1] * z**4, bounds=(0.0, 2.0), options={"xatol": 1e-12}
    ).x


def by_leastsq(p):
    found, end = optimize.leastsq(lambda z: z[0] * np.exp(-z[1] * T) * p[0] - DATA * p[1], [1, 1])
    return found[0] * found[1] + end


def by_least_squares(p):
    found = optimize.least_squares(
        lambda z: z[0] * np.exp(-z[1] * T) - DATA * p[1] - p[2] * T, np.ones(2), xtol=1e-14
    )
    return found.x[0] * found.cost + found.fun[2]


def by_curve_fit(p):
    found, _ = optimize.curve_fit(
        lambda t, a, b: a * np.exp(-b * t) * p[0], T, DATA * p[1], sigma=1.0 + T * p[2]
    )
    return found[0] * found[1]


FUNCTIONS = [
    by_minimize_with_slopes,
    by_minimize_with_both,
    within_bounds,
    within_constraints,
    by_least_squares_within_bounds,
    by_curve_fit_within_bounds,
    by_minimize,
    by_minimize_scalar,
    by_bounded,
    by_leastsq,
    by_least_squares,
    by_curve_fit,
]


@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives(f):
    check_derivatives(f, P, V)


# ---- what holds a minimum ------------------------------------------------------------------------


def held_by_a_bound(p):
    return optimize.minimize(valley, [0.1, 0.1], (p,), bounds=[(0, 0.2), (0, 3)]).x[1]


def held_by_a_constraint(p):
    edge = {"type": "ineq", "fun": lambda z: 0.3 - z[0]}
    return optimize.minimize(valley, [0.1, 0.1], (p,), constraints=edge).x[1]


def held_by_an_equation(p):
    edge = {"type": "eq", "fun": lambda z: 0.3 - z[0]}
    return optimize.minimize(valley, [0.1, 0.1], (p,), constraints=[edge]).x[1]


@pytest.mark.parametrize("f", [held_by_a_bound, held_by_a_constraint, held_by_an_equation])
def test_minima_that_something_holds_are_refused(f):
    for _ in range(2):
        with pytest.raises(NoDerivativeError, match="holds it"):
            ad.gradient(f, P)


def test_parameters_at_a_bound_are_as_in_the_generic_tier():
    def f(p):
        found = optimize.least_squares(
            lambda z: z[0] * np.exp(-z[1] * T) - DATA * p[1], [0.5, 0.5], bounds=([0, 0], [1.0, 9])
        )
        return found.x[0] + found.x[1] ** 2

    found = ad.gradient(f, P)[0]
    with generic_tier():
        np.testing.assert_allclose(found, ad.gradient(f, P)[0], rtol=1e-12)


def test_constraints_with_effects_are_refused():
    seen = []

    def inside(z):
        seen.append(1)
        return 5.0 - z[0]

    f = lambda a: optimize.minimize(
        lambda z: (z[0] - a) ** 2, [0.0], constraints={"type": "ineq", "fun": inside}
    ).x[0]
    assert refused(f, 0.9)
