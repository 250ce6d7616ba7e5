"""Builtins and protocols of iteration."""

import itertools
import math
import operator
from collections import deque

import numpy as np

from tests.corpus.registry import case


class Countdown:
    def __init__(self, x, n):
        self.x = x
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == 0:
            raise StopIteration
        self.n -= 1
        self.x = self.x * 0.8
        return self.x * self.n


class Samples:
    def __init__(self, xs):
        self.xs = xs

    def __getitem__(self, k):
        return self.xs[k] * 2  # the old protocol ends by IndexError

    def __len__(self):
        return len(self.xs)


@case([0.3, 0.8], [1.5, 0.4])
def zipped(xs, ys):
    return (
        sum(x * y for x, y in zip(xs, ys, strict=True))
        + list(zip(xs, ys, [1, 2], strict=False))[1][0]
    )


@case([0.3, 0.8], [1.5, 0.4])
def mapped(xs, ys):
    return sum(map(math.sin, xs)) * sum(map(lambda a, b: a * b, xs, ys)) + max(
        map(operator.mul, xs, ys)
    )


@case([0.3, 0.8, 1.1])
def enumerated(xs):
    total = 0.0
    for k, x in enumerate(xs, start=2):
        total += x**k
    return total


@case([0.3, -0.8, 1.1])
def filtered(xs):
    return sum(filter(lambda v: v > 0, xs)) * len(list(filter(None, xs)))


@case([0.3, -0.8, 1.1])
def sorted_with_key(xs):
    ranked = sorted(xs, key=lambda v: v * v, reverse=True)
    return ranked[0] * 3 + ranked[1] * ranked[2]


@case([0.3, -0.8, 1.1], 0.9)
def extremes(xs, y):
    return max(xs) * min(xs) + max(y, xs[0], 0.1) + min(xs, key=abs) * max([], default=y)


@case([0.3, 0.8, 1.1])
def sum_with_start(xs):
    return sum(xs, xs[0] * 2) * sum([xs[1:], [2.0]], [])[2]


@case([0.3, 0.8, 1.1])
def any_and_all(xs):
    factor = 2.0 if any(v > 1 for v in xs) and all(v > 0 for v in xs) else 1.0
    return factor * xs[0] * xs[2]


@case([0.3, 0.8, 1.1])
def reversed_and_sliced(xs):
    total = 0.0
    for x in reversed(xs):
        total = total * 0.5 + x
    return total


@case([0.3, 0.8, 1.1])
def iter_and_next(xs):
    it = iter(xs)
    first = next(it)
    rest = list(it)
    return first * rest[1] + next(it, first) * 2


@case(0.6)
def iter_with_sentinel(x):
    values = [x, x * 2, None, 100.0]
    it = iter(lambda: values.pop(0), None)
    return sum(it) + len(values) * x


@case(0.6)
def user_defined_iterator(x):
    total = 0.0
    for v in Countdown(x, 4):
        total += v * x
    return total + sum(Countdown(2.0 * x, 2))


@case([0.6, 0.2])
def old_sequence_protocol(xs):
    samples = Samples(xs)
    return sum(v * v for v in samples) + sum(samples[k] for k in range(len(samples)))


@case([0.3, 0.8, 1.1], [0.5])
def itertools_chain_and_repeat(xs, ys):
    chained = list(itertools.chain(xs, ys, itertools.repeat(xs[0], 2)))
    flat = itertools.chain.from_iterable([xs, ys])
    return chained[3] * chained[4] + sum(v * v for v in flat)


@case([0.3, 0.8, 1.1])
def itertools_accumulate(xs):
    running = list(itertools.accumulate(xs))
    products = list(itertools.accumulate(xs, lambda a, b: a * b, initial=2.0))
    return running[1] * running[2] + products[3]


@case([0.3, 0.8, 1.1])
def itertools_combinations(xs):
    pairs = sum(a * b for a, b in itertools.combinations(xs, 2))
    grid = sum(a * b for a, b in itertools.product(xs, [1.0, 2.0]))
    return pairs + grid + sum(a * b * b for a, b in itertools.pairwise(xs))


@case([0.3, 0.8, 1.1])
def itertools_selection(xs):
    taken = itertools.takewhile(lambda v: v < 1, xs)
    dropped = itertools.dropwhile(lambda v: v < 0.5, xs)
    return sum(taken) * sum(dropped) + sum(
        itertools.starmap(operator.mul, zip(xs, xs, strict=True))
    )


@case([0.3, 0.8, 1.1])
def itertools_count_cycle_longest(xs):
    total = 0.0
    for k, x, y in zip(itertools.count(1), itertools.cycle(xs), range(5), strict=False):
        total += x * k + y * x
    for a, b in itertools.zip_longest(xs, [xs[0]], fillvalue=2.0):
        total += a * b
    return total


