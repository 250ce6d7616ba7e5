"""List, set, dict and generator displays with ``for``."""

import math

import numpy as np

from tests.corpus.registry import case


@case([0.3, 0.8, 1.2])
def squares(xs):
    return sum([x * x for x in xs])


@case([0.3, -0.8, 1.2])
def filtered(xs):
    return sum([math.log(x) for x in xs if x > 0 if x < 10])


@case([0.3, 0.8], [1.5, 0.2, 0.4])
def two_loops(xs, ys):
    return sum([x * y + i for i, x in enumerate(xs) for y in ys if y > 0.3])


@case([[0.1, 0.2], [0.3], []])
def flattened(rows):
    flat = [v for row in rows for v in row]
    return flat[0] * flat[2] + sum(flat)


@case(np.array([[0.1, 0.2], [0.3, 0.4]]))
def nested_comprehension(m):
    transposed = [[row[j] for row in m] for j in range(2)]
    return transposed[0][1] * transposed[1][0] + sum(sum(r) for r in transposed)


@case(0.7)
def dict_comprehension(x):
    powers = {k: x**k for k in range(1, 5) if k != 3}
    return sum(powers.values()) * powers[2]


@case(0.7)
def set_comprehension(x):
    values = {round(k) * x for k in (1.1, 2.2, 2.4)}
    return sum(values) * len(values)


@case(0.7, 2.0)
def captures_in_comprehension(x, y):
    fs = [lambda v, k=k: v * k + x for k in (1.0, y)]
    return sum(f(y) for f in fs)


@case([0.3, 0.8, 1.2])
def generator_expression(xs):
    return max(x * x for x in xs) * min(1.0 + x for x in xs)


@case([0.3, 0.8, 1.2])
def lazy_generator_expression(xs):
    squares = (x * x for x in xs)
    first = next(squares)
    xs[2] = 5.0
    return first * sum(squares)


@case(0.6)
def comprehension_variable_is_local(x):
    v = x * 10.0
    total = sum([v * v for v in (x, 2.0)])
    return total + v


@case([("a", 0.3), ("b", 0.8)])
def unpacking_in_comprehension(pairs):
    table = {name: value * 2 for name, value in pairs}
    return table["a"] * table["b"] + sum(value for _, value in pairs)


@case([0.3, 0.8, 1.2])
def star_displays(xs):
    ys = [0.5, *xs, *(x * x for x in xs)]
    t = (*ys, xs[0])
    d = {"a": 1.0, **{"b": xs[1], "c": 2.0}, "c": xs[2]}
    return sum(ys[1:]) * t[-1] + d["b"] * d["c"]


@case([0.3, 0.8, 1.2])
def conditional_element(xs):
    return sum([x if x > 0.5 else x * x for x in xs])


@case(0.3)
def nested_generator_expressions(x):
    return sum(a * b for a in (x * k for k in range(3)) for b in (a + j for j in range(2)))


class Scaled:
    def __init__(self, scale):
        self.scale = scale

    def all(self, xs):
        return [self.scale * x for x in xs]


@case(0.3, [1.0, 2.0])
def comprehension_in_method(scale, xs):
    return sum(Scaled(scale).all(xs)) * Scaled(xs[0]).all([scale])[0]
