"""`Tangent`: the cotangent of an object."""

import copy
import pickle
from collections import namedtuple
from collections.abc import Mapping

import numpy as np
import pytest

import adjoint as ad


class Foo:
    def __init__(self):
        self.a, self.b, self.c = 1.0, "a", [1.0, 2.0]


@pytest.fixture
def tangent():
    return ad.gradient(lambda foo: foo.a * 2 + foo.c[1], Foo())[0]


def test_attributes(tangent):
    assert tangent.a == 2.0 and tangent.b is None and tangent.c == [0.0, 1.0]
    with pytest.raises(
        AttributeError, match=r"Tangent\[Foo\] has no field 'nothing'; it has \['a', 'b', 'c'\]"
    ):
        tangent.nothing


def test_mapping(tangent):
    assert isinstance(tangent, Mapping)
    assert dict(tangent) == {"a": 2.0, "b": None, "c": [0.0, 1.0]}
    assert list(tangent) == ["a", "b", "c"] and len(tangent) == 3
    assert tangent["a"] == 2.0 and tangent.get("nothing") is None and "a" in tangent
    assert {**tangent}["c"] == [0.0, 1.0]
    with pytest.raises(KeyError):
        tangent["nothing"]


def test_immutable(tangent):
    with pytest.raises(AttributeError, match=r"make another one, by t.map\(f\)"):
        tangent.a = 1.0
    with pytest.raises((AttributeError, TypeError)):
        del tangent.a
    with pytest.raises(TypeError):
        tangent["a"] = 1.0
    with pytest.raises(TypeError):
        hash(tangent)
    fields = {"a": 1.0}
    made = ad.Tangent(Foo, fields)
    fields["a"] = 2.0
    assert made.a == 1.0


def test_equality(tangent):
    same = ad.Tangent(Foo, {"a": 2.0, "b": None, "c": [0.0, 1.0]})
    assert tangent == same
    assert tangent != ad.Tangent(Foo, {"a": 2.0, "b": None, "c": None})
    assert tangent != ad.Tangent(dict, dict(tangent)), "of another type"
    assert tangent != dict(tangent)


def test_equality_of_arrays():
    one = ad.Tangent(Foo, {"a": np.ones(2)})
    assert one == ad.Tangent(Foo, {"a": np.ones(2)})
    assert one != ad.Tangent(Foo, {"a": np.array([1.0, 2.0])})
    assert one != ad.Tangent(Foo, {"a": np.ones(3)})
    assert one != ad.Tangent(Foo, {"a": None})


def test_repr(tangent):
    assert repr(tangent) == "Tangent[Foo](a=2.0, b=None, c=[0.0, 1.0])"


def test_copies(tangent):
    for other in (copy.copy(tangent), copy.deepcopy(tangent), pickle.loads(pickle.dumps(tangent))):
        assert other == tangent and type(other) is ad.Tangent
    assert copy.deepcopy(tangent).c is not tangent.c


def test_fields_with_names_of_methods():
    class Odd:
        def __init__(self):
            self.keys, self.items, self.get, self.values = 1.0, 2.0, 3.0, 4.0

    (bar,) = ad.gradient(lambda odd: odd.keys * odd.items, Odd())
    assert bar["keys"] == 2.0 and bar["items"] == 1.0 and bar["get"] == 0.0


def test_an_object_without_a_path_has_zeros():
    zeros = ad.Tangent(Foo, {"a": 0.0, "b": None, "c": [0.0, 0.0]})
    assert ad.gradient(lambda foo, x: x * 1.0, Foo(), 2.0) == (zeros, 1.0)


def test_as_a_cotangent_given_to_back():
    _, back = ad.pullback(lambda x: make(x), 2.0)
    assert back(ad.Tangent(Foo, {"a": 1.0}))[1] == 1.0
    assert back(ad.Tangent(Foo, {"c": [None, 1.0]}))[1] == 3.0
    with pytest.raises(ad.errors.CotangentError):
        back(ad.Tangent(Foo, {"nothing": 1.0}))


