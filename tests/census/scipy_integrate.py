"""`scipy.integrate`: sums over samples, adaptive quadrature, differential equations."""

from __future__ import annotations

import math

import numpy as np
from scipy import integrate
from scipy.stats import qmc

from tests.census.entries import Section, case, public, via
from tests.rules.harness import reals

X, Y = np.array([0.0, 0.3, 0.7, 1.0, 1.6]), reals(5)
START = np.array([1.0, 0.5])
TOLERANCES = {"rtol": 1e-4, "atol": 1e-5}


def solved(method):
    """Of an oscillation, by a method of `solve_ivp`."""
    return via(lambda y0, k, end: _run(method, y0, k, end).y[:, -1], START, 2.0, 1.1, **TOLERANCES)


def _run(method, y0, k, end, **options):
    def slope(t, y):
        return np.array([y[1], -k * y[0]])

    return integrate.solve_ivp(
        slope, (0.0, end), y0, method=method, rtol=1e-7, atol=1e-8, **options
    )


def _step(kind):
    """One step of a solver."""

    def stepped(y0, k):
        solver = kind(lambda t, y: np.array([y[1], -k * y[0]]), 0.0, y0, 1.0, first_step=0.1)
        solver.step()
        return solver.y

    return stepped


def bvp(k):
    """A string with fixed ends."""
    found = integrate.solve_bvp(
        lambda t, y: np.array([y[1], -k * y[0]]),
        lambda a, b: np.array([a[0] - 1.0, b[0]]),
        np.linspace(0.0, 1.0, 5),
        np.zeros((2, 5)),
    )
    return found.sol(0.3)


EXAMPLES = {
    "BDF": solved("BDF"),
    "DOP853": solved("DOP853"),
    "DenseOutput": via(
        lambda y0, k, t: _run("RK45", y0, k, 1.1, dense_output=True).sol(t), START, 2.0, 0.7,
        **TOLERANCES,
    ),
    "LSODA": solved("LSODA"),
    "OdeSolution": via(
        lambda y0, k, t: _run("DOP853", y0, k, 1.1, dense_output=True).sol(t), START, 2.0, 0.7,
        **TOLERANCES,
    ),
    "OdeSolver": via(_step(integrate.RK45), START, 2.0),
    "RK23": solved("RK23"),
    "RK45": solved("RK45"),
    "Radau": solved("Radau"),
    "complex_ode": via(
        lambda k: integrate.complex_ode(lambda t, y: -k * y)
        .set_initial_value([1.0 + 0j]).integrate(1.0),
        2.0,
    ),
    "cubature": via(
        lambda a, b, c: integrate.cubature(lambda t: np.sin(c * t[:, 0]), [a], [b]).estimate,
        0.3, 1.4, 2.0,
    ),
    "cumulative_simpson": via(lambda y, x: integrate.cumulative_simpson(y, x=x), Y, X),
    "cumulative_trapezoid": case(Y, X),
    "dblquad": via(
        lambda a, b, c: integrate.dblquad(
            lambda s, t: math.sin(c * s * t), a, b, 0.0, lambda t: c * t
        )[0],
        0.3, 1.4, 2.0,
    ),
    "fixed_quad": via(
        lambda a, b, c: integrate.fixed_quad(lambda t: np.sin(c * t), a, b)[0], 0.3, 1.4, 2.0
    ),
    "newton_cotes": via(
        lambda x: integrate.newton_cotes(np.concatenate([[0.0], x, [3.0]]))[0],
        np.array([1.2, 1.9]),
    ),
    "nquad": via(
        lambda a, b, c: integrate.nquad(lambda s, t: s * t**c, [[a, b], [0.0, 1.0]])[0],
        0.3, 1.4, 2.0,
    ),
    "nsum": via(lambda c: integrate.nsum(lambda t: 1.0 / t**c, 1, np.inf).sum, 2.5, **TOLERANCES),
    "ode": via(
        lambda y0, k: integrate.ode(lambda t, y: [y[1], -k * y[0]])
        .set_integrator("dopri5").set_initial_value(y0).integrate(1.0),
        START, 2.0,
    ),
    "odeint": via(
        lambda y0, k: integrate.odeint(
            lambda y, t: np.array([y[1], -k * y[0]]), y0, np.array([0.0, 1.0])
        ),
        START, 2.0,
    ),
    "qmc_quad": via(
        lambda a, b: integrate.qmc_quad(
            lambda t: np.sin(b * t[0]), a, 1.0, qrng=qmc.Halton(1, rng=0)
        ).integral,
        0.3, 1.4,
    ),
    "quad": via(
        lambda a, b, c: integrate.quad(lambda t: math.sin(c * t), a, b)[0], 0.3, 1.4, 2.0
    ),
    "quad_vec": via(
        lambda a, b, c: integrate.quad_vec(lambda t: np.sin(c * t) * Y, a, b)[0], 0.3, 1.4, 2.0
    ),
    "romb": case(Y),
    "simpson": via(lambda y, x: integrate.simpson(y, x=x), Y, X),
    "solve_bvp": via(bvp, 2.0, **TOLERANCES),
    "solve_ivp": solved("RK45"),
    "tanhsinh": via(
        lambda a, b, c: integrate.tanhsinh(lambda t: np.sin(c * t), a, b).integral, 0.3, 1.4, 2.0
    ),
    "tplquad": via(
        lambda c: integrate.tplquad(lambda r, s, t: r * s * t**c, 0, 1, 0, 1, 0, 1)[0], 2.0
    ),
    "trapezoid": case(Y, X),
}  # fmt: skip

SECTIONS = [
    Section(
        "scipy.integrate",
        public(integrate),
        EXAMPLES,
        {"its rule is that of an integer order": "lebedev_rule"},
        seldom="tplquad",
    )
]
