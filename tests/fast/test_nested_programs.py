"""Operators inside a program: inlined, on a level of their own, in all mixtures of the modes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build.modes import mode_of
from adjoint.fast.programs import store
from tests.fast.agreeing import generic_tier
from tests.fast.test_tangents import compare

X = np.array([0.4, -1.3, 0.8])
W = np.random.default_rng(3).normal(size=(3, 4))
INPUTS = np.random.default_rng(4).normal(size=(5, 3))


def product(x):
    return x * ad.gradient(lambda y: x * y * y, x)[0]


def pushed(x):
    return ad.pushforward(lambda y: x * math.sin(y) * y, (x,), (1.0,))[1]


def third(x):
    return ad.gradient(lambda y: ad.gradient(lambda z: z * z * z * y * x, y)[0] * y, x)[0]


def third_mixed(x):
    return ad.derivative(lambda y: ad.gradient(lambda z: math.exp(z * y) * x, y)[0] * y)(x)


def kept_in_a_variable(x):
    slope = ad.grad(lambda z: z**3 * x)
    return slope(x) + slope(2.0)


cube = ad.grad(lambda z: z**3)
both = ad.value_and_grad(lambda z, w: z**3 * w, (0, 1))


def kept_in_a_global(x):
    value, (a, b) = both(x, 2.0 * x)
    return cube(x) * x + cube(3) + value * a * b


def descent(x):
    y = x
    for _ in range(5):
        y = y - ad.gradient(lambda z: z**4 - x * z, y)[0] * 0.02
    return y * y


def newton(x):
    y = 1.0
    while abs(y * y - x * x - 1.0) > 1e-8:
        value, slope = ad.value_and_grad(lambda z: z * z - x * x - 1.0)(y)
        y = y - value / slope
    return y


def of_a_list(x):
    a, b = ad.gradient(lambda p: p[0] ** 2 * p[1] * x, [x, 2 * x])[0]
    return a * b


def of_a_dict(x):
    bars = ad.gradient(lambda p: p["a"] ** 2 * p["b"] * x, {"a": x, "b": 2 * x})[0]
    return bars["a"] * bars["b"]


def product_of_a_hessian(x):
    gradient, product = ad.gradient_and_hvp(lambda z: z**4 * x, x, 1.0)
    return gradient * product + ad.hvp(lambda z: z**3, x, x)


def of_an_integer(x):
    return ad.gradient(lambda z: z * z * x, 3)[0]


def by_keyword(x):
    slope = ad.grad(lambda z, scale: z**2 * scale)
    pushed = ad.pushforward(lambda z, scale: z * scale, (x,), (x,), scale=x * x)[1]
    return slope(x, scale=x) * pushed + ad.hvp(lambda z, k: z**3 * k, x, 1.0, k=x)


def between_charges(w):
    """A search with forces that are gradients: GradBench's ``particle``, in few steps."""
    charges = [(10.0, 10.0 - w), (10.0, 0.0)]

    def potential(place):
        total = 0.0
        for a, b in charges:
            total += 1 / math.sqrt((place[0] - a) ** 2 + (place[1] - b) ** 2)
        return total

    x, y, vx, vy = 0.0, 8.0, 7.5, 0.0
    while True:
        ax, ay = ad.gradient(potential, [x, y])[0]
        x += 0.1 * vx
        y += 0.1 * vy
        if x > 5.0:
            return x * y
        vx -= ax
        vy -= ay


def without_a_path(x):
    return (
        ad.gradient(lambda z, w: z * x, x, 2.0)[1] + ad.withgradient(lambda z: 2.0, x).gradient[0]
    )


def penalty(w):
    slopes = ad.gradient(lambda z: np.sum(np.tanh(z @ w)), INPUTS)[0]
    return np.sum(slopes * slopes)


def elements(x):
    slopes = ad.gradient(lambda z: z[0] * z[1] ** 2 + np.sum(z * x), x)[0]
    return np.sum(slopes * slopes * x)


def written(x):
    def inner(z):
        y = np.zeros(3)
        for i in range(3):
            y[i] = z[i] * x[i] * (y[i - 1] if i else 1.0)
        return np.sum(y * y)

    return ad.pushforward(inner, (x,), (x,))[1]


def a_loop_inside(x):
    def inner(z):
        s = z
        for _ in range(6):
            s = s * 0.5 + math.sin(s) * x
        return s

    return ad.gradient(inner, x)[0] * x


def captured_and_given(x):
    """The captured variable is a constant of the inner derivative."""
    return ad.gradient(lambda z: np.sum(x * z * z), x)[0] @ x


