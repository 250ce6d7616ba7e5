"""What a scientist writes with integers, orders of pairs, iterators and generators: functions of
one array of four floats, which run as programs."""

from __future__ import annotations

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
    return xs[i - 1] + i * xs[k]


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
