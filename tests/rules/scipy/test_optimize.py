"""Roots and minima that are found by searching move as the equations say that they solve."""

from __future__ import annotations

import functools
import random
import sys
import types

import numpy as np
import pytest
from scipy import optimize

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.rulekit.registry import frule, rrule
from adjoint.rules.scipy.searches import corrected
from tests.rules.harness import table
from tests.support import check_reverse

EXACT = {"xtol": 1e-14, "rtol": 1e-14}


# ---- roots ---------------------------------------------------------------------------------------


def cubic(x, a, b):
    return a * x**3 + x - b


@pytest.mark.parametrize("name", ["bisect", "brenth", "brentq", "ridder"])
def test_roots(name):
    find = getattr(optimize, name)
    check_reverse(lambda a, b: find(cubic, 0, 5, (a, b), **EXACT), 2.0, 3.0)
    check_reverse(lambda a, b: find(lambda x: cubic(x, a, b), 0.0, 5.0, **EXACT), 2.0, 3.0)
    check_reverse(lambda b: find(lambda x, b: x * x - b, 0.0, 5.0, b, **EXACT), 3.0)
    check_reverse(
        lambda b: find(lambda x: x * x - b, 0.0, 5.0, full_output=True, **EXACT)[0] * b, 3.0
    )


@pytest.mark.parametrize("name", ["bisect", "brenth", "brentq", "ridder", "toms748", "secant"])
def test_roots_that_are_reported(name):
    def cube_root(b):
        found = optimize.root_scalar(
            lambda x: x**3 - b, method=name, bracket=(0.0, 5.0), x0=1.5, xtol=1e-14
        )
        return found.root

    check_reverse(cube_root, 3.0)
    slope = ad.gradient(cube_root, 3.0)[0]
    assert np.isclose(slope, 3.0 ** (-2 / 3) / 3)
    assert np.isclose(ad.derivative(cube_root)(3.0), slope)
    assert np.isclose(ad.hvp(cube_root, 3.0, 1.0), -2 / 9 * slope)


def orders(f, x, n=4):
    """The first n derivatives, in modes by turns."""
    found, operators = [], (ad.derivative, ad.grad, ad.derivative, ad.grad)
    for i in range(n):
        g = f
        for operator in operators[: i + 1]:
            g = operator(g)
        found.append(g(x))
    return found


def test_roots_have_derivatives_of_any_order():
    b = 1.3
    exact = [b ** (-2 / 3) / 3, -2 / 9 * b ** (-5 / 3), 10 / 27 * b ** (-8 / 3)]
    exact.append(-80 / 81 * b ** (-11 / 3))
    found = orders(lambda b: optimize.brentq(lambda x: x**3 - b, 0.0, 5.0, **EXACT), b)
    np.testing.assert_allclose(found, exact, rtol=1e-9)


def test_roots_without_a_slope_are_refused():
    def f(b):
        return optimize.brentq(lambda x: (x - b) ** 3, -1.0, 3.0, xtol=1e-12)

    for differentiate in (ad.gradient, lambda f, b: ad.derivative(f)(b)):
        with pytest.raises(NoDerivativeError, match="root where the slope is zero"):
            differentiate(f, 1.0)


def test_constant_roots_without_a_slope():
    def f(b):
        return b * optimize.brentq(lambda x: (x - 1.0) ** 3, -1.0, 3.0, xtol=1e-12)

    assert ad.gradient(f, 1.0)[0] == ad.derivative(f)(1.0) == f(1.0)


# ---- minima --------------------------------------------------------------------------------------

FINE = {"xatol": 1e-10, "fatol": 1e-15, "maxiter": 9000, "maxfev": 9000}
A, B = 1.3, 0.7


def bowl(z, a, b):
    return (z[0] - a) ** 2 + b * (z[1] - a * z[0]) ** 2 + 0.1 * z[0] ** 4


def slopes_of_bowl(z, a, b):
    inner = z[1] - a * z[0]
    return np.array([2 * (z[0] - a) - 2 * a * b * inner + 0.4 * z[0] ** 3, 2 * b * inner])


def with_slopes(z, a, b):
    return bowl(z, a, b), slopes_of_bowl(z, a, b)


