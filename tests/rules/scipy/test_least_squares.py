"""Fits by `least_squares` and `curve_fit`: all methods and losses, bounds, and what is reported.

The numbers to compare with are differences of fits whose coordinates come from Newton's steps.
"""

import numpy as np
import pytest
from scipy import optimize

import adjoint as ad
from adjoint.errors import NoDerivativeError

rng = np.random.default_rng(0)
TIMES, WEIGHTS = np.linspace(0.0, 2.0, 12), np.array([0.3, 1.7])
DATA = 2 * np.exp(-0.7 * TIMES) + 0.1 * rng.normal(size=12)
DATA[3] += 1.0  # an outlier
EXACT = {"xtol": 1e-15, "ftol": 1e-15, "gtol": 1e-13}
WAYS = {
    "reverse": lambda f: ad.grad(f),
    "generic": lambda f: ad.grad(f, tier="generic"),
    "forward": ad.derivative,
}


def model(t, p, q):
    return p * np.exp(-q * t)


def misfit(p, a, b=0.8):
    return model(b * TIMES, *p) - a * DATA


def slopes(p, a, b=0.8):
    decay = np.exp(-p[1] * b * TIMES)
    return np.array([decay, -p[0] * b * TIMES * decay]).T


def rho(loss, z):
    """The loss of squares, and its first and second derivatives."""
    small, root = z <= 1, np.sqrt(z)
    return {
        "linear": lambda: (z, 1 + 0 * z, 0 * z),
        "soft_l1": lambda: (2 * (np.sqrt(1 + z) - 1), (1 + z) ** -0.5, -0.5 * (1 + z) ** -1.5),
        "huber": lambda: (
            np.where(small, z, 2 * root - 1),
            np.where(small, 1, 1 / root),
            np.where(small, 0, -0.5 / root**3),
        ),
        "cauchy": lambda: (np.log1p(z), 1 / (1 + z), -((1 + z) ** -2.0)),
        "arctan": lambda: (np.arctan(z), 1 / (1 + z**2), -2 * z / (1 + z**2) ** 2),
    }[loss]()


def explicit(a, loss="linear", scale=1.0, held=(), start=(2.0, 0.9), b=0.8):
    """Where the cost is lowest, by Newton's steps, with some coordinates held; and the cost."""
    p, held = np.array(start), dict(held)
    free = [i for i in range(2) if i not in held]
    for i, value in held.items():
        p[i] = value
    for _ in range(20):
        r, J, t = misfit(p, a, b), slopes(p, a, b), b * TIMES
        value, first, second = rho(loss, (r / scale) ** 2)
        bend = (J.T * (first + 2 * second * (r / scale) ** 2)) @ J
        across = first * r @ (-t * J[:, 0])
        bend += [[0.0, across], [across, first * r @ (p[0] * t**2 * J[:, 0])]]
        if free:
            p[free] -= np.linalg.solve(bend[np.ix_(free, free)], (J.T @ (first * r))[free])
    return p, 0.5 * scale**2 * np.sum(value)


def difference(f, a, h=1e-3):
    return (8 * (f(a + h) - f(a - h)) - (f(a + 2 * h) - f(a - 2 * h))) / (12 * h)


def check(f, expected, a=1.3, rtol=1e-5):
    for name, way in WAYS.items():
        np.testing.assert_allclose(way(f)(a), expected, rtol=rtol, err_msg=name)


def fit(a, method="trf", **settings):
    given = {"jac": slopes, "args": (a,), **EXACT, **settings}
    return optimize.least_squares(misfit, [1.0, 0.4], method=method, **given)


LOSSES = ["linear", "soft_l1", "huber", "cauchy", "arctan"]


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
@pytest.mark.parametrize("loss", LOSSES)
def test_losses(method, loss):
    if method == "lm" and loss != "linear":
        return
    start = fit(1.3, loss=loss, f_scale=0.4).x
    near = lambda a, scale=0.4: explicit(a, loss, scale, start=start)  # noqa: E731
    for jac in (slopes, "2-point"):
        place = lambda a: fit(a, method, jac=jac, loss=loss, f_scale=0.4).x @ WEIGHTS  # noqa: B023, E731
        check(place, difference(lambda a: near(a)[0] @ WEIGHTS, 1.3), rtol=1e-4)
    if loss != "linear":
        f = lambda s: fit(1.3, method, loss=loss, f_scale=s).x @ WEIGHTS  # noqa: E731
        check(f, difference(lambda s: near(1.3, s)[0] @ WEIGHTS, 0.4), a=0.4, rtol=1e-4)
    f = lambda a: fit(a, method, loss=loss, f_scale=0.4).cost  # noqa: E731
    check(f, difference(lambda a: near(a)[1], 1.3))


def test_a_loss_of_ones_own():
    def loss(z):
        return np.array([np.log1p(z), 1 / (1 + z), -1 / (1 + z) ** 2])

    for name in ("x", "cost", "grad", "jac"):
        f = lambda a, loss: np.sum(fit(a, loss=loss, f_scale=0.4)[name] ** 2)  # noqa: B023, E731
        expected = ad.grad(lambda a: f(a, "cauchy"))(1.3)  # noqa: B023
        found = ad.grad(lambda a: f(a, loss))(1.3)  # noqa: B023
        # what "grad" gives is a square of rounding errors
        np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-18)


