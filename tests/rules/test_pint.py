"""`adjoint.extensions.pint`: what is read from text runs as it is, what is calculated is
followed."""

import numpy as np
import pint
import pytest

import adjoint as ad
from adjoint.runtime.cache.units import known_unit
from adjoint.testing import check_gradient

ur = pint.UnitRegistry()


def converted(x):
    return (x * ur.meter / (2.0 * ur.second)).to("km/hour").magnitude


def with_offset(x):
    return ur.Quantity(x, ur.degC).to("kelvin").magnitude ** 2


def summed(x):
    q = x * ur.Quantity(1.0, "cm") + ur.Quantity(x * x, "m")
    return q.to_base_units().magnitude * (2.0 if q.check("[length]") else 1.0)


def compared(x):
    q = ur.Quantity(x, "km")
    same = q.units == ur.kilometer and ur.meter != ur.second and {ur.meter: 1}[ur.meter]
    return q.m_as("mile") if same and q > ur.Quantity(3.0, "feet") else x * 0.0


def powered(x):
    return (ur.Quantity(2.0, "km") ** (2.0 * x)).magnitude


def stored(x):
    q = ur.Quantity(np.array([1.0, 2.0, 3.0]), "m")
    q[0] = x * ur.cm
    return (q * q).sum().magnitude


FUNCTIONS = (converted, with_offset, summed, compared, stored)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_quantities(f):
    for _ in range(2):  # with an empty registry, and one that has kept what it was asked for
        check_gradient(f, 1.3, modes=("reverse", "forward"))


def test_text_is_read_as_it_is():
    ad.gradient(lambda x: ur.Quantity(x, "furlong").to("parsec").magnitude, 1.3)
    for kind in pint.UnitRegistry.__mro__:
        for name in ("get_name", "parse_unit_name", "_parse_units_as_container"):
            f = vars(kind).get(name)
            assert f is None or known_unit(f) is None


class Noting:
    seen = 1.0

    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        self.seen = self.value
        return False

    __hash__ = None


def beside_others(x):
    a, b = Noting(x), Noting(x * x)
    truths = (ur.meter == a) + (ur.meter != b)
    return a.seen * b.seen * (2.0 + truths)


def test_what_units_are_compared_with_is_asked():
    check_gradient(beside_others, 1.3, modes=("reverse", "forward"))
