"""log Σ exp(x), with the largest entry taken out so that nothing overflows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import adjoint as ad
from benchmarks.gradbench.evaluation import Function, Functions, Style, choose

__all__ = ["functions", "logsumexp_arrays", "logsumexp_loops"]


def logsumexp_arrays(x: Any) -> Any:
    """With whole arrays."""
    top = np.max(x)
    return top + np.log(np.sum(np.exp(x - top)))


def logsumexp_loops(x: Any) -> Any:
    """Element by element."""
    top = x[0]
    for value in x:
        if value > top:
            top = value
    total = 0.0
    for value in x:
        total += math.exp(value - top)
    return top + math.log(total)


# ---- what GradBench calls ------------------------------------------------------------------------


def functions(style: Style) -> Functions:
    """``primal`` and ``gradient``."""
    logsumexp = choose(style, arrays=logsumexp_arrays, loops=logsumexp_loops)

    def gradient(x: Any) -> Any:
        (x_bar,) = ad.gradient(logsumexp, x)
        return x_bar

    return {
        "primal": Function(_prepare, logsumexp, float),
        "gradient": Function(_prepare, gradient, np.ndarray.tolist),
    }


def _prepare(input: Any) -> tuple[Any, ...]:
    return (np.array(input["x"], float),)
