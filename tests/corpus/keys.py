"""Numbers as keys of dicts and elements of sets, and what hands them on.

The order of a set is that of hashes, so what depends on it is sorted first.
"""

import collections
import copy
import dataclasses
import fractions
import functools
import heapq
import itertools
import math
import operator
import statistics
import types
import typing

import numpy as np

from tests.corpus.registry import case


def weighted(values):
    total = 0.0
    for k, value in enumerate(values):
        total += (k + 1) * math.sin(value)
    return total


def of_entries(d):
    return sum(key * value for key, value in d.items())


@dataclasses.dataclass(frozen=True)
class Point:
    a: float
    b: float


# ---- dicts ---------------------------------------------------------------------------------------


@case(0.7)
def displays(x):
    d = {x: 1.0, **{x * 2: x}}
    e = {**d}
    return sum(key * key for key in e) + of_entries({1.0: x, **e, x: 5.0, **{x * 3: 2.0}})


@case(0.7)
def unions(x):
    d = {x: 1.0, x * x: 2.0}
    e = {x * 3: x, x: 7.0}
    total = weighted(d | e) + of_entries(d | e)
    d |= e
    return total * weighted(d) + of_entries(d)


@case(0.7)
def updates(x):
    d = {x: 1.0}
    d.update({x * x: x, x: 5.0})
    d.update([(x * 3, x), (2.0, x)])
    d.update(zip([x * 4], [x], strict=True))
    d.update(d)
    return weighted(d) + weighted(d.values())


@case(0.7)
def defaults_set(x):
    d = {}
    d.setdefault(x, x)
    d.setdefault(x, 3.0)
    d.setdefault(x * 2, 3.0)
    return weighted(d) + of_entries(d)


@case(0.7)
def dicts_from_others(x):
    d = {x: x, x * 2: 1.0}
    named = dict(d, a=x)
    del named["a"]
    pairs = dict([(x, 1.0), (x * 2, x)])
    keys = dict.fromkeys([x, x * 3], x)
    for other in (d.copy(), dict(d), copy.copy(d), copy.deepcopy(d), named, pairs, keys):
        x = x * weighted(other) + of_entries(other)
    return x


@case(0.7)
def taken_and_put_back(x):
    d = {x: 1.0, x * 2: x}
    key, value = d.popitem()
    d[key * x] = value
    e = dict(d)
    d.clear()
    d[key] = key
    del e[x]
    e[x] = e.pop(key * x)
    return weighted(e) + weighted(d) + key


@case(0.7, 0.7)
def equal_by_chance(x, y):
    d = {x: 1.0}
    d[x * x + 1.0] = y
    e = {x + 1.0: 2.0, **{y + 2.0: 1.0}}
    return weighted(e) + weighted(d)


@case(0.7)
def dict_of_a_class(x):
    class Doubling(dict):
        def __setitem__(self, key, value):
            super().__setitem__(key * 2, value)

        def __missing__(self, key):
            self[key] = key * x
            return key

    d = Doubling({x: 1.0})
    d[x] = 3.0
    d.update({x * 7: 1.0})
    d.setdefault(x * 5, x)
    first = d[x * 1.1] + d[x * 1.2]
    return first * weighted(d) * weighted(d.copy()) * weighted(Doubling.fromkeys([x, x * 4]))


@case(0.7)
def rest_of_a_pattern(x):
    match {1: 2.0, x: 1.0, x * 2: 2.0}:
        case {1: first, **rest}:
            return of_entries(rest) + first
    return x


@case(0.7)
def keys_that_hold_numbers(x):
    d = {(x, 1): x, (x * 2, 2): 1.0, Point(x, 2.0): x, Point(1.0, x): 3.0}
    for key in list(d):
        if isinstance(key, Point):
            d[key.a, key.b] = d.pop(key)
    e = {**d, (x * 3, 3): 2.0} | {}
    points = {Point(a, b): v for (a, b), v in e.items()}
    points = collections.Counter(copy.deepcopy(points))
    return sum(p.a * p.b * v for p, v in points.items()) + sum(p.a for p in set(points))


