"""Classes derived from numbers that say themselves what operators do, by way of those above."""

import math

from tests.corpus.registry import case


class Length(float):
    def __mul__(self, other):
        return Length(super().__mul__(other))

    def __add__(self, other):
        return super().__add__(other) * 2

    @property
    def double(self):
        return float(self) * 2


class Longer(Length):
    @property
    def double(self):
        return super().double + 1

    def __add__(self, other):
        return super().__add__(other) * 3

    def method(self):
        times = super().__mul__
        return times(self)


class Tagged(float):
    def __new__(cls, value, tag="m"):
        made = super().__new__(cls, value)
        made.tag = tag
        return made

    def __neg__(self):
        return Tagged(super().__neg__() * 3, self.tag)


@case(1.5)
def operators_above(x):
    f, g = Length(x), Longer(x)
    return (f * x) + g.double * (g + x) + (g * f) + (f + g)


@case(1.5)
def methods_above_in_variables(x):
    return Longer(x * x).method() * Longer(x).double


@case(1.5)
def functions_of_subclasses(x):
    g = Longer(x)
    return g.double * 2 + abs(g) + g / 2.0 + 2.0 * g + math.sqrt(g) + math.hypot(g, x) + round(g, 1)


@case(1.5)
def numbers_with_tags(x):
    a = Tagged(x, "km")
    b = -a
    return b * a + len(b.tag) * a + max(a, b) + sum([a, b], 1.0)
