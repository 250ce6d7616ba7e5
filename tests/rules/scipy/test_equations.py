"""Roots of systems and fits by code in C move as their equations say."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy import optimize

import adjoint as ad
from adjoint.errors import NoDerivativeError
from tests.support import check_reverse

WEIGHTS = np.array([1.0, 2.0])
TIMES = np.linspace(0.0, 2.0, 9)
SLOPES = {
    "reverse": lambda f, x: ad.gradient(f, x)[0],
    "forward": lambda f, x: ad.derivative(f)(x),
}


# ---- systems of equations ------------------------------------------------------------------------


def system(z, a, b):
    return [z[0] ** 3 + z[1] - a, b * z[1] + z[0] * z[1] - 1.0]


def slopes(z, a, b):
    return np.array([[3 * z[0] ** 2, 1.0], [z[1], b + z[0]]])


def both(z, a, b):
    return system(z, a, b), slopes(z, a, b)


def solution(z, a, b):
    """The same by steps of Newton's from there, which are differentiated."""
    for _ in range(4):
        z = z - np.linalg.solve(slopes(z, a, b), np.array(system(z, a, b)))
    return z @ WEIGHTS


def _root(method, tol=1e-13):
    return lambda a, b: (
        optimize.root(lambda z: np.array(system(z, a, b)), [1.0, 1.0], method=method, tol=tol).x
    )


def _function(name):
    find = getattr(optimize, name)
    return lambda a, b: find(lambda z: np.array(system(z, a, b)), [0.6, 0.7], f_tol=1e-13)


SYSTEMS = {
    "fsolve": lambda a, b: optimize.fsolve(system, [1.0, 1.0], (a, b), xtol=1e-13),
    "fsolve, slopes": lambda a, b: optimize.fsolve(
        system, [1.0, 1.0], (a, b), fprime=slopes, xtol=1e-13
    ),
    "fsolve, all": lambda a, b: optimize.fsolve(
        system, [1.0, 1.0], (a, b), full_output=True, xtol=1e-13
    )[0],
    "root, slopes": lambda a, b: optimize.root(both, [1.0, 1.0], (a, b), jac=True, tol=1e-13).x,
    "root, hybr": _root("hybr"),
    "root, lm": _root("lm"),
    "root, anderson": _root("anderson", 1e-10),
    "root, df-sane": _root("df-sane"),
    "root, krylov": _root("krylov"),
    "broyden2": _function("broyden2"),
    "newton_krylov": _function("newton_krylov"),
}


@pytest.mark.parametrize("name", SYSTEMS)
def test_systems(name):
    def f(a, b):
        return SYSTEMS[name](a, b) @ WEIGHTS

    a, b = 1.3, 0.8
    z = SYSTEMS[name](a, b)
    value, found = ad.value_and_grad(f, argnums=(0, 1))(a, b)
    assert value == z @ WEIGHTS
    np.testing.assert_allclose(found, ad.gradient(solution, z, a, b)[1:], rtol=1e-8)
    np.testing.assert_allclose(ad.derivative(lambda a: f(a, b))(a), found[0], rtol=1e-10)
    for first, second in ((ad.grad, ad.derivative), (ad.derivative, ad.grad)):
        bend = second(first(lambda b: f(a, b)))(b)
        np.testing.assert_allclose(bend, ad.hessian(lambda b: solution(z, a, b), b), rtol=1e-7)


def test_shapes():
    for find in (
        lambda a: optimize.root(lambda z: z**3 - a, 1.0).x,
        lambda a: optimize.fsolve(lambda z: float(z[0]) ** 3 - a, 1.0),
        lambda a: optimize.newton_krylov(lambda z: z**3 - a, np.ones((2, 2)), f_tol=1e-12),
    ):
        np.testing.assert_allclose(ad.jacobian(find, 2.0), 2 ** (-2 / 3) / 3 + 0 * find(2.0))


def without_a_root(a):
    return optimize.fsolve(lambda z: z * z + a, [0.5])[0]


def with_many_roots(a):
    return optimize.root(lambda z: np.ones(2) * (z[0] + z[1] - a), [0.5, 0.5]).x[0]


def how_it_was_searched(a):
    return optimize.fsolve(lambda z: z**3 - a, [0.5], full_output=True)[1]["fjac"][0, 0]


def that_stores(a):
    seen = []

    def f(z):
        seen.append(z[0] ** 3 - a)
        return seen[-1]

    return optimize.fsolve(f, [0.5])[0] + seen[0]


