"""An object that occurs twice in one argument shows its whole cotangent at both places, whether or
not the function reads both; what is given at two positions is two variables."""

from __future__ import annotations

import copy
import math
from types import MappingProxyType

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.entry_code import inputs
from adjoint.fast.programs import store as tier
from adjoint.runtime.results import with_zeros
from tests.fast.agreeing import generic_tier
from tests.structures import difference

X = np.arange(1.0, 4.0)
Y = np.array([0.5, -2.0, 1.5])


class Holder:
    def __init__(self, w, other=None):
        self.w, self.other = w, other


class Scaled:
    def __init__(self, w, kept):
        self.w, self.kept = w, kept

    def value(self, x):
        return (self.w * x).sum()

    def of(self, x, rest):
        return self.value(x)


def of_first(a, others):
    return (a * a * 1.5).sum()


def of_item(a, xs):
    return (a * xs[0]).sum()


def of_key(a, named):
    return (a * named["p"]).sum()


def of_field(holder):
    return (holder.w * holder.w).sum()


def of_both(a, b, rest):
    return (a * b).sum()


def of_numbers(both):
    return both[0][0] * both[0][1]


def of_two_lists(p, q):
    return p[0] * q[1] ** 2


def of_two_objects(p, q):
    return (p.w * q.w**2).sum()


def of_two_fields(p, q):
    return of_two_objects(p.w, q.w)


def of_all(holder):
    return (holder.w * holder.other).sum()


class Slotted:
    __slots__ = ("__hidden", "w")

    def __init__(self, w, hidden):
        self.w, self.__hidden = w, hidden

    def squared(self, x):
        return x * x


def of_slotted(x, slotted):
    return slotted.squared(x).sum()


def captured(w):
    def f(x):
        return (w * x).sum()

    return f


def objects(*items):
    made = np.empty(len(items), dtype=object)
    made[:] = items
    return made


def _half_empty():
    slotted = Slotted(Y, None)
    del slotted._Slotted__hidden
    return slotted


def _parent():
    holder = Holder(X * 1.0, Y)
    holder.parent = holder
    return holder


def _in_a_child(w):
    holder = Holder(w, Holder(Y * 1.0, w))
    holder.other.parent = holder
    return holder


GLOBAL = Holder(np.array([0.3, 0.1, -0.4]))


def of_a_global(x, rest):
    return (GLOBAL.w * x).sum()


def of_a_default(x, rest, w=GLOBAL):
    return (w.w * x).sum()


def _captured(held):
    return lambda x, rest: (held.w * x).sum()


class Of:
    def __init__(self, holder):
        self.holder = holder

    def __call__(self, x, rest):
        return (self.holder.w * x).sum()


TIED = {
    "both items": lambda: (of_item, X, [Y, Y]),
    "an item that is not read": lambda: (of_item, X, [Y, 1.0, Y]),
    "a key": lambda: (of_key, X, {"p": Y, "q": Y}),
    "deep in a structure": lambda: (of_item, X, [Y, {"a": (X, [Y])}]),
    "another field": lambda: (of_field, Holder(X, X)),
    "a field of another object": lambda: (of_field, _in_a_child(X)),
    "an object": lambda: (of_item, X, [Y, Holder(X, [Y])]),
    "a method": lambda: (of_item, X, [Y, Scaled(Y, X).value]),
    "a closure": lambda: (of_item, X, [Y, captured(Y)]),
    "a method of an array": lambda: (of_item, X, [Y, Y.dot, Y.__add__]),
    "a view of a dict": lambda: (of_item, X, [Y, MappingProxyType({"a": Y})]),
    "an array of objects": lambda: (of_item, X, [Y, objects(1.0, Y)]),
    "a view of an array of objects": lambda: (of_item, X, [Y, {"a": objects([Y], None)[:1]}]),
    "a slot": lambda: (of_item, X, [Y, Slotted(X, [Y])]),
    "a list that is read": lambda: (lambda xs: (of_numbers, [xs, xs]))([2.0, 3.0]),
}
APART = {
    "self": lambda: (lambda s: (s.of, X, [s]))(Scaled(Y, None)),
    "a global": lambda: (of_a_global, X, {"a": GLOBAL}),
    "a global that is an argument": lambda: (of_a_global, X, GLOBAL),
    "a default": lambda: (of_a_default, X, [GLOBAL]),
    "what is captured": lambda: (_captured(GLOBAL), X, [(GLOBAL,)]),
    "what is captured, as an argument": lambda: (_captured(GLOBAL), X, GLOBAL),
    "what is called": lambda: (Of(GLOBAL), X, [GLOBAL.w]),
    "a list with another argument": lambda: (of_first, X, [X]),
    "an item that is another argument": lambda: (of_item, X, [Y, X]),
    "a whole argument": lambda: (of_both, X, Y, X),
    "an array given twice": lambda: (of_both, X, X, None),
    "a list given twice": lambda: (lambda xs: (of_two_lists, xs, xs))([2.0, 3.0]),
    "an object given twice": lambda: (lambda h: (of_two_objects, h, h))(Holder(X)),
    "an object in two objects": lambda: (lambda h: (of_two_fields, Holder(h), Holder(h)))(
        Holder(X)
    ),
    "an array of objects": lambda: (of_first, X, [objects(1.0, X)]),
    "a slot": lambda: (of_slotted, X, Slotted(Y, [X])),
    "a slot that is empty": lambda: (of_slotted, X, _half_empty()),
    "all fields": lambda: (of_all, Holder(X, Y)),
    "functions": lambda: (of_first, X, [math.sin, len, X.dot]),
    "a key": lambda: (of_key, X, {"p": Y, "q": "text"}),
    "another field": lambda: (of_field, Holder(X, X * 1.0)),
    "the object itself": lambda: (of_field, _parent()),
    "a parent": lambda: (of_field, Holder(X, Holder(Y))),
}