BOUNDS = {
    "one": (lambda a: ([0.0, 0.0], [1.5 * a, np.inf]), lambda a: [(0, 1.5 * a)]),
    "other": (lambda a: optimize.Bounds([0.0, 0.0], [9.0, 0.5 * a]), lambda a: [(1, 0.5 * a)]),
    "lower": (lambda a: ([0.0, 0.9 * a], np.inf), lambda a: [(1, 0.9 * a)]),
    "both": (
        lambda a: ([0.0, 0.9 * a], [1.2 * a, np.inf]), lambda a: [(0, 1.2 * a), (1, 0.9 * a)],
    ),
    "none": (lambda a: ([0.0, 0.0], [10.0 * a, np.inf]), lambda a: []),
}  # fmt: skip


@pytest.mark.parametrize("method", ["trf", "dogbox"])
@pytest.mark.parametrize("name", BOUNDS)
def test_bounds(method, name):
    bounds, held = BOUNDS[name]
    start = [1.0, 2.0] if name in ("lower", "both") else [1.0, 0.4]

    def found(a):
        return optimize.least_squares(misfit, start, slopes, bounds(a), method, args=(a,), **EXACT)

    expected = difference(lambda a: explicit(a, held=held(a))[0] @ WEIGHTS, 1.3)
    check(lambda a: found(a).x @ WEIGHTS, expected, rtol=1e-4)
    check(lambda a: found(a).cost, difference(lambda a: explicit(a, held=held(a))[1], 1.3))

    def slope(a):
        p = explicit(a, held=held(a))[0]
        return slopes(p, a).T @ misfit(p, a) @ WEIGHTS

    wanted = difference(slope, 1.3)
    for way in WAYS.values():
        np.testing.assert_allclose(
            way(lambda a: found(a).grad @ WEIGHTS)(1.3), wanted, rtol=1e-4, atol=1e-6
        )


def test_what_is_reported():
    def covariance(a):
        J = fit(a).jac
        return np.linalg.inv(J.T @ J)[0, 1]

    def explicit_covariance(a):
        J = slopes(explicit(a)[0], a)
        return np.linalg.inv(J.T @ J)[0, 1]

    check(covariance, difference(explicit_covariance, 1.3))
    left = lambda a: misfit(explicit(a)[0], a) @ np.cos(TIMES)  # noqa: E731
    check(lambda a: fit(a).fun @ np.cos(TIMES), difference(left, 1.3), rtol=1e-4)
    with pytest.raises(NoDerivativeError, match="says how it has searched"):
        ad.gradient(lambda a: fit(a).optimality, 1.3)


@pytest.mark.parametrize("method", ["lm", "trf", "dogbox"])
def test_curve_fit(method):
    def fitted(a, part):
        return optimize.curve_fit(model, a * TIMES, DATA, [1.0, 0.4], method=method, **EXACT)[part]

    near = fitted(1.3, 0)

    def variance(a):
        p, cost = explicit(1.0, b=a, start=near)
        J = slopes(p, 1.0, a)
        return np.linalg.inv(J.T @ J)[0, 1] * 2 * cost / 10

    place = difference(lambda a: explicit(1.0, b=a, start=near)[0] @ WEIGHTS, 1.3)
    check(lambda a: fitted(a, 0) @ WEIGHTS, place, rtol=1e-4)
    check(lambda a: fitted(a, 1)[0, 1], difference(variance, 1.3), rtol=1e-4)


@pytest.mark.parametrize("method", ["trf", "dogbox", "lm"])
def test_equal_singular_values(method):
    value = 0.7**3 + 0.7  # p³ + p = s, twice, from one start

    def f(s):
        found = optimize.least_squares(
            lambda p: p**3 + p - s, [1.0, 1.0], method=method, xtol=1e-14
        )
        return found.x.sum()

    slope = 1 / (3 * 0.7**2 + 1)
    check(f, 2 * slope, a=value, rtol=1e-8)
    np.testing.assert_allclose(ad.hessian(f, value), -2 * 6 * 0.7 * slope**3, rtol=1e-6)


def test_second_derivatives():
    f = lambda a: fit(a).cost  # noqa: E731
    np.testing.assert_allclose(ad.hessian(f, 1.3), 2 * f(1.0), rtol=1e-6)  # in proportion to a²


REFUSED = {
    "too few steps": (lambda a: fit(a, max_nfev=2).x.sum(), "slope of the function is not zero"),
    "not determined": (
        lambda a: optimize.least_squares(lambda p: np.array([p[0] + p[1] - a]), [1.0, 1.0]).x[0],
        "no curvature|not determined",
    ),
    "a bound that touches": (
        lambda a: optimize.least_squares(
            lambda p: np.array([a * (p[0] - 1.0)]), [0.5], bounds=(0.0, 1.0), method="dogbox"
        ).x[0],
        "a bound touches it",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name):
    f, why = REFUSED[name]
    with pytest.raises(NoDerivativeError, match=why):
        ad.gradient(f, 1.3)