@case([("b", 0.3), ("a", 0.8), ("b", 1.1)])
def itertools_groupby(pairs):
    total = 0.0
    for k, (_, group) in enumerate(itertools.groupby(sorted(pairs), key=lambda pair: pair[0])):
        total += (k + 1) * math.prod(value for _, value in group)
    return total


@case([0.3, 0.8])
def itertools_tee(xs):
    a, b = itertools.tee(v * v for v in xs)
    return sum(a) * max(b)


@case(np.array([[0.3, 0.8], [1.1, 0.2]]))
def iterating_over_arrays(m):
    total = 0.0
    for row, (a, b) in zip(m, m, strict=True):
        total += row[0] * b - a * row.sum()
    (p, q), second = m
    return total + p * q + second[1] + sum(v * v for v in m.flat)


@case(np.array([[0.3, 0.8], [1.1, 0.2]]))
def ndenumerate_and_ndindex(m):
    total = 0.0
    for (i, j), v in np.ndenumerate(m):
        total += (i + 2 * j + 1) * v * v
    for index in np.ndindex(2, 2):
        total += m[index] * index[0]
    return total


@case([0.3, 0.8, 1.1])
def star_zip(xs):
    pairs = [(x, x * x) for x in xs]
    firsts, seconds = zip(*pairs, strict=True)
    return firsts[0] * seconds[2] + sum(seconds)


@case(np.array([0.3, 0.5, 0.7]), 0.2)
def unpacked_twice_into_one_name(x, a):
    a, a = x[1:]
    a, *b, a = a * x
    return a * np.sum(np.sin(x)) + b[0]


@case(0.7)
def numbered_from_an_array(x):
    first = np.array(2)
    pairs = [k * value for k, value in enumerate([x, x * x], first)]
    return sum(pairs) * int(first) + sum(k for k, _ in enumerate("ab", start=np.uint8(255))) * x


@case([0.5, 1.5, -0.7])
def a_deque_that_is_reversed_meanwhile(xs):
    q = deque(xs)
    seen = []
    for x in q:
        q.reverse()
        seen.append(x)
    return sum((k + 1) * x * x for k, x in enumerate([*seen, *q]))


@case([0.5, 1.5, -0.7])
def a_deque_that_is_written_meanwhile(xs):
    q = deque(xs)
    for k, x in enumerate(q):
        q[-1] += x * x
        q[k] *= xs[0]
    q[0], q[2] = q[2], q[0]
    return sum((k + 1) * x * x for k, x in enumerate(q))


class NotHashed:
    def __hash__(self):
        raise TypeError("no keys")

    def __float__(self):
        raise TypeError("no numbers")


def rest_after(consume, *items):
    """The sum of what a consumer has left that raised on its way."""
    it = iter(items)
    try:
        consume(it)
    except (TypeError, ValueError, OverflowError):
        return sum(it)
    return 0.0


@case(1.3)
def left_by_orders_that_raise(x):
    def positive(value):
        if value < 0.0:
            raise ValueError(value)
        return value

    total = 2.0 * rest_after(max, x, "a", x * x, x**3)
    total += 3.0 * rest_after(min, "a", x, x * x)
    total += 5.0 * rest_after(lambda it: min(it, key=lambda v: v + 0.0), x, "a", x * x)
    total += 7.0 * rest_after(lambda it: max(it, key=positive), -x, x, x * x)
    return total + 11.0 * rest_after(lambda it: max(it, default=x), x, 2.0, NotHashed(), x)


@case(1.3)
def left_by_sets_that_raise(x):
    total = 0.0
    for consume in (
        set,
        frozenset,
        {1.0}.union,
        {1.0}.intersection,
        frozenset({1.0}).difference,
        {1.0}.symmetric_difference,
        {1.0}.update,
        {1.0}.difference_update,
        {1.0}.intersection_update,
        {1.0}.symmetric_difference_update,
    ):
        total = 0.5 * total + rest_after(consume, x, [], x * x, x**3)
        total += rest_after(consume, x, NotHashed(), x * x)
    return total


@case(1.3)
def left_by_arrays_that_raise(x):
    total = 2.0 * rest_after(lambda it: np.fromiter(it, float), x, "a", x * x)
    total += 3.0 * rest_after(lambda it: np.fromiter(it, complex, 4), x, NotHashed(), x * x, 1.0)
    total += 5.0 * rest_after(lambda it: np.fromiter(it, np.int64), 1, 10**30, x * x, x)
    return total + np.fromiter((v * x for v in (3, True, x, np.array(x * x))), float).sum()


@case(1.3)
def chosen_of_what_generators_give(x):
    values = [x, x * x, 0.5 * x, 2.0]
    total = max(v * x for v in values) * min(v * x for v in values)
    total += max((v for v in values), key=lambda v: -v) + max((v for v in ()), default=x)
    return total + max(np.array(v) for v in values) + max(iter([x, np.array(x * x)]))
