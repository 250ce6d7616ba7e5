"""Functions of a user, of which the tests say that the evaluator does not cover them."""

import math

import numpy as np

SEEN = []
FACTOR = 2.0


def scaled(x, factor):
    return np.sin(x) * factor


def norm(x):
    with np.errstate(all="ignore"):
        return math.sqrt(np.sum(x * x)), x[0] * FACTOR


def collected(x):
    found = []
    for i in range(3):
        found.append(x[i] * x[i])
    total = np.zeros(3)
    total[:] = found
    return total


def doubled(t):
    return t * 2.0 if t > 0.5 else 0


def halves(x):
    half = x[::2]
    return half


def chosen(x, how):
    return x * x if how == "squared" else x[0] * 3.0


def inverse(x):
    if np.min(x) < 0.0:
        raise ValueError("a negative number")
    return 1.0 / x


def recorded(x):
    SEEN.append(len(SEEN))
    return x * 2.0


def filled(x):
    x[0] = 1.0
    return np.sum(x)


def of_constants(n):
    return np.arange(6.0) * n


# ---- programs ------------------------------------------------------------------------------------


def a_call(x):
    return np.sum(scaled(x, 2.0) * x)


def by_keyword(x):
    return np.sum(scaled(factor=x[0], x=x) * x)


def in_a_loop(x):
    total = 0.0
    for _ in range(4):
        size, first = norm(x * (total + 1.0))
        total = total + np.sin(size) * first
    return total


def in_a_branch(x):
    if x[0] > 0.1:
        return np.sum(collected(x) * x[3:])
    return x[0]


def of_numbers(x):
    return np.sum(x * doubled(x[0]) + doubled(x[0] * x[4]))


def a_view(x):
    return np.sum(halves(np.exp(x)) ** 2)


def constant(x):
    return np.sum(x * x * of_constants(3))


def with_effects(x):
    return np.sum(recorded(x) * x)


def writes(x):
    y = np.sin(x)
    return filled(y) * y[0] + y[1]


def writes_to_constants(x):
    y = np.ones(3)
    return filled(y) * y[0] * x[0]
