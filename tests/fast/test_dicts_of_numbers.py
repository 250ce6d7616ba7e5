"""Uses of dicts and sets with keys that depend on numbers, in either tier: the values, derivatives
and exceptions are those of Python."""

from __future__ import annotations

import copy
import math
from collections import defaultdict

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store as tier
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

    for name in ("fast", "generic"):
        outside.clear()
        outside.update({0: 1.0, 1: 2.0})
        d = {0: 5.0}
        found = ad.grad(f, tier=name)(A, d) if name == "generic" else ad.grad(f)(A, d)
        assert d == {0: 0.9**2, 1: 1.3**2} or d.keys() == {0, 1}
        assert [*outside] == [0, 1, 2, -1]
        if name == "fast":
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


# ---- keys that have to be known ------------------------------------------------------------------


def by_user(ratings):
    by = {}
    for u, i, r in ratings:
        by.setdefault(u, []).append((i, r))
    total = 0.0
    for u, rows in by.items():
        r = np.array([x for _, x in rows])
        total += ((r - r.mean()) ** 2).sum() * (u + 1) + rows[0][0] * r[0]
    return total


def not_in(ratings):
    by = {}
    for u, _, r in ratings:
        if u not in by:
            by[u] = []
        by[u].append(r * r)
    return sum([len(v) * sum(v) * k for k, v in by.items()])


def with_get(ratings):
    by = {}
    for u, _, r in ratings:
        by[u] = [*by.get(u, []), r * r]
    return sum([len(v) * sum(v) for _, v in sorted(by.items())])


def of_two_keys(ratings):
    by = defaultdict(dict)
    for u, i, r in ratings:
        by[u][i] = r
    total = 0.0
    for u in by:
        for v in by:
            common = [i for i in by[u] if i in by[v]]
            total += sum([by[u][i] * by[v][i] for i in common]) * (u + 2 * v)
    return total


class Mean:
    def __init__(self):
        self.total, self.count = 0.0, 0

    def add(self, r):
        self.total += r * r
        self.count += 1


def of_objects(ratings):
    by = {}
    for u, i, r in ratings:
        if u not in by:
            by[u] = Mean()
        by[u].add(r * (i + 1))
    return sum([mean.total / mean.count for mean in by.values()])


def of_all(ratings):
    by = {u: [] for u, _, _ in ratings}
    for u, _, r in ratings:
        by[u].append(r)
    return sum([np.prod(v) for v in by.values()]) + len(by)


def in_a_branch(ratings):
    by = defaultdict(list)
    for u, i, r in ratings:
        if r > 0.7:
            by[u].append(r)
        else:
            by[i].append(r * r)
    return sum([k * sum(v) for k, v in by.items()])


def _of_ratings(f):
    return lambda ratings: f(ratings) * 2


RATINGS = [(0, 0, 1.0), (1, 0, 2.0), (0, 1, 3.0), (1, 2, 5.0), (3, 1, 0.5)]
OTHERS = [(1, 0, 1.0), (1, 0, 2.0), (2, 1, 0.3), (1, 2, 5.0), (3, 1, 0.5)]
OF_RATINGS = [by_user, not_in, with_get, of_two_keys, of_objects, of_all, in_a_branch]


@pytest.mark.parametrize("f", [*OF_RATINGS, *map(_of_ratings, OF_RATINGS)])
def test_dicts_of_containers_by_numbers_that_are_arguments(f):
    """There is a program for each value of these, which have derivatives."""
    tier.forget()
    for ratings in (RATINGS, OTHERS, RATINGS):
        value, (bars,) = ad.withgradient(f, ratings)
        assert value == f(ratings)
        np.testing.assert_allclose(bars, ad.grad(f, tier="generic")(ratings), rtol=1e-12)
        along = [(0.0, 0.0, r) for *_, r in ratings]
        product = ad.hvp(f, ratings, along)
        ends = [[(u, i, r * (1 + h)) for u, i, r in ratings] for h in (1e-6, -1e-6)]
        first, last = (np.array(ad.gradient(f, end)[0]) for end in ends)
        np.testing.assert_allclose(product, (first - last) / 2e-6, atol=1e-6)
        slope = (f(ends[0]) - f(ends[1])) / 2e-6
        assert np.sum(np.multiply(bars, along)) == pytest.approx(slope, rel=1e-7)
    refused = [one.reason for known in tier._kept.values() for one in known.refused.values()]
    assert not [reason for reason in refused if "level" not in reason]


def test_keys_that_are_stored_outside():
    class Key:
        pass

    def of_numbers(d, ks, xs):
        for k, x in zip(ks, xs, strict=True):
            d.setdefault(k, []).append(x * x)
        return sum([sum(v) * k for k, v in d.items()])

    def of_objects(d, ks, xs):
        d[Key()] = [xs[0] * ks[0]]
        return xs[1] ** 2

    for f, keys in ((of_numbers, [int, int]), (of_objects, [Key])):
        for name in (None, "generic"):
            d = {}
            bars = ad.grad(f, (1, 2), tier=name)(d, [1, 2, 1], [1.0, 2.0, 3.0])
            assert [type(key) for key in d] == keys
            if name is None:
                first = bars
        assert first == bars


def of_pairs(edges, weights):
    d = {}
    for (i, j), w in zip(edges, weights, strict=True):
        d[i, j] = d.get((i, j), 0.0) + w
        d[j, i] = d[i, j] * 2
    return sum([(i - j) * v * v for (i, j), v in d.items()])


def test_pairs_of_numbers_that_are_arguments():
    args = ([(0, 1), (1, 2), (0, 1)], [1.0, 2.0, 3.0])
    tier.forget()
    assert ad.gradient(of_pairs, *args) == ad.grad(of_pairs, (0, 1), tier="generic")(*args)
    assert ad.tier(of_pairs, *args).tier == "fast"
