"""What a scientist writes with integers, orders of pairs, iterators and generators: functions of
one array of four floats, which run as programs."""

from __future__ import annotations

import collections
import itertools
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

TABLE: dict[str, Callable[[np.ndarray], Any]] = {}
KNOTS = (0.5, 1.5, 2.5, 3.5)
SLOPES = {0: 1.0, 1: 2.0, 2: 0.5}


def program(f: Callable[[np.ndarray], Any]) -> Callable[[np.ndarray], Any]:
    TABLE[f.__name__] = f
    return f


# ---- integers ------------------------------------------------------------------------------------


@program
def cell_of_a_grid(a):
    x = a[0] * 3.0
    i = int(x)
    w = x - i
    return (1 - w) * a[i - 2] ** 2 + w * a[i - 1]


@program
def as_many_terms(a):
    total = 0.0
    for k in range(int(a[1] * 4)):
        total += a[0] ** k / (k + 1)
    return total


@program
def looked_up_in_a_tuple(a):
    return a[0] * KNOTS[int(a[1] * 2)]


@program
def looked_up_in_a_dict(a):
    return a[0] * SLOPES[int(a[1])] + a[1] * {0: a[2], 1: a[3] * a[1]}[int(a[1])]


@program
def rows_of_a_table(a):
    table = [(0.0, a[2]), (1.0, a[3] * a[0]), (2.0, 1.0)]
    x0, y0 = table[int(a[0])]
    x1, y1 = table[int(a[0]) + 1]
    return y0 + (a[0] - x0) / (x1 - x0) * (y1 - y0)


# ---- indices and unpacking -----------------------------------------------------------------------


@program
def all_indices(a):
    m = np.outer(a, a) + 1.0
    total = 0.0
    for i, j in np.ndindex(m.shape):
        total += (i + 2 * j) * m[i, j] ** 2
    for k in np.ndindex(4):
        total += a[k]
    return total


@program
def written_by_indices(a):
    m = np.zeros((4, 2))
    for index in np.ndindex(*m.shape):
        m[index] = a[index[0]] ** (index[1] + 1)
    return m.sum()


@program
def elements_in_order(a):
    m = np.outer(a, a[:3])
    some = m.T.flat
    return sum(k * x * x for k, x in enumerate(m.flat)) + next(some) * next(some)


@program
def first_and_rest(a):
    first, *rest, last = a
    return first * sum(rest) * last


# ---- orders --------------------------------------------------------------------------------------


@program
def greatest_pair(a):
    v, i = max((v, i) for i, v in enumerate(a))
    return v * i + a[0] * v


@program
def sorted_pairs(a):
    pairs = sorted(zip(a[:3], a[1:], strict=True), reverse=True)
    return pairs[0][0] * pairs[1][1] - pairs[2][1]


@program
def place_of_the_least(a):
    xs = [x * x for x in a]
    i = xs.index(min(xs))
    k = min(range(4), key=xs.__getitem__)
    return xs[i - 1] + i * xs[k] + xs.count(xs[2]) * a[0]


@program
def compared_pairs(a):
    best = (0.0, 5)
    for i in range(4):
        if (a[i] * a[i], i) > best:
            best = (a[i] * a[i], i)
    return best[0] * a[0] if (a[0], a[1]) < (a[1], a[0]) else a[1]


# ---- recursion -----------------------------------------------------------------------------------


@program
def halves_multiplied(a):
    if len(a) == 1:
        return a[0]
    m = len(a) // 2
    return halves_multiplied(a[:m]) * halves_multiplied(a[m:])


@program
def remembered_costs(a):
    memo = {}

    def cost(i, j):
        if (i, j) not in memo:
            if i == len(a) or j == len(a):
                return 0.0
            memo[i, j] = a[i] * a[j] + max(cost(i + 1, j), cost(i, j + 1))
        return memo[i, j]

    return cost(0, 0)


# ---- iterators that are used more than once ------------------------------------------------------


def powers(x, n):
    value = x
    for _ in range(n):
        yield value
        value = value * x


@program
def taken_one_by_one(a):
    some = powers(a[0], 100)
    first = next(some)
    return first * next(some) + next(some) * a[1]


@program
def a_generator_of_numbers_up_to_a_length(a):
    def places(n):
        for i in range(n):
            yield i

    some = places(len(a))
    total = 0.0
    for v in a:
        total += v * v * next(some)
    return total


@program
def a_generator_without_end(a):
    def steps(y, h):
        t = 0.0
        while True:
            y = y + h * np.sin(y)
            t += h
            yield t, y

    solver = steps(a, 0.1)
    for _ in range(3):
        _, y = next(solver)
    t, last = next(solver)
    return np.sum(y * last) * t + sum(itertools.islice(powers(a[0], 50), 4))


@program
def generators_side_by_side(a):
    total = 0.0
    for x, y in zip(powers(a[0], 4), powers(a[1], 4), strict=True):
        total += x * y
    for k, x in enumerate(powers(a[2], 90)):
        if k > 3:
            break
        total += x * k
    return total


@program
def pairs_of_one_iterator(a):
    items = iter(a.tolist())
    total = 0.0
    for x, y in zip(items, items, strict=True):
        total += x * x * y
    return total