def make(x):
    foo = Foo()
    foo.a = x
    foo.c = [1.0, 3 * x]
    return foo


class Line:
    def __init__(self, a, b):
        self.a, self.b = a, b

    def at(self, x):
        return self.a * x + self.b


def test_a_function_as_the_tangent_of_a_function():
    def line(a, b):
        return lambda: (a, b)

    def f(o):
        return o()[0] ** 3 * o()[1]

    expected = 3 * 0.7**2 * 1.3 + 0.7**3 * 2.0
    for dot in (line(1.0, 2.0), {"a": 1.0, "b": 2.0}):
        assert ad.pushforward(f, (line(0.7, 1.3),), (dot,))[1] == pytest.approx(expected)
    found = ad.pushforward(lambda o: o(2.0) ** 2, (Line(0.5, 1.0).at,), (Line(1.0, 3.0).at,))
    assert found == (4.0, 20.0)


# ---- arithmetic ----------------------------------------------------------------------------------


def vector_of(tangent):
    return np.array([tangent.a, *tangent.c])


def test_arithmetic_is_that_of_vectors(tangent):
    other = ad.Tangent(Foo, {"a": 0.5, "b": None, "c": [-1.0, 3.0]})
    u, v = vector_of(tangent), vector_of(other)
    for found, expected in [
        (tangent + other, u + v),
        (tangent - other, u - v),
        (tangent * other, u * v),
        (3 * tangent, 3 * u),
        (tangent * np.float64(3.0), 3 * u),
        (np.float64(3.0) * tangent, 3 * u),
        (tangent / 4, u / 4),
        (tangent + 1, u + 1),
        (2 - tangent, 2 - u),
        (tangent - 2, u - 2),
        (-tangent, -u),
        (+tangent, u),
        (sum([tangent, other, other]), u + 2 * v),
        (tangent.map(np.exp), np.exp(u)),
    ]:
        assert type(found) is ad.Tangent and found.b is None
        np.testing.assert_array_equal(vector_of(found), expected)
    assert other.norm() == pytest.approx(np.linalg.norm(v), rel=1e-15)


def test_arithmetic_of_every_structure():
    pair = namedtuple("pair", "left right")
    inner = ad.Tangent(Foo, {"a": np.ones((2, 1))})
    objects = np.array([None, inner], object)
    fields = {"t": (1.0, None), "n": pair(1j, 2.0), "d": {"k": inner}, "o": objects}
    t = ad.Tangent("closure", fields)
    twice = t + t
    assert (
        twice == 2 * t and type(twice.n) is pair and twice.n.left == 2j and twice.t == (2.0, None)
    )
    assert twice.o[0] is None and twice.o[1] == inner + inner
    assert (t - t).norm() == 0.0 and t.norm() == pytest.approx(np.sqrt(1 + 1 + 4 + 2 + 2))


def test_none_is_zero():
    a, b = ad.Tangent(Foo, {"x": 1.0, "y": None}), ad.Tangent(Foo, {"x": None, "y": 2.0, "z": 3.0})
    assert a + b == ad.Tangent(Foo, {"x": 1.0, "y": 2.0, "z": 3.0})
    assert a - b == ad.Tangent(Foo, {"x": 1.0, "y": -2.0, "z": -3.0})
    assert a * b == ad.Tangent(Foo, {"x": None, "y": None, "z": None})
    assert ad.Tangent(Foo, {}).norm() == 0.0


def test_a_field_hides_a_method_of_its_name():
    t = ad.Tangent(Foo, {"norm": 2.0, "map": 3.0})
    assert t.norm == 2.0 and t.map == 3.0 and (2 * t).norm == 4.0
    assert "Euclidean" in ad.Tangent.norm.__doc__