@case(0.7)
def numpy_keys(x):
    values = np.array([x, x * 2, x * x])
    d = {value: k for k, value in enumerate(values)}
    e = {**d, values[0] * 3: 1}
    return sum(key * key for key in e) + sum(e.keys())


# ---- kinds of dicts ------------------------------------------------------------------------------


@case(0.7)
def counters(x):
    a = collections.Counter([x, x * x, x, 1.0])
    a.update([x, 3.0 * x])
    a[x * 4] += 2
    a.subtract([x * 3])
    b = collections.Counter([x, x * 5])
    total = of_entries(a) + a.most_common(1)[0][0] + weighted(sorted(a.elements()))
    for c in (a + b, a - b, a | b, a & b, +a, -a):
        total = total * 0.5 + of_entries(c)
    return total


@case(0.7)
def ordered_counter(x):
    class OrderedCounter(collections.Counter, collections.OrderedDict):
        pass

    c = OrderedCounter([x, x * 2, x])
    c.move_to_end(x)
    return of_entries(c) + weighted(c) + weighted(reversed(c))


@case(0.7)
def default_dicts(x):
    d = collections.defaultdict(list)
    for value in (x, x * x, x, x * 2):
        d[value].append(value * x)
    e = collections.defaultdict(float, {x: 1.0})
    e[x * 2] += x
    total = sum(key * sum(values) for key, values in d.items())
    for f in (e.copy(), e | {x * 3: 1.0}, {x * 3: 2.0} | e, copy.copy(e), copy.deepcopy(e)):
        total = total * 0.5 + of_entries(f) + weighted(f)
    return total


@case(0.7)
def ordered_dicts(x):
    d = collections.OrderedDict([(x, 1.0), (x * 2, x)])
    d[x * 3] = x
    d.move_to_end(x)
    key, value = d.popitem(last=False)
    d.update({x * 4: x})
    d.setdefault(x * 5, x)
    d |= {x * 6: 2.0}
    total = key * value + weighted(reversed(d)) + weighted(reversed(d.keys()))
    united, swapped = d | {x * 7: 1.0}, {x * 8: 1.0} | d
    keys = collections.OrderedDict.fromkeys([x, x * 2], x)
    for e in (d, d.copy(), united, swapped, keys, copy.copy(d), copy.deepcopy(d)):
        total = total * 0.5 + of_entries(e) + weighted(e)
    return total + d.pop(x) + sum(a * b for a, b in reversed(d.items()))


@case(0.7)
def mappings_around_dicts(x):
    proxy = types.MappingProxyType({x: 1.0, x * 2: x})
    chain = collections.ChainMap({x: 1.0}, {x * 2: x})
    wrapped = collections.UserDict({x: 2.0})
    wrapped[x * 3] = x
    total = weighted(proxy.keys()) + weighted(reversed(proxy)) + proxy.get(x, 2.0)
    for d in (proxy, proxy.copy(), proxy | {x * 8: 1.0}, chain, wrapped):
        total = total * 0.5 + of_entries(d) + weighted(d)
    return total


# ---- views ---------------------------------------------------------------------------------------


@case(0.7)
def views_are_live(x):
    d = {x: 1.0, x * 2: x}
    keys, items = d.keys(), d.items()
    d[x * 3] = x * x
    total = weighted(keys) + weighted(reversed(keys)) + next(iter(keys))
    return total + sum(a * b for a, b in items) * sum(a - b for a, b in reversed(items))


