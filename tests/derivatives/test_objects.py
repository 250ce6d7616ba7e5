"""Derivatives by objects of derivatives by objects: a `Tangent` is a structure like any other."""

import dataclasses

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import ArgumentError


class Model:
    def __init__(self):
        self.a, self.w, self.name = 2.0, np.ones(2), "model"


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    a: float
    w: np.ndarray


POINTS = {"with a dict": Model, "with slots": lambda: Frozen(2.0, np.ones(2))}
each = pytest.mark.parametrize("point", POINTS.values(), ids=POINTS)


def f(m):
    return m.a**2 * np.sum(m.w**3)


@each
@pytest.mark.parametrize("mode", [None, "forward", "reverse"])
def test_hessians(point, mode):
    for found in (
        ad.hessian(f, point(), mode=mode),
        ad.jacobian(ad.grad(f), point(), mode=mode),
        ad.jacobian(lambda m: ad.gradient(f, m)[0], point(), mode=mode),
    ):
        assert type(found) is ad.Tangent and found.a.a == 4.0
        np.testing.assert_array_equal(found.a.w, [12.0, 12.0])
        np.testing.assert_array_equal(found.w.a, [12.0, 12.0])
        np.testing.assert_array_equal(found.w.w, 24 * np.eye(2))
        assert repr(found).startswith(f"Tangent[{type(point()).__name__}](a=")


@each
def test_pushforward_and_pullback_of_a_gradient(point):
    y, y_dot = ad.pushforward(ad.grad(f), (point(),), ({"a": 1.0},))
    assert y.a == 8.0 and y_dot.a == 4.0 and y_dot.w.tolist() == [12.0, 12.0]
    y, back = ad.pullback(ad.grad(f), point())
    bar = back({"a": 1.0, "w": None})[1]
    assert bar.a == 4.0 and bar.w.tolist() == [12.0, 12.0]
    assert back(y)[1].a == 8 * 4.0 + 24 * 12.0
    with pytest.raises(ad.errors.CotangentError, match="has a field that it has not: 'z'"):
        back({"z": 1.0})


@each
def test_functions_of_a_gradient(point):
    bar = ad.gradient(f, point())[0]

    def g(t):
        return t.a**2 * np.sum(t.w) + t["a"]

    assert ad.gradient(g, bar)[0].a == 2 * 8 * 24 + 1
    assert ad.grad(lambda t: t.a**2)(bar).w.tolist() == [0.0, 0.0]
    assert ad.directional(g, bar, {"a": 1.0}) == 2 * 8 * 24 + 1
    assert ad.hessian(g, bar).a.w.tolist() == [16.0, 16.0]
    assert ad.derivative(lambda c: g(ad.gradient(lambda m: c * f(m), point())[0]))(1.0) == (
        3 * 64 * 24 + 8
    )


def test_iterators_have_no_tangent():
    y, y_dot = ad.pushforward(lambda x: [x, iter([x]), (v * x for v in [3.0])], (2.0,), (1.0,))
    assert [y[0], *y[1], *y[2]] == [2.0, 2.0, 6.0] and y_dot == [1.0, None, None]


def test_tangents_that_are_none():
    x = np.ones(2)
    for message, wrong in {
        "the tangent is a str": lambda: ad.pushforward(np.sin, (1.0,), ("a",)),
        "is complex": lambda: ad.pushforward(np.sin, (1.0,), (1j,)),
        "tangent is complex": lambda: ad.pushforward(np.sin, (x,), (x * 1j,)),
        "complex, the argument is real": lambda: ad.linearize(np.sin, x)[1](x * 1j),
    }.items():
        with pytest.raises(ArgumentError, match=message):
            wrong()
