"""Iterators of the user's that begin again whenever they are asked for themselves: they are asked
as often as Python does it."""

import functools
import heapq
import itertools
import math
import statistics
from collections import defaultdict, deque

import numpy as np
import pytest

from tests.support import Sample, check_sample

X = np.array([2.0, 0.7, 1.3])


class Restarting:
    """Begins again with each ``iter``, and counts these."""

    def __init__(self, x):
        self.x, self.begun, self.k = x, 0, 0

    def __iter__(self):
        self.k = 0
        self.begun += 1
        return self

    def __next__(self):
        if self.k >= 3:
            raise StopIteration
        self.k += 1
        return self.x[self.k % 3] * self.begun + self.k


def extended(x, b):
    xs = [x[0]]
    xs.extend(b)
    xs += b
    return sum(xs)


def written(x, b):
    xs = [x[0], x[1]]
    xs[0:1] = b
    return sum(xs) * xs[1]


def filled(x, b):
    ends = deque()
    ends.extend(b)
    ends.extendleft(b)
    return ends[0] * ends[-1]


def starred(x, b):
    first, *rest = b
    *others, last = b
    return first * x[0] + sum(rest) * last + others[1]


def unpacked(x, b):
    p, q, r = b
    return p * q + r


def delegated(x, b):
    def items():
        yield from b

    return sum([v * v for v in items()])


def total(values):
    result = 0.0
    for k, v in enumerate(values):
        result = result + v * (k + 1.0)
    return result


def pairs(values):
    return total([u * v * v for u, v in values])


ONE = {
    "sum": sum,
    "sum with a start": lambda b: sum(b, 0.5),
    "list": lambda b: total(list(b)),
    "tuple": lambda b: total(tuple(b)),
    "list comprehension": lambda b: sum([v * v for v in b]),
    "generator expression": lambda b: sum(v * v for v in b),
    "two loops": lambda b: sum(v * w for v in b for w in (1.0, 2.0)),
    "max": max,
    "sorted": lambda b: sorted(b)[1],
    "reduce": lambda b: functools.reduce(lambda u, v: u * v, b),
    "reduce with a start": lambda b: functools.reduce(lambda u, v: u * v, b, 1.5),
    "enumerate": lambda b: sum([i * v for i, v in enumerate(b)]),
    "zip": lambda b: pairs(zip(b, (1.0, 2.0, 3.0), strict=True)),
    "map": lambda b: total(map(lambda v: v * v, b)),
    "filter": lambda b: total(filter(lambda v: v > 2.0, b)),
    "arguments": lambda b: (lambda p, q, r: p * q - r)(*b),
    "display of a list": lambda b: total([0.5, *b]),
    "display of a tuple": lambda b: total((*b, 0.5)),
    "math.fsum": math.fsum,
    "math.prod": math.prod,
    "statistics.mean": statistics.mean,
    "np.fromiter": lambda b: np.fromiter(b, float).sum(),
    "nsmallest": lambda b: heapq.nsmallest(2, b)[1],
    "merge": lambda b: total(heapq.merge(b, [1.5])),
    "defaultdict": lambda b: sum(defaultdict(float, zip("abc", b, strict=True)).values()),
    "iter": lambda b: next(iter(b)),
    "iter twice": lambda b: total(iter(iter(b))),
    "any": lambda b: 1.0 if any(v > 3.0 for v in b) else 2.0,
    "accumulate": lambda b: total(itertools.accumulate(b)),
    "chain": lambda b: total(itertools.chain(b, [0.5])),
    "chain.from_iterable": lambda b: total(itertools.chain.from_iterable([b])),
    "islice": lambda b: total(itertools.islice(b, 2)),
    "cycle": lambda b: total(itertools.islice(itertools.cycle(b), 5)),
    "takewhile": lambda b: total(itertools.takewhile(lambda v: v < 4.5, b)),
    "dropwhile": lambda b: total(itertools.dropwhile(lambda v: v < 2.0, b)),
    "filterfalse": lambda b: total(itertools.filterfalse(lambda v: v < 2.0, b)),
    "compress": lambda b: total(itertools.compress(b, [1, 0, 1])),
    "starmap": lambda b: total(itertools.starmap(lambda v: v * v, zip(b, strict=True))),
    "pairwise": lambda b: pairs(itertools.pairwise(b)),
    "zip_longest": lambda b: pairs(itertools.zip_longest(b, [1.0], fillvalue=2.0)),
    "tee": lambda b: total(itertools.tee(b)[1]),
    "product": lambda b: pairs(itertools.product(b, [1.0, 2.0])),
    "permutations": lambda b: pairs(itertools.permutations(b, 2)),
    "combinations": lambda b: pairs(itertools.combinations(b, 2)),
    "groupby": lambda b: total([sum(g) for _, g in itertools.groupby(b, lambda v: v > 3.0)]),
}
"""Functions of an iterator."""


@pytest.mark.parametrize("name", ONE)
def test_asked_as_often_as_python_does(name):
    def f(x):
        b = Restarting(x)
        return ONE[name](b) * x[1] + b.begun * x[0]

    check_sample(Sample(f, (X,)))


@pytest.mark.parametrize("use", [extended, written, filled, starred, unpacked, delegated])
def test_statements(use):
    def f(x):
        b = Restarting(x)
        return use(x, b) * x[1] + b.begun * x[0]

    check_sample(Sample(f, (X,)))