def demand_as_generic(made, is_fast):
    tier.forget()
    f, *args = made()
    for _ in range(2):  # the second time the program is there, or known not to be
        found = ad.withgradient(f, *args), ad.pullback(f, *args)[1](1.0)
        with generic_tier():
            expected = ad.withgradient(f, *args), ad.pullback(f, *args)[1](1.0)
        assert not difference(found, expected, rtol=1e-12), (found, expected)
    assert (ad.tier(f, *args).tier == "fast") is is_fast


HELD = (
    "a method",
    "a method of an array",
    "a view of a dict",
    "an array of objects",
    "a view of an array of objects",
    "a slot",
)
"""Ties within what programs do not take apart."""


@pytest.mark.parametrize("name", TIED)
def test_what_occurs_twice(name):
    demand_as_generic(TIED[name], is_fast=name not in HELD)


@pytest.mark.parametrize("name", APART)
def test_what_does_not(name):
    demand_as_generic(APART[name], is_fast=True)


@pytest.mark.parametrize("name", ["a key", "another field"])
def test_a_program_that_is_there_is_not_taken(name):
    f, *args = APART[name]()
    ad.gradient(f, *args)
    assert ad.tier(f, *args).tier == "fast"
    _, *args = TIED[name]()
    found = ad.gradient(f, *args), ad.pullback(f, *args)[1](1.0)
    with generic_tier():
        expected = ad.gradient(f, *args), ad.pullback(f, *args)[1](1.0)
    assert not difference(found, expected, rtol=1e-12), (found, expected)


def test_the_cotangent_of_one_argument():
    given = {"p": Y, "q": X}
    for named in (given, copy.deepcopy(given)):
        found = ad.grad(of_key, 1)(X, named)
        np.testing.assert_allclose(found["p"], X)
        np.testing.assert_allclose(found["q"], np.zeros(3))


def test_the_captured_variables_of_the_function():
    """Where a function is pulled back to itself."""
    model = Scaled(X * 1.0, None)
    model.kept = model.w

    def loss(x):
        return model.value(x)

    _, back = ad.pullback(loss, Y)
    with generic_tier():
        _, expected = ad.pullback(loss, Y)
    assert not difference(back(1.0), expected(1.0), rtol=1e-12)


@pytest.mark.parametrize(("name", "looks"), [("all fields", False), ("another field", True)])
def test_only_what_is_not_read_is_looked_into(name, looks, monkeypatch):
    looked = []
    monkeypatch.setitem(inputs._NAMES, "holds_one", lambda *given: looked.append(given))
    f, holder = APART[name]()
    tier.forget()
    for _ in range(2):
        ad.gradient(f, holder)
    assert ad.tier(f, holder).tier == "fast"
    assert bool(looked) is looks


def test_a_field_that_is_new():
    f, holder = APART["all fields"]()
    ad.gradient(f, holder)
    holder.more = [X]
    found = ad.gradient(f, holder)
    with generic_tier():
        expected = ad.gradient(f, holder)
    assert not difference(found, expected, rtol=1e-12), (found, expected)
    np.testing.assert_allclose(found[0].more[0], Y)


# ---- zeros of what is not read -------------------------------------------------------------------


class One:
    def __init__(self, f):
        self.f = f


def of_two(s):
    return s[0].f * s[1].f


def rests():
    shared = One(3.0)
    return {
        "numbers": ([4.0, 5], True),
        "objects": ([One(4.0), (5.0, 6), [7.0, 8.0], {"a": 9.0}], True),
        "an object twice": ([shared, shared], False),
        "an array": ([np.ones(2)], False),
        "what is nested": ([[[1.0]]], False),
        "many": ([1.0] * 100, False),
    }


@pytest.mark.parametrize("name", rests())
def test_zeros_of_few_numbers_are_written(name, monkeypatch):
    filled = []

    def fill(value, bar):
        filled.append(value)
        return with_zeros(value, bar)

    monkeypatch.setitem(inputs._NAMES, "filled", fill)
    rest, is_written = rests()[name]
    given = [One(2.0), One(3.0), *rest]
    tier.forget()
    for _ in range(2):
        found = ad.gradient(of_two, given)
    assert ad.tier(of_two, given).tier == "fast"
    assert is_written is not bool(filled)
    with generic_tier():
        expected = ad.gradient(of_two, given)
    assert repr(found) == repr(expected)


def test_zeros_of_other_classes():
    """A program is not taken for an argument whose unread parts are of other classes."""
    given = [One(2.0), One(3.0), One(4.0), 1.0]
    for change in (None, 5, None, [1.0], One(2.0), np.ones(2)):
        given[2].f = given[3] = change
        found = ad.gradient(of_two, given)
        with generic_tier():
            assert repr(found) == repr(ad.gradient(of_two, given))
    given[2] = given[0]
    found = ad.gradient(of_two, given)
    with generic_tier():
        assert repr(found) == repr(ad.gradient(of_two, given))
