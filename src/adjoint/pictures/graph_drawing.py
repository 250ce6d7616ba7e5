"""A graph as it is drawn, as SVG and as DOT."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from itertools import pairwise

from adjoint.pictures.layout import Layout, Point, laid_out

LETTER, ROW, PAD = 6.7, 15.0, 8.0
"""Pixels: the width of a letter, the height of a line of text, the margin in a node."""


@dataclass(frozen=True, slots=True)
class Node:
    """A node: its lines of text, a class for its looks, and attributes ``data-…`` of its element.

    Attributes
    ----------
    kind
        ``input``, ``operation``, ``result`` or ``bad``.
    """

    lines: tuple[str, ...]
    kind: str = "operation"
    data: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes, edges as pairs of indices (from, to), and a title for readers of screens."""

    nodes: tuple[Node, ...]
    edges: tuple[tuple[int, int], ...]
    title: str


STYLE = """
.ad-graph{font:12px ui-monospace,monospace;max-width:none}
.ad-graph{--box:#fff;--line:#8a94a6;--ink:#1c2430;--in:#e8f1fd;--in-line:#3b78c9;
--out:#e5f5ea;--out-line:#2c8a4b;--bad:#fde8e6;--bad-line:#c33a2c}
@media (prefers-color-scheme:dark){.ad-graph{--box:#1d232d;--line:#6f7b8e;--ink:#dde3ec;
--in:#16304f;--in-line:#6aa5ee;--out:#143a22;--out-line:#58bd7a;--bad:#4a1d19;--bad-line:#f08a7d}}
.ad-graph rect{fill:var(--box);stroke:var(--line)}.ad-graph text{fill:var(--ink)}
.ad-graph path{fill:none;stroke:var(--line);stroke-width:1.2}
.ad-graph .tip{fill:var(--line);stroke:none}.ad-graph .head{font-weight:600}
.ad-graph .input rect{fill:var(--in);stroke:var(--in-line)}
.ad-graph .result rect{fill:var(--out);stroke:var(--out-line)}
.ad-graph .bad rect{fill:var(--bad);stroke:var(--bad-line)}
"""


def svg(graph: Graph, *, style: bool = True) -> str:
    """Return a graph as one element ``svg``, with its own style unless the page has it.

    Examples
    --------
    >>> text = svg(Graph((Node(("a < b",)), Node(("c",))), ((0, 1),), "two"))
    >>> text.count("<rect"), text.count("<path"), "a &lt; b" in text
    (2, 2, True)
    """
    sizes = [_size(node) for node in graph.nodes]
    layout = laid_out(sizes, graph.edges)
    margin = 4.0
    width, height = layout.width + 2 * margin, layout.height + 2 * margin
    parts = [
        f'<svg class="ad-graph" xmlns="http://www.w3.org/2000/svg" role="img"'
        f' width="{width:.0f}" height="{height:.0f}"'
        f' viewBox="{-margin:.0f} {-margin:.0f} {width:.0f} {height:.0f}">',
        f"<title>{escape(graph.title)}</title>",
    ]
    if style:
        parts.append(f"<style>{STYLE}</style>")
    parts += [_edge(points) for points in layout.edges]
    parts += [
        _node(node, centre, size)
        for node, centre, size in zip(graph.nodes, layout.centres, sizes, strict=True)
    ]
    return "\n".join([*parts, "</svg>"])


def _size(node: Node) -> Point:
    longest = max(map(len, node.lines), default=1)
    return longest * LETTER * 1.08 + 2 * PAD, len(node.lines) * ROW + PAD


def _edge(points: list[Point]) -> str:
    *_, (x, y) = points
    parts = [f"M{points[0][0]:.1f} {points[0][1]:.1f}"]
    for (ax, ay), (bx, by) in pairwise(points):
        middle = (ax + bx) / 2
        parts.append(f"C{middle:.1f} {ay:.1f} {middle:.1f} {by:.1f} {bx:.1f} {by:.1f}")
    tip = f"M{x:.1f} {y:.1f}l-6 -3v6z"
    return f'<path d="{"".join(parts)}"/><path class="tip" d="{tip}"/>'


def _node(node: Node, centre: Point, size: Point) -> str:
    (x, y), (width, height) = centre, size
    data = "".join(f' data-{name}="{escape(value)}"' for name, value in node.data.items())
    left, top = x - width / 2, y - height / 2
    parts = [
        f'<g class="node {escape(node.kind)}"{data}>'
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="5"/>'
    ]
    for i, line in enumerate(node.lines):
        head = ' class="head"' if i == 0 else ""
        at = top + PAD / 2 + (i + 0.75) * ROW
        parts.append(f'<text{head} x="{left + PAD:.1f}" y="{at:.1f}">{escape(line)}</text>')
    return "".join([*parts, "</g>"])


def dot(graph: Graph) -> str:
    """Return a graph in the language DOT, for Graphviz.

    Examples
    --------
    >>> print(dot(Graph((Node(("x", "1.0")), Node(("y",))), ((0, 1),), "g")))
    digraph {
      label="g"; rankdir=LR; node [shape=box, fontname=monospace];
      n0 [label="x\\n1.0"];
      n1 [label="y"];
      n0 -> n1;
    }
    """
    lines = [
        "digraph {",
        f'  label="{_quoted(graph.title)}"; rankdir=LR; node [shape=box, fontname=monospace];',
    ]
    for i, node in enumerate(graph.nodes):
        label = "\\n".join(map(_quoted, node.lines))
        lines.append(f'  n{i} [label="{label}"];')
    lines += [f"  n{a} -> n{b};" for a, b in graph.edges]
    return "\n".join([*lines, "}"])


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", " ")


__all__ = ["STYLE", "Graph", "Layout", "Node", "dot", "svg"]