@program
def first_item_and_the_others(a):
    items = iter(a)
    greatest = next(items)
    for x in items:
        if x * x > greatest:
            greatest = x * x
    return greatest * a[1]


@program
def advanced_in_the_body(a):
    items = iter(a)
    total = next(items)
    for x in items:
        total = total * x + next(items, 2.0)
    return total


@program
def in_chunks(a):
    items = iter(a)
    total = 0.0
    while chunk := list(itertools.islice(items, 3)):
        total += np.prod(chunk)
    return total


@program
def until_it_ends(a):
    items = map(np.sin, [a[0], a[1] * 2, a[2]])
    total = 0.0
    while True:
        try:
            x = next(items)
        except StopIteration:
            break
        total += x * x
    return total + next(items, a[3])


@program
def taken_in_branches(a):
    items = (x * x for x in a.tolist())
    total = next(items)
    for k in range(2):
        if k % 2:
            total += next(items) * a[0]
    return total + next(items) if a[0] > 0.1 else total * next(items)


class Countdown:
    def __init__(self, x, n):
        self.x, self.n = x, n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        self.x = self.x * 0.5
        return self.x


@program
def an_iterator_of_a_class(a):
    total = 0.0
    for x in Countdown(a[0], 4):
        total += x * a[1]
    rest = Countdown(a[2], 5)
    return total + next(rest) * next(rest) + sum(rest)


@program
def numbered_by_a_counter(a):
    count = itertools.count(1)
    return sum(x * next(count) for x in a) + sum(
        x * k for x, k in zip(a, itertools.count(2), strict=False)
    )


@program
def read_as_it_is_now(a):
    items = [a[0], 1.0]

    def products():
        for k in range(2):
            yield items[k] * a[1]

    some = products()
    first = next(some)
    items[1] = a[2] * 5.0
    return first + next(some)


# ---- delegation ----------------------------------------------------------------------------------


def leaves(tree):
    if isinstance(tree, list):
        for child in tree:
            yield from leaves(child)
    else:
        yield tree * tree


@program
def leaves_of_a_tree(a):
    tree = [a[0], [a[1], [a[2], a[3]]], 0.5]
    return sum((depth + 1) * x for depth, x in enumerate(leaves(tree)))


@program
def results_of_generators(a):
    def pair(k):
        yield a[k]
        yield a[k] ** 2
        return a[k] * 3

    def all_pairs():
        total = 0.0
        for k in range(4):
            total += yield from pair(k)
        yield total

    result = 0.0
    for k, x in enumerate(all_pairs(), 2):
        result = result + k * x
    return result


@program
def delegated_to_containers(a):
    def parts():
        yield from [a[0], a[1] * 2]
        yield from a
        yield from (x * x for x in a)
        yield from range(3)

    total = 1.0
    for x in parts():
        if x > 1.25:
            break
        total *= x + 2.0
    some = parts()
    return total * next(some) + next(some)


@program
def used_up(a):
    items = iter(a.tolist())
    total = sum(items)
    return total + sum(items) + next(items, 3.0) * total


# ---- numbers of NumPy, sequences in place, exceptions --------------------------------------------


@program
def numbers_of_numpy(a):
    total = np.float64(0)
    for x in a:
        total = total + np.float64(x) * np.float64(2)
    return total * a[np.int64(a[1])]


@program
def default_numbers(a):
    sums = defaultdict(float)
    for i, x in enumerate(a):
        sums[i % 2] += x
    return sums[0] * sums[1] + sums[7]


@program
def lists_in_place(a):
    xs = [1.0, 2.0, 3.0, 4.0]
    xs += a
    ys = [a[0]]
    ys += (x * x for x in a)
    return np.sum(xs * a) * sum(ys)


class OutOfRange(Exception):
    def __init__(self, by):
        super().__init__("out of range")
        self.by = by


@program
def raised_and_caught(a):
    total = a[1]
    for limit in (0, 3):
        try:
            if limit:
                raise OutOfRange(a[0] * limit)
            total = total * a[2]
        except OutOfRange as error:
            total = total + error.by * a[3]
    return total


# ---- iterators, parts of numbers, sequences of NumPy's -------------------------------------------


@program
def called_until_it_is_empty(a):
    values = [a[0], a[1] * a[2], None, 5.0]
    total = sum(iter(lambda: values.pop(0), None))
    flat = itertools.chain.from_iterable([[a[3], total], (x * x for x in a[:2])])
    return sum(k * x for k, x in enumerate(flat, 1)) * len(values)


@program
def quotient_and_remainder(a):
    whole, rest = divmod(a[0] * 7.3, a[1])
    table = dict.fromkeys("ab", rest)
    table["a"] *= a[2]
    return whole * a[3] + table["a"] * table["b"] + np.sum(a * a).item()


@program
def windows_and_ranges_as_arrays(a):
    window = collections.deque(maxlen=2)
    total = 0.0
    for x in a:
        window.append(x * x)
        total = total + np.mean(window) * np.max(window)
    weights = np.add(range(4), a) * range(1, 5)
    weights[1:3] = range(2)
    return total + np.dot(weights, a) + np.sum(np.array(window) * [1.0, 2.0])


@program
def rows_as_lists(a):
    rows = np.reshape(a * a, (2, 2)).tolist()
    return rows[0][1] * rows[1][0] + sum(sum(row) for row in rows)
