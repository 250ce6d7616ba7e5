"""What may change between two calls, what occurs twice, and what fails: the tiers do not differ."""

from __future__ import annotations

import abc
import builtins
import cmath
import functools
import math
import threading
import warnings
from types import FunctionType
from typing import NamedTuple

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.build.modes import GRADIENT
from adjoint.fast.evaluate.callees.library import is_library
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.programs import store as tier
from adjoint.fast.programs.call_kinds import kinds_of
from adjoint.rulekit.registry import lookup
from tests.fast.agreeing import generic_tier
from tests.structures import difference, mapped
from tests.support import materialised

SCALE = 2.0
WEIGHTS = np.array([3.0, 4.0, 5.0])


def power(x):
    return x * x


class Config:
    count = 3
    is_on = True


class Base:
    weight = 2.0

    def method(self, x):
        return x * self.weight

    @property
    def double(self):
        return self.weight * 2.0

    @staticmethod
    def static(x):
        return x * x

    @classmethod
    def on_class(cls, x):
        return x * cls.weight

    def __call__(self, x):
        return self.method(x)


class Plain:
    def __init__(self, w):
        self.w, self.b = w, 3.0

    def dot(self, x):
        return (x * self.w).sum()


class Turned(type):
    def __getattribute__(cls, name):
        return 10.0 if name == "w" else type.__getattribute__(cls, name)


class OfTurned(metaclass=Turned):
    w = 3.0


SHARED = Plain(2.0)


def result(f, args):
    """The value and the gradient, or the error."""
    try:
        return materialised(mapped(tuple(ad.withgradient(f, *args))))
    except Exception as error:
        return type(error), str(error)


def agree(f, *args):
    """Twice in the usual way, once in the generic tier."""
    first, second = result(f, args), result(f, args)
    with generic_tier():
        generic = result(f, args)
    assert difference(first, generic, rtol=1e-12) is None
    assert difference(second, generic, rtol=1e-12) is None


def is_fast(f, *args):
    return ad.tier(f, *args).tier == "fast"


def product(a, b):
    return a[0] * b[0] + a[1] * 3.0


def of_shared(p, x):
    return p.w * x * SHARED.w


def test_what_occurs_twice():
    one = [1.0, 2.0]
    agree(product, [1.0, 2.0], [3.0, 4.0])
    assert is_fast(product, [1.0, 2.0], [3.0, 4.0])
    agree(product, one, one)
    agree(lambda d, e: d["a"] * e["a"], *[{"a": 2.0}] * 2)
    agree(lambda rows: rows[0][0] * rows[1][0], [[1.0], [2.0]])
    agree(lambda rows: rows[0][0] * rows[1][0], [one, one])
    agree(of_shared, Plain(3.0), 2.0)
    agree(of_shared, SHARED, 2.0)
    x = np.arange(6.0)
    for a, b in [(x[:3], x[3:]), (x[:3], x[:3]), (x[:4], x[2:]), (x, x)]:
        agree(lambda a, b: (a * b).sum(), a, b)


class Node:
    def __init__(self, w, v, u, below=None):
        self.w, self.v, self.u, self.below = w, v, u, below


class Leafy(Node):
    pass


def of_nodes(a, b, c, d):
    total = a.w * b.v + c.u * d.w
    return np.sum(total + a.below.w * b.u) * c.below.v.sum()


ARRAYS = [np.arange(1.0, 4.0) * k for k in range(1, 13)]


def four_nodes(*arrays):
    a, b, c, d = (iter(arrays[i : i + 3]) for i in range(0, 12, 3))
    below = Node(2.0, np.ones(2), 3.0)
    return Node(*a, below), Node(*b), Leafy(*c, Leafy(1.0, np.ones(2), 2.0)), Leafy(*d)


@pytest.mark.parametrize("place", range(12))
def test_an_array_that_occurs_twice_among_many(place):
    agree(of_nodes, *four_nodes(*ARRAYS))
    assert is_fast(of_nodes, *four_nodes(*ARRAYS))
    for other in range(12):
        arrays = [*ARRAYS]
        arrays[place] = arrays[other]
        agree(of_nodes, *four_nodes(*arrays))


def test_an_object_that_occurs_twice_among_several_kinds():
    agree(of_nodes, *four_nodes(*ARRAYS))
    for i in range(4):
        for j in range(4):
            nodes = [*four_nodes(*ARRAYS)]
            nodes[0].below, nodes[2].below = nodes[j], nodes[i]
            if nodes[0].below is nodes[0] or nodes[2].below is nodes[2]:
                continue  # which the tests of agreement do not print
            agree(of_nodes, *nodes)
            nodes[i] = nodes[j]
            if nodes[2].below is not None:
                agree(of_nodes, *nodes)


