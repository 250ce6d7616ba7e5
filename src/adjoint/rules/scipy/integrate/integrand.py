"""Analysis of an integrand, for differentiation under the integral sign.

The points of a sum move with the places where the integrand is not smooth. The derivative is then
smooth between them, and the places themselves contribute nothing.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adjoint.diagnostics.no_derivative import Reason
from adjoint.rules.scipy.integrate.breaks import LEAST, Break, breaks, slope_of, steep_at, values_of
from adjoint.rules.scipy.integrate.grid import Grid, Nodes, nodes_of, size_of, slopes_at, total
from adjoint.rules.scipy.integrate.integrand_sums import roughness


class Place(NamedTuple):
    """A place where the integrand is not smooth; the points of the sum move with it.

    Attributes
    ----------
    at
        The place.
    name
        The index of the place among the limits and the given points, if it is one of them; a limit
        may also move independently.
    mark
        A break near the place, if the integrand tells how it moves: the slope jumps at a kink, and
        the value near the place determines an infinite slope.
    """

    at: float
    name: int | None = None
    mark: Break | None = None


class Under(NamedTuple):
    """The result of the analysis of an integrand.

    Attributes
    ----------
    nodes
        Points at which the integrand is evaluated.
    places
        Places in order; empty if none of them can move.
    tied
        Indices of limits that are taken to move with an infinite slope at them.
    order
        Number of nested derivatives of the integral.
    lost
        The reason for a missing derivative.
    """

    nodes: Nodes
    places: list[Place]
    tied: list[int]
    order: int
    lost: Reason | None = None


def under(func: Any, args: Any, grid: Grid, named: Any, order: int) -> Under:
    """Analyse an integrand; `named` are the limits, in order, and the given points."""
    nodes = nodes_of(grid, func, args)
    low, high, *points = map(float, named)
    length = high - low if np.isfinite(high - low) else 1.0
    if not length:
        return Under(nodes, [], [], order)
    value, slope = values_of(func, args), slope_of(func, args)
    least = LEAST * nodes.size / length
    for jump in breaks(value, nodes, length, least, named):
        return Under(nodes, [], [], order, _jumping(jump.at))
    places = [Place(point, i) for i, point in enumerate(points, 2) if low < point < high]
    if order > 1:
        kinks = breaks(slope, nodes, length, least / length, named)
        for kink in kinks:
            places.append(Place(kink.at, mark=kink))
            grid.split(kink.at)
        nodes = nodes_of(grid, func, args) if kinks else nodes
    tied = []
    for i, end, inward in ((0, low, length), (1, high, -length)):
        mark = steep_at(value, slope, end, inward, nodes.ends)
        if mark is not None and order > 1:
            tied.append(i)
        places.append(Place(end, i, mark))
    places = [place for place in places if np.isfinite(place.at)]
    if all(place.mark is None and place.name in (0, 1) for place in places):
        places = []
    if not places and _diverges(nodes, func, args):
        return Under(nodes, [], [], order, INFINITE)
    return Under(nodes, sorted(places, key=lambda place: place.at), tied, order)


def _diverges(nodes: Nodes, func: Any, args: Any) -> bool:
    """Return whether the integrand becomes infinite at a place that depends on something. The
    derivative then has no integral."""
    highest = max(map(size_of, nodes.values), default=0.0)
    if highest * np.sum(nodes.weights) < 100 * nodes.size or not nodes.is_graded():
        return False
    # The derivative in the integration variable, which is the first operand, does not count.
    bars = [slopes_at(func, point, args) for point in nodes.points.tolist()]
    sizes = [total((bar[1], *bar[3:])) for bar in bars]
    return bool(roughness(sizes, nodes.weights, nodes.nulls, nodes.blocks) > 1e-2)


def _jumping(place: float) -> Reason:
    return Reason(
        f"is not known: the integrand jumps at {place:.6g}, and that may move",
        "name the place of the jump, among the 'points' of the integral or as a limit",
    )


INFINITE = Reason(
    "has no integral: a place where the integrand becomes infinite may move",
    "name the place among the 'points' of the integral, or integrate in a variable in which the"
    " integrand is smooth",
)
