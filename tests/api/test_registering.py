"""The extension points: `rrule`, `rrule.register`, `non_differentiable`."""

import math
import operator
import pprint
import struct
import subprocess
import sys
import threading

import numpy as np
import pytest

import adjoint as ad
from adjoint.runtime.foreign.entry_monitor import _seeing


def test_rrule_applies_a_rule():
    y, back = ad.rrule(math.sin, 0.5)
    assert y == math.sin(0.5) and back(2.0) == (None, 2.0 * math.cos(0.5))
    y, back = ad.rrule(operator.mul, 2.0, 3.0)
    assert back(1.0) == (None, 3.0, 2.0)


def test_rrule_is_none_where_there_is_none():
    assert ad.rrule(lambda x: x, 1.0) is None
    assert ad.rrule(test_rrule_applies_a_rule) is None
    assert ad.rrule([], 1.0) is None, "what cannot be hashed either"


def test_rrule_with_keywords():
    x = np.arange(6.0).reshape(2, 3)
    y, back = ad.rrule(np.sum, x, axis=0)
    assert y.tolist() == [3.0, 5.0, 7.0]
    bars = back(np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(bars[1], [[1.0, 2.0, 3.0]] * 2)
    y, _ = ad.rrule(np.sum, x, axis=1, keepdims=True)
    assert y.shape == (2, 1)


def test_rrule_of_what_is_not_differentiable():
    y, back = ad.rrule(np.argmax, np.array([1.0, 3.0]))
    assert y == 1 and back(1.0) == (None, None)


def cube(x):
    raise AssertionError("the rule stands in for it")


@ad.rrule.register(cube)
def _(x):
    def cube_back(y_bar):
        return None, 3 * x * x * y_bar

    return x**3, cube_back


def test_a_rule_of_a_function():
    assert ad.rrule(cube, 2.0)[0] == 8.0
    assert ad.gradient(cube, 2.0) == (12.0,)
    assert ad.gradient(lambda x: cube(x) * 2, 2.0) == (24.0,)
    assert ad.gradient(lambda xs: sum(map(cube, xs)), [1.0, 2.0]) == ([3.0, 12.0],)
    assert ad.gradient(lambda xs: sum(cube(x) for x in xs), [1.0, 2.0]) == ([3.0, 12.0],)


def test_the_decorator_returns_the_rule():
    def rule(x):
        return x, lambda y_bar: (None, y_bar)

    def f(x):
        return x

    assert ad.rrule.register(f)(rule) is rule
    assert ad.rrule(f, 1.0)[0] == 1.0


def test_a_rule_registered_late_is_taken():
    def f(x):
        return x * x

    def caller(x):
        return f(x) + 1

    assert ad.gradient(caller, 3.0) == (6.0,)

    @ad.rrule.register(f)
    def _(x):
        return x * x, lambda y_bar: (None, 100.0)

    assert ad.gradient(caller, 3.0) == (100.0,)
    assert ad.gradient(f, 3.0) == (100.0,)


def test_the_last_rule_wins():
    def f(x):
        return x

    for slope in (1.0, 2.0):

        @ad.rrule.register(f)
        def _(x, slope=slope):
            return x, lambda y_bar: (None, slope * y_bar)

    assert ad.gradient(lambda x: f(x), 3.0) == (2.0,)


# ---- dispatch ------------------------------------------------------------------------------------


def kind(x):
    return x * 2.0


@ad.rrule.register(kind)
def _(x: float):
    return x * 2.0, lambda y_bar: (None, 20.0)


@ad.rrule.register(kind)
def _(x: np.ndarray):
    return x * 2.0, lambda y_bar: (None, y_bar * 200.0)


def test_annotations_dispatch():
    assert ad.gradient(kind, 1.0) == (20.0,)
    np.testing.assert_array_equal(ad.gradient(lambda x: kind(x).sum(), np.ones(2))[0], [200, 200])
    assert ad.gradient(lambda x: kind(x).real, 1.0 + 0j) == (2.0 + 0j,), "its own source"
    assert ad.rrule(kind, [1.0]) is None


def test_annotations_with_unions_and_any():
    from typing import Any

    def f(x, y):
        return x * y

    @ad.rrule.register(f)
    def _(x: Any, y: float | int):
        return x * y, lambda y_bar: (None, 10.0, 20.0)

    assert ad.gradient(f, 2.0, 3.0) == (10.0, 20.0)
    assert ad.gradient(f, 2.0, 3) == (10.0, 20.0)


def test_annotations_with_unions_decline_others():
    def f(x):
        return x[0] if isinstance(x, list) else x

    @ad.rrule.register(f)
    def _(x: float | int):
        return x, lambda y_bar: (None, 10.0)

    assert ad.gradient(f, 2.0) == (10.0,)
    assert ad.gradient(f, [2.0]) == ([1.0],)


def declining(x):
    return x * x


@ad.rrule.register(declining)
def _(x):
    if x < 0:
        return NotImplemented
    return x * x, lambda y_bar: (None, 100.0)


def test_a_rule_may_decline():
    assert ad.gradient(declining, 2.0) == (100.0,)
    assert ad.gradient(declining, -2.0) == (-4.0,)
    assert ad.gradient(lambda x: declining(x), -2.0) == (-4.0,)
    assert ad.rrule(declining, -2.0) is None


def test_the_next_rule_is_taken():
    def f(x):
        return x * x

    @ad.rrule.register(f)
    def _(x):
        return x * x, lambda y_bar: (None, 10.0)

    @ad.rrule.register(f)
    def _(x):
        return NotImplemented

    assert ad.gradient(f, 2.0) == (10.0,)


def test_the_number_of_arguments_decides_too():
    def f(x, y=1.0):
        return x * y

    @ad.rrule.register(f)
    def _(x):
        return x, lambda y_bar: (None, 10.0)

    assert ad.gradient(f, 2.0) == (10.0,)
    assert ad.gradient(f, 2.0, 3.0) == (3.0, 2.0)


# ---- methods, classes, objects -------------------------------------------------------------------


class Model:
    def __init__(self, w):
        self.w = w

    def loss(self, x):
        return self.w * x

    @staticmethod
    def static(x):
        return x

    @classmethod
    def on_class(cls, x):
        return x

    def __call__(self, x):
        return self.w * x

    def __add__(self, x):
        return self.w + x

    @property
    def size(self):
        return self.w


class Child(Model):
    pass


@ad.rrule.register(Model.loss)
def _(self, x):
    def loss_back(y_bar):
        return None, ad.Tangent(Model, {"w": 10.0 * y_bar}), 20.0 * y_bar

    return self.w * x, loss_back


def test_a_rule_of_a_method():
    model_bar, x_bar = ad.gradient(lambda m, x: m.loss(x), Model(2.0), 3.0)
    assert model_bar.w == 10.0 and x_bar == 20.0
    model_bar, x_bar = ad.gradient(lambda m, x: m.loss(x), Child(2.0), 3.0)
    assert model_bar.w == 10.0 and x_bar == 20.0
    f_bar, x_bar = ad.pullback(Model(2.0).loss, 3.0)[1](1.0)
    assert f_bar.w == 10.0 and x_bar == 20.0
    assert ad.gradient(Model.loss, Model(2.0), 3.0)[1] == 20.0


def test_a_rule_of_a_method_may_give_a_dict():
    class Other:
        def __init__(self, w):
            self.w = w

        def loss(self, x):
            return self.w * x

    @ad.rrule.register(Other.loss)
    def _(self, x):
        return self.w * x, lambda y_bar: (None, {"w": 10.0 * y_bar}, None)

    other_bar, x_bar = ad.gradient(lambda m, x: m.loss(x), Other(2.0), 3.0)
    assert other_bar.w == 10.0 and x_bar == 0.0


def test_a_rule_of_a_static_method():
    @ad.rrule.register(Model.static)
    def _(x):
        return x, lambda y_bar: (None, 10.0)

    assert ad.gradient(lambda x: Model.static(x) + Model(1.0).static(x), 2.0) == (20.0,)


def test_a_rule_of_a_class():
    class Box:
        def __init__(self, x):
            self.x = x

    @ad.rrule.register(Box)
    def _(x):
        return Box(x), lambda box_bar: (None, 10.0)

    assert ad.gradient(lambda x: Box(x).x, 2.0) == (10.0,)


def test_a_rule_of_a_callable_object():
    model = Model(2.0)

    @ad.rrule.register(model)
    def _(x):
        return 2.0 * x, lambda y_bar: (ad.Tangent(Model, {"w": 5.0}), 10.0)

    assert ad.gradient(lambda x: model(x), 3.0) == (10.0,)
    assert ad.gradient(lambda x: Model(4.0)(x), 3.0) == (4.0,)


def test_a_rule_of_call():
    class Squarer:
        def __init__(self, w):
            self.w = w

        def __call__(self, x):
            return self.w * x

    @ad.rrule.register(Squarer.__call__)
    def _(self, x):
        return self.w * x, lambda y_bar: (None, {"w": 7.0}, 10.0)

    f_bar, x_bar = ad.pullback(Squarer(2.0), 3.0)[1](1.0)
    assert x_bar == 10.0 and f_bar.w == 7.0


def test_a_rule_of_a_builtin_method():
    y, back = ad.rrule((np.ndarray, "sum"), np.ones(3))
    assert y == 3.0
    np.testing.assert_array_equal(back(2.0)[1], [2.0, 2.0, 2.0])
    assert ad.rrule((list, "nothing"), []) is None
    y, back = ad.rrule((str, "upper"), "a")
    assert y == "A" and back(1.0) == (None, None)


# ---- non_differentiable --------------------------------------------------------------------------


def test_non_differentiable():
    def schedule(x):
        return x * x

    assert ad.gradient(lambda x: x * schedule(x), 3.0) == (27.0,)
    ad.non_differentiable(schedule)
    assert ad.gradient(lambda x: x * schedule(x), 3.0) == (9.0,)
    assert ad.gradient(schedule, 3.0) == (0.0,)


def test_non_differentiable_needs_no_source():
    import ctypes

    hundred = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(lambda x: 100 * x)
    ad.non_differentiable(hundred)
    assert ad.gradient(lambda x: x * hundred(x), 3.0) == (300.0,)


def test_non_differentiable_of_several():
    def f(x):
        return x

    def g(x):
        return x

    ad.non_differentiable(f, g)
    assert ad.gradient(lambda x: x * f(x) * g(x), 3.0) == (9.0,)


def test_non_differentiable_method():
    class Model:
        def scale(self, x):
            return x

    ad.non_differentiable(Model.scale)
    assert ad.gradient(lambda x: x * Model().scale(x), 3.0) == (3.0,)


def test_non_differentiable_functions_are_not_watched():
    """Whoever says so knows what a function does, of whichever package it is."""
    watched = []

    class Shown:
        def __repr__(self):
            watched.append(_seeing.get(threading.get_ident()))
            return "shown"

    def f(x):
        return x * len(pprint.saferepr(Shown()))

    ad.non_differentiable(pprint.saferepr)
    assert ad.gradient(f, 3.0) == (5.0,)
    assert ad.pushforward(f, (3.0,), (1.0,)) == (15.0, 5.0)
    assert watched == [None, None]


# ---- what rules see ------------------------------------------------------------------------------


def test_rules_see_finished_cotangents():
    seen = []

    def f(x):
        return x * 1.0

    @ad.rrule.register(f)
    def _(x):
        def f_back(y_bar):
            seen.append(y_bar)
            return None, y_bar

        return x * 1.0, f_back

    (bar,) = ad.gradient(lambda x: f(x)[1] * 2 + f(x)[0] * 3, np.ones(3))
    np.testing.assert_array_equal(bar, [3.0, 2.0, 0.0])
    for y_bar, expected in zip(seen, ([3.0, 0.0, 0.0], [0.0, 2.0, 0.0]), strict=True):
        assert type(y_bar) is np.ndarray
        np.testing.assert_array_equal(y_bar, expected)


def test_rules_see_plain_structures():
    seen = []

    def pair(x):
        return [x, x * 2, 3.0]

    @ad.rrule.register(pair)
    def _(x):
        def pair_back(y_bar):
            seen.append(y_bar)
            return None, sum(bar for bar in y_bar if bar is not None)

        return [x, x * 2, 3.0], pair_back

    assert ad.gradient(lambda x: pair(x)[1] * 5, 2.0) == (5.0,)
    assert seen == [[None, 5.0, None]]


def test_rules_of_containers():
    def total(xs):
        return sum(xs)

    @ad.rrule.register(total)
    def _(xs):
        return sum(xs), lambda y_bar: (None, [y_bar * (i + 1) for i in range(len(xs))])

    assert ad.gradient(lambda xs: total(xs) * 2, [5.0, 6.0]) == ([2.0, 4.0],)
    assert ad.gradient(lambda x: total([x, 2 * x]), 5.0) == (5.0,)
    with pytest.raises(ad.AdjointError):
        ad.gradient(bad_total, [1.0, 2.0])


def bad_total(xs):
    return sum(xs)


@ad.rrule.register(bad_total)
def _(xs):
    return sum(xs), lambda y_bar: (None, [y_bar])


def test_a_result_of_a_rule_may_be_its_argument():
    def same(x):
        return x

    @ad.rrule.register(same, alias=True)
    def _(x):
        return x, lambda y_bar: (None, y_bar)

    def f(x):
        y = same(x * 1.0)
        y[0] = 5.0
        return (y * y).sum()

    np.testing.assert_array_equal(ad.gradient(f, np.array([1.0, 2.0]))[0], [0.0, 4.0])


def test_a_result_may_be_an_argument_that_has_no_derivative():
    def stand_in(value, x):
        return value

    @ad.rrule.register(stand_in, alias=True)
    def _(value, x):
        return value, lambda y_bar: (None, None, y_bar)

    def computed(x):
        return x * 2.0

    ad.non_differentiable(computed)

    def viewed(x):
        return (stand_in(computed(x), x).view(float) * 3.0).sum()

    def written(x):
        y = stand_in(computed(x), x)
        y *= 3.0
        y[0] = 1.0
        return y.sum()

    def unknown(x):
        y = stand_in(computed(x), x)
        struct.pack_into("d", y, 0, 2.0)
        return y.sum()

    x = np.array([1.0, 2.0])
    np.testing.assert_array_equal(ad.gradient(viewed, x)[0], [3.0, 3.0])
    np.testing.assert_array_equal(ad.gradient(written, x)[0], [0.0, 3.0])
    with pytest.raises(ad.AdjointError, match="pack_into"):
        ad.gradient(unknown, x)


def test_rules_for_functions_of_libraries():
    """In an interpreter of its own: rules last, and these come before any derivative was taken."""
    run = [sys.executable, "-m", "tests.api.outside_rules"]
    done = subprocess.run(run, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