def capturing():
    w = 2.0

    def g(x):
        return w * x

    def h(x):
        return g(x) * w

    return g, h


def test_captured_twice():
    (g, h), (other, _) = capturing(), capturing()
    for f, k in [(g, other), (g, g), (h, g), (h, other)]:
        agree(lambda f, k, x: f(x) * k(x), f, k, 3.0)
    agree(h, 3.0)


def test_globals(monkeypatch):
    def f(x):
        return x * SCALE * power(x) * abs(x) * math.cos(x) * np.sin(x)

    agree(f, 1.5)
    assert is_fast(f, 1.5)
    names = globals()
    for value in (5.0, np.float64(2.0), 3, "a"):
        monkeypatch.setitem(names, "SCALE", value)
        agree(f, 1.5)
    monkeypatch.undo()
    for function in (math.sin, lambda x: x):
        monkeypatch.setitem(names, "power", function)
        agree(f, 1.5)
    monkeypatch.undo()
    monkeypatch.setattr(np, "sin", lambda x: x * x)
    agree(f, 1.5)
    monkeypatch.setattr(math, "cos", lambda x: x * x * x)
    agree(f, 1.5)
    monkeypatch.setattr(builtins, "abs", lambda x: 3 * x)
    agree(f, 1.5)
    monkeypatch.setitem(names, "abs", lambda x: 4 * x)
    agree(f, 1.5)


def test_classes(monkeypatch):
    def f(o, x):
        return o.method(x) + o.double * o.static(x) + o.on_class(x) + o(x)

    o = Base()
    agree(f, o, 3.0)
    assert is_fast(f, o, 3.0)
    for name, value in {
        "weight": 3.0,
        "method": lambda self, x: x,
        "double": property(lambda self: 7.0),
        "static": staticmethod(lambda x: x),
        "__call__": lambda self, x: 9 * x,
    }.items():
        monkeypatch.setattr(Base, name, value)
        agree(f, o, 3.0)
    o.weight = 4.0
    agree(f, o, 3.0)
    o.method = lambda x: 100 * x
    agree(f, o, 3.0)


def test_attributes_of_classes(monkeypatch):
    def f(x):
        return x * Config.count if Config.is_on else x

    agree(f, 2.0)
    monkeypatch.setattr(Config, "count", 5)
    agree(f, 2.0)
    monkeypatch.setattr(Config, "is_on", False)
    agree(f, 2.0)
    agree(lambda x: OfTurned.w * x, 2.0)


def test_fields():
    def f(o, x):
        return o.w * x

    more, fewer = Plain(2.0), Plain(2.0)
    more.c = 4.0
    del fewer.b
    for o in (Plain(2.0), more, fewer, Plain(5.0)):
        agree(f, o, 2.0)


class Defaulted:
    c = np.array([5.0, 6.0])

    def __init__(self):
        self.w, self.c = np.array([1.0, 2.0]), np.array([3.0, 4.0])


def test_a_field_that_is_one_of_the_class_in_another_object():
    """There are as many fields, and all have the names that are read."""

    def f(o, x):
        return np.sum(o.w * o.c) * x

    agree(f, Defaulted(), 2.0)
    other = Defaulted()
    del other.c
    other.d = 7.0
    agree(f, other, 2.0)


def test_defaults():
    def f(x, many=[1.0, 2.0], *, factor=2.0):  # noqa: B006
        return x * many[0] * factor

    agree(f, 2.0)
    f.__defaults__[0][0] = 5.0
    agree(f, 2.0)
    f.__kwdefaults__["factor"] = 3.0
    agree(f, 2.0)
    f.__defaults__ = ([1.0],)
    agree(f, 2.0)
    f.__code__ = (lambda x: x * x * x).__code__
    f.__defaults__ = f.__kwdefaults__ = None
    agree(f, 2.0)


def test_a_rule_takes_effect():
    def first(x):
        return x * x

    def second(x):
        return x * x

    def f(x):
        return first(x) + second(x)

    assert ad.gradient(f, 3.0) == (12.0,)

    @ad.rrule.register(first)
    def _(x):
        return x * x, lambda y_bar: (None, 100.0 * y_bar)

    assert ad.gradient(f, 3.0) == (106.0,)
    ad.non_differentiable(second)
    assert ad.gradient(f, 3.0) == (100.0,)


