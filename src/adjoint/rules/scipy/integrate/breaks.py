"""Search for places where an integrand is not smooth.

A sum divides an interval that contains such a place again and again, so places are searched for at
the ends of intervals. A difference of values that remains between neighbouring numbers is a jump. A
kink is a jump of the slope.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adjoint.errors import AdjointError
from adjoint.levels.transforms import derivative
from adjoint.rules.scipy.integrate.grid import Nodes, size_of

NEAR, CLOSE = 1e-5, 1e-11
"""Largest and smallest distance from an end of an interval, relative to the whole."""
LEAST = 1e-6
"""Least change of the integral, relative to it, as a jump moves over the whole."""


class Break(NamedTuple):
    """A place where a function jumps or becomes infinite.

    Attributes
    ----------
    at
        The place.
    sides
        Points near the place with signs: one on each side, or one on the only side. If the function
        is a slope, the signed sum of its antiderivative at these points tells how the place moves.
    along
        The distance that the place moves per unit of that sum.
    """

    at: float
    sides: list[tuple[float, float]]
    along: Any


def values_of(func: Any, args: Any) -> Any:
    """Return the integrand as a function of a number; NaN where it has no value."""

    def value(t: float) -> Any:
        try:
            return func(t, *args)
        except (ArithmeticError, ValueError):
            return np.nan

    return value


def slope_of(func: Any, args: Any) -> Any:
    """Return the slope of the integrand as a function; NaN where it is unknown."""
    slope = derivative(lambda t: func(t, *args))

    def value(t: float) -> Any:
        try:
            return slope(t)
        except (ArithmeticError, ValueError, AdjointError):
            return np.nan

    return value


def breaks(g: Any, nodes: Nodes, length: float, least: float, named: Any) -> list[Break]:
    """Return the jumps of `g` by more than `least`, except at `named` places."""
    found: list[Break] = []
    for left, right in _brackets(nodes, length, named):
        if not any(left <= jump.at <= right for jump in found):
            jump = _jump(g, left, right, least, length)
            found += [] if jump is None else [jump]
    return found


def _brackets(nodes: Nodes, length: float, named: Any) -> list[tuple[float, float]]:
    """Return pairs of numbers around each end of an interval, and intervals with an inexact sum. No
    pair reaches beyond the next end."""
    gaps = np.diff(nodes.ends, prepend=-np.inf, append=np.inf)
    reach = np.maximum(0.999 * np.minimum(gaps[:-1], gaps[1:]), CLOSE * length)
    reach = np.minimum(reach, NEAR * length)
    pairs = [*zip((nodes.ends - reach).tolist(), (nodes.ends + reach).tolist(), strict=True)]
    pairs += [pair for pair in nodes.rough if pair[1] - pair[0] > NEAR * length]
    return [pair for pair in pairs if not any(pair[0] <= name <= pair[1] for name in named)]


def _jump(g: Any, left: float, right: float, least: float, length: float) -> Break | None:
    """Return the place where a difference above `least` remains under bisection, if any. At a pole
    the difference does not settle."""
    low, high = g(left), g(right)
    rises = [size_of(high - low)]
    while rises[-1] > least and np.isfinite(rises[-1]):
        middle = (left + right) / 2
        if not left < middle < right or right - left < 1e-16 * length:
            last = rises[-12:]
            is_jump = min(last) > 0.2 * max(last)  # the value at the jump may be on neither side
            return _across(g, middle, length) if is_jump else None
        value = g(middle)
        if size_of(value - low) > size_of(high - value):
            right, high = middle, value
        else:
            left, low = middle, value
        rises.append(size_of(high - low))
    return None


def _across(g: Any, place: float, length: float) -> Break:
    left, right = place - 1e-10 * length, place + 1e-10 * length
    return Break(place, [(right, 1.0), (left, -1.0)], _along(g(right) - g(left)))


def steep_at(value: Any, slope: Any, limit: float, inward: float, ends: Any) -> Break | None:
    """Return a break at a limit where the slope is infinite and the value finite, if so."""
    if np.isinf(limit) or np.min(np.abs(ends[ends != limit] - limit)) > 1e-3 * abs(inward):
        return None  # the sum needs only one interval near the limit
    if not np.all(np.isfinite(value(limit))):
        return None
    near, nearer = limit + 1e-6 * inward, limit + 1e-10 * inward
    rise = slope(nearer)
    if not size_of(rise) > 2 * size_of(slope(near)) or not np.all(np.isfinite(rise)):
        return None
    return Break(limit, [(nearer, 1.0)], _along(rise))


def _along(rise: Any) -> Any:
    """Return the distance to move per unit of the (possibly vector-valued) rise."""
    return np.conj(rise) / np.sum(np.abs(rise) ** 2)
