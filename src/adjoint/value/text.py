"""The scalar graph as text."""

from __future__ import annotations

import math
from collections import Counter

from adjoint.value.graph import Value, build_graph


def format_graph(root: Value, *, max_depth: int = 24) -> str:
    """Indented tree of the graph of `root`, with a column of data and one of gradients.

    Parameters
    ----------
    root : Value
        The node of the first line; below each node are its operands, in order.
    max_depth : int
        Deeper nodes are left out, and the last line gives their number.

    Returns
    -------
    str
        A node that is used more than once has a number, ``#1``; its operands are shown only at its
        first occurrence.

    Raises
    ------
    ValueError
        `max_depth` is negative.

    Examples
    --------
    >>> x = Value(3.0, label="x")
    >>> print(format_graph(x * x))
    *        data 9.0000  grad 0.0000
    ├─ x #1  data 3.0000  grad 0.0000
    └─ x #1 (above)
    """
    if max_depth < 0:
        raise ValueError(f"max_depth must not be negative, got {max_depth}")
    nodes = build_graph(root)
    numbers = _shared_numbers(nodes)
    rows: list[tuple[str, Value | None]] = []
    shown: set[int] = set()
    stack = [(root, "", "", 0)]
    while stack:
        node, lead, below, depth = stack.pop()
        name = _name(node, numbers)
        if id(node) in shown:
            rows.append((f"{lead}{name} (above)", None))
            continue
        shown.add(id(node))
        rows.append((lead + name, node))
        if not node.prev:
            continue
        if depth == max_depth:
            rows.append((f"{below}└─ …", None))
            continue
        *first, last = node.prev
        stack.append((last, f"{below}└─ ", f"{below}   ", depth + 1))
        stack.extend((n, f"{below}├─ ", f"{below}│  ", depth + 1) for n in reversed(first))
    text = _align(rows)
    if hidden := len(nodes) - len(shown):
        text += f"\n({hidden} more nodes deeper than {max_depth})"
    return text


def _shared_numbers(nodes: list[Value]) -> dict[int, int]:
    uses = Counter(id(operand) for node in nodes for operand in node.prev)
    shared = [id(node) for node in nodes if uses[id(node)] > 1]
    return {key: number for number, key in enumerate(shared, start=1)}


def _name(node: Value, numbers: dict[int, int]) -> str:
    name = " = ".join(filter(None, (node.label, node.op))) or "leaf"
    number = numbers.get(id(node))
    return name if number is None else f"{name} #{number}"


def _align(rows: list[tuple[str, Value | None]]) -> str:
    width = max(len(name) for name, node in rows if node is not None)
    data_width = max(len(_number(node.data)) for _, node in rows if node is not None)

    def line(name: str, node: Value | None) -> str:
        if node is None:
            return name
        data = _number(node.data).ljust(data_width)
        return f"{name:<{width}}  data {data}  grad {_number(node.grad)}"

    return "\n".join(line(name, node) for name, node in rows)


def _number(x: float) -> str:
    plain = x == 0.0 or 1e-3 <= abs(x) < 1e6 or not math.isfinite(x)
    return f"{x:.4f}" if plain else f"{x:.3e}"