def test_a_rule_takes_effect_on_a_function_that_was_called():
    def square(x):
        return x * x

    def f(x):
        return square(x)

    derivative, both = ad.grad(f), ad.value_and_grad(f)
    for x in (3.0, 4.0):
        assert derivative(x) == 2.0 * x
        assert both(x) == (x * x, 2.0 * x)

    @ad.rrule.register(square)
    def _(x):
        return x * x, lambda y_bar: (None, 100.0 * y_bar)

    for _ in range(2):
        assert derivative(3.0) == 100.0
        assert both(3.0) == (9.0, 100.0)


def test_a_function_that_was_called_is_called_with_all_kinds():
    def f(x, y=2.0):
        return np.sum(x * y)

    derivative = ad.grad(f)
    many = np.array([1.0, 2.0])
    for _ in range(3):
        for args in ((3.0,), (3.0, 4.0), (many,), (many, 4), (np.float32(2.0),), (many[:1], many)):
            assert not difference(derivative(*args), ad.grad(f, tier="generic")(*args))
    f.__defaults__ = (5.0,)
    assert derivative(3.0) == 5.0
    f.__code__ = (lambda x, y=2.0: x * y * y).__code__
    assert derivative(3.0) == 25.0


@pytest.mark.parametrize("value", [None, "a", 1j, 1, True, 2.5])
def test_constant_results(value):
    agree(lambda x: value, 1.0)
    agree(lambda x, flag: flag * x, 1.0, True)
    agree(lambda x, flag: x if flag else -x, 1.0, False)


def test_what_is_not_read_raises():
    def divided(x):
        y = 1 / x  # noqa: F841
        return x * x

    def logarithm(x):
        y = math.log(x)  # noqa: F841
        return x * x

    def multiplied(x, y):
        z = x @ y  # noqa: F841
        return x.sum() + y.sum()

    for x in (2.0, 0.0, -1.0):
        agree(divided, x)
        agree(logarithm, x)
    agree(multiplied, np.ones((2, 3)), np.ones((3, 2)))
    agree(multiplied, np.ones((2, 3)), np.ones((4, 2)))


def test_no_path_is_none():
    def counted(x, n):
        while n > 0:
            x, n = math.sin(x), n - 1
        return x

    for n in (3, 0, -1, 2.5):
        agree(counted, 1.1, n)
    for f in (round, np.sign, np.floor, int, math.floor):
        agree(lambda x, f=f: f(x) * 1.0, 2.7)
        agree(lambda x, f=f: f(x) * x, 2.7)
        agree(lambda x, f=f: f(x) * x, 3)


def test_failures_do_not_specialise_again():
    def f(x):
        return 1.0 / x

    for _ in range(2 * tier.LONGEST_REST):
        with pytest.raises(ZeroDivisionError):
            ad.gradient(f, 0.0)
    assert len(tier.known(f, GRADIENT).entries) == 1
    assert ad.gradient(f, 2.0) == (-0.25,)


def test_a_program_that_fails_often_is_tried_less_often():
    """It costs few of the calls, and is back when the numbers are others."""

    def f(x):
        return 1.0 / x

    ad.gradient(f, 2.0)
    failures = tier.known(f, GRADIENT).entries[0].failures
    for _ in range(500):
        with pytest.raises(ZeroDivisionError):
            ad.gradient(f, 0.0)
    assert tier.FEW_FAILURES < failures.count < tier.FEW_FAILURES + 20
    for _ in range(tier.LONGEST_REST):
        assert ad.gradient(f, 2.0) == (-0.25,)
    count = failures.count
    assert tier.run(f, (2.0,), GRADIENT) == (0.5, (-0.25,))
    assert failures.count == count == 0


def test_a_program_that_fails_now_and_then_goes_on():
    """A tenth of the calls fails: at most a tenth more is generic."""

    def f(x):
        return 1.0 / x

    ad.gradient(f, 2.0)
    generic = 0
    for k in range(2000):
        if k % 10 == 0:
            with pytest.raises(ZeroDivisionError):
                ad.gradient(f, 0.0)
        else:
            generic += tier.run(f, (2.0,), GRADIENT) is tier.MISS
    assert generic < 200


def test_warnings_are_the_users():
    def f(x):
        return np.sum(np.log(x))

    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        for x in (np.array([-1.0, 2.0]), np.array([0.0, 2.0])):
            ad.gradient(f, x)
    assert [one.filename for one in seen] == [__file__] * 2


def test_threads_share_one_program():
    def f(x, v):
        for _ in range(20):
            x = math.sin(x) * 1.1
        return x + np.sum(v * v)

    barrier, found = threading.Barrier(8), []

    def work(i):
        barrier.wait()
        found.append((i, ad.gradient(f, 1.0 + i, np.full(3, i * 1.0))))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len(tier.known(f, GRADIENT).entries) == 1
    for i, bars in found:
        with generic_tier():
            assert (
                difference(bars, ad.gradient(f, 1.0 + i, np.full(3, i * 1.0)), rtol=1e-12) is None
            )


