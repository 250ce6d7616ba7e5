"""Second derivatives of ordinary models run in programs, and give the numbers of differences."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest
from scipy.integrate import odeint, solve_ivp

import adjoint as ad
from adjoint.fast.programs import store

X = np.linspace(0.2, 1.4, 6)
THETA = np.array([1.5, 1.0, 3.0, 1.0])


def assigned_in_a_loop(x):
    for _ in range(3):
        v = np.sin(x)
        x = x + v * 0.5
    return (v**2).sum()


def assigned_in_a_long_loop(x):
    for i in range(100):
        w = np.cos(x) / (i + 1)
        x = x * 0.99 + w * 0.01
    return (w**2).sum() + w[0]


def normalised(x):
    k = np.exp(-np.abs(x[:, None] - x[None, :]))
    u = np.ones(len(x))
    for _ in range(20):
        v = 1.0 / (k.T @ u)
        u = 1.0 / (k @ v)
    return (u[:, None] * k * v[None, :])[0].sum() + u[1]


def predators(theta):
    def rhs(t, y):
        a, b, c, d = theta
        u, v = y
        return np.array([a * u - b * u * v / 10, -c * v + d * u * v / 10])

    return solve_ivp(rhs, (0, 1.0), [10.0, 5.0], rtol=1e-8, atol=1e-8).y[:, -1].sum()


def predators_by_odeint(theta):
    def rhs(y, t):
        u, v = y
        return [theta[0] * u - theta[1] * u * v / 10, -theta[2] * v + theta[3] * u * v / 10]

    return odeint(rhs, [10.0, 5.0], np.linspace(0, 1, 5), rtol=1e-9, atol=1e-9)[-1].sum()


def kalman(theta):
    f, h = np.array([[1.0, theta[0] / 3], [0.0, 1.0]]), np.array([[1.0, 0.0]])
    q, r = np.eye(2) * theta[1] ** 2 / 9, np.array([[theta[2] ** 2]])
    m, p, likelihood = np.zeros(2), np.eye(2), 0.0
    for y in np.sin(np.arange(100.0)):
        m, p = f @ m, f @ p @ f.T + q
        s = h @ p @ h.T + r
        residual = y * theta[3] - h @ m
        gain = p @ h.T @ np.linalg.inv(s)
        m, p = m + gain @ residual, p - gain @ s @ gain.T
        likelihood -= np.linalg.slogdet(s)[1] + residual @ np.linalg.solve(s, residual)
    return likelihood / 2 + np.linalg.det(p)


MODELS: dict[str, tuple[Any, Any, float]] = {
    "assigned in a loop": (assigned_in_a_loop, X, 1e-6),
    "assigned in a long loop": (assigned_in_a_long_loop, X, 1e-6),
    "normalised": (normalised, X, 1e-5),
    "solve_ivp": (predators, THETA, 1e-4),
    "a filter": (kalman, THETA, 1e-5),
    "odeint": (predators_by_odeint, THETA, 1e-4),
}


def programs() -> list[Any]:
    """Return the programs in the store; fail if a call had none, or one failed."""
    kept = [*store._kept.values()]
    assert [one.reason for known in kept for one in known.refused.values()] == []
    entries = [entry for known in kept for entry in known.entries]
    assert [entry.failures.last for entry in entries if entry.failures.last] == []
    assert not any("TangentsOfRule" in entry.source for entry in entries)
    return entries


@pytest.mark.parametrize("name", MODELS)
def test_model(name):
    f, x, tolerance = MODELS[name]
    v = np.cos(np.arange(len(x)))
    for point in (x, x * 1.1):
        store.forget()
        g, product = ad.gradient(f, point)[0], ad.hvp(f, point, v)
        slope = ad.pushforward(f, (point,), (v,))[1]
        assert len(programs()) >= 3
        np.testing.assert_allclose(slope, g @ v, rtol=1e-8)
        h = 1e-4
        ends = [ad.gradient(f, point + sign * h * v)[0] for sign in (1, -1)]
        scale = np.abs(product).max()
        np.testing.assert_allclose(
            product, (ends[0] - ends[1]) / (2 * h), rtol=tolerance, atol=tolerance * scale
        )
        y = [f(point + sign * h * v) for sign in (1, -1)]
        np.testing.assert_allclose(slope, (y[0] - y[1]) / (2 * h), rtol=1e-4)


class Parameters(NamedTuple):
    scale: float
    shift: Any


def test_tangents_of_named_tuples():
    def f(p):
        return p.scale * (p.shift**3).sum() * np.sin(p.scale)

    p, dot = Parameters(1.3, X), Parameters(0.7, X[::-1] * 0.3)
    store.forget()
    product = ad.hvp(f, p, dot)
    slope = ad.pushforward(f, (p,), (dot,))[1]
    assert len(programs()) == 2
    whole = lambda x: f(Parameters(x[0], x[1:]))
    x, v = np.array([p.scale, *p.shift]), np.array([dot.scale, *dot.shift])
    expected = ad.hvp(whole, x, v)
    assert type(product) is Parameters
    np.testing.assert_allclose([product.scale, *product.shift], expected, rtol=1e-10)
    np.testing.assert_allclose(slope, ad.pushforward(whole, (x,), (v,))[1], rtol=1e-10)
    for other in ((0.7, dot.shift), [0.7, dot.shift]):
        found = ad.pushforward(f, (p,), (other,))[1]
        np.testing.assert_allclose(found, slope, rtol=1e-12)
