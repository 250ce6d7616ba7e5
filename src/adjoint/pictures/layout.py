"""Layered layout of directed graphs without cycles, from left to right (Sugiyama's method).

The layer of a node is the longest path that leads to it. Edges that skip layers bend at a point in
each of them. The order within a layer is found by sweeps of barycentres, which keep crossings few.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

Point = tuple[float, float]

SWEEPS = 8
"""The number of passes over all layers, for the order and again for the heights."""
GAP, SPACE, BEND = 46.0, 14.0, 6.0
"""Distances: between layers, between nodes of a layer; the height of a bend of an edge."""


@dataclass(slots=True)
class Box:
    """A node, or the bend of an edge in a layer.

    Attributes
    ----------
    x, y
        The place of the centre.
    """

    width: float
    height: float
    layer: int = 0
    x: float = 0.0
    y: float = 0.0
    before: list[Box] = field(default_factory=list)
    after: list[Box] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Layout:
    """The centres of the nodes, the points of each edge, and the size of the whole."""

    centres: list[Point]
    edges: list[list[Point]]
    width: float
    height: float


def laid_out(sizes: Sequence[Point], edges: Sequence[tuple[int, int]]) -> Layout:
    """Place the nodes of a graph without cycles.

    Parameters
    ----------
    sizes
        Width and height of each node.
    edges
        Pairs (from, to) of indices of nodes.

    Raises
    ------
    ValueError
        The graph has a cycle.

    Examples
    --------
    >>> found = laid_out([(10.0, 10.0)] * 3, [(0, 2), (1, 2)])
    >>> [round(x) for x, _ in found.centres]
    [5, 5, 61]
    """
    boxes = [Box(*size) for size in sizes]
    _set_layers(boxes, edges)
    layers: list[list[Box]] = [[] for _ in range(max((box.layer for box in boxes), default=-1) + 1)]
    for box in boxes:
        layers[box.layer].append(box)
    chains = [_chain(boxes[a], boxes[b], layers) for a, b in edges]
    _order(layers)
    width = _place_across(layers)
    height = _place_down(layers)
    points = [_points(chain) for chain in chains]
    return Layout([(box.x, box.y) for box in boxes], points, width, height)


def _set_layers(boxes: list[Box], edges: Sequence[tuple[int, int]]) -> None:
    waiting = [0] * len(boxes)
    after: list[list[int]] = [[] for _ in boxes]
    for a, b in edges:
        waiting[b] += 1
        after[a].append(b)
    ready = [i for i, count in enumerate(waiting) if not count]
    for i in ready:  # grows
        for b in after[i]:
            boxes[b].layer = max(boxes[b].layer, boxes[i].layer + 1)
            waiting[b] -= 1
            if not waiting[b]:
                ready.append(b)
    if len(ready) < len(boxes):
        raise ValueError("the graph has a cycle")
    for i in reversed(ready):  # sources stand beside what they lead to
        if after[i]:
            boxes[i].layer = min(boxes[b].layer for b in after[i]) - 1


def _chain(a: Box, b: Box, layers: list[list[Box]]) -> list[Box]:
    chain = [a]
    for layer in range(a.layer + 1, b.layer):
        bend = Box(0.0, BEND, layer)
        layers[layer].append(bend)
        chain.append(bend)
    chain.append(b)
    for one, other in pairwise(chain):
        one.after.append(other)
        other.before.append(one)
    return chain


def _order(layers: list[list[Box]]) -> None:
    """Sort each layer by the mean place of neighbours in the layer before, then after, in turn."""
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        for layer in layers if forward else reversed(layers):
            place = {
                id(box): i for other in layers if other is not layer for i, box in enumerate(other)
            }

            def mean(box: Box, place: dict[int, int] = place, forward: bool = forward) -> float:
                near = box.before if forward else box.after
                return sum(place[id(one)] for one in near) / len(near) if near else -1.0

            means = [mean(box) for box in layer]
            here = {
                id(box): m if m >= 0 else float(i)
                for i, (box, m) in enumerate(zip(layer, means, strict=True))
            }
            layer.sort(key=lambda box: here[id(box)])


def _place_across(layers: list[list[Box]]) -> float:
    x = 0.0
    for layer in layers:
        width = max((box.width for box in layer), default=0.0)
        for box in layer:
            box.x = x + width / 2
        x += width + GAP
    return max(x - GAP, 0.0)


def _place_down(layers: list[list[Box]]) -> float:
    for layer in layers:
        y = 0.0
        for box in layer:
            box.y = y + box.height / 2
            y += box.height + SPACE
    for sweep in range(SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            _pull(layer, sweep % 2 == 0)
    every = [box for layer in layers for box in layer]
    top = min((box.y - box.height / 2 for box in every), default=0.0)
    for box in every:
        box.y -= top
    return max((box.y + box.height / 2 for box in every), default=0.0)


def _pull(layer: list[Box], forward: bool) -> None:
    """Move the boxes of a layer towards their neighbours, in their order and without overlap."""
    wanted = []
    for box in layer:
        near = box.before if forward else box.after
        wanted.append(sum(one.y for one in near) / len(near) if near else box.y)
    down, up = list(wanted), list(wanted)
    for i in range(1, len(layer)):
        down[i] = max(down[i], down[i - 1] + _distance(layer[i - 1], layer[i]))
    for i in range(len(layer) - 2, -1, -1):
        up[i] = min(up[i], up[i + 1] - _distance(layer[i], layer[i + 1]))
    for box, low, high in zip(layer, down, up, strict=True):
        box.y = (low + high) / 2  # keeps the distances, since both do


def _distance(a: Box, b: Box) -> float:
    return (a.height + b.height) / 2 + SPACE


def _points(chain: list[Box]) -> list[Point]:
    first, *bends, last = chain
    start = first.x + first.width / 2, first.y
    return [start, *((box.x, box.y) for box in bends), (last.x - last.width / 2, last.y)]
