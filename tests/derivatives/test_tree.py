"""`adjoint.tree_map`, `tree_leaves` and `tree_norm`."""

import dataclasses
import operator
from collections import OrderedDict, deque, namedtuple

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import ArgumentError

Pair = namedtuple("Pair", "left right")


class Model:
    def __init__(self, *, made=True):
        assert made, "tree_map does not run __init__"
        self.w, self.b, self.n, self.name = np.arange(6.0).reshape(2, 3), 1.5, 3, "model"
        self.parts = [self.w, {"z": np.float32(2.0)}, (4.0,), Pair(1.0, None), True]
        self.cache = []


@dataclasses.dataclass(frozen=True)
class Frozen:
    rate: float
    steps: int
    name: str = "frozen"

    def __post_init__(self):
        assert self.steps < 10, "tree_map does not run __post_init__"


class Slotted:
    __slots__ = ("a", "b", "unset")

    def __init__(self, a, b):
        self.a, self.b = a, b


def loss(model):
    return np.sum((model.w + model.b) ** 2) * model.parts[2][0] + model.parts[1]["z"] * model.n


def test_a_gradient_beside_its_model():
    model = Model()
    (gradient,) = ad.gradient(loss, model)
    stepped = ad.tree_map(lambda p, bar: p - 0.1 * bar, model, gradient)
    assert type(stepped) is Model and stepped.name == "model" and stepped.parts[4] is True
    np.testing.assert_array_equal(stepped.w, model.w - 0.1 * gradient.w)
    assert stepped.b == model.b - 0.1 * gradient.b and stepped.n == 3 - 0.1 * 2.0
    assert stepped.parts[0] is stepped.w, "tied arrays stay tied"
    assert type(stepped.parts[1]["z"]) is np.float32 and type(stepped.parts[3]) is Pair
    assert stepped.parts[2] == (4.0 - 0.1 * gradient.parts[2][0],)
    assert loss(stepped) < loss(model)
    # nothing of the model is changed or shared where it can be changed
    np.testing.assert_array_equal(model.w, np.arange(6.0).reshape(2, 3))
    assert model.b == 1.5 and stepped.cache == [] and stepped.cache is not model.cache
    # and the other way round
    again = ad.tree_map(lambda bar, p: p - 0.1 * bar, gradient, model)
    assert type(again) is ad.Tangent
    np.testing.assert_array_equal(again.w, stepped.w)


def test_every_structure():
    objects = np.array([1.0, None, [2.0]], object)
    tree = [Frozen(0.5, 3), Slotted(1.0, "b"), OrderedDict(x=1.0), deque([2, "x"]), objects, 1j]
    frozen, slotted, ordered, queue, array, number = ad.tree_map(lambda x: x + 100, tree)
    assert (frozen.rate, frozen.steps, frozen.name) == (100.5, 103, "frozen")
    assert slotted.a == 101.0 and slotted.b == "b" and not hasattr(slotted, "unset")
    assert type(ordered) is OrderedDict and ordered == {"x": 101.0}
    assert type(queue) is deque and list(queue) == [102, "x"]
    assert array[0] == 101.0 and array[1] is None and array[2] == [102.0] and number == 100 + 1j
    assert ad.tree_leaves(tree) == [0.5, 3, 1.0, 1.0, 2, 1.0, 2.0, 1j]
    assert ad.tree_map(lambda x: -x, 2) == -2 and ad.tree_map(abs, None) is None
    assert ad.tree_map(abs, "text") == "text" and ad.tree_map(abs, []) == []


def test_ties_and_cycles():
    w = np.ones(2)
    calls = []
    mapped = ad.tree_map(lambda x: calls.append(1) or 2 * x, {"a": w, "b": [w, w]})
    assert mapped["a"] is mapped["b"][0] is mapped["b"][1] and len(calls) == 1
    # but not where different things stand beside
    zeros = np.zeros(2)
    x, y = ad.tree_map(np.add, [zeros, zeros], [np.ones(2), 2 * np.ones(2)])
    assert x.tolist() == [1.0, 1.0] and y.tolist() == [2.0, 2.0]
    inner = [1.0]
    x, y = ad.tree_map(operator.add, [inner, inner], [[1.0], [2.0]])
    assert (x, y) == ([2.0], [3.0])
    loop = [1.0]
    loop.append(loop)
    mapped = ad.tree_map(lambda x: 2 * x, loop)
    assert mapped[0] == 2.0 and mapped[1] is mapped and ad.tree_leaves(loop) == [1.0]
    assert ad.tree_leaves([w, w])[1] is w
    assert ad.tree_norm([w, w]) == pytest.approx(2.0)


