"""Solutions by `solve_ivp` move as the steps of each of its methods do."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy import integrate

import adjoint as ad
from adjoint.errors import NoDerivativeError

METHODS = ["RK45", "RK23", "DOP853", "Radau", "BDF", "LSODA"]
TIGHT = {
    "RK45": 1e-9, "RK23": 1e-7, "DOP853": 1e-11, "Radau": 1e-8, "BDF": 1e-7, "LSODA": 1e-9
}  # fmt: skip
POINT = (1.1, 0.9, 1.0, 2.0)


def solve(method, *given, **options):
    tight = {"rtol": TIGHT[method], "atol": 0.1 * TIGHT[method]}
    return integrate.solve_ivp(*given, method=method, **(tight | options))


def predators(t, y, a, b):
    u, v = y
    return [a * u - b * u * v, -v + 0.5 * u * v + 0.1 * np.sin(t)]


class Model:
    """A right-hand side that reads its parameters from an object."""

    def __init__(self, a, b):
        self.rates = {"a": a, "b": b}

    def __call__(self, t, y):
        return np.array(predators(t, y, self.rates["a"], self.rates["b"]))


def with_args(method, a, b, y0, end):
    y = solve(method, predators, (0.1, end), [y0, 2], t_eval=[0.3, 1.0, 1.9], args=(a, b)).y
    return y[0] @ np.array([1.0, 2.0, 3.0]) + y[1, 1] ** 2


def captured(method, a, b, y0, end):
    def rate(t, y):
        return np.array(predators(t, y, a, b))

    found = solve(method, rate, [0.0, end], np.array([y0, 2.0]))
    return found.y[0, -1] * found.t[-1] + found.y[1, -1]


def of_an_object(method, a, b, y0, end):
    found = solve(method, Model(a, b), (0.0, end), (y0, 2.0), t_eval=np.array([0.0, end]))
    return found.y[0, 1] + found.y[1] @ found.t


def backwards(method, a, b, y0, end):
    found = solve(method, predators, (end, 1 - end / 4), [y0, 2.0], args=(a, b))
    return found.y[0, -1] * found.y[1, 0] + found.t[0]


def dense(method, a, b, y0, end):
    found = solve(method, predators, (0.0, end), [y0, 2.0], dense_output=True, args=(a, b))
    return found.sol(0.4 * a)[0] + (found.sol(np.array([1.5, 0.3 * b])) ** 2).sum()


def columns(method, a, b, y0, end):
    def rates(t, y):
        return np.array([a * y[0] - b * y[0] * y[1], -y[1] + 0.5 * y[0] * y[1]])

    found = solve(method, rates, (0.0, end), [y0, 2.0], t_eval=[0.7, 1.7], vectorized=True)
    return (found.y**2).sum()


def with_events(method, a, b, y0, end):
    def low(t, y, a, b):
        return y[0] - 1.02 * b

    low.direction = -1

    def late(t, y, a, b):
        return t - 1.9 * a / 1.1 + 0.01 * y[1]

    late.terminal = True
    found = solve(
        method, predators, (0.0, 5.0), [y0, 2.0], events=[low, late], args=(a, b), max_step=0.3
    )
    (first,), (last,) = found.t_events
    return first + 2.0 * found.y_events[0][0, 1] + last * found.y[0, -1] + found.t[-1]


def one_event(method, a, b, y0, end):
    def half(t, y):
        return y[0] - 0.5 * b

    half.terminal = True
    found = solve(
        method, lambda t, y: -a * y, (0.0, 9.0), [y0], t_eval=np.linspace(0.0, 0.5, 5), events=half
    )
    return found.y[0].sum() + found.t_events[0][0] ** 2 + len(found.t)


FUNCTIONS = [
    with_args, captured, of_an_object, backwards, dense, columns, with_events, one_event
]  # fmt: skip


def slopes(f, args, h=5e-3):
    """Central differences of sixth order."""
    found = []
    for i in range(len(args)):
        along = [f(*args[:i], args[i] + k * h, *args[i + 1 :]) for k in (1, -1, 2, -2, 3, -3)]
        near, middle, far = along[0] - along[1], along[2] - along[3], along[4] - along[5]
        found.append((45 * near - 9 * middle + far) / (60 * h))
    return found


@functools.cache
def expected_of(f):
    return slopes(lambda *args: f("DOP853", *args), POINT)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("f", FUNCTIONS)
def test_first_derivatives(f, method):
    def g(a, b, y0, end):
        return f(method, a, b, y0, end)

    value, found = ad.value_and_grad(g, argnums=(0, 1, 2, 3))(*POINT)
    assert value == g(*POINT)
    expected = expected_of(f)
    exact = 2e-4 if method == "RK23" else 2e-5
    np.testing.assert_allclose(found, expected, rtol=exact, atol=exact)
    moved = ad.pushforward(g, POINT, (1.0, -0.5, 2.0, 0.3))[1]
    np.testing.assert_allclose(moved, np.dot(found, [1.0, -0.5, 2.0, 0.3]), rtol=1e-8)


@pytest.mark.parametrize("method", ["RK45", "DOP853", "Radau", "LSODA"])
def test_second_derivatives(method):
    """Of logistic growth, whose solution is known."""

    def f(a, y0, end):
        found = solve(method, lambda t, y: a * y * (1 - y), (0.0, end), [y0], t_eval=[0.4, end])
        return found.y[0, 1]

    def explicit(a, y0, end):
        return 1 / (1 + (1 / y0 - 1) * np.exp(-a * end))

    point = (1.3, 0.2, 1.7)
    found = ad.hessian(f, *point, argnums=(0, 1, 2))
    expected = ad.hessian(explicit, *point, argnums=(0, 1, 2))
    np.testing.assert_allclose(found, expected, rtol=1e-3 if method == "Radau" else 1e-4)


def test_the_derivative_is_that_of_the_steps():
    """Also where these are too long: as a method with the same steps and no error control."""

    def f(a):
        found = integrate.solve_ivp(lambda t, y: -a * y * y, (0.0, 3.0), [1.0], rtol=1e-1)
        return found.y[0, -1]

    def with_steps(a, times):
        y = 1.0
        for i in range(len(times) - 1):
            h, kind = times[i + 1] - times[i], integrate.RK45
            k = []
            for row in (*kind.A, kind.B)[: kind.n_stages]:
                x = y + h * sum(row[j] * k[j] for j in range(len(k)))
                k.append(-a * x * x)
            y = y + h * sum(kind.B[j] * k[j] for j in range(len(k)))
        return y

    times = integrate.solve_ivp(lambda t, y: -1.2 * y * y, (0.0, 3.0), [1.0], rtol=1e-1).t.tolist()
    assert with_steps(1.2, times) == pytest.approx(f(1.2), rel=1e-12)
    expected = ad.gradient(lambda a: with_steps(a, times), 1.2)[0]
    assert ad.gradient(f, 1.2)[0] == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("method", ["RK45", "DOP853", "BDF"])
def test_complex_states(method):
    def f(a, w):
        found = solve(
            method, lambda t, y: (1j * w - a) * y, (0.0, 1.0), np.array([1.0 + 0.5j]), t_eval=[1.0]
        )
        return np.real(found.y[0, 0] * (2 - 1j))

    def explicit(a, w):
        return np.real((1.0 + 0.5j) * np.exp(1j * w - a) * (2 - 1j))

    np.testing.assert_allclose(ad.gradient(f, 0.3, 2.0), ad.gradient(explicit, 0.3, 2.0), rtol=1e-5)


@pytest.mark.parametrize("method", ["Radau", "BDF", "LSODA"])
def test_given_jacobian(method):
    def f(a):
        found = solve(
            method, lambda t, y: [-a * y[0] + y[1], -y[1]], (0.0, 1.0), [1.0, 1.0],
            jac=lambda t, y: np.array([[-a, 1.0], [0.0, -1.0]]),
        )  # fmt: skip
        return found.y[0, -1]

    def explicit(a):
        return np.exp(-a) + (np.exp(-1.0) - np.exp(-a)) / (a - 1.0)

    assert ad.gradient(f, 3.0)[0] == pytest.approx(ad.gradient(explicit, 3.0)[0], rel=1e-5)


@pytest.mark.parametrize("method", METHODS)
def test_edges(method):
    def nothing_asked(y0):
        found = integrate.solve_ivp(lambda t, y: -y, (0.0, 1.0), [y0], method, t_eval=[])
        return y0 * (1 + len(found.t))

    assert ad.gradient(nothing_asked, 0.7) == (1.0,)

    def no_length(y0, end):
        return integrate.solve_ivp(lambda t, y: -2 * y, (1.0, end), [y0], method).y[0, -1]

    np.testing.assert_allclose(ad.gradient(no_length, 0.7, 1.0), (1.0, -1.4), rtol=1e-4)


def blowing_up(a, method="RK45"):
    """The solution 1 / (1 - a t) ends at t = 1 / a."""
    found = integrate.solve_ivp(lambda t, y: a * y * y, (0.0, 2.0), [1.0], method, rtol=1e-8)
    assert found.status == -1
    return found.y[0, 5]


@pytest.mark.filterwarnings("ignore")
def test_as_far_as_it_came():
    t = integrate.solve_ivp(lambda t, y: y * y, (0.0, 2.0), [1.0], rtol=1e-8).t[5]
    value, (found,) = ad.withgradient(blowing_up, 1.0)
    assert value == blowing_up(1.0)
    assert found == pytest.approx(t / (1 - t) ** 2, rel=1e-5)
    for method in ("Radau", "BDF"):
        with pytest.raises(NoDerivativeError, match="Required step size"):
            ad.gradient(lambda a, method=method: blowing_up(a, method), 1.0)


def grazing(a):
    found = integrate.solve_ivp(
        lambda t, y: [a], (0.0, 2.0), [0.0], events=lambda t, y: np.sign(y[0] - 1.0)
    )
    return found.t_events[0][0]


def test_refused_events():
    for differentiate in (ad.gradient, lambda f, a: ad.derivative(f)(a)):
        with pytest.raises(NoDerivativeError, match="does not cross zero"):
            differentiate(grazing, 1.0)


def test_what_stores_is_followed():
    def f(a):
        seen = []

        def rate(t, y):
            seen.append(a * y[0])
            return -seen[-1:][0] * np.ones(1)

        return integrate.solve_ivp(rate, (0.0, 1.0), [1.0], t_eval=[1.0]).y[0, 0] + 2.0 * seen[0]

    assert ad.gradient(f, 0.7)[0] == pytest.approx(2.0 - np.exp(-0.7), rel=1e-3)


def test_counters_are_as_after_one_run():
    count = [0]

    def f(a):
        def rate(t, y):
            count[0] += 1
            return -a * y

        return integrate.solve_ivp(rate, (0.0, 1.0), [1.0], events=lambda t, y: t - 0.5).y[0, -1]

    f(0.7)
    once, count[0] = count[0], 0
    assert ad.gradient(f, 0.7)[0] == pytest.approx(-np.exp(-0.7), rel=1e-3)
    assert count[0] == once


def test_the_dense_solution_outside():
    def f(a):
        found = integrate.solve_ivp(
            lambda t, y: -a * y, (0.0, 1.0), [1.0], dense_output=True, rtol=1e-8
        )
        return found.sol, found.y[0, -1]

    (sol, _), _ = ad.pullback(f, 0.7)
    plain, _ = f(0.7)
    assert type(sol) is integrate.OdeSolution
    assert np.array_equal(sol(np.array([0.3, 0.1])), plain(np.array([0.3, 0.1])))
    assert ad.gradient(lambda t: sol(t)[0], 0.3)[0] == pytest.approx(-0.7 * np.exp(-0.21), 1e-5)
    assert ad.gradient(lambda t: plain(t)[0], 0.3)[0] == pytest.approx(-0.7 * np.exp(-0.21), 1e-5)
