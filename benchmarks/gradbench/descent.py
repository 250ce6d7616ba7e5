"""Gradient descent that can itself be differentiated, with derivatives by either mode.

The step doubles after ten successes in a row and is halved after each failure. A point is an array
or a list of floats, by style.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import adjoint as ad

__all__ = [
    "MODES_ARRAYS",
    "MODES_LOOPS",
    "maximise_arrays",
    "maximise_loops",
    "minimise_arrays",
    "minimise_loops",
]

TOLERANCE = 1e-5


def by_reverse(f: Any, x: Any) -> Any:
    """The gradient by reverse mode, for both styles."""
    return ad.gradient(f, x)[0]


# ---- with whole arrays ---------------------------------------------------------------------------


def by_forward_arrays(f: Any, x: Any) -> Any:
    """The gradient by forward mode, a run per direction."""
    return np.array([ad.pushforward(f, (x,), (direction,))[1] for direction in np.eye(len(x))])


def length_arrays(x: Any) -> Any:
    """The Euclidean norm."""
    return np.sqrt(np.sum(x**2))


def minimise_arrays(f: Any, gradient: Any, x: Any) -> Any:
    """Where `f` is least, from `x` on; ``gradient(f, x)`` gives the slope."""
    value, slope = f(x), gradient(f, x)
    step, descents = 1e-5, 0
    while length_arrays(slope) > TOLERANCE:
        if descents == 10:
            step, descents = step * 2, 0
            continue
        new = x - step * slope
        if length_arrays(new - x) <= TOLERANCE:
            break
        new_value = f(new)
        if new_value < value:
            x, value, slope = new, new_value, gradient(f, new)
            descents += 1
        else:
            step, descents = step / 2, 0
    return x


def maximise_arrays(f: Any, gradient: Any, x: Any) -> Any:
    """Where `f` is greatest."""
    return minimise_arrays(lambda x: -f(x), gradient, x)


MODES_ARRAYS = {"f": by_forward_arrays, "r": by_reverse}


# ---- element by element --------------------------------------------------------------------------


def by_forward_loops(f: Any, x: Any) -> Any:
    """The gradient by forward mode, a run per direction."""
    slopes = []
    for i in range(len(x)):
        direction = [1.0 if j == i else 0.0 for j in range(len(x))]
        slopes.append(ad.pushforward(f, (x,), (direction,))[1])
    return slopes


def length_loops(x: Any) -> Any:
    """The Euclidean norm."""
    return math.sqrt(sum(a * a for a in x))


def moved_loops(x: Any, step: Any, direction: Any) -> Any:
    """So many steps from `x` in a direction."""
    return [a + step * b for a, b in zip(x, direction, strict=True)]


def minimise_loops(f: Any, gradient: Any, x: Any) -> Any:
    """Where `f` is least, from `x` on; ``gradient(f, x)`` gives the slope."""
    value, slope = f(x), gradient(f, x)
    step, descents = 1e-5, 0
    while length_loops(slope) > TOLERANCE:
        if descents == 10:
            step, descents = step * 2, 0
            continue
        new = moved_loops(x, -step, slope)
        if length_loops(moved_loops(new, -1.0, x)) <= TOLERANCE:
            break
        new_value = f(new)
        if new_value < value:
            x, value, slope = new, new_value, gradient(f, new)
            descents += 1
        else:
            step, descents = step / 2, 0
    return x


def maximise_loops(f: Any, gradient: Any, x: Any) -> Any:
    """Where `f` is greatest."""
    return minimise_loops(lambda x: -f(x), gradient, x)


MODES_LOOPS = {"f": by_forward_loops, "r": by_reverse}