NUMBERS = [
    product, pushed, third, third_mixed, kept_in_a_variable, kept_in_a_global, descent, newton,
    of_a_list, of_a_dict, product_of_a_hessian, of_an_integer, by_keyword, without_a_path,
    a_loop_inside, between_charges,
]  # fmt: skip
ARRAYS = [elements, written, captured_and_given]
POINTS = [(f, 0.7) for f in NUMBERS] + [(f, X) for f in ARRAYS] + [(penalty, W)]


def _ones(x):
    return np.ones_like(x) if isinstance(x, np.ndarray) else 1.0


@pytest.mark.parametrize("f, x", POINTS, ids=lambda each: getattr(each, "__name__", ""))
def test_nested_derivatives(f: Callable[[Any], Any], x: Any) -> None:
    v = _ones(x)
    compare(lambda: ad.gradient(f, x))
    compare(lambda: ad.pushforward(f, (x,), (v,)))
    compare(lambda: ad.hvp(f, x, v))
    compare(lambda: ad.gradient(lambda z: np.sum(ad.gradient(f, z)[0] * v), x))
    h = 1e-6
    slope = (f(x + h * v) - f(x - h * v)) / (2 * h)
    assert np.sum(ad.gradient(f, x)[0] * v) == pytest.approx(slope, rel=1e-6, abs=1e-8)


INTERPRETED = {
    a_loop_inside: {"gradient", "hvp"},
    written: {"gradient", "hvp"},
    without_a_path: {"pushforward"},
}
"""Modes of functions without a program: a reverse sweep over that of a loop, a constant."""


@pytest.mark.parametrize("f, x", POINTS, ids=lambda each: getattr(each, "__name__", ""))
def test_they_have_programs(f, x):
    ad.gradient(f, x), ad.pushforward(f, (x,), (_ones(x),)), ad.hvp(f, x, _ones(x))
    modes = {
        "gradient": mode_of("gradient"),
        "pushforward": mode_of("pushforward", (0,)),
        "hvp": mode_of("hvp", (0,), is_single=True),
    }
    without = {name for name, mode in modes.items() if not store.known(f, mode).entries}
    assert without <= INTERPRETED.get(f, set())


# ---- what is around an inner function ------------------------------------------------------------


def test_a_division_that_is_not_reached():
    """A search that ends by dividing by what is zero at its beginning."""

    def f(w):
        y, v = 8.0, 0.0
        while True:
            y += 0.1 * v
            if y <= 0:
                return y / v * w
            v -= ad.derivative(lambda z: z * z * w)(y)

    compare(lambda: ad.gradient(f, 0.7))
    assert store.known(f, mode_of("gradient")).entries
    with pytest.raises(ZeroDivisionError):
        ad.gradient(lambda w: w / 0.0, 1.0)


def test_what_an_inner_function_appends():
    def f(x):
        seen = []

        def inner(z):
            seen.append(z * 2.0)
            return z * z

        slope = ad.gradient(inner, x)[0]
        return slope * seen[0] * len(seen)

    compare(lambda: ad.gradient(f, 0.7))
    compare(lambda: ad.pushforward(f, (0.7,), (1.0,)))


def test_an_array_around_that_is_written():
    def f(x):
        y = np.zeros(2)

        def inner(z):
            y[0] = z * z
            return y[0] * x

        return ad.gradient(inner, x)[0] * y[0]

    compare(lambda: ad.gradient(f, 0.7))
    compare(lambda: ad.pushforward(f, (0.7,), (1.0,)))


def test_an_argument_that_is_written():
    def f(x):
        def inner(p):
            p[0] = p[0] * p[1]
            return p[0] * x

        return ad.gradient(inner, [x, 2.0])[0][0]

    compare(lambda: ad.gradient(f, 0.7))


def test_something_twice_in_an_argument():
    """Both places show the total."""

    def f(x):
        bars = ad.gradient(lambda p: np.sum(p[0] * p[1]), [x, x])[0]
        return np.sum(bars[0] * bars[1])

    compare(lambda: ad.gradient(f, X))
    np.testing.assert_allclose(f(X), np.sum(4 * X * X))


def test_an_infinite_slope_inside():
    """The generic tier knows that a part which was not selected contributes nothing."""

    def f(x):
        slope = ad.gradient(lambda z: np.sum(np.where(z > 0, np.sqrt(np.abs(z)), z)), x)[0]
        return np.sum(slope * x)

    x = np.array([0.0, 4.0, -1.0])
    with np.errstate(all="ignore"):
        compare(lambda: ad.gradient(f, x))
        assert np.isfinite(ad.gradient(f, x)[0]).all()


