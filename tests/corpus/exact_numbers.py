"""Fractions and decimal numbers beside floats."""

from decimal import Decimal
from fractions import Fraction

import numpy as np

from tests.corpus.registry import case


@case(0.7)
def fractions_on_either_side(x):
    return x * Fraction(1, 2) + Fraction(1, 3) / x - Fraction(1, 3) * x - (x - Fraction(1, 7)) / 2


@case(1.7)
def powers_of_fractions(x):
    return Fraction(1, 2) ** x + x ** Fraction(3, 2) + x ** Fraction(-2, 1) + x ** Fraction(2)


@case(2.1)
def remainders_by_fractions(x):
    quotient, rest = divmod(x, Fraction(2, 7))
    return x % Fraction(1, 3) * rest + Fraction(7, 3) % x + quotient * x


@case(0.7)
def sums_of_fractions(x):
    weights = [Fraction(1, k) for k in range(1, 6)]
    total = sum(weights, x)
    for k, weight in enumerate(weights):
        total += weight * x**k
    return total if total > Fraction(1, 2) else x


@case(0.7)
def fractions_as_floats(x):
    return x * float(Fraction(1, 3)) + (x + 1j * x * Fraction(1, 2)).imag * float(Decimal("0.5"))


@case(np.array([0.3, 0.8]))
def elements_and_fractions(x):
    return x[0] * Fraction(1, 2) + Fraction(1, 3) * x[1] * x[0]