START, BOUNDS = [0.1, 0.2], [(-1.0, 3.0), (-1.0, 4.0)]
VECTORS = {
    "Nelder-Mead": lambda a, b: optimize.minimize(
        bowl, START, (a, b), method="Nelder-Mead", options=FINE
    ).x,
    "L-BFGS-B": lambda a, b: optimize.minimize(
        lambda z: with_slopes(z, a, b), START, jac=True, bounds=BOUNDS,
        options={"ftol": 1e-16, "gtol": 1e-10},
    ).x,
    "TNC": lambda a, b: optimize.minimize(
        bowl, START, (a, b), method="TNC", jac=slopes_of_bowl, options={"gtol": 1e-10}
    ).x,
    "SLSQP": lambda a, b: optimize.minimize(
        bowl, START, (a, b), method="SLSQP", jac=slopes_of_bowl, options={"ftol": 1e-15}
    ).x,
    "trust-constr": lambda a, b: optimize.minimize(
        bowl, START, (a, b), method="trust-constr", jac=slopes_of_bowl, options={"gtol": 1e-11}
    ).x,
    "COBYLA": lambda a, b: optimize.minimize(
        bowl, START, (a, b), method="COBYLA", options={"tol": 1e-7, "maxiter": 5000}
    ).x,
    "fmin": lambda a, b: optimize.fmin(bowl, START, (a, b), xtol=1e-10, ftol=1e-15, disp=0),
    "fmin, all": lambda a, b: optimize.fmin(
        bowl, START, (a, b), xtol=1e-10, ftol=1e-15, disp=0, full_output=True
    )[0],
    "fmin_cobyla": lambda a, b: optimize.fmin_cobyla(
        bowl, START, [], args=(a, b), rhoend=1e-7, maxfun=5000
    ),
    "brute": lambda a, b: optimize.brute(bowl, BOUNDS, (a, b), Ns=5),
    "differential_evolution": lambda a, b: optimize.differential_evolution(
        bowl, BOUNDS, (a, b), rng=0, tol=1e-12
    ).x,
    "dual_annealing": lambda a, b: optimize.dual_annealing(
        bowl, BOUNDS, (a, b), rng=0, maxiter=20
    ).x,
    "shgo": lambda a, b: optimize.shgo(bowl, BOUNDS, (a, b)).x,
    "direct": lambda a, b: optimize.direct(
        bowl, BOUNDS, args=(a, b), eps=1e-9, vol_tol=1e-24, maxfun=9000, maxiter=9000
    ).x,
}  # fmt: skip


def exactly(a):
    """Where the bowl is lowest: the second coordinate follows the first, which solves a cubic."""
    z = optimize.brentq(lambda z: 2 * (z - a) + 0.4 * z**3, -1.0, 3.0, **EXACT)
    return np.array([z, a * z])


@pytest.mark.parametrize("name", VECTORS)
def test_minima(name):
    def f(a, b):
        return VECTORS[name](a, b)

    z, a_bar = exactly(A), 2 / (2 + 1.2 * exactly(A)[0] ** 2)
    expected = np.array([a_bar, z[0] + A * a_bar])
    for weights in (np.array([1.0, 0.0]), np.array([0.3, -0.7])):
        value, found = ad.value_and_grad(lambda a, b: f(a, b) @ weights, argnums=(0, 1))(A, B)
        assert value == f(A, B) @ weights
        np.testing.assert_allclose(found, [expected @ weights, 0.0], rtol=2e-3, atol=2e-3)
    moved = ad.derivative(lambda a: f(a, B))(A)
    np.testing.assert_allclose(moved, expected, rtol=2e-3, atol=2e-3)


def golden(a):
    return optimize.golden(lambda z: (z - a) ** 2 + z**4, brack=(-1.0, 0.0, 3.0), tol=1e-12)


def reported(a):
    return optimize.minimize_scalar(lambda z: (z - a) ** 2 + z**4, method="golden", tol=1e-12).x


@pytest.mark.parametrize("f", [golden, reported])
def test_minima_on_a_line(f):
    z = f(A)
    slope = 2 / (2 + 12 * z**2)
    second = -24 * z * slope**2 / (2 + 12 * z**2)
    np.testing.assert_allclose(orders(f, A, 2), [slope, second], rtol=1e-5)