def test_an_operator_is_another_later():
    """What a variable refers to is looked at in each call."""
    slopes = {"of": ad.grad(lambda z: z**2)}

    def f(x):
        return slopes["of"](x) * x

    assert ad.gradient(f, 3.0) == (12.0,)
    slopes["of"] = ad.grad(lambda z: z**3)
    assert ad.gradient(f, 3.0) == (81.0,)
    slopes["of"] = ad.value_and_grad(lambda z: z**3)
    slopes["of"] = ad.grad(lambda z, w: z * w, 1)
    with pytest.raises(TypeError):
        ad.gradient(f, 3.0)


def test_errors_inside_are_those_of_the_operators():
    with pytest.raises(ad.errors.NotScalarError):
        ad.gradient(lambda x: np.sum(ad.gradient(lambda z: z * 2, x)[0]), X)
    with pytest.raises(ad.errors.ArgumentError):
        ad.gradient(lambda x: ad.pushforward(lambda z: z @ z, (x,), (x[:2],))[1], X)
    with generic_tier(), pytest.raises(ad.errors.ArgumentError):
        ad.gradient(lambda x: ad.pushforward(lambda z: z @ z, (x,), (x[:2],))[1], X)


# ---- results of inner derivatives are values of their own ----------------------------------------


def cotangent_that_is_captured(x):
    c = x * x
    slope = ad.gradient(lambda z: np.sum(z * c), x)[0]
    c[0] = 7.0 * x[1]
    return slope @ x + c @ x


def tangent_that_was_given(x):
    t = x * x
    moved = ad.pushforward(lambda z: z + 1.0, (x,), (t,))[1]
    t[0] = 7.0 * x[1]
    return moved @ x


def two_that_are_one(x):
    c = x * x
    a, b = ad.gradient(lambda a, b: np.sum(a * c) + np.sum(b * c), x, x)
    a[0] = x[1]
    return a @ b + c @ x


@pytest.mark.parametrize(
    "f", [cotangent_that_is_captured, tangent_that_was_given, two_that_are_one]
)
def test_an_inner_derivative_is_a_new_array(f):
    assert ad.pushforward(f, (X,), (X,))[0] == pytest.approx(f(X), rel=1e-14)
    compare(lambda: ad.gradient(f, X))
    compare(lambda: ad.pushforward(f, (X,), (X,)))
    compare(lambda: ad.hvp(f, X, X))


def test_nothing_is_shared_with_the_arguments():
    def pulled(x, y):
        return ad.gradient(lambda a: np.sum(a * y), x)[0]

    def moved(x):
        return ad.pushforward(lambda z: z, (x,), (x,))[1]

    y = X.copy()
    assert not np.shares_memory(ad.pullback(pulled, X, y)[0], y)
    assert not np.shares_memory(ad.pushforward(moved, (X,), (X,))[0], X)


def test_an_inner_derivative_is_no_integer():
    n = 3

    def f(x):
        slope = ad.derivative(lambda s: s * n)(x)
        kind = 1.0 if isinstance(slope, float) else 100.0
        return np.sum(np.array([3, 3]) * (slope * 4_000_000_000) * 2_000_000_000) * x * kind

    assert ad.gradient(f, 2.0) == (1.44e20,)
    y, y_dot = ad.pushforward(lambda x: ad.derivative(lambda s: s * n)(x), (2,), (1,))
    assert type(y) is type(y_dot) is float
    with pytest.raises(TypeError):
        ad.gradient(lambda x: len(range(ad.derivative(lambda s: s * n)(x))) * x, 2.0)


def test_an_integer_as_an_inner_tangent():
    def doubled(t):
        return ad.pushforward(lambda b: b * 2, (t,), (t,))[1]

    def check():
        assert ad.pushforward(doubled, (3,), (1.0,)) == (6.0, 2.0)
        assert ad.gradient(doubled, 3) == (2.0,)

    check()
    with generic_tier():
        check()


class Point(NamedTuple):
    x: float
    y: np.ndarray


def test_gradients_of_named_tuples_are_named_tuples():
    point = Point(0.5, np.array([1.0, 2.0]))

    def around(s):
        return ad.grad(lambda point: s * point.x * np.sum(point.y**2))(point)

    value, slope = ad.pushforward(around, (2.0,), (1.0,))
    assert type(value) is type(slope) is Point
    assert value.x == 10.0 and slope.x == 5.0
    np.testing.assert_array_equal(slope.y, [1.0, 2.0])
    pulled = ad.grad(lambda s: np.sum(around(s).y) + around(s).x)(2.0)
    assert pulled == 8.0
