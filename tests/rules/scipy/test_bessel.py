"""`adjoint.rules.scipy.special.bessel`, `spherical` and `bessel_integrals`."""

import numpy as np
import pytest
import scipy.special as sp

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.rulekit.registry import rrule
from tests.rules.harness import case, complexes, reals, table
from tests.rules.scipy.operands import EXACT, holomorphic, ranges, real
from tests.support import check_reverse

Z = complexes(2, 2) + 1.5
LOW = {"rtol": 1e-5, "atol": 1e-6}
"""For functions that SciPy takes from *specfun*, which are good to seven digits in places."""


def orders(low=0.2, high=3.0, more=(), complex_too=True, some=(0, 1, 2.5)):
    """A cylinder function: orders by argument."""
    lines = [c for v in some for c in ranges(v, (low, high))]
    lines += ranges((0.3, 3), (low, high))
    lines += [case(2, x, tolerances=EXACT) for x in more]
    lines += [case(np.array([0, 1, 2]), reals(2, 3, low=low, high=high, dtype="f4"))]
    if complex_too:
        lines += [case(v, Z, tolerances=EXACT) for v in some]
        lines += [case(1.5, 0.4 - 0.7j, tolerances=EXACT), case(2, Z[0].astype("c8"))]
    return lines


def derivatives(low=0.5, high=3.0):
    return [
        *orders(low, high),
        *(case(1.5, reals(3, low=low, high=high), n, tolerances=EXACT) for n in (0, 2, 3)),
        case(v=1, z=1.5, n=2),
    ]


def spherical(low=0.5, high=3.0, at_zero=False):
    lines = [c for n in (0, 1, 3) for c in ranges(n, (low, high))]
    for n in (0, 1, 4):
        lines += [case(n, reals(2, 2, low=low, high=high), True, tolerances=EXACT)]
        lines += [case(n, Z, tolerances=EXACT), case(n, Z, derivative=True, tolerances=EXACT)]
    lines += [case(np.arange(3), reals(2, 1, low=low, high=high), True, tolerances=EXACT)]
    return lines


CASES = {
    sp.jv: [*orders(more=(40.0,)), case(50, 10.0, tolerances=EXACT)],
    sp.yv: [*orders(more=(40.0,)), case(50, 10.0, tolerances=EXACT)],
    sp.yn: [c for n in (0, 1, 3, -2) for c in ranges(n, (0.2, 3))],
    sp.hankel1: orders(more=(40.0,)),
    sp.hankel2: orders(more=(40.0,)),
    sp.j0: real(-3, 3, 0.0, 40.0),
    sp.j1: real(-3, 3, 0.0, 40.0),
    sp.y0: real(0.2, 3, 40.0),
    sp.y1: real(0.2, 3, 40.0),
    sp.iv: [*orders(), case(2, 40.0, tolerances={**EXACT, "step": False})],
    sp.kv: orders(more=(40.0,)),
    sp.kn: [c for n in (0, 1, 3) for c in ranges(n, (0.2, 3))],
    sp.i0: real(-3, 3, 0.0, 40.0),
    sp.i1: real(-3, 3, 0.0, 40.0),
    sp.k0: real(0.2, 3, 40.0),
    sp.k1: real(0.2, 3, 40.0),
    sp.jve: orders(more=(40.0, 3 + 40j)),
    sp.yve: orders(more=(40.0, 3 + 40j)),
    sp.ive: orders(more=(400.0, 400 + 3j, -4 + 1j)),
    sp.kve: orders(more=(400.0,)),
    sp.hankel1e: orders(more=(40.0, 3 + 40j)),
    sp.hankel2e: orders(more=(40.0, 3 - 40j)),
    sp.i0e: real(0.2, 3, -1.5, 400.0),
    sp.i1e: real(0.2, 3, -1.5, 400.0),
    sp.k0e: real(0.2, 3, 400.0),
    sp.k1e: real(0.2, 3, 400.0),
    sp.jvp: derivatives(),
    sp.yvp: derivatives(),
    sp.ivp: derivatives(),
    sp.kvp: derivatives(),
    sp.h1vp: derivatives(),
    sp.h2vp: derivatives(),
    sp.airy: holomorphic(-2, 2, 0.0, 5.0, -5.0),
    sp.airye: [*holomorphic(0.2, 2, 5.0, 40.0), *holomorphic(-2, -0.2)[-3:]],
    sp.itairy: [case(c.args[0], tolerances=LOW) for c in real(0.2, 3) if np.size(c.args[0])],
    sp.spherical_jn: spherical(),
    sp.spherical_yn: spherical(),
    sp.spherical_in: spherical(),
    sp.spherical_kn: spherical(),
    sp.riccati_jn: [(3, 1.5), (0, 0.5), (4, np.float64(3.0))],
    sp.riccati_yn: [(3, 1.5), (0, 0.5), (4, np.float64(3.0))],
    sp.lmbda: [(3, 1.5), (2.5, 1.5), (0.3, 2.0)],
    sp.ber: real(-3, 3, 0.0, 8.0),
    sp.bei: real(-3, 3, 0.0, 8.0),
    sp.berp: real(-3, 3, 0.0, 8.0),
    sp.beip: real(-3, 3, 0.0, 8.0),
    sp.ker: real(0.2, 3, 8.0),
    sp.kei: real(0.2, 3, 8.0),
    sp.kerp: real(0.2, 3, 8.0),
    sp.keip: real(0.2, 3, 8.0),
    sp.kelvin: real(0.2, 3, 8.0),
    sp.struve: [*orders(complex_too=False), case(1, 40.0, tolerances=EXACT)],
    sp.modstruve: [*orders(complex_too=False), case(1, 20.0, tolerances=EXACT)],
    sp.itstruve0: [case(c.args[0], tolerances=LOW) for c in real(0.2, 3)],
    sp.it2struve0: [case(c.args[0], tolerances=LOW) for c in real(0.2, 3)],
    sp.itmodstruve0: [case(c.args[0], tolerances=LOW) for c in real(0.2, 3)],
    sp.itj0y0: [case(c.args[0], tolerances=LOW) for c in real(0.2, 3)],
    sp.iti0k0: [case(c.args[0], tolerances=LOW) for c in real(0.2, 3)],
    sp.it2j0y0: [case(c.args[0], tolerances=LOW) for c in real(0.2, 3)],
    sp.it2i0k0: [case(c.args[0], tolerances=LOW) for c in real(0.2, 3)],
    sp.besselpoly: [
        *ranges((0.5, 2), (0.5, 2), (1.5, 3)),
        *ranges((0.5, 2), (0.5, 2), 0),
        *ranges((0.5, 2), (0.5, 2), 1),
    ],
}
if hasattr(sp, "wright_bessel"):
    CASES[sp.wright_bessel] = ranges((0.5, 2), (0.5, 2), (0.2, 2))
