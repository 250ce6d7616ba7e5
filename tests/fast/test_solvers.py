"""SciPy's solvers of functions of the user: one operation of a program, without effects."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from scipy import integrate, optimize, stats

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.fast.nested.quadratures import _points
from adjoint.fast.not_covered import Deoptimize
from tests.fast.agreeing import generic_tier
from tests.fast.agreement import refused
from tests.fast.solving import check_derivatives

P = np.array([1.2, 0.7, 0.4])


class Spring:
    """An object whose methods are solved for."""

    def __init__(self, stiffness, load):
        self.stiffness, self.load = stiffness, load

    def balance(self, x):
        return self.stiffness * x**3 + x - self.load

    def balances(self, x):
        return [self.stiffness * x[0] ** 3 + x[1] - self.load, x[1] - x[0] * self.load]


def cubic(x, a, b):
    return a * x**3 + x - b


def by_brentq(p):
    return optimize.brentq(lambda x: p[0] * x**3 + x - p[1], 0.0, 5.0) ** 2


def by_bisect(p):
    return optimize.bisect(cubic, 0, 5, args=(p[0], p[1]), xtol=1e-13) * p[2]


def by_newton(p):
    return optimize.newton(cubic, 1.0, args=(p[0], p[1])) * p[2]


def by_newton_with_slopes(p):
    return optimize.newton(lambda x: p[0] * x**3 + x - p[1], 1.0, lambda x: 3 * p[0] * x**2 + 1)


def by_a_method(p):
    return optimize.ridder(Spring(p[0], p[1]).balance, 0.0, 3.0)


def by_a_partial(p):
    return optimize.brenth(functools.partial(cubic, a=p[0], b=p[1]), 0.0, 3.0)


def by_fsolve(p):
    return np.sum(optimize.fsolve(Spring(p[0], p[1]).balances, [1.0, 1.0], xtol=1e-13) ** 2)


def by_root(p):
    parts = {"scale": p[0], "shift": [p[1], p[2]]}

    def balance(x):
        return np.array([parts["scale"] * x[0] ** 3 + x[1], x[1] ** 3 + x[1]]) - parts["shift"]

    found = optimize.root(balance, np.ones(2), tol=1e-13)
    return (found.x[0] + found.x[1] ** 2) * found.success + found.fun[0]


def by_quad(p):
    return integrate.quad(lambda t: np.exp(-p[0] * t * t) * math.cos(t * p[1]), 0, 2)[0]


def of_limits(p):
    return integrate.quad(lambda t, a: np.sin(a * t), p[1], p[0] + 1.0, args=(p[2],))[0]


def of_turned_limits(p):
    return integrate.quad(lambda t: math.exp(-t * p[2]), p[0], p[1])[0]


def to_infinity(p):
    return integrate.quad(lambda t: np.exp(-p[0] * t), p[1], np.inf)[0]


def on_the_line(p):
    return integrate.quad(lambda t: np.exp(-p[0] * (t - p[1]) ** 2), -np.inf, np.inf)[0]


def with_a_branch(p):
    return integrate.quad(lambda t: p[0] * t if t > -1.0 else p[1], 0.0, 1.0)[0]


def of_a_singularity(p):
    return integrate.quad(lambda t: p[0] / (p[1] ** 2 + t * t), -1.0, 1.0)[0]


def by_quad_vec(p):
    return np.sum(integrate.quad_vec(lambda t: np.exp(-p * t) * t, 0.0, p[1])[0] ** 2)


def by_root_scalar(p):
    found = optimize.root_scalar(lambda x: p[0] * x**3 + x - p[1], bracket=(0.0, 5.0))
    return found.root * found.converged


def by_root_scalar_with_slopes(p):
    return optimize.root_scalar(
        cubic, (p[0], p[1]), "newton", fprime=lambda x, a, b: 3 * a * x**2 + 1, x0=1.0
    ).root


def with_a_report(p):
    x, _ = optimize.brentq(cubic, 0.0, 5.0, (p[0], p[1]), full_output=True)
    (y,), *_, end, _ = optimize.fsolve(cubic, 1.0, (p[1], p[2]), full_output=True)
    return x * y * end


def balance(z, p):
    return [p[0] * z[0] ** 3 + z[1] - p[1], z[1] ** 3 + z[1] - p[2]]


def slopes_of_balance(z, p):
    return [[3 * p[0] * z[0] ** 2, 1.0], [0.0, 3 * z[1] ** 2 + 1]]


def by_root_with_slopes(p):
    found = optimize.root(balance, [1.0, 1.0], (p,), jac=slopes_of_balance, tol=1e-13)
    x = optimize.fsolve(balance, [1.0, 1.0], (p,), slopes_of_balance, xtol=1e-13)
    return found.x @ x


def of_a_distribution(p):
    """Code of `scipy.stats` sets how NumPy handles errors."""
    at = optimize.brentq(lambda x: stats.norm.cdf(x) - 0.5 * p[0], -5.0, 5.0)
    return at * integrate.quad(lambda t: stats.norm.cdf(t, p[1], p[2]) ** 2, 0.0, 0.8)[0]


def within_settings(p):
    def f(x):
        with np.errstate(all="ignore"):
            return p[0] * x**3 + x / p[2] - p[1]

    return optimize.brentq(f, 0.0, 2.0)


FUNCTIONS = [
    of_a_distribution,
    within_settings,
    by_root_scalar,
    by_root_scalar_with_slopes,
    with_a_report,
    by_root_with_slopes,
    by_brentq,
    by_bisect,
    by_newton,
    by_newton_with_slopes,
    by_a_method,
    by_a_partial,
    by_fsolve,
    by_root,
    by_quad,
    of_limits,
    of_turned_limits,
    to_infinity,
    on_the_line,
    with_a_branch,
    of_a_singularity,
    by_quad_vec,
]
V = np.array([0.3, -0.8, 0.5])


@pytest.mark.parametrize("f", FUNCTIONS)
def test_derivatives(f):
    check_derivatives(f, P, V)


@pytest.mark.parametrize("f", [by_brentq, by_root, of_limits])
def test_third_derivatives(f):
    found = ad.hvp(lambda p: ad.hvp(f, p, V) @ V, P, V)
    with generic_tier():
        expected = ad.hvp(lambda p: ad.hvp(f, p, V) @ V, P, V)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-7)


def test_objects_and_functions_from_outside():
    def at(spring, f):
        return optimize.brentq(lambda x: spring.balance(x) + f(x), 0.0, 5.0)

    def shifted(by):
        return lambda x: by * x

    for stiffness in (1.0, 2.0):
        given = Spring(stiffness, 3.0), shifted(stiffness)
        _, back = ad.pullback(at, *given)
        found = back(1.0)
        with generic_tier():
            expected = ad.pullback(at, *given)[1](1.0)
        assert found[1].stiffness == pytest.approx(expected[1].stiffness, rel=1e-10)
        assert found[1].load == pytest.approx(expected[1].load, rel=1e-10)
    assert "fast tier" in str(ad.tier(at, *given))


def test_in_a_loop():
    """Each solve begins where the one before ended, and the function's own array is rewritten."""

    def path(p):
        x, held = 1.0, np.zeros(2)
        for k in range(3):
            held[0] = p[0] + k
            x = optimize.newton(lambda z: held[0] * z**3 + z - p[1], x) + x * p[2]  # noqa: B023
        return x

    found = ad.gradient(path, P)[0]
    assert "fast tier" in str(ad.tier(path, P))
    with generic_tier():
        np.testing.assert_allclose(found, ad.gradient(path, P)[0], rtol=1e-9)


