"""Classes derived from numbers that say themselves what operators do, by way of those above."""

import math

import numpy as np

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


class Reflecting(float):
    """Numbers that are no floats leave these to it; so do floats, from which it is derived."""

    def __rmul__(self, other):
        return float(self) * 100 * other

    def __radd__(self, other):
        return float(self) * 7 + other

    def __rsub__(self, other):
        return float(self) * 5 - other

    def __rtruediv__(self, other):
        return float(self) * 3 * other

    def __rpow__(self, other):
        return float(self) * 11 * other

    def __rdivmod__(self, other):
        return float(self) * 19, other


@case(1.3)
def reflected_operators(x):
    total = 0.0
    for i, other in enumerate((2, True, 2.0, x)):
        r = Reflecting(x + i)
        total = total + other * r + (other + r) + (other - r) * i + other / r + other**r
        total = total + divmod(other, r)[0] + pow(other, r)
    return total + sum([1, Reflecting(x)])


@case(1.3)
def reflected_beside_numbers_of_numpy(x):
    total = 0.0
    for other in (np.float64(2.0), np.int64(2), np.float32(2.0), np.array([2.0, 3.0])):
        r = Reflecting(x)
        total = total + np.sum(other * r + (other + r) + (other - r) + other / r + other**r)
    return total


class Fixed(float):
    def __float__(self):
        return 3.0


@case(1.3)
def own_conversion(x):
    return float(Fixed(x)) * x + math.sin(Fixed(x)) + Fixed(x) * x


class OwnModulus(complex):
    def __abs__(self):
        return self.real**2


class OwnSize(float):
    def __abs__(self):
        return self.real**2


class OwnSizeOfNumpy(np.float64):
    def __abs__(self):
        return self.real**2


@case(1.3)
def own_absolute_values(x):
    return abs(OwnModulus(x, 2)) + abs(OwnSize(x)) * x + abs(OwnSizeOfNumpy(x)) * 0.5
