"""What the generated programs call: the first part of their modules."""

CONTROL = """
import contextlib
import itertools
import math


class Stop(Exception):
    def __init__(self, value):
        self.value = value


class Halt(Stop):
    pass


class Guard:
    def __init__(self, value, log, quiet):
        self.value = value
        self.log = log
        self.quiet = quiet

    def __enter__(self):
        self.log.append(self.value * 0.3)
        return self

    def __exit__(self, kind, error, trace):
        self.log.append(math.sin(self.value))
        if self.quiet and isinstance(error, Stop):
            self.log.append(error.value)
            return True
        return False


@contextlib.contextmanager
def scope(value, log):
    log.append(value)
    try:
        yield 0.4 * value
    finally:
        log.append(value * value * 0.1)
"""

MEMORY = """
import numpy as np

WEIGHTS = {
    (4,): np.array([1.0, -0.7, 0.4, 1.3]),
    (2,): np.array([0.9, -1.1]),
    (3,): np.array([0.6, 1.2, -0.8]),
    (3, 4): np.cos(np.arange(12.0)).reshape(3, 4),
    (4, 3): np.sin(np.arange(1.0, 13.0)).reshape(4, 3),
}
MASK = np.array([True, False, False, True])


class Box:
    def __init__(self, v):
        self.v = v
        self.w = 0.5 * v
        self.k = 0.3

    def bump(self, k):
        self.v *= 0.8
        self.v[1:3] += 0.2 * k
        self.k = 0.5 * self.k + 0.3 * k
        return self

    @property
    def middle(self):
        return self.v[1:3]

    def exchange(self):
        self.v, self.w = self.w, self.v


def alive(a):
    return np.sum(np.sin(a) * WEIGHTS[a.shape])


def shrink(a, k):
    a *= np.tanh(k) * 0.5


def add_into(a, b):
    np.add(0.6 * a, 0.4 * b, out=a)
    return a


def write_and_view(a, k):
    a[0] = k
    return a[1:3]


def ends_swapped(a):
    first = a[0]
    a[0] = a[-1]
    a[-1] = 0.9 * first
    return a[::-1]


def fill_rows(m, v):
    for row in m:
        row[...] = 0.5 * row + 0.4 * v
    return m[1]


def either(flag, a, b):
    return a if flag else b


def collect(items, a):
    items.append(a)
    items[0] = 0.9 * items[0]
    return items


def settled(a, *, steps=2):
    buffer = np.empty_like(a)
    for _ in range(steps):
        np.multiply(a, 0.5, out=buffer)
        buffer[1:] += 0.3 * a[:-1]
        a[:] = buffer
    return buffer
"""