@case(0.7)
def keys_as_sets(x):
    d = {x: 1.0, x * 2: x}
    e = {x: 2.0, x * 3: x}
    total = 0.0
    for made in (
        d.keys() | e.keys(),
        d.keys() & e.keys(),
        d.keys() - e.keys(),
        d.keys() ^ e.keys(),
        d.keys() | [x * 7],
        {x * 8} | d.keys(),
        {x * 2} & d.keys(),
        {x * 2, x * 9} - d.keys(),
        {x * 2, x * 9} ^ d.keys(),
        [x * 2, x * 9] & d.keys(),
        collections.OrderedDict(d).keys() | e.keys(),
    ):
        total = total * 0.5 + weighted(sorted(made))
    return total


@case(0.7)
def items_as_sets(x):
    d = {x: 1.0, x * 2: x}
    e = {x: 1.0, x * 3: x}
    total = 0.0
    for made in (
        d.items() | e.items(),
        d.items() & e.items(),
        d.items() - e.items(),
        d.items() ^ e.items(),
    ):
        total = total * 0.5 + sum(a * b for a, b in made)
    return total


# ---- sets ----------------------------------------------------------------------------------------


@case(0.7)
def set_operators(x):
    a, b = {x, x * 2, x * 3}, {x * 2, x * 5}
    c = frozenset(b)
    total = 0.0
    for made in (a | b, a & b, a - b, a ^ b, a | c, c & a, c - a, c ^ a, set(c), frozenset(a)):
        total = total * 0.5 + weighted(sorted(made))
    return total


@case(0.7)
def set_methods(x):
    a, b = {x, x * 2, x * 3}, {x * 2, x * 5}
    total = 0.0
    for made in (
        a.union(b, [x * 7], {x * 8: 1.0}),
        a.intersection([x * 2, x], b),
        a.difference(b, (x * 3,)),
        a.symmetric_difference([x * 2, x * 9]),
        a.copy(),
        frozenset(a).union(v * 11 for v in b),
        frozenset(a).intersection(v for v in b),
        frozenset(a).copy(),
        set().union({x: 1.0}),
        {*a, x * 4, *b},
    ):
        total = total * 0.5 + weighted(sorted(made))
    return total


@case(0.7)
def sets_in_place(x):
    a = {x, x * 2, x * 3}
    alias = a
    a |= {x * 4}
    a.update([x * 5], (x * 6,), {x * 7: 1.0}, (x * k for k in (8, 9)))
    a -= {x}
    a.difference_update([x * 2], {x * 4: 2.0})
    first = weighted(sorted(alias))
    a &= {x * 3, x * 4, x * 5, x * 6}
    a.intersection_update([x * 3, x * 5])
    second = weighted(sorted(alias))
    a ^= {x * 3, x * 8}
    a.symmetric_difference_update([x * 9])
    a.discard(x * 8)
    third = weighted(sorted(alias))
    a.clear()
    a.add(x * x)
    a.__init__([*a, x * 3])
    return first * second * third * a.pop() * a.pop()


@case(0.7)
def sets_of_classes(x):
    class Numbers(set):
        pass

    class Frozen(frozenset):
        pass

    a, b = Numbers([x, x * 2]), Frozen([x * 2, x * 3])
    a.add(x * 3)
    c, d = a | {x * 4}, a.copy()
    a &= {x}
    return sum(weighted(sorted(made)) for made in (a, b, c, d, b | a, b.union([x * 5])))


@case(0.7)
def sets_of_sets(x):
    inner = frozenset([x, x * 2])
    outer = {inner, frozenset([x * 3])}
    outer.discard({x * 3})
    named = {inner: x}
    return sum(weighted(sorted(part)) for part in outer) + sum(
        weighted(sorted(key)) * value for key, value in named.items()
    )


@case(0.7)
def sets_of_objects(x):
    points = {Point(x, 1.0), Point(x * 2, x)}
    points |= {Point(x, 1.0), Point(3.0, x)}
    kept = points - {Point(3.0, x)}
    return sum(p.a * p.b for p in points) + sum(p.a for p in frozenset(kept))


