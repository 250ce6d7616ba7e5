"""A `defaultdict` that code in C fills, where nobody follows it: what its factory gives, and what
that stores, is refused where its derivative is needed."""

import collections
import io
import logging
import types

import pytest

import adjoint as ad
from adjoint.errors import MutationError


def translated(table):
    try:
        "a".translate(table)
    except TypeError:  # a float is no character
        pass


def filled(x):
    table = collections.defaultdict(lambda: x * x)
    translated(table)
    return table[97]


def filled_subclass(x):
    class Table(collections.defaultdict):
        pass

    table = Table(lambda: x * x)
    translated(table)
    return table[97]


def filled_counter(x):
    class Table(collections.Counter):
        def __missing__(self, key):
            self[key] = x * x
            return "b"

    table = Table()
    translated(table)
    return table[97]


def filled_by_bytes(x):
    table = collections.defaultdict(lambda: x * x)
    try:
        b"%(key)b" % table
    except TypeError:
        pass
    return table[b"key"]


def filled_inside(x):
    table = collections.defaultdict(lambda: x * x)
    try:
        b"%(key)b" % collections.ChainMap({}, table)
    except TypeError:
        pass
    return table[b"key"]


def stored_by_the_factory(x):
    state = [x]

    def make():
        state[0] *= x
        return "b"

    translated(collections.defaultdict(make))
    return state[0]


def filled_by_a_method_of_c(x):
    rest = [1.0, x]
    table = collections.defaultdict(rest.pop)
    translated(table)
    return table[97] * rest[0]


def logged(x):
    log = logging.Logger("filled")
    log.addHandler(logging.StreamHandler(io.StringIO()))
    table = collections.defaultdict(lambda: x * x, there=1.0)
    log.warning("%(key)s", table)
    return table["key"]


def filled_by_another(x):
    table = collections.defaultdict(lambda: x * x)
    translated(types.MappingProxyType(collections.defaultdict(lambda: table["key"] and "b")))
    return table["key"]


@pytest.mark.parametrize(
    "f",
    [
        filled,
        filled_subclass,
        filled_counter,
        filled_by_bytes,
        filled_inside,
        stored_by_the_factory,
        logged,
        filled_by_another,
        filled_by_a_method_of_c,
    ],
)
def test_what_is_filled_by_c_is_refused(f):
    for differentiate in (
        lambda: ad.gradient(f, 1.3),
        lambda: ad.grad(f, tier="generic")(1.3),
        lambda: ad.pushforward(f, (1.3,), (1.0,)),
    ):
        with pytest.raises(MutationError, match="store"):
            differentiate()


def test_one_that_is_not_asked_for_what_is_missing_may_be_given():
    def f(x):
        table = collections.defaultdict(lambda: x * x, {97: "b"})
        zeros = collections.defaultdict(float)
        zeros[0] += x
        translated(zeros)
        return len("a".translate(table)) * table[98] * zeros[0]

    assert ad.gradient(f, 1.3)[0] == pytest.approx(3 * 1.3**2)
    assert ad.pushforward(f, (1.3,), (1.0,))[1] == pytest.approx(3 * 1.3**2)