@pytest.mark.parametrize(("method", "order"), [("Nelder-Mead", 2), ("L-BFGS-B", 3)])
def test_second_derivatives_of_minima(method, order):
    def f(a):
        return VECTORS[method](a, B)[1]

    z = exactly(A)[0]  # a(z) = z + 0.2 z³
    inverse = 1 + 0.6 * z**2
    first, second = 1 / inverse, -1.2 * z / inverse**3
    third = (3 * (1.2 * z) ** 2 - 1.2 * inverse) / inverse**5
    expected = [z + A * first, 2 * first + A * second, 3 * second + A * third]
    np.testing.assert_allclose(orders(f, A, order), expected[:order], rtol=1e-4)


def test_the_value_at_a_minimum():
    def lowest(a, b):
        return optimize.minimize(bowl, START, (a, b), method="Nelder-Mead", options=FINE).fun

    def at_start_value(a, b):
        return bowl(exactly(a), a, b)

    value, found = ad.value_and_grad(lowest, argnums=(0, 1))(A, B)
    assert value == lowest(A, B)
    np.testing.assert_allclose(found, ad.gradient(at_start_value, A, B), rtol=1e-6, atol=1e-9)
    second = ad.derivative(ad.derivative(lambda a: lowest(a, B)))(A)
    expected = ad.derivative(ad.derivative(lambda a: at_start_value(a, B)))(A)
    np.testing.assert_allclose(second, expected, rtol=1e-5)


def test_the_rest_of_a_report_is_refused():
    def spread(a):
        found = optimize.minimize(bowl, START, (a, B), method="Nelder-Mead")
        return found.final_simplex[1][0] + found.nit

    for differentiate in (ad.gradient, lambda f, a: ad.derivative(f)(a)):
        with pytest.raises(NoDerivativeError, match="steps do not show it"):
            differentiate(spread, A)


def kink(a):
    return optimize.fmin(lambda z: abs(z[0] - a), [0.1], disp=0)[0]


def bounded(a):
    return optimize.minimize(bowl, START, (a, B), bounds=[(None, 0.5), (None, None)]).x[0]


def constrained(a):
    return optimize.fmin_cobyla(
        lambda z: (z[0] - a) ** 2 + (z[1] - 1) ** 2, START, [lambda z: 1 - z[0] - z[1]]
    )[0]


def unfinished(a):
    return optimize.fmin(bowl, [5.0, 9.0], (a, B), maxiter=4, disp=0)[0]


def paraboloid(z):
    return ((z - 1.0) ** 2).sum()


def at_a_bound_that_moves(a):
    return optimize.minimize(paraboloid, [0.0], method="L-BFGS-B", bounds=[(0.0, 0.5 * a)]).fun


def at_a_bound_of_another(a):
    return optimize.fmin_tnc(paraboloid, [0.0], approx_grad=True, bounds=[(None, 0.5 * a)], disp=0)[
        0
    ][0]


def in_bounds_that_move(a):
    bounds = optimize.Bounds([0.0, 0.0], [0.5 * a, 2.0])
    return optimize.differential_evolution(paraboloid, bounds, rng=0).x[0]


def in_bounds_of_several_kinds(a):
    bounds = optimize.Bounds([0.5, 1.1 * a / A], np.inf)
    return optimize.minimize(paraboloid, [2.0, 2.0], method="TNC", bounds=bounds).x[1]


def of_a_budget(a):
    budget = {"type": "Eq", "fun": lambda z: z.sum() - a}
    return optimize.minimize(lambda z: z @ z, [0.0, 0.0], constraints=budget).x[0]


def on_the_edge_of_a_budget(a):
    """Without it the minimum is at the same place."""
    budget = {"type": "eq", "fun": lambda z: z.sum() - a / A * 2.0}
    return optimize.minimize(paraboloid, [0.0, 0.0], constraints=budget, tol=1e-14).x[0]


def below_a_line(a):
    line = optimize.LinearConstraint([[1.0, 1.0]], -np.inf, a)
    return optimize.minimize(paraboloid, [0.0, 0.0], method="SLSQP", constraints=[line]).x[0]


def inside_a_circle(a):
    circle = optimize.NonlinearConstraint(lambda z: z @ z, 0.0, a)
    return optimize.minimize(paraboloid, [0.1, 0.1], method="COBYLA", constraints=circle).x[0]


def with_equations_of_a(a):
    return optimize.fmin_slsqp(lambda z: z @ z, [0.0, 0.0], [lambda z: z.sum() - a], disp=0)[0]


