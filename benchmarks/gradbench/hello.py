"""x² and its derivative."""

from __future__ import annotations

from typing import Any

import adjoint as ad
from benchmarks.gradbench.evaluation import Function, Functions, Style

__all__ = ["functions", "squared"]


def squared(x: Any) -> Any:
    """The objective."""
    return x * x


# ---- what GradBench calls ------------------------------------------------------------------------


def functions(style: Style) -> Functions:
    """``square`` and ``double``, the same in both styles."""

    def double(x: Any) -> Any:
        (x_bar,) = ad.gradient(squared, x)
        return x_bar

    return {
        "square": Function(_prepare, squared, float),
        "double": Function(_prepare, double, float),
    }


def _prepare(input: Any) -> tuple[Any, ...]:
    return (float(input),)