def test_cycles_beside_each_other():
    def loop(x):
        tree = {"x": x}
        tree["self"] = tree
        return tree

    mapped = ad.tree_map(operator.add, loop(1.0), loop(2.0))
    assert mapped["x"] == 3.0 and mapped["self"] is mapped
    mapped = ad.tree_map(operator.add, loop(1.0), {"x": 2.0, "self": None})
    assert mapped["x"] == 3.0 and mapped["self"] is mapped


class Single:
    """An object of which there is only one."""

    def __init__(self):
        self.x, self.log = 1.0, []

    def __copy__(self):
        return self


def test_objects_that_are_not_copied():
    single = Single()
    with pytest.raises(ArgumentError, match="a Single cannot be copied: .*\nhint: keep what"):
        ad.tree_map(lambda x: 2 * x, [single])
    assert single.x == 1.0
    single.x = "text"
    found = ad.tree_map(lambda x: 2 * x, [single, 1.0])
    assert found[0] is single and found[1] == 2.0


def test_none_beside():
    seen = []
    ad.tree_map(
        lambda *xs: seen.append(xs), {"a": 1.0, "b": [2.0, {"c": 3.0}]}, {"a": 4.0, "b": None}
    )
    assert seen == [(1.0, 4.0), (2.0, None), (3.0, None)]
    found = ad.tree_map(
        lambda a, b: a if b is None else a + b, Frozen(1.0, 2), ad.Tangent(Frozen, {"rate": 3.0})
    )
    assert (found.rate, found.steps) == (4.0, 2)


@pytest.mark.parametrize(
    "trees, message",
    [
        (([1.0], [1.0, 2.0]), r"differ at tree: beside a list of 1 stands a list of 2"),
        (({"a": [1.0]}, {"a": 2.0}), r"at tree\['a'\]: beside a list of 1 stands a float"),
        (({"a": 1.0}, {"b": 1.0}), r"keys \['a'\] stands a dict with the keys \['b'\]"),
        (([Slotted(1.0, 2.0)], [{"a": 1.0, "z": 1.0}]), r"beside tree\[0\] has a field .* 'z'"),
        ((Slotted(1.0, 2.0), [1.0]), "beside a Slotted stands a list of 1"),
        (([None], [2.0]), r"tree\[0\] is None, but there are numbers beside it"),
        ((np.ones(2), "text"), r"beside an array of shape \(2,\) stands a str"),
    ],
)
def test_structures_that_differ(trees, message):
    with pytest.raises(ArgumentError, match=message):
        ad.tree_map(lambda *xs: 0.0, *trees)


def test_a_tree_in_the_place_of_the_function():
    with pytest.raises(ArgumentError, match=r"takes a function first, got a list\nhint: write"):
        ad.tree_map([1.0], abs)


def test_norm():
    model = Model()
    leaves = ad.tree_leaves(model)
    parts = np.concatenate([np.ravel(leaf) for leaf in leaves])
    assert ad.tree_norm(model) == pytest.approx(np.sqrt(np.sum(parts**2)), rel=1e-14)
    assert ad.tree_norm([3j, np.array([4.0])]) == 5.0
    assert ad.tree_norm([None, "x"]) == 0.0 and ad.tree_norm(np.zeros(0)) == 0.0
    assert ad.tree_norm(np.float32([3.0, 4.0])).dtype == np.float32


def test_derivatives():
    model = {"w": np.array([1.0, -2.0]), "b": [0.5], "name": "m"}
    vector, unflatten = ad.flatten(model)
    for f in (
        ad.tree_norm,
        lambda m: sum(np.sum(x**3) for x in ad.tree_leaves(m)),
        lambda m: ad.tree_norm(ad.tree_map(lambda x, y: x * x * y, m, m)),
    ):
        (found,) = ad.gradient(f, model)
        expected = ad.gradient(lambda v: f(unflatten(v)), vector)[0]
        np.testing.assert_allclose(ad.flatten(found)[0], expected, rtol=1e-12)
        ad.testing.check_gradient(lambda v: f(unflatten(v)), vector)
    (at_zero,) = ad.gradient(ad.tree_norm, [np.zeros(2), 0.0])
    assert at_zero[0].tolist() == [0.0, 0.0] and at_zero[1] == 0.0
