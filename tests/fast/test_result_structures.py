"""Programs of functions that return lists, dicts and nested tuples: as in the generic tier."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import adjoint as ad
from tests.fast.agreeing import generic_tier
from tests.structures import difference
from tests.support import random_cotangent

A, V = np.array([0.3, 0.7, 1.1]), np.array([0.5, -0.2, 0.8])
LOG: list[Any] = []


class Pair(NamedTuple):
    p: Any
    q: Any


def a_dict(a):
    return {"x": a * a, "y": a[0] * a[1]}


def a_list_with_constants(a):
    return [a[0] * a[1], a.sum() ** 2, "text", 3]


def nested(a):
    return {"v": a[0] ** 2, 2: [a * 2, (a[1], {"k": a[2] * a[0]})], "none": None, "c": 1.5}


def a_named_tuple(a):
    return Pair(a * a, [a[0]])


def the_argument_itself(a):
    return a, {"same": a, "view": a[1:]}


def a_comprehension(a):
    return [a[i] * i for i in range(3)]


def beside_a_write(a):
    a[0] = a[1] * 2
    return {"a": a[0] * a, "b": [a.sum()]}


def one_list_twice(a):
    xs = [a[0] * 2]
    return [xs, xs]


def also_stored(a):
    LOG.clear()
    xs = [a[0] * 2]
    LOG.append(xs)
    return xs, a[1]


COVERED = [
    a_dict,
    a_list_with_constants,
    nested,
    a_named_tuple,
    the_argument_itself,
    a_comprehension,
    beside_a_write,
]
REFUSED = [one_list_twice, also_stored]


def answers(f):
    y, back = ad.pullback(f, A.copy())
    y_bar = random_cotangent(y, np.random.default_rng(0))
    found = [y, back(y_bar), back(y_bar), ad.pushforward(f, (A.copy(),), (V,))]
    for wrong in ([None], {"x": None}, 1.0):
        try:
            found.append(back(wrong))
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
    return [*found, back(None)]


@pytest.mark.parametrize("f", COVERED + REFUSED, ids=lambda f: f.__name__)
def test_as_in_the_generic_tier(f):
    found = answers(f), answers(f)
    assert (ad.tier(f, A.copy()).tier == "fast") is (f in COVERED), ad.tier(f, A.copy())
    with generic_tier():
        expected = answers(f)
    for each in found:
        for x, y in zip(each, expected, strict=True):
            assert not difference(x, y, rtol=1e-12)


def test_jacobian():
    found = ad.jacobian(a_dict, A)
    with generic_tier():
        assert not difference(found, ad.jacobian(a_dict, A), rtol=1e-12)


def test_what_is_stored_is_what_is_returned():
    (xs, _), _ = ad.pullback(also_stored, A.copy())
    assert LOG[0] is xs


def test_a_result_may_change_before_the_pullback():
    y, back = ad.pullback(a_dict, A)
    expected = back({"x": V, "y": 2.0})
    y["x"], y["z"] = 0.0, 1.0
    assert not difference(back({"x": V, "y": 2.0}), expected)


def test_called_inside():
    def f(a):
        parts = nested(a)
        while parts["v"] > 1e9:  # the call is generic
            exec("pass")
        return parts["v"] * parts[2][1][0] + np.sum(parts[2][0])

    with generic_tier():
        expected = ad.gradient(f, A)
    for _ in range(4):
        assert not difference(ad.gradient(f, A), expected, rtol=1e-12)
