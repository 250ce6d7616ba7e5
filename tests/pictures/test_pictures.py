"""Graphs as SVG and DOT, and the pictures of what the library returns."""

import random
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import adjoint as ad
from adjoint.pictures.graph_drawing import Graph, Node, dot, svg
from adjoint.pictures.html import framed, page, table_html, text_html
from adjoint.pictures.layout import laid_out
from adjoint.value import MLP, Value

HOSTILE = "</pre></title></script><script>alert(1)</script>\"'&"


@pytest.mark.parametrize("seed", range(20))
def test_layouts_of_random_graphs(seed):
    rng = random.Random(seed)
    n = rng.randrange(1, 40)
    sizes = [(rng.uniform(10, 90), rng.uniform(10, 50)) for _ in range(n)]
    edges = sorted({(a, b) for a in range(n) for b in range(a + 1, n) if rng.random() < 2 / n})
    found = laid_out(sizes, edges)
    boxes = [
        (x - w / 2, y - h / 2, x + w / 2, y + h / 2) for (x, y), (w, h) in zip(found.centres, sizes)
    ]
    for i, (left, top, right, bottom) in enumerate(boxes):
        assert left > -1e-6 and top > -1e-6
        assert right < found.width + 1e-6 and bottom < found.height + 1e-6
        for other in boxes[:i]:  # no two overlap
            apart = left >= other[2] or right <= other[0] or top >= other[3] or bottom <= other[1]
            assert apart
    for (a, b), points in zip(edges, found.edges):
        assert points[0] == pytest.approx((boxes[a][2], found.centres[a][1]))
        assert points[-1] == pytest.approx((boxes[b][0], found.centres[b][1]))
        assert all(one[0] < other[0] for one, other in zip(points, points[1:]))


def test_a_cycle_is_refused():
    with pytest.raises(ValueError, match="cycle"):
        laid_out([(1.0, 1.0)] * 2, [(0, 1), (1, 0)])


def test_no_nodes():
    assert laid_out([], []).width == 0.0
    ElementTree.fromstring(svg(Graph((), (), "nothing")))


def test_texts_are_escaped():
    graph = Graph((Node((HOSTILE,), "input", {"event": HOSTILE}), Node(("b",))), ((0, 1),), HOSTILE)
    root = ElementTree.fromstring(svg(graph, style=False))
    texts = ["".join(one.itertext()) for one in root.iter() if one.tag.endswith("text")]
    assert texts == [HOSTILE, "b"]
    assert not any(one.tag.endswith("script") for one in root.iter())
    assert '\\"' in dot(graph) and dot(graph).count("label=") == 3
    for text in (text_html(HOSTILE, HOSTILE), table_html(HOSTILE, [HOSTILE], [[HOSTILE]])):
        assert "<script" not in text
    made = page(HOSTILE, "", style="", script="", data={HOSTILE: HOSTILE})
    assert made.count("<script") == 2 and made.count("</script>") == 2 and "alert(1)<" not in made
    assert framed(made, 10).count("<") == 2


def test_a_value_is_drawn():
    x = Value(3.0, label="x<y")
    y = x * x + x
    y.backward()
    root = ElementTree.fromstring(y.to_svg())
    texts = [one.text for one in root.iter() if one.tag.endswith("text")]
    assert texts[:3] == ["x<y", "data 3", "grad 7"] and texts[-3:] == ["+", "data 12", "grad 1"]
    assert y._repr_svg_() == y.to_svg()
    assert y.to_dot().count("->") == 3


def test_large_graphs_are_not_drawn():
    root = MLP(2, [16, 1], rng=np.random.default_rng(0))([1.0, 2.0])
    big = sum((root * float(i) for i in range(200)), root)
    assert big._repr_svg_() is None and big.to_dot().count("[label") > 300
    with pytest.raises(ValueError, match="to_dot"):
        big.to_svg()


def test_html_of_what_the_library_returns():
    def f(x):
        return x * x if x < 2.0 else x

    code, ir = ad.code(f, 3.0), ad.ir(f)
    assert isinstance(code, str) and isinstance(ir, str)
    assert "&lt; 2.0" in code._repr_html_() + ad.code(f)._repr_html_()
    assert "lt(x, 2.0)" in ir._repr_html_() and f"# {f.__code__.co_firstlineno}" in ir
    assert "gradient of" in ad.tier(f, 3.0)._repr_html_()
    inner = ad.Tangent("Inner<b>", {"a": np.ones(2)})
    shown = ad.Tangent("Outer", {"w": 1.5, "inner": inner, "none": None})._repr_html_()
    assert "Tangent[Outer]" in shown and "1.5" in shown and "Inner&lt;b&gt;" in shown