if hasattr(sp, "log_wright_bessel"):
    CASES[sp.log_wright_bessel] = [*ranges((0.5, 2), (0.5, 2), (0.2, 2)), case(1.0, 2.0, 1e6)]
test_rule = table(CASES)


def slope(f, *args, y_bar=1.0, of=None):
    with np.errstate(all="ignore"):
        return rrule(f, *args)[1](y_bar)[of or len(args[:2])]


def test_edge_points():
    assert slope(sp.y1, 0.0) == np.inf and slope(sp.k0, 0.0) == -np.inf
    assert slope(sp.jv, 1, 0.0) == 0.5 and slope(sp.iv, 1, 0.0) == 0.5
    assert slope(sp.i0e, 0.0) == 0.0 and slope(sp.ive, 0, 0.0) == 0.0  # the mean of both sides
    assert slope(sp.y0, 0.0, y_bar=0.0) == 0.0
    with np.errstate(all="ignore"):
        assert rrule(sp.besselpoly, 0.0, 1.0, 1.0)[1](1.0)[1] == pytest.approx(1 / 3)
    # SciPy's Λ is even in x < 0 where it should be odd: no difference could show this
    assert rrule(sp.lmbda, 0.5, 0.0)[1]((None, np.ones(1)))[2] == pytest.approx(-1 / 3)
    for f in (sp.j0, sp.j1, sp.i0, sp.ber):
        assert not np.isnan(slope(f, 0.0))


@pytest.mark.parametrize("n, curvature", [(0, -1 / 3), (1, 0.0), (2, 2 / 15), (3, 0.0)])
def test_the_spherical_ones_at_zero(n, curvature):
    assert slope(sp.spherical_jn, n, 0.0, True) == pytest.approx(curvature)
    assert slope(sp.spherical_jn, n, 0.0, False) == pytest.approx(1 / 3 if n == 1 else 0.0)


@pytest.mark.parametrize("f", [sp.jv, sp.iv, sp.jve, sp.ive])
@pytest.mark.parametrize("x", [0.0, -1.5])
def test_arguments_around_which_an_order_has_no_neighbours(f, x):
    check_reverse(lambda x: f(2, x), x, rtol=1e-6, atol=1e-9)
    assert np.isnan(slope(f, 2.0, x, of=1)) if x else slope(f, 2.0, x, of=1) == 0


@pytest.mark.parametrize("f, z", [(sp.struve, 1.5), (sp.jv, 1.5 + 1j), (sp.hankel1, 1.5 + 1j)])
def test_orders_that_have_no_derivative(f, z):
    with pytest.raises(NoDerivativeError, match="in the order is needed"):
        ad.gradient(lambda v: np.real(f(v, z)), 0.7)
    with pytest.raises(NoDerivativeError, match="in the order is needed"):
        ad.pushforward(lambda v: f(v, z), (0.7,), (1.0,))


def test_series_of_orders_in_a_loop():
    check_reverse(lambda x: sum(sp.jv(n, x) * n for n in range(4)), 1.3)
