"""Where an integrand is not smooth.

Such a place is searched for where the intervals that a sum needs meet: what is not smooth inside an
interval has it divided again and again. A difference of values that is left when numbers are
neighbours is a jump; a kink is a jump of the slope.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adjoint.errors import AdjointError
from adjoint.levels.transforms import derivative
from adjoint.rules.scipy.integrate.grid import Nodes, size_of

NEAR, CLOSE = 1e-5, 1e-11
"""How far from where intervals meet at most and at least, of the whole."""
LEAST = 1e-6
"""How much of the integral a jump adds to it when it moves over the whole."""


class Break(NamedTuple):
    """A place where a function jumps or becomes infinite.

    Attributes
    ----------
    at
        The place.
    sides
        Numbers beside it, with signs: one on both sides, or one on the only side there is. If the
        function is a slope, the difference of what it is the slope of tells how the place moves.
    along
        How far it moves for a unit of that.
    """

    at: float
    sides: list[tuple[float, float]]
    along: Any


def values_of(func: Any, args: Any) -> Any:
    """The integrand as a function of a number; NaN where it has no value."""

    def value(t: float) -> Any:
        try:
            return func(t, *args)
        except (ArithmeticError, ValueError):
            return np.nan

    return value


def slope_of(func: Any, args: Any) -> Any:
    """The slope of the integrand; NaN where it is not known."""
    slope = derivative(lambda t: func(t, *args))

    def value(t: float) -> Any:
        try:
            return slope(t)
        except (ArithmeticError, ValueError, AdjointError):
            return np.nan

    return value


def breaks(g: Any, nodes: Nodes, length: float, least: float, named: Any) -> list[Break]:
    """The jumps of `g` by more than `least`, but those at places that are named."""
    found: list[Break] = []
    for left, right in _brackets(nodes, length, named):
        if not any(left <= jump.at <= right for jump in found):
            jump = _jump(g, left, right, least, length)
            found += [] if jump is None else [jump]
    return found


def _brackets(nodes: Nodes, length: float, named: Any) -> list[tuple[float, float]]:
    """Around each end of two intervals, not further than the next ones; intervals that the sum is
    not the integral over."""
    gaps = np.diff(nodes.ends, prepend=-np.inf, append=np.inf)
    reach = np.maximum(0.999 * np.minimum(gaps[:-1], gaps[1:]), CLOSE * length)
    reach = np.minimum(reach, NEAR * length)
    pairs = [*zip((nodes.ends - reach).tolist(), (nodes.ends + reach).tolist(), strict=True)]
    pairs += [pair for pair in nodes.rough if pair[1] - pair[0] > NEAR * length]
    return [pair for pair in pairs if not any(pair[0] <= name <= pair[1] for name in named)]


def _jump(g: Any, left: float, right: float, least: float, length: float) -> Break | None:
    """Where a difference of more than `least` stays as the two places come together; at a pole it
    does not."""
    low, high = g(left), g(right)
    rises = [size_of(high - low)]
    while rises[-1] > least and np.isfinite(rises[-1]):
        middle = (left + right) / 2
        if not left < middle < right or right - left < 1e-16 * length:
            last = rises[-12:]
            is_jump = min(last) > 0.2 * max(last)  # what is there need be on neither side
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
    """Where the slope becomes infinite at a limit where the value does not: a place near it, and
    the slope there."""
    if np.isinf(limit) or np.min(np.abs(ends[ends != limit] - limit)) > 1e-3 * abs(inward):
        return None  # one interval is enough near it
    if not np.all(np.isfinite(value(limit))):
        return None
    near, nearer = limit + 1e-6 * inward, limit + 1e-10 * inward
    rise = slope(nearer)
    if not size_of(rise) > 2 * size_of(slope(near)) or not np.all(np.isfinite(rise)):
        return None
    return Break(limit, [(nearer, 1.0)], _along(rise))


def _along(rise: Any) -> Any:
    """How far to go for a unit of the value, if that is known for several values."""
    return np.conj(rise) / np.sum(np.abs(rise) ** 2)
