"""Uses of dicts and sets with keys that depend on numbers, in either tier: the values, derivatives
and exceptions are those of Python."""

from __future__ import annotations

import copy
import math

import numpy as np
import pytest

import adjoint as ad
from tests.fast.agreeing import generic_tier

A = np.array([0.7, 1.3, -0.6, 0.9])
CASES = {}


def case(f):
    CASES[f.__name__] = f
    return f


def filled(a):
    d = {}
    for x in a:
        d[math.floor(x)] = x * x
    return d


@case
def grows_while_iterated_over(a):
    d = filled(a)
    for k in d:
        d[k + 1] = 2.0
    return sum(d.values())


@case
def grows_while_its_values_are_iterated_over(a):
    d = filled(a)
    for v in d.values():
        d[int(v * 10)] = a[0]
    return sum(d.values())


@case
def set_that_grows_while_iterated_over(a):
    s = {int(x) for x in a}
    for k in s:
        s.add(k + 1)
    return len(s) * a[0]


@case
def order_of_a_set(a):
    total = 0.0
    for n in (3, 8, 40, 1000):
        for k in {int(x * n) for x in (*a, *(a * 1.7), *(a - 3.0))}:
            total = total * 0.5 + k
    return total * a[0]


@case
def order_of_a_set_of_known_numbers(a):
    s = {8, 0, 16, 24}
    s.add(int(a[1] * 30))
    total = a[0]
    for k in s:
        total = total * 0.5 + k * a[1]
    return total


@case
def missing(a):
    return filled(a)[int(a[0] * 100)]


@case
def result(a):
    return filled(a)


@case
def result_inside(a):
    return [a[0], filled(a)]


@case
def compared(a):
    return a[0] * (filled(a) == filled(a * 1.01)) + a[1] * (filled(a) == {})


@case
def copied(a):
    d = filled(a)
    e, f = d.copy(), copy.copy(d)
    e[0] = a[1]
    f[0] = a[2]
    return d[0] * e[0] + f[0] * len({**d})


@case
def of_a_dict(a):
    d = filled(a)
    e = dict(d)
    e[1] = 1.0
    return d[1] * e[1] + sum({k: v * k for k, v in d.items()}.values())


@case
def removed(a):
    d = filled(a)
    x = d.pop(0)
    del d[1]
    return x * sum(d.values()) + d.pop(17, a[1])


@case
def united(a):
    d = filled(a)
    d.update({0: a[1], 5: 1.0})
    d |= {7: a[2]}
    return sum(v * k for k, v in (d | filled(a * 2)).items())


@case
def live_views(a):
    d = filled(a)
    keys, values, items = d.keys(), d.values(), d.items()
    first = sum(values) + sum(values)
    d[9] = a[0]
    return first * len(keys) + sum(k * v for k, v in items) + sum(values) + (9 in keys)


@case
def view_before_the_keys(a):
    d = {0: 1.0}
    values = d.values()
    for x in a:
        d[int(x)] = x
    return sum(values) * a[0]


@case
def ordered(a):
    d = filled(a)
    return sorted(d)[0] * d[0] + max(d) * d[1] + min(d.values()) + next(iter(d)) * a[0]


@case
def reversed_keys(a):
    return sum(k * v for k, v in reversed(filled(a).items())) + sum(reversed(filled(a)))


@case
def classes(a):
    d = filled(a)
    return a[0] * isinstance(d, dict) + a[1] * (type(d) is dict) + (d is d) + a[2] * bool(d)


@case
def texts_and_numbers(a):
    d = {"a": a[0], 1: a[1]}
    d[int(a[1])] = a[2]
    return d["a"] * d[1]


@case
def lists_as_values(a):
    d = {}
    for x in a:
        d.setdefault(int(x), []).append(x)
    return sum(sum(v) ** 2 for v in d.values())


