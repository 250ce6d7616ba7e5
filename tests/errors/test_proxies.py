"""Objects that say that they are of another class: proxies of `wrapt`, iterators of our own."""

import copy
import itertools
import subprocess
import sys
import weakref

import numpy as np
import pytest
import wrapt

import adjoint as ad
from adjoint.errors import AdjointError, MutationError
from tests.errors.places import assert_tells, raised

VALUES = wrapt.ObjectProxy(np.ones(3))
NUMBERS = wrapt.ObjectProxy([1.0, 2.0])
NUMBER = wrapt.ObjectProxy(3.0)
NAMED = wrapt.ObjectProxy({"a": 2.0})


def of_a_list(x):
    return wrapt.ObjectProxy([x, 2.0])[0]


def of_a_number(x):
    return wrapt.ObjectProxy(x) * x


def of_an_array(x):
    return wrapt.ObjectProxy(np.array([x, x])).sum()


def of_a_dict(x):
    return wrapt.ObjectProxy(wrapped={"a": x})["a"]


@pytest.mark.parametrize("f", [of_a_list, of_a_number, of_an_array, of_a_dict])
def test_proxies_of_data(f):
    error = raised(MutationError, ad.gradient, f, 3.0)
    assert "'ObjectProxy' of a '" in error.problem
    assert_tells(error, f, "wrapt.ObjectProxy(")


def appended(x):
    NUMBERS.append(x)
    return NUMBERS.pop() * x


def inserted(x):
    NAMED["b"] = x
    return NAMED.pop("b") * x


def assigned(x):
    VALUES[0] = x
    return VALUES.sum()


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (VALUES * x).sum(),
        lambda x: (x * VALUES).sum(),
        lambda x: np.dot(VALUES, x * np.ones(3)),
        lambda x: NUMBER * x,
        lambda x: x * NUMBER,
        appended,
        inserted,
        assigned,
    ],
)
def test_proxies_made_before_are_right_or_refused_by_name(f):
    numbers, values = NUMBERS.copy(), VALUES.copy()
    try:
        found = ad.gradient(f, 3.0)
    except AdjointError as error:
        assert "Proxy" in str(error) or "neither a rule" in error.problem
    else:
        h = 1e-6
        assert found == (pytest.approx((f(3.0 + h) - f(3.0 - h)) / (2 * h)),)
    NUMBERS[:], VALUES[:] = numbers, values
    NAMED.pop("b", None)


def test_proxies_that_only_say_so():
    class Held:
        def __init__(self, values):
            self.values = values

        __class__ = property(lambda self: type(self.values))

        def __getitem__(self, i):
            return self.values[i]

        def __len__(self):
            return len(self.values)

    def f(x):
        held = Held([x, x * x])
        return sum(held) * max(held) * held[0] * len(held) * (1 + (x in held))

    assert ad.gradient(f, 2.0) == (pytest.approx(4 * (4 * 8 + 5 * 16)),)


def by_a_copied_tee(x):
    values, _ = itertools.tee([x, x * x])
    return next(values.__copy__())


def by_a_copy(x):
    return next(copy.copy(iter([x])))


@pytest.mark.parametrize("f", [by_a_copied_tee, by_a_copy])
def test_iterators_are_not_copied(f):
    error = raised(MutationError, ad.gradient, f, 3.0)
    assert "is copied inside differentiated code" in error.problem


def test_rules_of_a_library_that_comes_later():
    """Somebody may import rule files before the libraries that they are about."""
    program = """
import adjoint.extensions.wrapt
import adjoint as ad, wrapt

@wrapt.decorator
def doubled(wrapped, instance, args, kwargs):
    return 2.0 * wrapped(*args, **kwargs)

class Body:
    @doubled
    def square(self, x):
        return x * x

assert ad.gradient(lambda x: Body().square(x), 3.0) == (12.0,)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_proxy_of_what_is_gone_that_something_let_go_has_held():
    class Holder:
        pass

    def f(x, places):
        places.clear()
        return x * x

    holder, thing = Holder(), Holder()
    holder.proxy = weakref.proxy(thing)
    del thing
    assert ad.gradient(f, 3.0, [holder])[0] == 6.0
