"""``+`` and ``*`` of lists, tuples and texts with operands that have something to say to them: what
numbers do comes before what sequences do."""

import collections
import operator

import numpy as np

from tests.corpus.registry import case

X = 0.7


class Answers:
    """Answers sequences itself."""

    def __init__(self, value):
        self.value = value

    def __radd__(self, other):
        return [self.value * len(other)]

    def __rmul__(self, other):
        return [self.value * 2 * len(other)]

    def __iter__(self):
        return iter([self.value])

    def __index__(self):
        return 2


class Declines(Answers):
    """Leaves it to the sequence, but keeps what it was asked with."""

    asked = ()

    def __radd__(self, other):
        self.asked = (*self.asked, self.value * len(other))
        return NotImplemented

    def __rmul__(self, other):
        self.asked = (*self.asked, self.value)
        return NotImplemented


@case(np.array([0.7, 1.4, 0.5]))
def list_plus_array_in_place(x):
    total = [0.0, 1.0, 2.0]
    total += x * x
    return sum(total) * len(total)


@case(X)
def list_of_one_plus_array_in_place(x):
    xs = [x]
    xs += np.array([x, 2 * x, x * x])
    return sum(xs) * len(xs)


@case(X)
def list_times_array_in_place(x):
    xs = [2.0]
    xs *= np.ones(2) * x
    return sum(xs) * len(xs)


@case(X)
def list_and_numpy_numbers(x):
    xs, ys, zs = [1.0, x], [1.0, x], [1.0, x]
    xs += np.float64(x)
    ys *= np.array(2)
    zs *= np.int64(2)
    return sum(xs) * len(ys) + sum(ys) * len(zs) + sum(zs)


@case(X)
def answers_in_place(x):
    xs, ys, queue = [1.0, x], [1.0, x], collections.deque([1.0, x])
    xs += Answers(x)
    ys *= Answers(x * x)
    queue += Answers(x)
    text = "ab"
    text += Answers(x)
    return sum(xs) * sum(ys) + sum(queue) + sum(text)


@case(X)
def answers(x):
    y = sum([1.0, x] * Answers(x)) + sum((1.0, x) * Answers(x)) + sum("ab" * Answers(x))
    return y * sum(operator.iadd([1.0, x], Answers(x))) + sum(operator.imul([x], Answers(x)))


@case(X)
def declines(x):
    a, b = Declines(x), Declines(x * x)
    xs, ys = [1.0, x], [1.0, x]
    xs += a
    ys *= b
    zs = [x] * a
    return sum(xs) * sum(ys) + sum(a.asked) * sum(b.asked) + sum(zs)


@case(X)
def repeated_by_numpy_numbers(x):
    y = sum(np.int64(2) * [1.0, x]) + sum([1.0, x] * np.int64(3)) + sum((x, 2.0) * np.int8(2))
    try:
        return y * (np.float64(x) * [1.0, x]).sum()
    except TypeError:
        return y * x
