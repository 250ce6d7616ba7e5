"""Least squares: how far the polynomial with coefficients x is from the sign function, at n points
of [−1, 1]."""

from __future__ import annotations

from typing import Any

import numpy as np

import adjoint as ad
from benchmarks.gradbench.evaluation import Function, Functions, Style, choose

__all__ = ["functions", "misfit_arrays", "misfit_loops"]


def misfit_arrays(x: Any, n: int) -> Any:
    """Half the sum of squares, with whole arrays and Horner's scheme."""
    t = 2 * np.arange(n) / (n - 1) - 1
    polynomial = np.zeros(n)
    for coefficient in x[::-1]:
        polynomial = polynomial * t + coefficient
    return np.sum((np.sign(t) - polynomial) ** 2) / 2


def misfit_loops(x: Any, n: int) -> Any:
    """Half the sum of squares, element by element."""
    total = 0.0
    for i in range(n):
        t = 2 * i / (n - 1) - 1
        residual = (t > 0) - (t < 0)
        power = 1.0
        for j in range(len(x)):
            residual -= x[j] * power
            power *= t
        total += residual * residual
    return total / 2


# ---- what GradBench calls ------------------------------------------------------------------------


def functions(style: Style) -> Functions:
    """``primal`` and ``gradient``."""
    misfit = choose(style, arrays=misfit_arrays, loops=misfit_loops)

    def gradient(x: Any, n: int) -> Any:
        (x_bar,) = ad.gradient(misfit, x, n=n)
        return x_bar

    return {
        "primal": Function(_prepare, misfit, float),
        "gradient": Function(_prepare, gradient, np.ndarray.tolist),
    }


def _prepare(input: Any) -> tuple[Any, ...]:
    return np.array(input["x"], float), input["n"]