# ---- what reads them -----------------------------------------------------------------------------


@case(0.7)
def folds_of_keys(x):
    d = {x: 1.0, x * 2: x, x * x: 3.0}
    total = sum(d) + min(d) * max(d) + max(d, key=d.get) + math.fsum(d) + math.prod(d)
    total += statistics.mean(d) * statistics.fmean(d) + functools.reduce(operator.mul, d)
    total += math.hypot(*d) + np.sum(np.array(list(d))) + np.fromiter(d, float).sum()
    return total + sum(np.array([*d.keys()]) ** 2)


@case(0.7)
def iterators_of_keys(x):
    d = {x: 1.0, x * 2: x, x * x: 3.0}
    total = weighted(sorted(d)) + weighted(tuple(d)) + next(iter(d))
    total += sum(a * b for a, b in zip(d, d.values(), strict=True))
    total += sum(k * key for k, key in enumerate(d)) + sum(map(math.exp, d)) + sum(filter(None, d))
    total += weighted(itertools.chain(d, d.keys())) + weighted(itertools.islice(d, 2))
    return total + weighted(heapq.nlargest(2, d))


@case(0.7)
def keys_in_sequences(x):
    d = {x: 1.0, x * 2: x, x * x: 3.0}
    a, b, c = d
    first, *rest = d
    values = []
    values.extend(d)
    values += d.keys()
    values[1:2] = d
    return a * b * c + first * weighted(rest) + weighted(collections.deque(d)) + weighted(values)


# ---- equal keys of other classes -----------------------------------------------------------------


class Cell(typing.NamedTuple):
    i: int
    j: int


class Word(str):
    """Text with a hash and an equality in Python."""

    def __hash__(self):
        return hash(str(self))

    def __eq__(self, other):
        return str(self) == str(other)


PAIRS = [
    *[(Cell(1, 2), (1, 2)), ((1, 2), Cell(1, 2)), ((1, (2, 3)), (1, Cell(2, 3)))],
    *[(fractions.Fraction(1), 1), (1, fractions.Fraction(1)), (1.0, fractions.Fraction(1))],
    *[(Word("a"), "a"), ("a", Word("a")), (1, True), (1.0, 1), (np.int64(3), 3)],
]


@case(1.3)
def cells_of_a_grid(x):
    grid = {Cell(i, j): x ** (i + 1) * (j + 1) for i in range(3) for j in range(3)}
    for i in range(2):
        grid[i, i + 1] += grid[i + 1, i] * x
    return sum(grid[i, i + 1] * (i + 1) for i in range(2)) + sum(grid.values())


@case(1.3)
def writes_by_equal_keys(x):
    total = 0.0
    for key, other in PAIRS:
        d = {key: x * x, "rest": x}
        d[other] = x
        total += d[key] * 3.0
        d[other] += x * x
        d.update({other: d[key] * x})
        total += d.get(key) * d[other] + d.setdefault(other, 1.0)
    return total


@case(1.3)
def removals_by_equal_keys(x):
    total = 0.0
    for key, other in PAIRS:
        d = {key: x * x}
        y = d[other]
        del d[other]
        d[other] = x
        d[key] += y * x
        total += d[other] * 2.0 + sum(d.values())
        y = d.pop(key)
        d.setdefault(other, x)
        total += y * d[key] + sum(z * d[other] * d[k] for k, z in d.items())
    return total


@case({Cell(1, 2): 1.3, fractions.Fraction(1): 0.7, Word("a"): 0.4})
def arguments_with_keys_of_other_classes(d):
    return d[1, 2] ** 2 * d[1] + sum(d.values()) * d["a"]


@case(1.3)
def defaults_by_equal_keys(x):
    total = 0.0
    for key, other in PAIRS:
        d = collections.defaultdict(float)
        d[key] += x * x
        d[other] += x
        d[key] *= x
        total += d[key] * d[other]
    return total
