"""Numbers as keys of dicts and elements of sets, where no derivative can be had: refused, or
constants by convention."""

import array
import math
import pickle

import pytest

import adjoint as ad

# ---- keys of arguments are constants -------------------------------------------------------------


def test_keys_of_an_argument_are_constants():
    def f(d):
        d[2.0] = d[1]
        return sum(key * value for key, value in d.items())

    assert ad.gradient(f, {0.5: 2.0, 1: 3.0}) == ({0.5: 0.5, 1: 3.0},)


# ---- what C makes of keys ------------------------------------------------------------------------


def packed(x):
    return array.array("d", {x: 1.0})[0] * x


def packed_keys(x):
    return array.array("d", {x: 1.0}.keys())[0] * x


def packed_elements(x):
    return array.array("d", {x})[0] * x


def pickled(x):
    return sum(pickle.loads(pickle.dumps({x: 1.0})))


def pickled_tuples(x):
    return sum(a for a, _ in pickle.loads(pickle.dumps({(x, 1): 2.0})))


def pickled_values(x):
    return pickle.loads(pickle.dumps({(1, 2): x}))[1, 2]


@pytest.mark.parametrize(
    "f", [packed, packed_keys, packed_elements, pickled, pickled_tuples, pickled_values]
)
def test_unknown_functions_are_refused(f):
    with pytest.raises(ad.AdjointError, match=r"a derivative of .* is needed"):
        ad.gradient(f, 0.7)


def test_unknown_functions_of_constants_are_not():
    def f(x):
        return sum(pickle.loads(pickle.dumps({2.0: 1.0, (1.0, 2): 3.0})).values()) * x

    assert ad.gradient(f, 3.0) == (4.0,)


# ---- cotangents that have no place ---------------------------------------------------------------


def by_rule(x):
    return {x: 1.0}


@ad.rrule.register(by_rule)
def _(x):
    return {x: 1.0}, lambda y_bar: (None, math.nan)


def set_by_rule(x):
    return {(x, 1.0)}


@ad.rrule.register(set_by_rule)
def _(x):
    return {(x, 1.0)}, lambda y_bar: (None, math.nan)


def hooked(x):
    return sum(ad.hook(lambda bar: bar, {x: 1.0}))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: sum(by_rule(x)),
        lambda x: sum(a for a, _ in set_by_rule(x)),
        hooked,
        lambda x: sum({x: 1.0}) + sum(ad.hook(lambda bar: bar, {x})),
    ],
)
def test_no_place(f):
    with pytest.raises(ad.AdjointError, match=r"no place|a set of numbers"):
        ad.gradient(f, 0.7)


def test_sets_as_arguments():
    with pytest.raises(ad.AdjointError, match="a set of numbers cannot be differentiated"):
        ad.gradient(lambda s: sum(a for a, _ in s), {(0.5, 1)})
    assert ad.gradient(lambda s, x: len(s) * x, {(0.5, 1)}, 2.0) == (None, 1.0)
    assert ad.gradient(lambda s, x: x if "a" in s else 0.0, {"a"}, 2.0) == (None, 1.0)