def test_a_defect_does_not_reach_the_user(monkeypatch):
    def broken(*args):
        raise AssertionError("broken")

    def f(x):
        return x * x

    monkeypatch.setattr("adjoint.fast.programs.store._made", broken)
    with pytest.raises(AssertionError, match="broken"):
        ad.gradient(f, 3.0)
    tier.is_strict[0] = False
    try:
        assert ad.gradient(f, 3.0) == (6.0,)
        assert ad.tier(f, 3.0).reason == "internal: AssertionError: broken"
    finally:
        tier.is_strict[0] = True
        tier.forget()


def test_large_structures_are_generic():
    def f(rows):
        return sum(row["a"] for row in rows)

    assert ad.tier(f, [{"a": 1.0}] * 1 + [{"a": float(i)} for i in range(2000)]).tier == "generic"
    assert NotCovered("x").filename is None


def test_what_is_in_c_in_scipy_is_not_tried():
    spline = pytest.importorskip("scipy.signal._spline")
    special = pytest.importorskip("scipy.special")
    assert not is_library(spline.sepfir2d, lookup(spline.sepfir2d))
    assert is_library(special.gamma, lookup(special.gamma))


def test_an_object_that_says_it_is_a_static_method():
    """What a decorator of C has put around a method says that it is of the class of the method."""
    wrapt = pytest.importorskip("wrapt")

    @wrapt.decorator
    def doubled(wrapped, instance, args, kwargs):
        return wrapped(*args, **kwargs) * 2.0

    class Body:
        @doubled
        @staticmethod
        def square(x):
            return x * x

        @doubled
        def cube(self, x):
            return x * x * x

    body = Body()
    for f in (lambda x: Body.square(x), lambda x: body.square(x), lambda x: body.cube(x)):
        assert tier.run(f, (2.0,), GRADIENT) is tier.MISS


def test_a_keyword_that_carries_a_derivative():
    assert ad.gradient(lambda x: np.sum(np.fft.fftfreq(8, d=x) ** 2), 0.5) == (-11.0,)
    assert ad.gradient(lambda t: np.sum(np.clip(np.arange(3.0), a_min=0.0, a_max=t)), 1.5) == (1.0,)


def test_recursion_over_known_numbers_ends():
    """Nothing of it is written, so that the size of the program does not say when to give up."""

    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    def f(x):
        return x * fibonacci(22)

    assert tier.run(f, (2.0,), GRADIENT) is tier.MISS
    assert "too long" in ad.tier(f, 2.0).reason
    assert ad.gradient(f, 2.0) == (17711.0,)


class Loaded:
    """An object with a property that notes that it was asked."""

    def __init__(self, x):
        self.x, self.asked = x, []

    @property
    def value(self):
        self.asked.append("value")
        return self.x


def test_specialising_runs_no_property():
    loaded = Loaded(2.0)
    assert tier.run(lambda x: hasattr(loaded, "value") * x, (3.0,), GRADIENT) is tier.MISS
    assert loaded.asked == []


def test_a_class_that_says_later_how_attributes_are_read():
    class Model:
        def __init__(self, w):
            self.w = w

    def f(model, x):
        return model.w * x * x

    model = Model(2.0)
    assert ad.gradient(f, model, 3.0)[1] == 12.0
    assert ad.tier(f, model, 3.0).tier == "fast"
    Model.__getattribute__ = lambda self, name: (
        5.0 if name == "w" else object.__getattribute__(self, name)
    )
    assert ad.gradient(f, model, 3.0)[1] == 30.0
    del Model.__getattribute__
    assert ad.gradient(f, model, 3.0)[1] == 12.0


def of_an_object_inside(x):
    made = Made(x)
    return made.a * 2.0


class Made:
    def __init__(self, a):
        self.a = a


class Asked(type):
    def __instancecheck__(cls, value):
        return value.w > 1.0


class Heavy(metaclass=Asked):
    pass


class Abstract(abc.ABC):  # noqa: B024  something to register with
    pass


class Other:
    pass


class Pair(NamedTuple):
    a: float
    b: float


def both(f, *args):
    """The gradients in both tiers."""
    found = ad.gradient(f, *args)
    with generic_tier():
        return found, ad.gradient(f, *args)


