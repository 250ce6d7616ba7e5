"""A chain y₀' = x₀, yᵢ' = xᵢ yᵢ₋₁ from y(0) = 0 to t = 2, by the classical Runge-Kutta method."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad
from benchmarks.gradbench.evaluation import Function, Functions, Style, choose

__all__ = ["functions", "solve_arrays", "solve_loops"]

END = 2.0


# ---- with whole arrays ---------------------------------------------------------------------------


def slope_arrays(x: Any, y: Any) -> Any:
    """y'"""
    z = np.empty_like(y)
    z[0] = x[0]
    z[1:] = x[1:] * y[:-1]
    return z


def solve_arrays(x: Any, steps: int) -> Any:
    """y at the end, after so many steps."""
    h = END / steps
    y = np.zeros_like(x)
    for _ in range(steps):
        k1 = slope_arrays(x, y)
        k2 = slope_arrays(x, y + h / 2 * k1)
        k3 = slope_arrays(x, y + h / 2 * k2)
        k4 = slope_arrays(x, y + h * k3)
        y += h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


# ---- element by element --------------------------------------------------------------------------


def slope_loops(x: Any, y: Any, z: Any) -> None:
    """Write y' into `z`."""
    z[0] = x[0]
    for i in range(1, len(x)):
        z[i] = x[i] * y[i - 1]


def solve_loops(x: Any, steps: int) -> Any:
    """y at the end, after so many steps."""
    n = len(x)
    h = END / steps
    y, probe = np.zeros(n), np.zeros(n)
    k1, k2, k3, k4 = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    for _ in range(steps):
        slope_loops(x, y, k1)
        for i in range(n):
            probe[i] = y[i] + h / 2 * k1[i]
        slope_loops(x, probe, k2)
        for i in range(n):
            probe[i] = y[i] + h / 2 * k2[i]
        slope_loops(x, probe, k3)
        for i in range(n):
            probe[i] = y[i] + h * k3[i]
        slope_loops(x, probe, k4)
        for i in range(n):
            y[i] += h / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i])
    return y


# ---- what GradBench calls ------------------------------------------------------------------------


def last_arrays(x: Any, steps: int) -> Any:
    """The end of the chain."""
    return solve_arrays(x, steps)[-1]


def last_loops(x: Any, steps: int) -> Any:
    """The end of the chain."""
    return solve_loops(x, steps)[-1]


def functions(style: Style) -> Functions:
    """``primal``, the whole chain, and ``gradient``, that of its end."""
    solve = choose(style, arrays=solve_arrays, loops=solve_loops)
    last = choose(style, arrays=last_arrays, loops=last_loops)

    def gradient(x: Any, steps: int) -> Any:
        (x_bar,) = ad.gradient(last, x, steps=steps)
        return x_bar

    return {
        "primal": Function(_prepare, solve, np.ndarray.tolist),
        "gradient": Function(_prepare, gradient, np.ndarray.tolist),
    }


def _prepare(input: Any) -> tuple[Any, ...]:
    return np.array(input["x"], float), input["s"]
