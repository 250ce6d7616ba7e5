"""Named tuples that are functions, and containers that say themselves how they are reversed."""

import collections
import operator
import typing

import numpy as np

from tests.corpus.registry import case


class Affine(typing.NamedTuple):
    a: float
    b: float

    def __call__(self, x):
        return self.a * x + self.b


class Scaled(typing.NamedTuple):
    a: float

    def __call__(self, x):
        return self.a * x


class Named(typing.NamedTuple):
    kind: type
    name: str

    def __call__(self, x):
        return x * x * x


@case(1.3)
def layers(x):
    total = sum(layer(x) for layer in [Affine(x, 1.0), Scaled(2.0), Affine(0.5, x)])
    total = total + sum(map(Affine(x, 1.0), [x, 2.0]))
    return total + Named(float, "__neg__")(x) + sorted([x, 2 * x], key=Scaled(-1.0))[0]


@case(Affine(1.3, 0.5), 2.0)
def given(layer, x):
    return layer(x) * layer.a


class Doubled(typing.NamedTuple):
    x: float
    y: float

    def __getitem__(self, place):
        return tuple.__getitem__(self, place) * 2


@case(1.3)
def fields_and_elements(x):
    return Doubled(x, 0.7).x * Doubled(x, 0.7)[0]


class Table(dict):
    def __reversed__(self):
        return iter([self["a"] * 2])


class Line(collections.deque):
    def __reversed__(self):
        return iter([self[0] * 2])


@case(1.3)
def reversed_containers(x):
    plain = list(reversed([x, 2 * x]))[0] + list(reversed(collections.deque([x, 2 * x])))[0]
    keys = "".join(reversed({"a": x, "b": x}))
    return sum(reversed(Table(a=x))) + sum(reversed(Line([x]))) * plain * len(keys)


class Squared(np.float64):
    def __neg__(self):
        return self * self * 1.0


@case(1.3)
def operators_by_name(x):
    return operator.neg(Squared(x)) + operator.pos(x) * operator.neg(x)
