"""What has to be known of an integrand for its integral to be differentiated under its sign.

The points of a sum move with the places where the integrand is not smooth: then the derivative is
smooth between them, and nothing of it is in the places themselves.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from adjoint.diagnostics.no_derivative import Reason
from adjoint.rules.scipy.integrate.breaks import LEAST, Break, breaks, slope_of, steep_at, values_of
from adjoint.rules.scipy.integrate.grid import Grid, Nodes, nodes_of, size_of, slopes_at, total
from adjoint.rules.scipy.integrate.sums import roughness


class Place(NamedTuple):
    """Where the integrand is not smooth; the points of the sum move with it.

    Attributes
    ----------
    at
        The place.
    name
        The index of the number that it is, among the limits and the points that were given; a limit
        may move on its own.
    mark
        Beside the place, if the integrand tells how it moves: what jumps at a kink is its slope,
        and where the slope is infinite, the value near it is that of the place.
    """

    at: float
    name: int | None = None
    mark: Break | None = None


class Under(NamedTuple):
    """What is known of the integrand.

    Attributes
    ----------
    nodes
        Where it is taken.
    places
        In order; none if none of them can move.
    tied
        The limits of which it is taken that the place where the slope is infinite moves with them.
    order
        How many times the integral is differentiated.
    lost
        Why there is no derivative, if there is none.
    """

    nodes: Nodes
    places: list[Place]
    tied: list[int]
    order: int
    lost: Reason | None = None


def under(func: Any, args: Any, grid: Grid, named: Any, order: int) -> Under:
    """Look at an integrand; `named` are the limits, in order, and the points that were given."""
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
    """Whether the derivative has no integral: the integrand becomes infinite, and where it does
    depends on something."""
    highest = max(map(size_of, nodes.values), default=0.0)
    if highest * np.sum(nodes.weights) < 100 * nodes.size or not nodes.is_graded():
        return False
    # but that of the point itself, which comes after the integrand
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
