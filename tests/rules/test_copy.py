"""Copies of objects that C takes apart, and of what was given to a function beforehand."""

import copy
import datetime
import functools
import operator
import random
import re

import numpy as np
import pytest

import adjoint as ad

COPIES = {"shallow": copy.copy, "deep": copy.deepcopy}


class Day(datetime.date):
    pass


OBJECTS = [
    operator.itemgetter(1), operator.attrgetter("x"), operator.methodcaller("upper"),
    re.compile("a"), Day(2020, 1, 2), datetime.timezone.utc, random.Random(3),
    np.random.default_rng(1), np.dtype("f8"),
]  # fmt: skip


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
@pytest.mark.parametrize("x", OBJECTS, ids=lambda x: type(x).__name__)
def test_constants_are_copied_as_python_does(x, copied):
    seen = []

    def f(v):
        seen.append(copied(x))
        return 2.0 * v

    assert ad.gradient(f, 3.0) == (2.0,)
    assert type(seen[-1]) is type(x)


@pytest.mark.parametrize("copied", COPIES.values(), ids=COPIES)
def test_what_a_partial_was_given_keeps_its_derivative(copied):
    def scaled(a, b, *, c):
        return a[0] * b * c

    def f(v):
        original = functools.partial(scaled, [v * v], c=v)
        original.name = "p"
        twin = copied(original)
        assert type(twin) is functools.partial
        assert twin.name == "p"
        original.args[0][0] = 0.0 * v  # only a shallow copy holds it, too
        return twin(v)

    deep = copied is copy.deepcopy
    assert ad.gradient(f, 3.0) == (108.0 if deep else 0.0,)
    assert ad.pushforward(f, (3.0,), (1.0,))[1] == (108.0 if deep else 0.0)
    assert ad.hvp(f, 3.0, 1.0) == (108.0 if deep else 0.0)
