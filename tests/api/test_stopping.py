"""`stop_gradient` of what holds numbers: no derivative flows back through it, in any mode."""

import collections
import dataclasses
import functools
import operator
import types
from typing import NamedTuple

import numpy as np
import pytest

import adjoint as ad
from adjoint.errors import MutationError


class Slots:
    __slots__ = ("x",)

    def __init__(self, x):
        self.x = x


class Plain:
    def __init__(self, x):
        self.x = x

    def twice(self):
        return 2 * self.x

    def __setattr__(self, name, value):
        if hasattr(self, name):
            raise AttributeError("set once")
        super().__setattr__(name, value)


@dataclasses.dataclass(frozen=True)
class Frozen:
    x: float


@dataclasses.dataclass(slots=True)
class Slotted:
    x: float


class Named(NamedTuple):
    x: float


class Words(dict):
    def first(self):
        return next(iter(self.values()))


class Row(list):
    def __init__(self, name, *items):
        super().__init__(items)
        self.name = name


class Pair(tuple):
    def __new__(cls, a, b):
        return super().__new__(cls, (a, b))


class Failed(Exception):
    pass


def closure(x):
    return lambda: x


def with_default(x):
    def f(y=x, *, z=x):
        return y + z

    return f


def ring(x):
    xs = [x]
    xs.append(xs)
    return xs


def counted(x):
    d = collections.defaultdict(float, a=x)
    return d


def ordered(x):
    d = collections.OrderedDict(b=1.0, a=x)
    d.move_to_end("b")
    return d


def zero_dimensional(x):
    return np.array(x)


HOLDERS = {
    "list": (lambda x: [x], lambda h: h[0]),
    "deque": (lambda x: collections.deque([x], 3), lambda h: h[0] + h.maxlen - 3),
    "set": (lambda x: {x}, lambda h: next(iter(h))),
    "frozenset": (lambda x: frozenset({x}), lambda h: next(iter(h))),
    "dict": (lambda x: {"a": x}, lambda h: h["a"]),
    "defaultdict": (counted, lambda h: h["a"] + h["missing"]),
    "OrderedDict": (ordered, lambda h: next(iter(h.values()))),
    "dict of a class": (lambda x: Words(a=x), lambda h: h.first()),
    "list of a class": (lambda x: Row("r", x), lambda h: h[0] + (h.name != "r")),
    "tuple": (lambda x: (1.0, x), lambda h: h[1]),
    "tuple of a class": (lambda x: Pair(1.0, x), lambda h: h[1]),
    "named tuple": (lambda x: Named(x), lambda h: h.x),
    "object": (lambda x: Plain(x), lambda h: h.x),
    "method": (lambda x: Plain(x).twice, lambda h: h()),
    "slots": (lambda x: Slots(x), lambda h: h.x),
    "frozen dataclass": (lambda x: Frozen(x), lambda h: h.x),
    "dataclass with slots": (lambda x: Slotted(x), lambda h: h.x),
    "namespace": (lambda x: types.SimpleNamespace(x=x), lambda h: h.x),
    "error": (lambda x: Failed(x), lambda h: h.args[0]),
    "partial": (lambda x: functools.partial(operator.mul, x), lambda h: h(1.0)),
    "partial by name": (lambda x: functools.partial(np.add, x2=x), lambda h: h.keywords["x2"]),
    "closure": (closure, lambda h: h()),
    "default": (with_default, lambda h: h()),
    "ring": (ring, lambda h: h[1][1][0]),
    "array": (lambda x: np.array([x, 1.0]), lambda h: h[0]),
    "array of none": (zero_dimensional, lambda h: h[()]),
    "array of objects": (lambda x: np.array([x, None]), lambda h: h[0]),
    "nested": (lambda x: {"a": [Plain((x, Slots(x)))]}, lambda h: h["a"][0].x[1].x),
}

MODES = {
    "reverse": lambda f: ad.gradient(f, 3.0)[0],
    "generic": lambda f: ad.grad(f, tier="generic")(3.0),
    "forward": lambda f: ad.pushforward(f, (3.0,), (1.0,))[1],
    "in a gradient": lambda f: ad.gradient(lambda x: ad.gradient(f, x)[0] * x, 3.0)[0] - 0.0,
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", HOLDERS)
def test_what_holds_a_number_is_a_constant(name, mode):
    hold, read = HOLDERS[name]
    value = read(hold(9.0))

    def f(x):
        return read(ad.stop_gradient(hold(x * x))) * x

    # f' = value of the constant, and (x f')' is the same: it depends on no x
    assert MODES[mode](f) == pytest.approx(value)


def by_iterators(v):
    return sum(ad.stop_gradient(iter([v, v * v]))) * v


def by_generators(v):
    return sum(ad.stop_gradient(y * y for y in [v, v])) * v


@pytest.mark.parametrize("f", [by_iterators, by_generators])
@pytest.mark.parametrize("mode", MODES)
def test_an_iterator_is_refused(f, mode):
    with pytest.raises(MutationError, match="is made constant"):
        MODES[mode](f)


@pytest.mark.parametrize("mode", MODES)
def test_what_c_holds_is_copied(mode):
    pandas = pytest.importorskip("pandas")

    def series(x):
        return (ad.stop_gradient(pandas.Series(x * x * np.ones(2))) * x).sum()

    def frame(x):
        held = ad.stop_gradient(pandas.DataFrame({"a": x * x * np.ones(2)}))
        return (held["a"] * x).sum()

    assert MODES[mode](series) == pytest.approx(18.0)
    assert MODES[mode](frame) == pytest.approx(18.0)


@pytest.mark.parametrize("name", HOLDERS)
def test_the_copy_is_alike(name):
    hold, read = HOLDERS[name]
    x = hold(9.0)
    copy = ad.stop_gradient(x)
    assert type(copy) is type(x)
    assert read(copy) == read(x)


@pytest.mark.parametrize("name", ["list", "deque", "dict", "object", "slots", "nested", "closure"])
@pytest.mark.parametrize("over", [ad.hessian, lambda f, x: ad.hvp(f, x, 1.0)])
def test_second_derivatives(name, over):
    hold, read = HOLDERS[name]

    def f(x):
        return read(ad.stop_gradient(hold(x * x))) * x**2

    found = over(f, 3.0)
    value = found[-1] if isinstance(found, tuple) else found
    assert value == pytest.approx(18.0)


def test_functions_of_modules_keep_their_rules():
    assert ad.stop_gradient(ad.nn.softmax) is ad.nn.softmax
    assert ad.stop_gradient(functools.partial(ad.nn.softmax, axis=0)).func is ad.nn.softmax


def test_no_code_of_the_class_runs():
    class Strict:
        def __init__(self, x):
            raise AssertionError("not made anew")

        __new__ = __copy__ = __reduce_ex__ = __init__

    x = object.__new__(Strict)
    x.y = [1.0]
    copy = ad.stop_gradient(x)
    assert type(copy) is Strict
    assert copy.y == [1.0]
    assert copy.y is not x.y
