import pytest

from adjoint.value import Value, format_graph


def test_tree_with_a_shared_node():
    x = Value(3.0, label="x")
    y = (x * x + x) / 2
    y.label = "y"
    y.backward()
    assert format_graph(y).splitlines() == [
        "y = /          data 6.0000   grad 1.0000",
        "├─ +           data 12.0000  grad 0.5000",
        "│  ├─ *        data 9.0000   grad 0.5000",
        "│  │  ├─ x #1  data 3.0000   grad 3.5000",
        "│  │  └─ x #1 (above)",
        "│  └─ x #1 (above)",
        "└─ leaf        data 2.0000   grad -3.0000",
    ]


def test_large_and_small_numbers():
    assert "1.235e+08" in format_graph(Value(123456789.0))
    assert "1.200e-05" in format_graph(Value(1.2e-5))
    assert "nan" in format_graph(Value(float("nan")))


def test_depth_is_limited():
    y = x = Value(1.0)
    for _ in range(50_000):
        y = y + x
    lines = format_graph(y, max_depth=3).splitlines()
    assert len(lines) < 15
    assert lines[-1] == "(49996 more nodes deeper than 3)"
    assert format_graph(y, max_depth=0).splitlines()[1:] == [
        "└─ …",
        "(50000 more nodes deeper than 0)",
    ]
    with pytest.raises(ValueError, match="negative"):
        format_graph(y, max_depth=-1)
