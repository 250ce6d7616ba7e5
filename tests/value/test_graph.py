import gc
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adjoint.value import Value, build_graph, zero_grad

OPERATIONS = {
    "add": (lambda a, b: a + b, 0.7, -1.3),
    "sub": (lambda a, b: a - b, 0.7, -1.3),
    "mul": (lambda a, b: a * b, 0.7, -1.3),
    "div": (lambda a, b: a / b, 0.7, -1.3),
    "pow": (lambda a, b: a**b, 0.7, -1.3),
    "number on the right": (lambda a, b: (a + 2) * (b - 3) / 4 - a**3 + b**-2 + a**0.5, 0.7, -1.3),
    "number on the left": (lambda a, b: (2 + a) * (3 - b) + 4 / a - 2 * b + 2.5**b, 0.7, -1.3),
    "neg": (lambda a, b: -a * +b, 0.7, -1.3),
    "exp": (lambda a, b: (a * b).exp(), 0.7, -1.3),
    "log": (lambda a, b: a.log() * b, 0.7, -1.3),
    "tanh": (lambda a, b: (a + b).tanh(), 0.7, -1.3),
    "sigmoid": (lambda a, b: a.sigmoid() * b.sigmoid(), 0.7, -1.3),
    "relu": (lambda a, b: a.relu() * 3 + b.relu(), 0.7, -1.3),
    "shared": (lambda a, b: (a * a + a) * (a * b), 0.7, -1.3),
}


def central_difference(f, x, h=1e-6):
    return (f(x + h) - f(x - h)) / (2 * h)


@pytest.mark.parametrize("f, a, b", OPERATIONS.values(), ids=OPERATIONS)
def test_gradients_agree_with_finite_differences(f, a, b):
    va, vb = Value(a), Value(b)
    f(va, vb).backward()
    assert va.grad == pytest.approx(
        central_difference(lambda x: f(Value(x), Value(b)).data, a), rel=1e-7, abs=1e-9
    )
    assert vb.grad == pytest.approx(
        central_difference(lambda x: f(Value(a), Value(x)).data, b), rel=1e-7, abs=1e-9
    )


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["+", "-", "*", "tanh", "sigmoid", "neg"]),
            st.integers(0, 99),
            st.integers(0, 99),
        ),
        min_size=1,
        max_size=25,
    ),
    st.floats(-1.5, 1.5),
    st.floats(-1.5, 1.5),
)
def test_random_graphs_agree_with_forward_differentiation(program, a, b):
    """The same program in dual numbers: an independent second method."""
    leaves = [Value(a), Value(b)]
    nodes = list(leaves)
    duals = [(a, np.array([1.0, 0.0])), (b, np.array([0.0, 1.0]))]
    for op, i, j in program:
        (u, v) = nodes[i % len(nodes)], nodes[j % len(nodes)]
        (x, x_dot), (y, y_dot) = duals[i % len(duals)], duals[j % len(duals)]
        if op == "+":
            node, dual = u + v, (x + y, x_dot + y_dot)
        elif op == "-":
            node, dual = u - v, (x - y, x_dot - y_dot)
        elif op == "*":
            node, dual = u * v, (x * y, x_dot * y + x * y_dot)
        elif op == "neg":
            node, dual = -u, (-x, -x_dot)
        elif op == "tanh":
            node, dual = u.tanh(), (math.tanh(x), (1 - math.tanh(x) ** 2) * x_dot)
        else:
            s = 0.5 * (1 + math.tanh(x / 2))
            node, dual = u.sigmoid(), (s, s * (1 - s) * x_dot)
        if abs(dual[0]) > 1e3 or np.abs(dual[1]).max() > 1e6:
            break
        nodes.append(node)
        duals.append(dual)
    nodes[-1].backward()
    assert nodes[-1].data == pytest.approx(duals[-1][0], rel=1e-9, abs=1e-9)
    assert [leaf.grad for leaf in leaves] == pytest.approx(duals[-1][1], rel=1e-6, abs=1e-6)


