"""`adjoint.extensions.astropy.quantities`: units run as they are, unless a number that carries a
derivative became the scale of one."""

import copy
import subprocess
import sys

import numpy as np
import pytest
from astropy import units as u

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.testing import check_gradient


def converted(x):
    return (x * u.km / (2.0 * u.s)).to(u.m / u.h).value


def in_systems(x):
    q = x * u.Unit("km / s")
    same = 2.0 if q.unit == u.km / u.s and q.unit.is_equivalent(u.m / u.h) else 1.0
    return same * q.si.value + q.cgs.value**2 + q.decompose().value


def looked_up(x):
    return {u.m: x, u.s: x * x}[u.Unit("s")]


def scaled(x):
    return (3.0 * u.Unit(x * u.m)).to(u.cm).value


def derived(x):
    unit = u.Unit(x * u.m) ** 2 / u.s
    return (3.0 * unit).to(u.cm**2 / u.h).value


def copied(x):
    unit = u.Unit(x * u.m)
    other = copy.deepcopy(copy.copy(unit) * u.s).decompose()
    return u.m.to(other / u.s) + unit.decompose().scale


def defined(x):
    foo = u.def_unit("foo", x * u.m)
    in_seconds = (2.0 * foo * u.s).to(u.cm * u.s).value
    return in_seconds + foo.to(u.km) + (foo**2 / u.s).decompose().scale


def composed(x):
    unit = u.CompositeUnit(x, [u.m, u.s], [1, 2])
    return unit.decompose().to(u.CompositeUnit(x * x, [u.cm, u.s], [1, 2]))


def enabled(x):
    """A unit that others are composed of by name."""
    foo = u.def_unit("foo", x * u.m)
    with u.set_enabled_units([foo, u.s]):
        (found,) = (3.0 * u.m).unit.compose()
        return found.scale + u.Unit("foo2 / s").to(u.m**2 / u.s)


def compared(x):
    """What is compared is decomposed, and kept so."""
    unit = u.Unit(x * u.km) / u.s
    same = (unit == u.m / u.s) + (unit in {u.m / u.s: 1}) + unit.is_equivalent(u.cm / u.h)
    return same * unit.decompose().scale + (2.0 * unit).to(u.m / u.s).value


def captured(x):
    unit = u.Unit(x * u.m)
    return ad.grad(lambda t: (t * t * unit).to(u.cm).value)(1.5)


CONSTANT = (converted, in_systems, looked_up)
SCALED = (scaled, derived, copied, defined, composed, enabled, compared)


@pytest.mark.parametrize("f", (*CONSTANT, *SCALED))
def test_units(f):
    check_gradient(f, 1.7, modes=("reverse", "forward"))


def test_scales_of_units_of_an_outer_call():
    check_gradient(captured, 1.7, modes=("reverse", "forward"))


def test_quantities_as_arguments():
    (bar,) = ad.gradient(lambda q: q.to(u.m).value, 3.0 * u.km)
    assert bar == 1000.0
    given = {"q": 3.0 * u.km, "unit": u.h, "n": 2}
    (bar,) = ad.gradient(lambda d: (d["q"] * d["unit"]).to(u.m * u.s).value, given)
    assert bar == {"q": 3600000.0, "unit": None, "n": 0.0}


def by_an_alias(x):
    with u.set_enabled_aliases({"foo": u.Unit(x * u.m)}):
        return u.Unit("foo s").to(u.cm * u.s)


def by_an_equivalence(x):
    pair = u.m, u.s, lambda v: v * x, lambda v: v / x
    with u.set_enabled_equivalencies([pair]):
        return u.km.compose(units=[u.s])[0].scale


class Own(u.CompositeUnit):
    def __init__(self, scale):
        self._scale, self._bases, self._powers = scale, [u.m], [1]


def of_a_class(x):
    return Own(x).to(u.cm)


@pytest.mark.parametrize("f", (by_an_alias, by_an_equivalence, of_a_class))
def test_units_that_are_found(f):
    check_gradient(f, 1.7, modes=("reverse", "forward"))


class Noting:
    seen = 1.0

    def __init__(self, value):
        self.value = value

    def __getattr__(self, name):
        self.__dict__["seen"] = self.value
        raise AttributeError(name)

    def __eq__(self, other):
        self.seen = self.value * 2
        return False

    __hash__ = None


def beside_others(x):
    a, b = Noting(x), Noting(x * x)
    truths = (u.m == a) + (u.m != b)
    return a.seen * b.seen * (2.0 + truths)


def test_what_units_are_compared_with_is_asked():
    check_gradient(beside_others, 1.7, modes=("reverse", "forward"))


def test_integers():
    def scaled_by(a):
        return u.CompositeUnit(a.tolist()[0], [u.m], [1]).to(u.cm)

    np.testing.assert_array_equal(ad.gradient(scaled_by, np.array([2, 3]))[0], [100.0, 0.0])
    assert ad.gradient(lambda n: u.CompositeUnit(n, [u.m], [1]).to(u.cm), 2) == (100.0,)


def test_scales_that_nobody_was_told_of_are_refused():
    def assigned(x):
        unit = u.CompositeUnit(1, [u.m], [1])
        unit._scale = x
        return unit.to(u.cm)

    with pytest.raises(NoDerivativeError, match="the scale of a unit is needed"):
        ad.gradient(assigned, 1.7)
    assert ad.pushforward(assigned, (1.7,), (1.0,))[1] == pytest.approx(100.0)


def test_units_are_constants():
    assert ad.gradient(lambda unit: unit.to(u.cm), u.CompositeUnit(2.0, [u.m], [1])) == (None,)


AS_THEY_ARE = """
from astropy import units as u
import adjoint as ad
from adjoint.runtime.cache.units import known_unit

print(*ad.gradient(lambda x: (x * u.erg / (2.0 * u.s)).si.value, 1.7))
lowered = u.Quantity.si.fget, u.UnitBase.to_system, u.UnitBase.compose, u.UnitBase._compose
print([known_unit(f) is not None for f in lowered])
"""


def test_they_run_as_they_are():
    """What has no derivative is not lowered, where no unit with a name has one."""
    done = subprocess.run(
        [sys.executable, "-c", AS_THEY_ARE], capture_output=True, text=True, check=True
    )
    bar, lowered = done.stdout.splitlines()
    assert float(bar) == pytest.approx(5e-8) and lowered == "[True, False, False, False]"


def test_scales_that_a_specialised_method_gives():
    """Also where the sweep is made with care, for a cotangent that is not finite."""
    for _ in range(40):
        assert ad.gradient(of_a_class, 1.7) == (100.0,)
    _, back = ad.pullback(of_a_class, 1.7)
    assert back(np.inf)[1] == np.inf