@pytest.mark.parametrize(
    "name, value",
    [
        ("__setattr__", lambda self, name, v: object.__setattr__(self, name, v * 3)),
        ("a", property(lambda self: vars(self)["a"] * 5, lambda self, v: vars(self).update(a=v))),
        ("__getattribute__", lambda self, name: object.__getattribute__(self, name) * 7),
    ],
)
def test_a_class_of_objects_made_inside_that_is_changed_later(name, value):
    assert ad.gradient(of_an_object_inside, 3.0) == (2.0,)
    assert ad.tier(of_an_object_inside, 3.0).tier == "fast"
    setattr(Made, name, value)
    try:
        found, expected = both(of_an_object_inside, 3.0)
        assert found == expected != (2.0,)
    finally:
        delattr(Made, name)
    assert ad.gradient(of_an_object_inside, 3.0) == (2.0,)


class Shadowing:
    a = 1.0
    unused = 5
    scale = 2.0
    count = 2

    def __init__(self):
        self.a, self.b = 3.0, 2.0


class OfSlots:
    __slots__ = ("a", "b")

    def __init__(self):
        self.a, self.b = 3.0, 2.0


class Ten:
    """A descriptor that says on the class what stands there, and something else on an instance."""

    def __init__(self, before):
        self.before = before

    def __get__(self, instance, owner):
        return self.before if instance is None else instance.b * 10.0

    def __set__(self, instance, value):
        raise AssertionError


def by_ten(before):
    return property(lambda self: self.b * 10.0)


SLOTTED = OfSlots()


def of_slots(x):
    return SLOTTED.a * x * SLOTTED.b


def of_fields(c):
    return c.a * c.a * c.b


def of_the_class(c):
    return c.b * c.scale * Shadowing.scale * c.count


@pytest.mark.parametrize("place", ["shadowed", "slot", "after a deletion", "of the class", "count"])
@pytest.mark.parametrize("descriptor", [by_ten, Ten])
def test_a_descriptor_in_place_of_an_attribute(place, descriptor):
    """The number of attributes of the class stays the same."""
    tier.forget()  # few programs of one function are kept, and the cases share their functions
    cls = OfSlots if place == "slot" else Shadowing
    f = {"of the class": of_the_class, "count": of_the_class, "slot": of_slots}.get(
        place, of_fields
    )
    name = {"of the class": "scale", "count": "count"}.get(place, "a")
    given = 3.0 if place == "slot" else cls()
    agree(f, given)
    assert is_fast(f, given)
    expected = result(f, (given,))
    before, unused = vars(cls).get(name), vars(cls).get("unused")
    if place == "after a deletion":
        name = "b"
        del cls.unused
    setattr(cls, name, descriptor(before) if name != "b" else property(lambda self: self.a * 10.0))
    try:
        agree(f, given)
        assert difference(result(f, (given,)), expected) is not None
    finally:
        if place == "after a deletion":
            del cls.b
            cls.unused = unused
        else:
            setattr(cls, name, before)
    agree(f, given)
    assert is_fast(f, given)
    assert difference(result(f, (given,)), expected) is None


def test_fields_beside_a_metaclass():
    """`mro` is an attribute of all classes, and of no instance of theirs."""

    class Named:
        def __init__(self):
            self.mro, self.w = 3.0, 2.0

    def f(named):
        return named.mro * named.w

    agree(f, Named())
    assert is_fast(f, Named())
    Named.mro = property(lambda self: 5.0)
    agree(lambda named: named.mro * named.w, object.__new__(Named))


def test_a_named_tuple_whose_class_is_changed_later():
    def f(x, pair):
        return x * pair.a * Pair(x, 1.0).b

    assert ad.gradient(f, 3.0, Pair(2.0, 1.0))[0] == 2.0
    before = Pair.a
    Pair.a = property(lambda self: 4.0)
    try:
        found, expected = both(f, 3.0, Pair(2.0, 1.0))
        assert found[0] == expected[0] == 4.0
    finally:
        Pair.a = before
    assert ad.gradient(f, 3.0, Pair(2.0, 1.0))[0] == 2.0


def by_instance(x, value):
    return x * 2 if isinstance(value, Heavy) else x * 3


def by_registration(x, value):
    return x * 2 if isinstance(value, Abstract) else x * 3


def test_instances_that_a_class_has_a_say_in():
    assert ad.gradient(by_instance, 3.0, Plain(2.0))[0] == 2.0
    assert ad.gradient(by_instance, 3.0, Plain(0.5))[0] == 3.0


def test_a_class_that_is_registered_later():
    assert ad.gradient(by_registration, 3.0, Other())[0] == 3.0
    assert ad.tier(by_registration, 3.0, Other()).tier == "fast"
    Abstract.register(Other)
    assert ad.gradient(by_registration, 3.0, Other())[0] == 2.0


# ---- what changes between a call and its pullback ------------------------------------------------


FACTOR = 2.0