@pytest.mark.parametrize(
    "wrong, message",
    [
        (lambda t: t + "text", r"no '\+' with a str\nhint: give a number or a Tangent"),
        (lambda t: t * np.ones(3), r"no '\*' with a ndarray"),
        (lambda t: np.ones(3) * t, r"no '\*' with a ndarray"),
        (lambda t: t - {"a": 1.0}, "no '-' with a dict"),
        (lambda t: t + ad.Tangent(dict, {}), "Foo and dict are two types"),
        (lambda t: t / t, "divide by a number"),
        (lambda t: t + ad.Tangent(Foo, {"a": np.ones(2)}), "nothing is broadcast"),
        (lambda t: t + ad.Tangent(Foo, {"c": [1.0]}), "lists of 2 and 1 parts"),
    ],
)
def test_arithmetic_refused(tangent, wrong, message):
    with pytest.raises(ad.ArgumentError, match=message):
        wrong(tangent)


def test_single_precision_stays():
    t = ad.Tangent(Foo, {"a": np.ones(2, np.float32), "b": np.float32(1.0)})
    for found in (t * 0.5, t + t, t / 3, -t):
        assert found.a.dtype == np.float32 and found.b.dtype == np.float32


def test_arithmetic_inside_differentiated_code():
    def f(x):
        t = ad.Tangent("M", {"a": x * x, "b": [x]})
        return ((2 * t - t) * t).b[0] + (t + t).a

    assert ad.gradient(f, 3.0)[0] == pytest.approx(2 * 3.0 + 4 * 3.0)

    def norm(x):
        return ad.Tangent("M", {"a": x, "b": [x * x, None]}).map(lambda v: 2 * v).norm()

    assert ad.gradient(norm, 3.0)[0] == pytest.approx(2 * (1 + 2 * 9) * 3 / np.sqrt(9 + 81))


class NamedLikeMethods:
    """Fields with the names of methods of mappings and of tangents."""

    def __init__(self):
        self.keys, self.values = np.ones(2), np.array([1.0, 2.0])
        self.items, self.get, self.map, self.norm = [1.0, 2.0], 3.0, np.ones(2), 0.5


def of_such_fields(m):
    return (
        np.sum(m.keys * m.values) * m.items[0] * m.get + np.sum(m.map**2) * m.norm + m.items[1] ** 2
    )


@pytest.mark.parametrize("tier", [None, "generic"])
def test_fields_called_like_methods(tier):
    model = NamedLikeMethods()
    bar = ad.grad(of_such_fields, tier=tier)(model)
    fields = {
        "keys": [3.0, 6.0], "values": [3.0, 3.0], "items": [9.0, 4.0], "get": 3.0,
        "map": [1.0, 1.0], "norm": 2.0,
    }  # fmt: skip
    assert {name: np.asarray(part).tolist() for name, part in dict(bar).items()} == fields
    assert [*bar.keys()] == [*fields] and len(bar.values()) == 6 and bar.get("get") == 3.0
    assert bar.map.tolist() == [1.0, 1.0] and bar.norm == 2.0
    assert len(ad.tree_leaves(bar)) == 7 and np.isfinite(ad.tree_norm(bar))
    assert ad.tree_map(lambda x, y: x - y, model, bar).values.tolist() == [-2.0, -1.0]
    assert ad.flatten(bar)[0].tolist() == [3.0, 6.0, 3.0, 3.0, 9.0, 4.0, 3.0, 1.0, 1.0, 2.0]
    assert ad.grad(of_such_fields, argnums=[0, "values"])(model).tolist() == [3.0, 3.0]
    ad.testing.check_gradient(of_such_fields, model)


@pytest.mark.parametrize("name", ["keys", "values", "items", "get"])
def test_a_method_used_as_the_field(name):
    bar = ad.Tangent("f", {name: np.ones(2), "w": 1.0})
    method = getattr(bar, name)
    uses = [
        lambda: 0.1 * method, lambda: method + 1.0, lambda: np.ones(2) - method, lambda: -method,
        lambda: method[0], lambda: np.sum(method), lambda: float(method), lambda: method.shape,
        lambda: np.ones((2, 2)) @ method, lambda: list(method), lambda: method < 1.0,
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(ad.ArgumentError, match=f"'{name}'") as caught:
            use()
        assert caught.value.hint == f"read the field as tangent['{name}']"
    assert getattr(ad.Tangent("f", {"w": 1.0}), name)(*["w"] * (name == "get")) is not None
