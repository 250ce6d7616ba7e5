"""Dicts and sets whose keys depend on numbers: functions of one array of four floats, which run as
programs."""

from __future__ import annotations

import collections
import functools
import math
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

TABLE: dict[str, Callable[[np.ndarray], Any]] = {}
LABELS = np.array([3, 1, 3, 3])


def program(f: Callable[[np.ndarray], Any]) -> Callable[[np.ndarray], Any]:
    TABLE[f.__name__] = f
    return f


@program
def sums_by_label(a):
    sums = {}
    for x, k in zip(a, LABELS, strict=True):
        sums[k] = sums.get(k, 0.0) + x * x
    return sum(s**2 for s in sums.values()) * len(sums)


@program
def with_a_default(a):
    sums, counts = defaultdict(float), defaultdict(int)
    for i in range(len(a)):
        k = int(LABELS[i])
        sums[k] += a[i] ** 2
        counts[k] += 1
    return sum(s / counts[k] * (k + 1) for k, s in sums.items()) + sums[17]


@program
def made_by_a_function(a):
    sums = defaultdict(lambda: a[0] * 2.0)
    for x in a:
        sums[math.floor(x)] *= x
    return sum(k * s for k, s in sums.items())


@program
def keys_known_before(a):
    sums = {0: 1.0, 1: a[1], -1: 0.5}
    for x in a:
        sums[int(x)] += x * x
    return sums[0] * sums[1] - sums[-1]


@program
def tested_first(a):
    bins = {}
    for x in a:
        k = math.floor(2.0 * x)
        if k in bins:
            bins[k] = bins[k] * x
        else:
            bins[k] = 1.0 + x
    total = 0.0
    for k in bins:
        total = total * 0.5 + bins[k] * k
    return total


@program
def made_in_each_iteration(a):
    total = 0.0
    for n in range(1, 4):
        found = {}
        for x in a:
            found.setdefault(int(x * n), x * n)
        total += sum(found.values()) ** 2
    return total


@program
def normalised(a):
    weights = {}
    for x in a:
        weights[math.floor(x)] = x * x
    total = sum(weights.values())
    for k in weights:
        weights[k] = weights[k] / total
    return sum(k * math.exp(w) for k, w in weights.items())


@program
def polynomial(a):
    """A product of polynomials with coefficients by power."""
    product = {0: 1.0}
    for x in a:
        more = {}
        for power, c in product.items():
            more[power] = more.get(power, 0.0) + c * x
            more[power + 1] = more.get(power + 1, 0.0) + c
        product = dict_like(more)
    return product[0] * product[2] + product[1]


def dict_like(more):
    made = {}
    for power, c in more.items():
        made[power] = c * 0.9
    return made


@program
def memo_by_integer(a):
    memo = {0: a[0], 1: a[1]}
    for k in range(2, int(a[1] * 9)):
        memo[k] = 0.5 * memo[k - 1] + a[2] * memo[k - 2]
    return memo[len(memo) - 1] + memo[3]


@program
def counted(a):
    counts = Counter(int(2 * x) for x in a)
    counts[5] += 1
    return sum(counts[int(2 * x)] * x * x for x in a) + counts[99]


@program
def only_once(a):
    seen, total = set(), 0.0
    for x in a:
        k = int(x)
        if k in seen:
            continue
        seen.add(k)
        total += x * x * len(seen)
    return total


@program
def numbers_of_a_set(a):
    cells = {math.floor(x) for x in a}
    return len(cells) * np.sum(a * a) + (a[0] if 0 in cells else 0.0) + len(set(LABELS)) * a[1]


@program
def floats_as_keys(a):
    x, y = a[0], a[1]
    d = {x: 1.0, x * y: y, 2.0: x}
    d[x] += y * y
    d.setdefault(x * y, 7.0)
    d.setdefault(y * y, x)
    total = 0.0
    for key, value in d.items():
        total = total * 0.5 + key * key * value
    return total + sum(key * key for key in d) + d.get(x * 3.0, y)


@program
def equal_keys_of_several_classes(a):
    d = OrderedDict()
    for k in (1, 1.0, np.int64(1), np.float64(2.0), 2):
        d[k + 0 * int(a[0])] = a[1] * k
    return sum(v * v for v in d.values()) * len(d)


@program
def an_empty_one(a):
    d = {}
    for x in a:
        if x > 50.0:
            d[int(x)] = x
    total = np.sum(a * a) * (3.0 if d else 2.0) + len(d)
    for k, x in d.items():
        total += k * x
    return total


@program
def two_names(a):
    d = {}
    e = d
    for x in a:
        e[int(x)] = x * x
    d[0] *= a[1]
    return e[0] * e[1]


@program
def held_by_an_object(a):
    class Cache:
        def __init__(self):
            self.known = {}

        def square(self, x):
            k = round(x)
            if k not in self.known:
                self.known[k] = x * x
            return self.known[k]

    cache = Cache()
    return sum(cache.square(x) * x for x in a)


@program
def over_a_set(a):
    total = 0.0
    for k in set(LABELS):
        total = total * 0.5 + k * np.sum(a[LABELS == k]) ** 2
    cells = {int(4 * x) for x in a}
    for k in cells:
        total = total * 0.7 + k * a[0]
    return total + sum(x * x for x in {x * 2 for x in a})


@program
def copied_and_united(a):
    d = {}
    for x in a:
        d[math.floor(x)] = x * x
    e, f, g = dict(d), d.copy(), {**d, 0: a[1], int(a[0] * 5): 1.0}
    e[0] = a[1]
    f.update(g)
    f.update({7: a[2]})
    g.update(g)
    return sum(k * v for k, v in f.items()) + e[0] * d[0] + sum(g.values()) * len(f)


# ---- comparisons of elements that depend on numbers ----------------------------------------------


@program
def removed_by_value(a):
    xs = [a[0], a[1], a[2] * a[0], 1.5]
    xs.remove(max(a[0], a[1]))
    return sum((k + 1) * x for k, x in enumerate(xs)) * len(xs)


@program
def ends_of_a_queue(a):
    queue = collections.deque([a[0], a[1], a[2]])
    queue.remove(a[1])
    return queue[0] * queue[1] * (2.0 if [a[0], a[1]] < [a[1], a[0]] else a[3])


class Job:
    def __init__(self, cost, size):
        self.cost, self.size = cost, size

    def __lt__(self, other):
        return self.cost * other.size < other.cost * self.size


@program
def objects_in_order(a):
    jobs = sorted([Job(a[0], 1.0), Job(a[1], a[3]), Job(a[2] ** 2, 2.0)])
    total = wait = 0.0
    for job in jobs:
        wait = wait + job.size
        total = total + wait * job.cost
    return total + min(jobs).cost


@program
def sorted_by_a_comparison(a):
    def compare(x, y):
        return -1 if x * x < y * y else 1

    first, *_, last = sorted(a[:3], key=functools.cmp_to_key(compare))
    return first * last * a[3]


@program
def counts_in_order(a):
    counts = collections.Counter(x=a[0], y=a[1])
    counts.update({"x": a[2], "z": a[3]})
    (name, most), *_ = counts.most_common()
    return most**2 * isinstance(name, str) + sum(counts.values())