def two_of_them(x, held):
    return FACTOR * x * held["w"], x * x


@pytest.mark.parametrize("y_bar", [(float("nan"), None), (1.0, float("inf"))])
def test_a_pullback_does_not_read_what_changed_since(monkeypatch, y_bar):
    held = {"w": 1.0}
    y, back = ad.pullback(two_of_them, 3.0, held)
    assert back((1.0, None)) == (None, 2.0, {"w": 6.0})
    y, back = ad.pullback(two_of_them, 3.0, held)
    expected = back((1.0, 1.0))
    for change in (
        lambda patch: patch.setitem(held, "w", 7.0),
        lambda patch: patch.setitem(globals(), "FACTOR", 5.0),
        lambda patch: patch.setitem(globals(), "FACTOR", "text"),
    ):
        with monkeypatch.context() as patch:
            change(patch)
            with pytest.raises(ad.AdjointError, match="since its pullback was made"):
                back(y_bar)
            assert back((1.0, 1.0)) == expected
            assert back((1.0, None)) == (None, 2.0, {"w": 6.0})
    assert back((1.0, None))[1] == 2.0


# ---- what was found by trying all ----------------------------------------------------------------


class Weighted:
    label = "a"

    def __init__(self, w):
        self.w = w


def weighted(x):
    return Weighted(x).w * x


def test_another_attribute_in_place_of_one_that_went(monkeypatch):
    """As `monkeypatch` does from one test to the next: as many attributes, and not the same."""
    assert ad.gradient(weighted, 3.0) == (6.0,)
    monkeypatch.delattr(Weighted, "label")
    changes = {
        "__setattr__": lambda self, name, value: object.__setattr__(self, name, 3.0 * value),
        "w": property(lambda self: 7.0, lambda self, value: None),
        "unused": 1.0,
    }
    for name, change in changes.items():
        with monkeypatch.context() as patch:
            patch.setattr(Weighted, name, change, raising=False)
            found = ad.withgradient(weighted, 3.0)
            with generic_tier():
                assert found == ad.withgradient(weighted, 3.0)
            assert found.value == weighted(3.0)


def test_constants_of_modules(monkeypatch):
    def f(x):
        return math.pi * x + np.e * x

    assert ad.gradient(f, 1.0) == (math.pi + math.e,)
    monkeypatch.setattr(math, "pi", 3.0)
    assert ad.gradient(f, 1.0) == (3.0 + math.e,)
    monkeypatch.setattr(np, "e", 2)
    assert ad.gradient(f, 1.0) == (5.0,)


def test_defaults_that_are_added():
    def inner(x, y):
        return x * y

    def f(x, y):
        return inner(x, y) + inner(y, y)

    derivative = ad.grad(f)
    assert derivative(1.0, 2.0) == 2.0
    inner.__defaults__ = f.__defaults__ = (5.0,)
    f.__kwdefaults__ = {"z": 1.0}
    assert derivative(1.0, 2.0) == 2.0
    assert derivative(1.0) == 5.0


def test_defaults_of_parameters_that_are_not_keyword_only():
    def f(x, k=2.0):
        return x * k

    f.__kwdefaults__ = {"k": 3.0}
    assert ad.withgradient(f, 1.0) == (f(1.0), (2.0,))


def test_parts_of_truth_values():
    assert ad.gradient(lambda x: x.real * 2, True) == (2.0,)


@pytest.mark.parametrize(
    ("module", "name", "point"),
    [
        (math, "sin", 1.3),
        (cmath, "exp", 0.4 + 0.3j),
        (np, "tanh", np.array([0.3, -1.2])),
        (np, "array", np.array([0.3, -1.2])),
    ],
    ids=["math", "cmath", "numpy", "what the program needs"],
)
def test_a_module_in_which_another_function_stands_later(module, name, point, monkeypatch):
    """The function has its own name for the one that was there before."""
    g = getattr(module, name)

    def f(x):
        return np.sum(abs(g(x) * x))

    expected = ad.withgradient(f, point)
    assert ad.tier(f, point).tier == "fast"
    monkeypatch.setattr(module, name, lambda x, *more: x + 1.0)
    found = ad.withgradient(f, point)
    assert not difference(found, expected)
    assert ad.tier(f, point).tier == "fast"


def _loss(x, w=WEIGHTS):
    return (x * w).sum()


def _product(x, w):
    return (x * w).sum()


def _weights_of_a_key(x, named):
    return (x * named["w"]).sum()