def test_backward_twice_does_not_double_count():
    x = Value(3.0)
    y = x * x + x
    y.backward()
    y.backward()
    assert x.grad == 7.0 and y.grad == 1.0
    z = y.tanh() * 0 + y * 2
    z.backward()
    assert x.grad == 14.0


def test_backward_step_passes_on_one_level():
    a, b = Value(2.0), Value(5.0)
    c = a * b
    d = c + a
    d.grad = 1.0
    d.backward_step()
    assert (c.grad, a.grad, b.grad) == (1.0, 1.0, 0.0)
    c.backward_step()
    assert (a.grad, b.grad) == (6.0, 2.0)


def test_a_leaf_is_its_own_graph():
    x = Value(2)
    x.backward()
    assert x.grad == 1.0 and build_graph(x) == [x]


def test_build_graph_is_topological_and_lists_each_node_once():
    x, y = Value(1.0), Value(2.0)
    s = x + y
    root = (s * s).tanh() + x * s
    nodes = build_graph(root)
    assert nodes[-1] is root and len(set(map(id, nodes))) == len(nodes) == 7
    position = {id(node): i for i, node in enumerate(nodes)}
    assert all(position[id(p)] < position[id(n)] for n in nodes for p in n.prev)


def test_zero_grad():
    x = Value(3.0)
    y = x.exp() + 1
    y.backward()
    zero_grad(y)
    assert [n.grad for n in build_graph(y)] == [0.0] * 4


@pytest.mark.parametrize("shape", ["chain", "sum"])
def test_deep_graphs(shape):
    """Neither the walk nor the deallocation of 100,000 nested nodes may recurse."""
    x = Value(0.5)
    y = x
    for _ in range(100_000):
        y = -y if shape == "chain" else y + x
    y.backward()
    assert x.grad == (1.0 if shape == "chain" else 100_001.0)
    assert len(build_graph(y)) == 100_001
    zero_grad(y)
    del y
    gc.collect()


def test_data_is_a_float_and_ints_are_welcome():
    assert repr(Value(3).data) == "3.0"
    assert type(Value(np.float32(0.5)).data) is float
    assert (Value(True) + np.int64(2)).data == 3.0


def test_numpy_numbers_on_the_left():
    x = Value(3.0)
    for y, expected in [
        (np.float64(2.0) * x, 6.0),
        (np.float64(2.0) - x, -1.0),
        (np.float32(6.0) / x, 2.0),
        (np.int64(2) ** x, 8.0),
    ]:
        assert type(y) is Value and y.data == expected


def test_builtin_sum():
    xs = [Value(i) for i in range(4)]
    total = sum(x * x for x in xs)
    total.backward()
    assert total.data == 14.0 and [x.grad for x in xs] == [0.0, 2.0, 4.0, 6.0]


def test_repr():
    x = Value(0.5, label="x")
    assert repr(x) == "Value(data=0.5, grad=0.0, label='x')"
    assert repr(-x) == "Value(data=-0.5, grad=0.0, op='neg')"


def test_edges():
    x = Value(0.0)
    x.relu().backward()
    assert x.grad == 0.0
    (x**0).backward()
    assert x.grad == 0.0
    (x**1).backward()
    assert x.grad == 1.0
    (x**2).backward()
    assert x.grad == 0.0
    y = x**0.5
    y.backward()
    assert x.grad == math.inf
    (y.relu() + x).backward()  # the branch that is off contributes 0, not 0 * inf
    assert x.grad == 1.0
    n = Value(2.0)
    (x**n).backward()
    assert n.grad == 0.0
    (Value(-3.0) ** n).backward()
    assert math.isnan(n.grad)
    assert math.isnan(Value(math.nan).relu().data)
    for z in (-800.0, 800.0):
        v = Value(z)
        y = v.sigmoid()
        y.backward()
        assert y.data == (z > 0) and 0.0 <= v.grad < 1e-300


