"""`Tangent`: the cotangent of an object."""

import copy
import pickle
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
    with pytest.raises(AttributeError, match="nothing"):
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
    with pytest.raises((AttributeError, TypeError)):
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
