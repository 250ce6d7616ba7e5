"""The functions whose generated code is kept as text in ``tests/golden/code``."""

import math

import numpy as np


def straight(x, y):
    z = math.sin(x) * y
    return z + x / 2.0


def relu(x):
    return x if x > 0 else 0.0


def power(x, n):
    r = 1.0
    while n > 0:
        n -= 1
        if r > 1e6:
            break
        r *= x
    return r


def horner(x, coefficients):
    total = 0.0
    for c in reversed(coefficients):
        total = total * x + c
    return total


def squares(xs):
    return [x * x for x in xs if x > 0]


class Dense:
    def __init__(self, w, b):
        self.w, self.b = w, b

    def __call__(self, x):
        y = np.tanh(x @ self.w + self.b)
        y[0] = 0.0
        return y


def counter(start):
    total = start

    def add(x):
        nonlocal total
        total += x
        return total

    return add


def guarded(x):
    try:
        y = math.log(x)
    except ValueError:
        y = x
    finally:
        z = x
    return y * z


def running(xs):
    total = 0.0
    for x in xs:
        total = total + x
        reset = yield total
        if reset:
            total = reset


def keywords(f, x, *args, scale=1.0, **options):
    a, (b, *rest) = f(x, *args, **options)
    return f(a, b, scale=scale) + len(rest)


def constants(n):
    k = 0
    for i in range(3):
        k = k + i
    return k * n


SHOWN = [
    straight,
    relu,
    power,
    horner,
    squares,
    Dense.__call__,
    counter,
    guarded,
    running,
    keywords,
    constants,
]
