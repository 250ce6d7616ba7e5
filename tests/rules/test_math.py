"""`math`."""

import math

import numpy as np
import pytest
from scipy import special

import adjoint as ad
from adjoint.rulekit.registry import lookup, rrule
from adjoint.rules.python.math import digamma, trigamma
from tests.rules.harness import case, reals, table


def at(*points):
    """A function of one number: at these floats, and as the other kinds of number."""
    x = points[0]
    return [*((p,) for p in points), (np.float64(x),), (np.float32(x),), (np.array(x),), (1,)]


HALF = at(0.5, -0.25)[:-1]
CASES = {
    math.sin: at(0.6, -2.0, 0.0),
    math.cos: at(0.6, -2.0, 0.0),
    math.tan: at(0.6, -2.0),
    math.asin: HALF,
    math.acos: HALF,
    math.atan: at(0.6, -2.0),
    math.sinh: at(0.6, -2.0),
    math.cosh: at(0.6, -2.0),
    math.tanh: at(0.6, -2.0),
    math.asinh: at(0.6, -2.0, 0.0),
    math.acosh: at(1.6, 20.0)[:-1],
    math.atanh: HALF,
    math.exp: at(0.6, -2.0),
    math.exp2: at(0.6, -2.0),
    math.expm1: at(0.6, -2.0),
    math.log: [*at(0.6, 20.0), (8.0, 2.0), (3, 2), (np.float32(8.0), 2.0)],
    math.log2: at(0.6, 20.0),
    math.log10: at(0.6, 20.0),
    math.log1p: at(0.6, -0.5),
    math.sqrt: at(0.6, 20.0),
    math.cbrt: at(0.6, -20.0),
    math.fabs: at(0.6, -2.0, 0.0),
    math.degrees: at(0.6),
    math.radians: at(0.6),
    math.erf: at(0.6, -2.0, 0.0),
    math.erfc: at(0.6, -2.0, 0.0),
    digamma: [(0.5,), (2.5,), (-0.5,)],
    math.gamma: at(0.6, 4.5, -1.5),
    math.lgamma: at(0.6, 40.5, -1.5),
    math.ceil: at(0.6),
    math.floor: at(0.6),
    math.trunc: [(0.6,), (-1.5,), (2,)],
    math.pow: [(2.0, 1.5), (2, 3), (np.float32(2), 1.5), (0.0, 2.0)],
    math.atan2: [(1.0, 2.0), (-1.0, -2.0), (0.0, 1.0), (1e200, 1e200), (np.array(1.0), 2)],
    math.fmod: [(7.5, 2.0), (-7.5, 2.0), (7, 2.5)],
    math.remainder: [(7.2, 2.0), (-7.2, 2.0)],
    math.copysign: [(7.5, -2.0), (-7.5, 2.0), (0.0, 2.0)],
    math.ldexp: [(0.75, 3), (np.float32(0.75), -2)],
    math.nextafter: [(1.5, 2.0)],
    math.modf: [(1.7,), (-1.7,), (np.float32(1.7),)],
    math.frexp: [(1.7,), (-11.0,)],
    math.hypot: [(3.0, 4.0), (3.0,), (1.0, 2.0, 3.0), (3, np.float32(4)), ()],
    math.dist: [([1.0, 2.0], (3.0, 4.0)), (reals(3), reals(3, seed=1)), ((1, 2), (2.0, 4.5))],
    math.fsum: [([1.0, 2.0],), ((1.0, 2),), (reals(3),), ([],)],
    math.prod: [
        ([2.0, 3.0, 4.0],),
        ((2.0, 3),),
        (reals(3),),
        ([2.0, 0.0, 4.0],),
        ([0.0, 0.0],),
        ([],),
        case([2.0, 3.0], start=5.0),
    ],
}
if hasattr(math, "sumprod"):
    CASES[math.sumprod] = [([1.0, 2.0], (3.0, 4)), (reals(3), [1.0, 2.0, 3.0])]
if hasattr(math, "fma"):
    CASES[math.fma] = [(2.0, 3.0, 4.0), (2, np.float32(3.0), 4.0)]
test_rule = table(CASES)


def test_all_of_math_is_registered():
    for name, f in vars(math).items():
        if callable(f) and not name.startswith("_"):
            rules = lookup(f)
            assert rules is not None and (rules.rrules or rules.inactive), name


def bars(f, *args, y_bar=1.0):
    return rrule(f, *args)[1](y_bar)[1:]


def test_results_and_cotangents_are_floats():
    for f in (math.sin, math.exp, math.sqrt, math.lgamma):
        for x in (0.5, 3):
            y, back = rrule(f, x)
            assert type(y) is float and type(back(1.0)[1]) is float


@pytest.mark.parametrize(
    "f, x, slope",
    [
        (math.sqrt, 0.0, math.inf),
        (math.cbrt, 0.0, math.inf),
        (math.asin, 1.0, math.inf),
        (math.acos, -1.0, -math.inf),
        (math.acosh, 1.0, math.inf),
        (math.fabs, 0.0, 0.0),
        (math.atan, 1e300, 0.0),
        (math.erf, 1e300, 0.0),
    ],
)
def test_edge_points(f, x, slope):
    with np.errstate(all="ignore"):
        assert bars(f, x) == (slope,)
        assert bars(f, x, y_bar=0.0) == (0.0,)
        assert bars(f, np.float64(x)) == (slope,)


def test_edge_points_of_two_operands():
    with np.errstate(all="ignore"):
        assert bars(math.pow, 0.0, 0.0) == (0.0, 0.0)
        assert bars(math.pow, 0.0, 1.0) == (1.0, 0.0)
        assert bars(math.pow, 0.0, 0.5) == (math.inf, 0.0)
        assert bars(math.pow, -2.0, 3) == pytest.approx((12.0, -8.0 * math.log(2.0)))
        assert bars(math.hypot, 0.0, 0.0) == (0.0, 0.0)
        assert bars(math.dist, [0.0], [0.0]) == ([0.0], [0.0])
        assert math.isnan(bars(math.atan2, 0.0, 0.0)[0])


@pytest.mark.parametrize(
    "x", [1e-3, 0.5, 1.0, 1.4616321449683622, 2.0, 9.99, 10.0, 1e6, -0.5, -7.3]
)
def test_digamma(x):
    assert digamma(x) == pytest.approx(special.digamma(x), rel=1e-13, abs=1e-14)
    assert trigamma(x) == pytest.approx(special.polygamma(1, x), rel=1e-13)


def test_distances_of_truth_values():
    """NumPy does not subtract them from one another."""

    def f(x):
        return math.dist([np.True_, x, np.False_], (np.float64(x) > 5.0, 1.0, np.True_))

    x, h = 3.0, 1e-5
    assert f(x) == math.sqrt(6.0)
    slope = (f(x + h) - f(x - h)) / (2 * h)
    for found in (ad.grad(f)(x), ad.grad(f, tier="generic")(x), ad.derivative(f)(x)):
        assert found == pytest.approx(slope, rel=1e-9)
    assert ad.hessian(f, x) == pytest.approx(2.0 / 6.0**1.5, rel=1e-12)


def test_what_has_no_float_is_declined():
    class Number:
        def __float__(self):
            return 1.0

    assert rrule(math.sin, Number()) is None
    assert rrule(math.fsum, iter([1.0])) is None