def test_what_is_not_one_real_number_is_refused():
    for bad in ("1", None, 1j, [1.0], np.ones(1), Value(1.0)):
        with pytest.raises(TypeError, match="one real number"):
            Value(bad)
    with pytest.raises(TypeError, match="one real number, not ndarray"):
        Value(1.0) + np.ones(3)
    with pytest.raises(ValueError, match="not a real number"):
        Value(-8.0) ** 0.5
    with pytest.raises(ZeroDivisionError):
        Value(1.0) / 0
    with pytest.raises(TypeError, match="takes a Value"):
        build_graph(3.0)


def test_accumulation_on_request():
    x = Value(3.0)
    y = x * x
    z = y * x
    z.backward()
    assert (x.grad, y.grad) == (27.0, 3.0)
    y.backward(accumulate=True)
    assert (x.grad, y.grad) == (27.0 + 6.0, 3.0 + 1.0)
    z.backward(accumulate=True)  # the shared node counts once for each call
    assert (x.grad, y.grad, z.grad) == (33.0 + 27.0, 4.0 + 3.0, 2.0)
    z.backward()
    assert (x.grad, y.grad, z.grad) == (27.0, 3.0, 1.0)
    # a batch in two parts
    total = Value(2.0)
    for factor in (3.0, 4.0):
        (total * factor).backward(accumulate=True)
    assert total.grad == 7.0


def test_operations_of_ones_own():
    def hypot(a, b):
        y = math.hypot(a.data, b.data)
        return Value.operation(y, (a, b), (a.data / y, b.data / y), "hypot", label="h")

    a, b = Value(3.0), Value(np.float64(4.0))
    y = hypot(a * 1, b) ** 2
    y.backward()
    assert (y.data, a.grad, b.grad) == (25.0, 6.0, 8.0)
    (node,) = [node for node in build_graph(y) if node.op == "hypot"]
    assert node.label == "h" and node.data == 5.0 and node.prev[1] is b
    x = Value(0.3)
    assert Value.operation(1, [], []).prev == ()
    hypot(x, x).backward()
    assert x.grad == pytest.approx(central_difference(lambda t: math.hypot(t, t), 0.3), rel=1e-7)


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda v: Value.operation(1.0, [v, 2.0], [1.0, 1.0]), "operand must be a Value, got a fl"),
        (lambda v: Value.operation(1.0, [v], [1.0, 1.0]), "got 2 partial derivatives for 1 op"),
        (lambda v: Value.operation("x", [v], [1.0]), "one real number, not str"),
        (lambda v: Value.operation(1.0, [v], [v]), "one real number, not Value"),
    ],
)
def test_wrong_operations(wrong, message):
    with pytest.raises(TypeError, match=message):
        wrong(Value(1.0))


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda v: math.tanh(v), r"function of math, does not take a Value.*\n.*v\.tanh\(\)"),
        (lambda v: math.sin(v), r"v\.data is the number, and Value.operation"),
        (lambda v: float(v), r"v\.data is the number"),
        (lambda v: np.tanh(v), r"np\.tanh does not take a Value.*\nhint: write v\.tanh\(\);"),
        (lambda v: np.exp(v), r"np\.exp .*\nhint: write v\.exp\(\);"),
        (lambda v: np.sin(v), r"np\.sin .*\nhint: write v\.exp\(\), v\.log\(\), v\.tanh\(\),"),
        (lambda v: np.maximum(v, 0.0), r"v\.relu\(\)"),
        (lambda v: np.float64(1.0) > v, r"np\.greater .*v\.data is the number"),
        (lambda v: np.ones(3) * v, "one real number, not ndarray"),
        (lambda v: np.add(v, 1.0, where=False), "np.add"),
    ],
)
def test_functions_of_other_libraries_are_refused(call, message):
    with pytest.raises(TypeError, match=f"(?s){message}"):
        call(Value(0.5))


def test_arrays_of_values():
    """NumPy asks each element for its method."""
    xs = np.array([Value(0.5), Value(-1.0)])
    total = np.sum(np.tanh(xs * np.array([2.0, 3.0])))
    total.backward()
    assert [x.grad for x in xs] == pytest.approx([2 / math.cosh(1.0) ** 2, 3 / math.cosh(3.0) ** 2])
