"""Trajectories that `odeint` finds move as the differential equation says."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate

import adjoint as ad
from adjoint.errors import NoDerivativeError

TIMES = np.linspace(0.0, 3.0, 13)
WEIGHTS = np.cos(TIMES)


def predators(y, t, a, b):
    return [a * y[0] - b * y[0] * y[1], -y[1] + 0.5 * y[0] * y[1] + 0.1 * np.sin(t)]


def swapped(t, y, a, b):
    return np.array(predators(y, t, a, b))


def reactions(y, t, a, b):
    """Those of Robertson, which are stiff."""
    slow, fast, back = 0.04 * a * y[0], 3e7 * b * y[1] ** 2, 1e4 * y[1] * y[2]
    return [back - slow, slow - back - fast, fast]


def explicitly(f, a, b, y0=1.0, times=TIMES):
    """By another method, with plain numbers."""
    found = integrate.solve_ivp(
        lambda t, y: f(y, t, a, b), (times[0], times[-1]), [y0, 2.0], "DOP853", times,
        rtol=1e-12, atol=1e-12,
    )  # fmt: skip
    return found.y[0] @ np.cos(times)


def slopes(f, args, h):
    """Central differences of fourth order."""
    found = []
    for i in range(len(args)):
        along = [f(*args[:i], args[i] + k * h, *args[i + 1 :]) for k in (-2, -1, 1, 2)]
        found.append((along[0] - 8 * along[1] + 8 * along[2] - along[3]) / (12 * h))
    return found


def by_name(a, b, y0):
    return integrate.odeint(predators, [y0, 2.0], TIMES, args=(a, b))[:, 0] @ WEIGHTS


def time_first(a, b, y0):
    found, _ = integrate.odeint(
        swapped, np.array([y0, 2.0]), TIMES, (a, b), full_output=True, tfirst=True
    )
    return found[:, 0] @ WEIGHTS


def captured(a, b, y0):
    return integrate.odeint(lambda y, t: predators(y, t, a, b), (y0, 2), TIMES)[:, 0] @ WEIGHTS


@pytest.mark.parametrize("f", [by_name, time_first, captured])
def test_parameters_and_starts(f):
    point = (1.1, 0.9, 1.0)
    expected = slopes(lambda a, b, y0: explicitly(predators, a, b, y0), point, 1e-2)
    value, found = ad.value_and_grad(f, argnums=(0, 1, 2))(*point)
    assert value == f(*point)
    np.testing.assert_allclose(found, expected, rtol=3e-7)
    moved = ad.pushforward(f, point, (1.0, -0.5, 2.0))[1]
    np.testing.assert_allclose(moved, np.dot(found, [1.0, -0.5, 2.0]), rtol=1e-10)


def test_second_derivatives():
    """Of logistic growth, whose solution is known."""

    def f(a, y0, end):
        return integrate.odeint(lambda y, t: a * y * (1 - y), y0, [0.0, 0.4, end])[2, 0]

    def explicit(a, y0, end):
        return 1 / (1 + (1 / y0 - 1) * np.exp(-a * end))

    point = (1.3, 0.2, 1.7)
    found = ad.hessian(f, *point, argnums=(0, 1, 2))
    expected = ad.hessian(explicit, *point, argnums=(0, 1, 2))
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_times():
    times = np.array([0.1, 0.5, 0.5, 1.2, 2.0])

    def f(times):
        found = integrate.odeint(predators, [1.0, 2.0], times, args=(1.1, 0.9))
        return found[:, 0] @ np.arange(1.0, 6.0)

    def found_at(t0, t):
        found = integrate.solve_ivp(
            lambda t, y: predators(y, t, 1.1, 0.9), (t0, t), [1.0, 2.0], "DOP853",
            rtol=1e-12, atol=1e-12,
        )  # fmt: skip
        return found.y[0, -1]

    (bar,) = ad.gradient(f, times)
    for i in range(1, 5):
        (along,) = slopes(lambda t: found_at(times[0], t), (times[i],), 1e-2)
        assert bar[i] == pytest.approx((i + 1) * along, rel=1e-6)
    (along,) = slopes(
        lambda t: sum((i + 1) * found_at(t, times[i]) for i in range(1, 5)), (0.1,), 1e-2
    )
    assert bar[0] == pytest.approx(along, rel=1e-6)


def test_stiff_equations():
    def f(a, b):
        return integrate.odeint(reactions, [1.0, 0.0, 0.0], [0.0, 4.0, 40.0], (a, b))[-1, ::2]

    def explicit(a, b):
        found = integrate.solve_ivp(
            lambda t, y: reactions(y, t, a, b), (0.0, 40.0), [1.0, 0.0, 0.0], "LSODA",
            rtol=1e-12, atol=1e-15,
        )  # fmt: skip
        return found.y[::2, -1]

    found = ad.jacobian(f, 1.1, 0.9, argnums=(0, 1))
    np.testing.assert_allclose(found, slopes(explicit, (1.1, 0.9), 1e-2), rtol=1e-5)


def test_backwards_and_single_numbers():
    def f(k):
        return integrate.odeint(lambda y, t: -k * y, 1.0, [2.0, 1.0, 0.0])[-1, 0]

    for found in (ad.gradient(f, 0.7)[0], ad.derivative(f)(0.7)):
        assert found == pytest.approx(2 * np.exp(1.4), rel=1e-7)


def test_what_has_no_length():
    def f(y0):
        return integrate.odeint(lambda y, t: -y, y0, [1.0]).sum()

    assert ad.gradient(f, 0.7) == (1.0,)


def that_remembers(k):
    seen = []

    def rate(y, t):
        seen.append(k * y[0])
        return -seen[-1]

    return integrate.odeint(rate, 1.0, [0.0, 1.0])[-1, 0] + seen[0]


@pytest.mark.parametrize(("f", "why"), [(that_remembers, "stores something")])
def test_refused(f, why):
    for differentiate in (ad.gradient, lambda f, k: ad.derivative(f)(k)):
        with pytest.raises(NoDerivativeError, match=why):
            differentiate(f, 0.7)


def pulse(y, t, a, b):
    return -a * y + b * np.exp(-0.5 * ((t - 12.0) / 0.1) ** 2)


def test_short_pulses():
    """Both solutions see them with an `hmax`; a derivative of what one has missed is refused."""
    times = np.linspace(0.0, 24.0, 25)

    def f(p, hmax):
        found = integrate.odeint(pulse, [0.0], times, args=(p[0], p[1]), hmax=hmax)
        return (found**2).sum()

    p = np.array([0.3, 0.7])
    h = 1e-4
    expected = [(f(p + e, 0.05) - f(p - e, 0.05)) / (2 * h) for e in h * np.eye(2)]
    np.testing.assert_allclose(ad.gradient(lambda p: f(p, 0.05), p)[0], expected, rtol=1e-5)
    dot = ad.pushforward(lambda p: f(p, 0.05), (p,), (p,))[1]
    assert dot == pytest.approx(np.dot(expected, p), rel=1e-5)


def bolus(p):
    def rate(y, t):
        return -p[0] * y + (p[1] * 50 if 5 <= t < 5.02 else 0.0)

    return integrate.odeint(rate, [0.0], np.linspace(0, 10, 11), hmax=0.005)[-1, 0]


def test_another_solution_is_refused():
    """What one method sees of a pulse, and another misses."""

    def stopped(p):
        def rate(y, t):
            return -p[0] * y + (p[1] * 50 if 5 <= t < 5.02 else 0.0)

        times = np.array([0.0, 4.0, 5.0, 10.0])
        return integrate.odeint(rate, [0.0], times, tcrit=[5.0])[-1, 0]

    p = np.array([0.3, 0.7])
    assert stopped(p) > 0.01
    for differentiate in (ad.gradient, lambda f, p: ad.pushforward(f, (p,), (p,))):
        with pytest.raises(NoDerivativeError, match="another solution"):
            differentiate(stopped, p)
    value = bolus(p)
    assert ad.gradient(bolus, p)[0][1] == pytest.approx(value / 0.7, rel=2e-2)


def test_reports():
    def f(y0, key):
        found, report = integrate.odeint(lambda y, t: -y, y0, TIMES, full_output=True)
        return found[-1, 0] * report[key][-1]

    y0 = np.array([1.5])
    assert ad.gradient(lambda y0: f(y0, "nst"), y0)[0] == pytest.approx(f(y0, "nst") / 1.5)
    with pytest.raises(NoDerivativeError, match="how it has searched"):
        ad.gradient(lambda y0: f(y0, "tcur"), y0)


# ---- solve_ivp -----------------------------------------------------------------------------------


def by_lsoda(a, b, y0, end, **options):
    options = {"rtol": 1e-9, "atol": 1e-10, **options}
    return integrate.solve_ivp(
        lambda t, y, a: predators(y, t, a, b), (0.1, end), [y0, 2.0], method="LSODA", args=(a,),
        **options,
    )  # fmt: skip


def at_times(a, b, y0, end):
    found = by_lsoda(a, b, y0, end, t_eval=np.array([0.3, 1.0, 1.9]), max_step=0.2)
    return found.y[0] @ [1.0, 2.0, 3.0] + found.y[1, 1] ** 2


def at_both_ends(a, b, y0, end):
    found = by_lsoda(a, b, y0, end, t_eval=np.array([0.1, end]), first_step=1e-3)
    return found.y[0] @ found.t + found.y[1, -1] * found.y[1, 0]


def by_columns(a, b, y0, end):
    def rates(t, y):
        return np.array([a * y[0] - b * y[0] * y[1], -y[1] + 0.5 * y[0] * y[1]])

    found = integrate.solve_ivp(
        rates, [2.0, 0.5 - end / 4], np.array([y0, 2.0]), integrate.LSODA,
        [1.7, 1.0, 0.5], vectorized=True, rtol=1e-9, atol=1e-10,
    )  # fmt: skip
    return (found.y**2).sum() * found.t[0]


@pytest.mark.parametrize("f", [at_times, at_both_ends, by_columns])
def test_solve_ivp_by_lsoda(f):
    point = (1.1, 0.9, 1.0, 2.0)
    expected = slopes(f, point, 1e-3)
    value, found = ad.value_and_grad(f, argnums=(0, 1, 2, 3))(*point)
    assert value == f(*point)
    np.testing.assert_allclose(found, expected, rtol=2e-6, atol=1e-6)
    moved = ad.pushforward(f, point, (1.0, -0.5, 2.0, 0.3))[1]
    np.testing.assert_allclose(moved, np.dot(found, [1.0, -0.5, 2.0, 0.3]), rtol=1e-9)


def test_second_derivatives_by_lsoda():
    def f(a, y0, end):
        found = integrate.solve_ivp(
            lambda t, y: a * y * (1 - y),
            (0.0, end),
            [y0],
            "LSODA",
            [0.4, end],
            rtol=1e-8,
            atol=1e-9,
        )
        return found.y[0, 1]

    def explicit(a, y0, end):
        return 1 / (1 + (1 / y0 - 1) * np.exp(-a * end))

    point = (1.3, 0.2, 1.7)
    found = ad.hessian(f, *point, argnums=(0, 1, 2))
    np.testing.assert_allclose(found, ad.hessian(explicit, *point, argnums=(0, 1, 2)), rtol=1e-5)


def that_stores(a):
    seen = []

    def rate(t, y):
        seen.append(a * y[0])
        return -seen[-1]

    return integrate.solve_ivp(rate, (0.0, 1.0), [1.0], "LSODA", [1.0]).y[0, 0] + seen[0]


def test_refused_by_lsoda():
    for differentiate in (ad.gradient, lambda f, a: ad.derivative(f)(a)):
        with pytest.raises(NoDerivativeError, match="stores something"):
            differentiate(that_stores, 0.7)