@pytest.mark.parametrize(
    ("f", "more"),
    [
        (lambda x: (x * WEIGHTS).sum(), ()),
        (lambda x: (x * WEIGHTS if x[0] > 0 else x).sum(), ()),
        (_loss, ()),
        (_product, (WEIGHTS,)),
        (_weights_of_a_key, ({"w": WEIGHTS},)),
        (Plain(WEIGHTS).dot, ()),
        ((lambda w: lambda x: x @ w)(WEIGHTS), ()),
    ],
    ids=["global", "branch", "default", "argument", "key", "field", "captured"],
)
def test_a_gradient_is_the_callers_own(f, more):
    """Whatever it is multiplied with: a step in place changes nothing of the function's."""
    before, x = WEIGHTS.copy(), np.ones(3)
    ad.grad(f)(x, *more)
    assert ad.tier(f, x, *more).tier == "fast"
    for take in (ad.grad(f), lambda *args: ad.pullback(f, *args)[1](1.0)[1]):
        found = take(x, *more)
        found *= 0.1
        np.testing.assert_array_equal(WEIGHTS, before)
        np.testing.assert_allclose(take(x, *more), before)


class Layered:
    def __init__(self, w):
        self.w = w


def _squares(w):
    return (w * w).sum()


def _squares_of_key(named):
    return _squares(named["w"])


def _squares_of_field(held):
    return _squares(held.w)


def _of_pair(x, y):
    return (x * y).sum()


@pytest.mark.parametrize(
    ("f", "refused", "covered"),
    [
        (_squares, (np.zeros(0),), (WEIGHTS,)),
        (_squares_of_key, ({"w": np.zeros(0)},), ({"w": WEIGHTS},)),
        (_squares_of_key, ({"w": WEIGHTS, frozenset({1}): 3.0},), ({"w": WEIGHTS},)),
        (_squares_of_field, (Layered(np.zeros(0)),), (Layered(WEIGHTS),)),
    ],
    ids=["empty", "empty in a dict", "keys", "empty in an object"],
)
def test_what_is_refused_once_does_not_refuse_others(f, refused, covered):
    tier.forget()
    ad.gradient(f, *refused)
    assert ad.tier(f, *refused).tier == "generic"
    assert ad.tier(f, *covered).tier == "fast"
    assert ad.tier(f, *refused).tier == "generic"


class Scaling:
    def __init__(self, w):
        self.w = w

    def loss(self, x):
        return (self.w * x).sum()

    def __call__(self, x):
        return self.loss(x)


def _of_default(x, w=None):
    return (w * x).sum()


def _capturing(w):
    return lambda x: (w * x).sum()


def _reading(w):
    return FunctionType(_of_global.__code__, {"W": w})


def _of_global(x):
    return (W * x).sum()  # noqa: F821


@pytest.mark.parametrize(
    "make",
    [
        lambda w: Scaling(w).loss,
        Scaling,
        _capturing,
        _reading,
        lambda w: functools.partial(_of_pair, w),
        lambda w: FunctionType(_of_default.__code__, globals(), "f", (w,)),
    ],
    ids=["method", "object", "captured", "global", "partial", "default"],
)
def test_what_is_refused_for_what_a_function_reads(make):
    tier.forget()
    refused = np.array([2.0], ">f8")  # in another byte order
    assert ad.tier(make(refused), WEIGHTS).tier == "generic"
    assert ad.tier(make(np.arange(1.0, len(WEIGHTS) + 1)), WEIGHTS).tier == "fast"
    assert ad.tier(make(refused), WEIGHTS).tier == "generic"


def test_a_function_that_is_always_refused_is_not_asked_for_again():
    def f(x, n):
        return eval("0") or x * n

    for n in range(40):
        assert ad.gradient(f, 2.0, 7**n) == (7.0**n, 2.0)
    kept = tier.known(f, GRADIENT)
    assert 1 < len(kept.refused) <= tier.MOST_NOT_COVERED
    assert ad.tier(f, 2.0, 7**41).reason == "a call of eval"


def test_what_is_looked_at_of_arguments_may_contain_itself():
    held = Layered(WEIGHTS)
    held.me, held.all = held, [held]
    assert hash(kinds_of(len, (held, [held]))) == hash(kinds_of(len, (held, [held])))
    assert kinds_of(len, ([1.0] * 100_000,)) != kinds_of(len, ([1.0],))


@pytest.mark.parametrize("key", [1, True])
@pytest.mark.parametrize("later", [1, True, 1.0, np.int64(1)])
def test_keys_of_another_class_that_are_equal(key, later):
    def f(x, named):
        return x * sum(3 if type(k) is int else 5 for k in named)

    tier.forget()
    ad.gradient(f, 1.3, {key: 2.0})
    named = {later: 2.0}
    assert ad.withgradient(f, 1.3, named) == (f(1.3, named), (f(1.0, named), {later: 0.0}))