@pytest.mark.parametrize("way", SLOPES)
@pytest.mark.parametrize(
    ("f", "why"),
    [
        (without_a_root, "nearby"),
        (with_many_roots, "singular"),
        (how_it_was_searched, "how it has searched"),
        (that_stores, "stores something"),
    ],
)
@pytest.mark.filterwarnings("ignore:The iteration is not making good progress")
def test_refused_systems(f, why, way):
    with pytest.raises(NoDerivativeError, match=why):
        SLOPES[way](f, 2.0)


def test_an_object_that_counts():
    class Equation:
        def __init__(self, a):
            self.a, self.calls = a, 0

        def __call__(self, z):
            self.calls += 1
            return z**3 - self.a

    def f(a):
        equation = Equation(a)
        return optimize.fsolve(equation, 1.0)[0] * equation.calls

    check_reverse(f, 2.0, rtol=1e-5)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_complex_roots():
    def f(v):
        roots = optimize.newton_krylov(lambda z: z**2 + 1 + v * 1j, 0.5 + 0.5j, f_tol=1e-13)
        return roots.real.item()

    expected = (-0.5j / (-1 - 2.0j) ** 0.5).real  # of the root in the right half
    sign = 1.0 if f(2.0) > 0 else -1.0
    for way in SLOPES.values():
        assert way(f, 2.0) == pytest.approx(sign * expected)


