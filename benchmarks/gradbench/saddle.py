"""min over p of max over q of |p|² − |q|², both by gradient descent: a derivative of a search that
itself differentiates.

The functions of GradBench name the mode of the outer derivative, then that of the inner: ``f`` is
forward, ``r`` is reverse.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.gradbench.descent import (
    MODES_ARRAYS,
    MODES_LOOPS,
    maximise_arrays,
    maximise_loops,
    minimise_arrays,
    minimise_loops,
)
from benchmarks.gradbench.evaluation import Function, Functions, Style, choose

__all__ = ["functions", "highest_arrays", "highest_loops"]


# ---- with whole arrays ---------------------------------------------------------------------------


def height_arrays(p: Any, q: Any) -> Any:
    """The objective."""
    return np.sum(p**2) - np.sum(q**2)


def highest_arrays(p: Any, start: Any, gradient: Any) -> Any:
    """The greatest height over q, searched from `start` on."""
    q = maximise_arrays(lambda q: height_arrays(p, q), gradient, start)
    return height_arrays(p, q)


def saddle_point_arrays(start: Any, outer: str, inner: str) -> Any:
    """Where the highest point is lowest: (p, q), from the same start for both."""

    def highest(p: Any) -> Any:
        return highest_arrays(p, start, MODES_ARRAYS[inner])

    p = minimise_arrays(highest, MODES_ARRAYS[outer], start)
    q = maximise_arrays(lambda q: height_arrays(p, q), MODES_ARRAYS[outer], start)
    return [*p, *q]


# ---- element by element --------------------------------------------------------------------------


def height_loops(p: Any, q: Any) -> Any:
    """The objective."""
    return (p[0] * p[0] + p[1] * p[1]) - (q[0] * q[0] + q[1] * q[1])


def highest_loops(p: Any, start: Any, gradient: Any) -> Any:
    """The greatest height over q, searched from `start` on."""
    q = maximise_loops(lambda q: height_loops(p, q), gradient, start)
    return height_loops(p, q)


def saddle_point_loops(start: Any, outer: str, inner: str) -> Any:
    """Where the highest point is lowest: (p, q), from the same start for both."""

    def highest(p: Any) -> Any:
        return highest_loops(p, start, MODES_LOOPS[inner])

    p = minimise_loops(highest, MODES_LOOPS[outer], start)
    q = maximise_loops(lambda q: height_loops(p, q), MODES_LOOPS[outer], start)
    return [*p, *q]


# ---- what GradBench calls ------------------------------------------------------------------------


def functions(style: Style) -> Functions:
    """``ff``, ``fr``, ``rf`` and ``rr``."""
    saddle_point = choose(style, arrays=saddle_point_arrays, loops=saddle_point_loops)

    def prepare(input: Any) -> tuple[Any, ...]:
        start = input["start"]
        return (choose(style, arrays=np.array(start), loops=list(start)),)

    return {
        outer + inner: Function(prepare, partial(saddle_point, outer=outer, inner=inner), _finish)
        for outer in "fr"
        for inner in "fr"
    }


def _finish(found: Any) -> list[float]:
    return [float(x) for x in found]