def test_variables_that_a_method_of_a_local_class_has_captured():
    def f(a):
        class Cubic:
            def value(self, x):
                return x**3 - a

        return optimize.brentq(Cubic().value, 0.0, 2.0)

    assert ad.gradient(f, 1.0)[0] == pytest.approx(1 / 3)
    assert ad.pushforward(f, (1.0,), (1.0,))[1] == pytest.approx(1 / 3)


class Shared:
    """What a function reads by a global name."""


def test_a_search_after_a_write_that_its_function_reads_by_a_global_name():
    def f(a):
        Shared.held[0] = a
        return optimize.brentq(lambda x: x**3 - Shared.held[0], 0.0, 2.0)

    for a in (1.0, 2.0):
        Shared.held = [5.0]
        assert ad.gradient(f, a)[0] == pytest.approx(a ** (-2 / 3) / 3)


# ---- effects -------------------------------------------------------------------------------------

SEEN = []


def counts(a):
    calls = 0

    def f(x):
        nonlocal calls
        calls += 1
        return x**3 - a

    return optimize.brentq(f, 0.0, 2.0) + 0.0 * calls


def appends(a):
    def f(x):
        SEEN.append(1)
        return x**3 - a

    return optimize.brentq(f, 0.0, 2.0)


def writes(a):
    held = np.zeros(1)

    def f(x):
        held[0] = x**3
        return held[0] - a

    return optimize.brentq(f, 0.0, 2.0)