def small_beside_a_bound(a):
    return optimize.minimize(
        lambda z: 1e8 * (z[0] - 1e-4 * a) ** 2, [3e-4], method="L-BFGS-B", bounds=[(2e-4, None)]
    ).x[0]


def large_beside_a_bound(a):
    return optimize.minimize(
        lambda z: (z[0] - 300 * a) ** 2, [400.0], method="L-BFGS-B", bounds=[(300.25 * A, None)]
    ).x[0]


def on_a_grid(a):
    return optimize.brute(lambda z: (z - 2.0 * a / A) ** 2, ((0, 4),), Ns=5, finish=None)


def of_integers(a):
    return optimize.differential_evolution(
        lambda z: (z[0] - 2.0 * a / A) ** 2, [(0, 5)], integrality=[True], rng=1
    ).x[0]


def where_it_started(a):
    return optimize.minimize(
        paraboloid, [3.0 * a, 1.0], method="Nelder-Mead", options={"maxiter": 1}
    ).x[0]


def not_determined(a):
    times = np.arange(1.0, 5.0)
    data = np.array([1.0, 2.1, 2.9, 4.0])
    return optimize.leastsq(lambda z: z[0] * z[1] * times - a * data, [1.0, 1.3])[0][1]


@pytest.mark.parametrize(
    "f",
    [
        kink,
        bounded,
        constrained,
        unfinished,
        at_a_bound_that_moves,
        at_a_bound_of_another,
        in_bounds_that_move,
        in_bounds_of_several_kinds,
        of_a_budget,
        on_the_edge_of_a_budget,
        below_a_line,
        inside_a_circle,
        with_equations_of_a,
        small_beside_a_bound,
        large_beside_a_bound,
        on_a_grid,
        of_integers,
        where_it_started,
        not_determined,
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_what_is_held_by_something_else_than_the_slope_is_refused(f):
    for differentiate in (ad.gradient, lambda f, a: ad.derivative(f)(a)):
        with pytest.raises(NoDerivativeError, match="found by a search|not determined"):
            differentiate(f, A)
    assert ad.gradient(lambda a: a * f(A), 2.0)[0] == f(A)


@pytest.mark.filterwarnings("ignore:Constraint options")
def test_what_does_not_hold_a_minimum():
    """Bounds and constraints that it does not touch, which may move."""

    def f(a):
        inside = [
            {"type": "ineq", "fun": lambda z: 9.0 * a - z.sum()},
            optimize.LinearConstraint(np.eye(2), -4.0 * a, 5.0),
            optimize.NonlinearConstraint(lambda z: z @ z, -1.0, 30.0 * a),
        ]
        bounds = optimize.Bounds(-a, [4.0 * a, 7.0])
        return optimize.minimize(
            bowl, START, (a, B), method="SLSQP", bounds=bounds, constraints=inside, tol=1e-14
        ).x[1]

    z = exactly(A)[0]
    expected = z + A * 2 / (2 + 1.2 * z**2)
    np.testing.assert_allclose(ad.gradient(f, A)[0], expected, rtol=1e-5)
    np.testing.assert_allclose(ad.derivative(f)(A), expected, rtol=1e-5)


def writing(z, a):
    z -= np.array([a, 2.0 * a])
    return z @ z


def of_one_number(z, a):
    return np.array([(z[0] - a) ** 2 + (z[1] - 2 * a) ** 2])


@pytest.mark.parametrize("f", [writing, of_one_number])
def test_functions_that_write_or_give_an_array(f):
    def lowest(a):
        found = optimize.minimize(f, [0.0, 0.0], (a,), method="Nelder-Mead", options=FINE)
        return found.x @ np.array([1.0, 3.0]) + found.fun

    value, found = ad.value_and_grad(lowest)(A)
    assert value == lowest(A)
    np.testing.assert_allclose([found, ad.derivative(lowest)(A)], 7.0, rtol=1e-6)


def test_all_that_is_returned():
    def f(a):
        return optimize.fmin(bowl, START, (a, B), retall=True, disp=0)[0][0]

    z = exactly(A)[0]
    np.testing.assert_allclose(ad.gradient(f, A)[0], 2 / (2 + 1.2 * z**2), rtol=1e-3)

    def on_the_way(a):
        return optimize.fmin(bowl, START, (a, B), retall=True, disp=0)[1][3][0]

    with pytest.raises(NoDerivativeError, match="steps do not show it"):
        ad.gradient(on_the_way, A)


def test_roots_that_are_not_found_are_refused():
    def f(b):
        return optimize.brentq(lambda x: x**3 - b, 0.0, 5.0 * b, maxiter=3, disp=False)

    for differentiate in (ad.gradient, lambda f, b: ad.derivative(f)(b)):
        with pytest.raises(NoDerivativeError, match="not found a root"):
            differentiate(f, 1.0)


def test_random_numbers_are_those_of_the_search():
    rng, legacy = np.random.default_rng(0), np.random.RandomState(1)

    def f(a):
        def noisy(x):
            return x**3 - a + 0.0 * rng.normal() + 0.0 * legacy.normal() + 0.0 * random.random()

        root = optimize.brentq(noisy, 0.0, 5.0)
        return root + a * (rng.normal() + legacy.normal() + random.random())

    def seeded(differentiate):
        rng.bit_generator.state = np.random.default_rng(5).bit_generator.state
        legacy.seed(3)
        random.seed(4)
        return differentiate(f)

    value = seeded(lambda f: f(A))
    drawn = value - A ** (1 / 3)
    found = seeded(lambda f: ad.value_and_grad(f)(A))
    assert found[0] == value
    expected = A ** (-2 / 3) / 3 + drawn / A
    np.testing.assert_allclose(found[1], expected, rtol=1e-6)
    np.testing.assert_allclose(seeded(lambda f: ad.derivative(f)(A)), expected, rtol=1e-6)


# ---- what the function does besides --------------------------------------------------------------


class Counted:
    """Counts its calls."""

    def __init__(self, a):
        self.a, self.calls = a, 0

    def __call__(self, z):
        self.calls += 1
        return (np.ravel(z)[0] - self.a) ** 2 + 0.1 * np.ravel(z)[0] ** 4


def counting_minimum(a):
    f = Counted(a)
    return optimize.minimize(f, [0.0], method="Nelder-Mead", options=FINE).x[0] * f.calls


def counting_root(a):
    calls = 0

    def f(x):
        nonlocal calls
        calls += 1
        return x**3 - a

    return optimize.brentq(f, 0.0, 5.0, **EXACT) * calls


@pytest.mark.parametrize("f", [counting_minimum, counting_root])
def test_counters_count_what_the_search_called(f):
    slopes = {
        counting_minimum: 2 / (2 + 1.2 * exactly(A)[0] ** 2),
        counting_root: A ** (-2 / 3) / 3,
    }
    lows = {counting_minimum: exactly(A)[0], counting_root: A ** (1 / 3)}
    calls = round(f(A) / lows[f])
    value, found = ad.value_and_grad(f)(A)
    assert value == f(A)
    np.testing.assert_allclose([found, ad.derivative(f)(A)], slopes[f] * calls, rtol=1e-6)


def remembering_root(a):
    seen = []

    def f(x):
        seen.append(x**3 - a)
        return seen[-1]

    return optimize.brentq(f, 0.0, 5.0) + 10 * seen[0]


def remembering_minimum(a):
    seen = {}

    def f(z):
        seen[z[0]] = (z[0] - a) ** 2
        return seen[z[0]]

    return optimize.fmin(f, [0.0], disp=0)[0] + sum(seen.values())


def with_a_buffer(a):
    buffer = np.zeros(2)

    def f(x):
        buffer[:] = x**3 - a, x
        return buffer[0]

    return optimize.ridder(f, 0.0, 5.0) * buffer[1]


SEEN = []


def in_a_global(a):
    def f(x):
        SEEN.append(x**3 - a)
        return SEEN[-1]

    SEEN.clear()
    return optimize.brentq(f, 0.0, 5.0) + SEEN[0]


def with_a_function(a):
    held = [None]

    def f(x):
        held[0] = lambda: x**3 - a
        return held[0]()

    return optimize.brentq(f, 0.0, 5.0) + held[0]()


def that_takes_away(a):
    held = [a * a, a, 2.0]

    def f(x):
        if len(held) > 2:
            held.pop(0)
        return x**3 - a

    return optimize.brentq(f, 0.0, 5.0) + 3 * held[0]


@pytest.mark.parametrize(
    "f",
    [
        with_a_function,
        remembering_root,
        remembering_minimum,
        with_a_buffer,
        in_a_global,
    ],
)
def test_what_a_search_stores_is_refused(f):
    for differentiate in (ad.gradient, lambda f, a: ad.derivative(f)(a)):
        with pytest.raises(NoDerivativeError, match="stores something while it searches"):
            differentiate(f, A)


def test_what_stood_there_before_is_known():
    """What a search took away has moved, but is what it was."""
    with pytest.raises(NoDerivativeError, match="stores something while it searches"):
        ad.gradient(that_takes_away, A)
    assert ad.derivative(that_takes_away)(A) == pytest.approx(A ** (-2 / 3) / 3 + 3)


BY_NAME = {
    "globals()['last'] = x**3 - a": "last",
    "globals().update(last=x**3 - a)": "last",
    "globals()['new_name'] = x**3 - a": "new_name",
    "globals()['la' + 'st'] = x**3 - a": "last",
    "f.__globals__['last'] = x**3 - a": "last",
    "sys.modules['held_by_name'].k = x**3 - a": "held.k",
    "sys.modules['held_by_name'].new = x**3 - a": "held.new",
    "setattr(sys.modules['held_by_name'], 'k', x**3 - a)": "held.k",
    "import held_by_name; held_by_name.k = x**3 - a": "held.k",
}


@pytest.mark.parametrize("text", BY_NAME)
def test_what_a_search_stores_by_name_is_refused(text, tmp_path, monkeypatch):
    held = types.ModuleType("held_by_name")
    held.k = 0.0
    monkeypatch.setitem(sys.modules, held.__name__, held)
    lines = (
        "def by_name(a):",
        "    def f(x):",
        f"        {text}",
        "        return x**3 - a",
        f"    return optimize.brentq(f, 0.0, 5.0, xtol=1e-3) + {BY_NAME[text]}",
    )
    path = tmp_path / "by_name.py"
    path.write_text("\n".join(lines))
    space = {"__name__": "by_name", "optimize": optimize, "sys": sys, "held": held, "last": 0.0}
    exec(compile(path.read_text(), str(path), "exec"), space)
    for differentiate in (ad.gradient, lambda f, a: ad.derivative(f)(a)):
        with pytest.raises(NoDerivativeError, match="stores something while it searches"):
            differentiate(space["by_name"], A)


def test_what_a_search_stores_is_no_obstacle_where_it_is_constant():
    def f(a):
        path = []
        optimize.fmin(lambda z: (z[0] - 2.0) ** 2, [0.0], disp=0, callback=path.append)
        return a * len(path)

    assert ad.gradient(f, A)[0] == ad.derivative(f)(A) == f(1.0) - f(0.0)


def test_cached_functions():
    def f(a):
        @functools.lru_cache(None)
        def g(x):
            return x**3 - a

        return optimize.brentq(g, 0.0, 5.0, **EXACT)

    slope = A ** (-2 / 3) / 3
    np.testing.assert_allclose([ad.gradient(f, A)[0], ad.derivative(f)(A)], slope)


# ---- the rule ------------------------------------------------------------------------------------

# By themselves they move nothing that a difference shows: see below.
CASES = {corrected: [(np.zeros(0), np.zeros(0), np.zeros((0, 0)))]}
test_rule = table(CASES)


def test_corrections_of_numbers():
    assert frule(corrected, (None, None, None), 1.0, 0.0, 2.0) == (1.0, None)
    assert frule(corrected, (3.0, 1.0, None), 1.0, 0.0, 2.0) == (1.0, 2.5)
    y, back = rrule(corrected, 1.0, 0.0, 2.0)
    assert (y, back(4.0)) == (1.0, (None, 4.0, -2.0, None))


def test_corrections_of_vectors():
    rng = np.random.default_rng(1)
    slope, x, x_dot, residual_dot, y_bar = (rng.normal(size=n) for n in ((3, 3), 3, 3, 3, 3))
    y, y_dot = frule(corrected, (x_dot, residual_dot, None), x, np.zeros(3), slope)
    np.testing.assert_array_equal(y, x)
    np.testing.assert_allclose(slope @ (x_dot - y_dot), residual_dot)
    _, x_bar, residual_bar, _ = rrule(corrected, x, np.zeros(3), slope)[1](y_bar)
    np.testing.assert_allclose(y_bar @ y_dot, x_bar @ x_dot + residual_bar @ residual_dot)
