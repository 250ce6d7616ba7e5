"""A charged particle is thrown past two fixed charges: where the second has to be for the particle
to come down at the origin.

The force is the gradient of a potential, and the place of the charge is found by gradient descent:
a derivative within a derivative. The functions of GradBench name the mode of the outer derivative,
then that of the inner: ``f`` is forward, ``r`` is reverse.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from benchmarks.gradbench.descent import (
    MODES_ARRAYS,
    MODES_LOOPS,
    minimise_arrays,
    minimise_loops,
)
from benchmarks.gradbench.evaluation import Function, Functions, Style, choose

__all__ = ["functions", "landing_arrays", "landing_loops"]

TIME_STEP = 0.1


# ---- with whole arrays ---------------------------------------------------------------------------


def potential_arrays(position: Any, charges: Any) -> Any:
    """The sum of inverse distances."""
    return sum(1 / np.sqrt(np.sum((position - charge) ** 2)) for charge in charges)


def landing_arrays(w: Any, gradient: Any) -> Any:
    """Square of the abscissa at which the particle meets the x axis, by Euler's method."""
    charges = [np.array([10.0, 10.0 - w]), np.array([10.0, 0.0])]
    position, velocity = np.array([0.0, 8.0]), np.array([0.75, 0.0])
    while True:
        force = -gradient(lambda x: potential_arrays(x, charges), position)
        position = position + TIME_STEP * velocity
        if position[1] <= 0:
            rest = -position[1] / velocity[1]
            return (position[0] + rest * velocity[0]) ** 2
        velocity = velocity + TIME_STEP * force


def control_arrays(w: Any, outer: str, inner: str) -> Any:
    """The `w` of the least landing, from this one on."""

    def squared(w: Any) -> Any:
        return landing_arrays(w[0], MODES_ARRAYS[inner])

    return minimise_arrays(squared, MODES_ARRAYS[outer], np.array([w]))[0]


# ---- element by element --------------------------------------------------------------------------


def potential_loops(x: Any, y: Any, charges: Any) -> Any:
    """The sum of inverse distances."""
    total = 0.0
    for a, b in charges:
        total += 1 / math.sqrt((x - a) ** 2 + (y - b) ** 2)
    return total


def landing_loops(w: Any, gradient: Any) -> Any:
    """Square of the abscissa at which the particle meets the x axis, by Euler's method."""
    charges = [(10.0, 10.0 - w), (10.0, 0.0)]
    x, y = 0.0, 8.0
    vx, vy = 0.75, 0.0
    while True:
        ax, ay = gradient(lambda place: potential_loops(place[0], place[1], charges), [x, y])
        x += TIME_STEP * vx
        y += TIME_STEP * vy
        if y <= 0:
            rest = -y / vy
            return (x + rest * vx) ** 2
        vx -= TIME_STEP * ax
        vy -= TIME_STEP * ay


def control_loops(w: Any, outer: str, inner: str) -> Any:
    """The `w` of the least landing, from this one on."""

    def squared(w: Any) -> Any:
        return landing_loops(w[0], MODES_LOOPS[inner])

    return minimise_loops(squared, MODES_LOOPS[outer], [w])[0]


# ---- what GradBench calls ------------------------------------------------------------------------


def functions(style: Style) -> Functions:
    """``ff``, ``fr``, ``rf`` and ``rr``."""
    control = choose(style, arrays=control_arrays, loops=control_loops)
    return {
        outer + inner: Function(_prepare, partial(control, outer=outer, inner=inner), float)
        for outer in "fr"
        for inner in "fr"
    }


def _prepare(input: Any) -> tuple[Any, ...]:
    return (input["w"],)