def tries(a):
    def f(x):
        try:
            return math.sqrt(x) - a / 2
        except ValueError:
            SEEN.append(1)
            return -a

    return optimize.brentq(f, -1.0, 2.0)


def appends_within_settings(a):
    def f(x):
        with np.errstate(all="ignore"):
            SEEN.append(1)
            return x**3 - a

    return optimize.brentq(f, 0.0, 2.0)


def tries_within_settings(a):
    def f(x):
        with np.errstate(all="ignore"):
            try:
                return math.sqrt(x) - a / 2
            except ValueError:
                SEEN.append(1)
                return -a

    return optimize.brentq(f, -1.0, 2.0)


def may_raise(a):
    def f(x):
        if x > 1.9:
            SEEN.append(1)
            raise ValueError("too far")
        return x**3 - a

    return optimize.brentq(f, 0.0, 1.8)


def prints(a):
    def f(x):
        print("at x")
        return x**3 - a

    return optimize.brentq(f, 0.0, 2.0)


EFFECTS = [
    counts, appends, appends_within_settings, writes, tries, tries_within_settings, may_raise,
    prints,
]  # fmt: skip


@pytest.mark.parametrize("f", EFFECTS)
def test_functions_with_effects_are_refused(f, capsys):
    """They run as often as in a call of the generic tier."""
    assert refused(f, 0.9)
    SEEN.clear()
    slope = ad.gradient(f, 0.9)[0]
    seen, printed = len(SEEN), capsys.readouterr().out
    SEEN.clear()
    with generic_tier():
        assert slope == ad.gradient(f, 0.9)[0]
    assert (seen, printed) == (len(SEEN), capsys.readouterr().out)


def test_errors_are_those_of_the_search():
    f = lambda a: optimize.brentq(lambda x: x * x + a, 0.0, 2.0)
    assert ad.gradient(f, -1.0)[0] == pytest.approx(-0.5)
    with pytest.raises(ValueError, match="different signs"):
        ad.gradient(f, 1.0)


# ---- what is not smooth --------------------------------------------------------------------------


@pytest.mark.parametrize("at", [0.2, 0.25, 0.3, 0.5, 0.75])
@pytest.mark.parametrize("f", [lambda t: float(t > 0), np.sign, abs])
def test_integrands_that_are_not_smooth_have_no_points(f, at):
    """Wherever the place is, also where SciPy divides an interval."""
    integrand = lambda t: f(t - at)
    for low, high in ((0.0, 1.0), (at - 1.0, at + 1.0)):
        value, error, info = integrate.quad(integrand, low, high, full_output=1)[:3]
        starts = info["alist"][: info["last"]].tolist()
        with pytest.raises(Deoptimize):
            _points(integrand, (), value, 1e-6, starts, (low, high, lambda u, w: (u, w)))


def test_a_jump_that_moves_is_refused():
    f = lambda c: integrate.quad(lambda t: t * (t < c), 0.0, 1.0)[0]
    with pytest.raises(NoDerivativeError, match="jumps"):
        ad.gradient(f, 0.5)