def test_the_program_of_the_latest_call_is_for_its_own_kinds():
    def of(g):
        return lambda x: np.sum(g(x) * x)

    square, cube = of(lambda x: x * x), of(lambda x: x * x * x)
    lone, pair, five = np.array([2.0]), np.array([2.0, 3.0]), np.arange(1.0, 6.0)
    for _ in range(2):
        for x in (pair, five, np.array([1, 2]), pair.astype(np.float32), lone, pair):
            for f, power in ((square, 3), (cube, 4)):
                slope = power * x ** (power - 1.0)
                assert ad.gradient(f, x)[0] == pytest.approx(slope, rel=1e-6)
                y, y_dot = ad.pushforward(f, (x,), (np.ones(x.shape, slope.dtype),))
                assert (y, y_dot) == pytest.approx((np.sum(x**power), np.sum(slope)), rel=1e-6)
    latest = tier._latest[GRADIENT, id(cube.__code__)]
    assert latest in tier.known(cube, GRADIENT).entries
    ad.gradient(cube, five)
    ad.gradient(cube, pair)
    assert tier._latest[GRADIENT, id(cube.__code__)].has_taken_apart


def test_a_rule_that_is_registered_later_takes_the_place_of_the_latest_program():
    def halved(x):
        return x / 2

    def f(x):
        return halved(x) * 3.0

    assert ad.gradient(f, 2.0) == ad.gradient(f, 2.0) == (1.5,)

    @ad.rrule.register(halved)
    def _(x):
        return x / 2, lambda y_bar: (None, 10.0 * y_bar)

    assert ad.gradient(f, 2.0) == (30.0,)


def test_a_latest_program_that_writes_outside():
    def f(x):
        x[0] *= 2.0
        return np.sum(x * x)

    x = np.array([1.0, 2.0])
    for _ in range(3):
        assert ad.gradient(f, x.copy())[0].tolist() == [8.0, 4.0]
        y, back = ad.pullback(f, x.copy())
        assert (y, back(1.0)[1].tolist()) == (8.0, [8.0, 4.0])


# ---- keys ----------------------------------------------------------------------------------------


def of_quotes(quotes):
    total = 0.0
    for maturity, coupon in sorted(quotes):
        total += np.copysign(maturity, coupon) * quotes[maturity, coupon] ** 2
        total += quotes[maturity, coupon] if isinstance(coupon, float) else 0.0
    return total / len(quotes)


def of_curve(curve):
    rates = [np.exp(-r * tenor) for tenor, r in curve.items()]
    return sum(rates) * curve[1.0] + np.copysign(1.0, min(curve))


QUOTES = [
    {(2, 0.03): 0.5, (5, 0.035): 0.25},
    {(2, 0.03): 0.4, (5, -0.035): 0.35},
    {(2, 0.0): 0.5, (5, 1.0): 0.25},
    {(2, -0.0): 0.5, (5, True): 0.25},
    {(2, 0): 0.5, (5, 1): 0.25},
]
CURVES = [{0.25: 0.1, 1.0: 0.2}, {0.25: 0.3, 1: 0.2}, {0.0: 0.1, 1.0: 0.2}, {-0.0: 0.1, 1.0: 0.2}]


@pytest.mark.parametrize(("f", "points"), [(of_quotes, QUOTES), (of_curve, CURVES)])
def test_floats_among_keys(f, points):
    tier.forget()
    for d in (*points, *points):
        value, (bars,) = ad.withgradient(f, d)
        assert repr(value) == repr(f(d)) and ad.tier(f, d).tier == "fast"
        assert [*map(repr, bars)] == [*map(repr, d)]
        for key, bar in bars.items():
            ends = [f(d | {key: d[key] + step}) for step in (1e-6, -1e-6)]
            assert bar == pytest.approx((ends[0] - ends[1]) / 2e-6, abs=1e-8)
        assert ad.pushforward(f, (d,), (bars,))[1] == pytest.approx(
            sum(b * b for b in bars.values())
        )
        ends = [ad.gradient(f, {k: d[k] + h * bars[k] for k in d})[0] for h in (1e-5, -1e-5)]
        for key, product in ad.hvp(f, d, bars).items():
            assert product == pytest.approx((ends[0][key] - ends[1][key]) / 2e-5, abs=1e-7)
    assert not any(known.refused for known in tier._kept.values())
    assert len(tier.known(f, GRADIENT).entries) == len(points)


def test_nan_as_a_key_is_generic():
    assert ad.gradient(lambda d: sum(d.values()), {math.nan: 2.0, 1.0: 3.0})[0][1.0] == 1.0