def test_what_moves_by_its_start_alone_is_refused():
    def f(a):
        return optimize.fsolve(lambda z: z * z + 1.0, [a])[0]

    for way in SLOPES.values():
        with pytest.raises(NoDerivativeError, match="nearby"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            way(f, 2.0)


def test_what_is_left_of_equations():
    def f(a):
        return optimize.root(lambda z: z**3 - a, [1.0]).fun[0]

    for way in SLOPES.values():
        assert way(f, 2.0) == pytest.approx(0.0, abs=1e-12)


# ---- fits ----------------------------------------------------------------------------------------

DATA = 2.0 * np.exp(-0.7 * TIMES) + 0.05 * np.cos(9 * TIMES)
EXACT = {"xtol": 1e-13, "ftol": 1e-13}


def model(t, p, q):
    return p * np.exp(-q * t)


def slopes_of_model(t, p, q):
    return np.array([np.exp(-q * t), -p * t * np.exp(-q * t)]).T


def misfit(p, a, b):
    return model(b * TIMES, *p) - a * DATA


def fitted(a, b):
    """The same by steps of Gauss and Newton, which are differentiated."""
    p = np.array([2.0, 0.7])
    for _ in range(12):
        J = slopes_of_model(b * TIMES, *p) * np.array([1.0, b])
        p = p - np.linalg.solve(J.T @ J, J.T @ misfit(p, a, b))
    return p


FITS = {
    "leastsq": lambda a, b: optimize.leastsq(misfit, [1.0, 1.0], (a, b), **EXACT)[0],
    "least_squares": lambda a, b: (
        optimize.least_squares(misfit, [1.0, 1.0], args=(a, b), method="lm", **EXACT).x
    ),
    "root": lambda a, b: (
        optimize.root(misfit, [1.0, 1.0], (a, b), method="lm", options=dict(EXACT)).x
    ),
    "curve_fit": lambda a, b: optimize.curve_fit(model, b * TIMES, a * DATA, **EXACT)[0],
    "curve_fit, slopes": lambda a, b: optimize.curve_fit(
        model, b * TIMES, a * DATA, jac=slopes_of_model, **EXACT
    )[0],
    "curve_fit, bounds": lambda a, b: optimize.curve_fit(
        model, b * TIMES, a * DATA, bounds=(0.0, 5.0), gtol=1e-13, **EXACT
    )[0],
}


@pytest.mark.parametrize("name", FITS)
def test_fits(name):
    def f(a, b):
        return FITS[name](a, b) @ WEIGHTS

    a, b = 1.3, 0.8
    value, found = ad.value_and_grad(f, argnums=(0, 1))(a, b)
    assert value == f(a, b)
    expected = ad.gradient(lambda a, b: fitted(a, b) @ WEIGHTS, a, b)
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    np.testing.assert_allclose(ad.derivative(lambda a: f(a, b))(a), expected[0], rtol=1e-5)


def test_second_derivatives_of_fits():
    def f(b):
        return FITS["curve_fit"](1.3, b) @ WEIGHTS

    h = 1e-4
    bend = (ad.derivative(f)(0.8 + h) - ad.derivative(f)(0.8 - h)) / (2 * h)
    np.testing.assert_allclose(ad.hessian(f, 0.8), bend, rtol=1e-5)


def test_fits_in_their_data():
    def f(y):
        return optimize.curve_fit(model, TIMES, y, **EXACT)[0]

    J = slopes_of_model(TIMES, 2.0, 0.7)
    exact = model(TIMES, 2.0, 0.7)  # where nothing is left over, the pseudoinverse
    np.testing.assert_allclose(ad.jacobian(f, exact), np.linalg.pinv(J), rtol=1e-5, atol=1e-7)
    found = ad.jacobian_reverse(f, DATA)
    np.testing.assert_allclose(ad.jacobian_forward(f, DATA), found, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("sigma", [None, 0.1 + TIMES])
def test_uncertainties_of_fits(sigma):
    def f(a):
        return optimize.curve_fit(model, a * TIMES, DATA, sigma=sigma, **EXACT)[1][0, 1]

    def explicit(a):
        weights = 1.0 if sigma is None else 1 / sigma
        p = np.array([2.0, 0.7])
        for _ in range(12):
            J = (slopes_of_model(a * TIMES, *p).T * weights).T
            r = (model(a * TIMES, *p) - DATA) * weights
            p = p - np.linalg.solve(J.T @ J, J.T @ r)
        return np.linalg.inv(J.T @ J)[0, 1] * (r @ r) / (len(TIMES) - 2)

    for way in SLOPES.values():
        np.testing.assert_allclose(way(f, 1.1), way(explicit, 1.1), rtol=1e-5)


def test_covariances_that_are_not_determined():
    def f(a, i):
        found = optimize.curve_fit(
            lambda t, p, q, r: p * np.exp(-q * t) + 0.0 * r, TIMES, a * DATA, [1.0, 1.0, 1.0]
        )
        return found[i].ravel()[0]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(NoDerivativeError, match="not determined"):
            ad.gradient(f, 1.3, 0)
        assert ad.gradient(f, 1.3, 1) == (0.0, 0.0)  # infinite, whatever a is


def test_what_is_left_over():
    def f(a):
        return (optimize.curve_fit(model, TIMES, a * DATA, full_output=True)[2]["fvec"] ** 2).sum()

    def cost(a):
        return 2 * optimize.least_squares(misfit, [1.0, 1.0], args=(a, 1.0), method="lm").cost

    for way in SLOPES.values():  # squares of what is proportional to a
        np.testing.assert_allclose(way(f, 2.0), f(2.0))
        np.testing.assert_allclose(way(cost, 2.0), cost(2.0))


def test_what_starts_at_its_solution():
    held = {}

    def fit(x):
        held["k"] = x
        found = optimize.curve_fit(lambda t, a: (a - held["k"]) * t, TIMES, 0 * TIMES, [2.0])
        return found[0][0]

    def squares(x):
        return optimize.leastsq(lambda a: (a - x) * TIMES, np.array([2.0]))[0][0]

    def root(x):
        return optimize.fsolve(lambda u: u - x, np.array([2.0]))[0]

    for f in (fit, squares, root):
        assert f(2.0) == 2.0
        for way in SLOPES.values():
            np.testing.assert_allclose(way(f, 2.0), 1.0)
        np.testing.assert_allclose(ad.hessian(f, 2.0), 0.0, atol=1e-12)


# ---- least squares without negative numbers ------------------------------------------------------

rng = np.random.default_rng(3)
A, B = rng.normal(size=(7, 4)), rng.normal(size=7)


def test_nnls():
    def f(A, b):
        x, distance = optimize.nnls(A, b)
        return x @ np.arange(1.0, 5.0) + distance

    assert 0 < np.count_nonzero(optimize.nnls(A, B)[0]) < 4  # some are held
    check_reverse(f, A, B, rtol=1e-5)
    moved = ad.pushforward(f, (A, B), (np.ones_like(A), np.ones_like(B)))[1]
    bars = ad.gradient(f, A, B)
    np.testing.assert_allclose(moved, bars[0].sum() + bars[1].sum())
    assert not optimize.nnls(A, -np.abs(A).sum(1) * 0)[0].any()


def test_nnls_second():
    def f(b):
        return optimize.nnls(A * (1 + b**2), B)[0].sum()

    h = 1e-4
    bend = (ad.grad(f)(0.5 + h) - ad.grad(f)(0.5 - h)) / (2 * h)
    np.testing.assert_allclose(ad.hessian(f, 0.5), bend, rtol=1e-5)
