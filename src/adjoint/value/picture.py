"""The scalar graph as it is drawn."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Protocol

from adjoint.pictures.graph_drawing import Graph, Node


class Drawn(Protocol):
    """What is drawn of a `Value`."""

    data: float
    grad: float
    op: str
    label: str

    @property
    def prev(self) -> tuple[Any, ...]: ...


def picture(nodes: Sequence[Drawn]) -> Graph:
    """Return the drawing of nodes in topological order, of which the last is the root."""
    place = {id(node): i for i, node in enumerate(nodes)}
    edges = {(place[id(x)], place[id(node)]) for node in nodes for x in node.prev}
    root = nodes[-1]
    drawn = tuple(_drawn(node, node is root) for node in nodes)
    return Graph(drawn, tuple(sorted(edges)), f"graph of {_name(root)}")


def _drawn(node: Drawn, is_root: bool) -> Node:
    kind = "result" if is_root else "operation" if node.prev else "input"
    if not (math.isfinite(node.data) and math.isfinite(node.grad)):
        kind = "bad"
    return Node((_name(node), f"data {node.data:.6g}", f"grad {node.grad:.6g}"), kind)


def _name(node: Drawn) -> str:
    return " = ".join(filter(None, (node.label, node.op))) or "leaf"