@case
def pairs_as_keys(a):
    d = {}
    for i, x in enumerate(a):
        d[int(x), i % 2] = x
    return sum(v * v for v in d.values())


@case
def truth_values_as_keys(a):
    d = {}
    for x in a:
        d[x > 0.8] = x
    return d[True] * d[False]


@case
def no_numbers_as_keys(a):
    d = {a[0] * math.nan: 1.0}
    d[a[0] * math.nan] = a[1]
    return len(d) * a[1]


@case
def by_place_of_an_array(a):
    d = filled(a)
    return np.sum(np.array(list(d.values())) * np.array([*d]))


@case
def in_a_branch(a):
    d = {}
    if a[0] > 0.0:
        d[int(a[1])] = a[0]
    else:
        d[int(a[2])] = a[3]
    return sum(d.values()) * len(d)


@case
def one_of_two(a):
    d, e = filled(a), {0: 1.0}
    f = d if a[0] > 0 else e
    f[0] = a[1]
    return d[0] + e[0]


@case
def inner_key(a):
    d = {0: 1, 1: 0}
    return a[d[int(a[1])]] * a[d[int(a[0])]]


@case
def raises_halfway(a):
    kept = {}
    try:
        for x in a:
            kept[int(x)] = math.sqrt(x)
    except ValueError:
        return sum(kept.values()) * 2.0
    return sum(kept.values())


@pytest.mark.parametrize("name", CASES)
def test_use(name):
    f = CASES[name]

    def outcome(run):
        try:
            return run()
        except Exception as error:
            return type(error)

    y_bar = {0: 1.0, 1: 2.0, -1: 0.5} if name == "result" else 1.5
    for x in (A, A, A * 1.4, A - 0.2):
        plain = outcome(lambda x=x: f(x))
        with generic_tier():
            expected = outcome(lambda x=x: ad.pullback(f, x))
        found = outcome(lambda x=x: ad.pullback(f, x))
        if isinstance(plain, type):
            assert found is plain is expected
            continue
        np.testing.assert_equal(_rounded(found[0]), _rounded(plain))
        assert type(found[0]) is type(plain)
        if isinstance(plain, list | dict) and name != "result":
            continue
        if name == "result":
            y_bar = dict.fromkeys(plain, 1.5)
        for _ in range(2):
            np.testing.assert_allclose(found[1](y_bar)[1], expected[1](y_bar)[1], rtol=1e-12)


def _rounded(x):
    if isinstance(x, dict):
        return {k: _rounded(v) for k, v in x.items()}
    return [*map(_rounded, x)] if isinstance(x, list) else round(float(x), 11)


outside = {0: 1.0, 1: 2.0}


def test_a_dict_from_outside():
    def f(a, d):
        for x in a:
            d[int(x)] = x * x
            outside[int(x * 2)] = x
        return sum(d.values()) + sum(outside.values())

    for tier in ("fast", "generic"):
        outside.clear()
        outside.update({0: 1.0, 1: 2.0})
        d = {0: 5.0}
        found = ad.grad(f, tier=tier)(A, d) if tier == "generic" else ad.grad(f)(A, d)
        assert d == {0: 0.9**2, 1: 1.3**2} or d.keys() == {0, 1}
        assert [*outside] == [0, 1, 2, -1]
        if tier == "fast":
            first = found
    np.testing.assert_allclose(first, found)


def test_dicts_and_lists_are_compared_by_what_they_hold():
    def table(a):
        return {int(x * 10): x for x in a}

    def grown(a):
        found = []
        for x in a:
            found.append(x * 2)  # noqa: PERF401
        return found

    for made in (table, grown, lambda a: {int(x) for x in a}):
        f = lambda a, made=made: a[0] * (made(a) == made(a)) + a[1] * (made(a) != made(a * 2))
        for _ in range(2):
            np.testing.assert_allclose(ad.gradient(f, A)[0], [1.0, 1.0, *[0.0] * (len(A) - 2)])
