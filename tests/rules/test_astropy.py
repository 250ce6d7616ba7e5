"""`adjoint.rules.astropy`: units run as they are, unless a number that carries a derivative became
the scale of one."""

import copy
import subprocess
import sys

import pytest
from astropy import units as u

import adjoint as ad
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
    assert bar == {"q": 3600000.0, "unit": None, "n": None}


AS_THEY_ARE = """
from astropy import units as u
import adjoint as ad
from adjoint.run.functions import known_unit

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
