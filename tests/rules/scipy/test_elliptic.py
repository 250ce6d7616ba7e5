"""`adjoint.rules.scipy.special.elliptic` and `carlson`."""

import numpy as np
import pytest
import scipy.special as sp

from adjoint.rulekit.registry import rrule
from tests.rules.harness import case, complexes, reals, table
from tests.rules.scipy.operands import EXACT, ranges, real

Z = [complexes(3, seed=i) + 2.5 for i in (0, 5, 9, 13)]


def calls(*points):
    return [case(*point, tolerances=EXACT) for point in points]


CASES = {
    sp.ellipk: real(-2, 0.9, 0.0, -50.0, 0.999),
    sp.ellipkm1: real(0.1, 2, 1e-3, 1.0),
    sp.ellipe: real(-2, 0.9, 0.0, -50.0, 0.999),
    sp.ellipkinc: [
        *ranges((-1.5, 1.5), (-2, 0.9)),
        *ranges((2, 30), (-2, 0.9)),
        *calls((0.5, 0.0), (0.0, 0.5), (np.pi / 2, 0.5), (0.3, 0.999)),
    ],
    sp.ellipeinc: [
        *ranges((-1.5, 1.5), (-2, 0.9)),
        *ranges((2, 30), (-2, 0.9)),
        *calls((0.5, 0.0), (0.0, 0.5), (np.pi / 2, 0.5), (0.3, 0.999)),
    ],
    sp.ellipj: [
        *ranges((-1.5, 1.5), (0.1, 0.9)),
        *ranges((2, 10), (0.1, 0.9)),
        *calls((0.5, 1e-3), (0.0, 0.5), (0.3, 0.999)),
    ],
    sp.agm: [*ranges((0.5, 3), (0.5, 3)), *calls((1.0, 1.0), (-2.0, -0.5), (1e200, 3e200))],
    sp.elliprc: [
        *ranges((0.2, 3), (0.2, 3)),
        *ranges((0.2, 3), (-3, -0.2)),
        *calls((1.0, 1.0), (0.5, 0.5 + 1e-7), tuple(Z[:2]), (1.5, Z[0])),
    ],
    sp.elliprf: [
        *ranges((0.2, 3), (0.2, 3), (0.2, 3)),
        *calls((1.0, 1.0, 1.0), (0.5, 0.5, 2.0), tuple(Z[:3])),
    ],
    sp.elliprg: [
        *ranges((0.2, 3), (0.2, 3), (0.2, 3)),
        *calls((1.0, 1.0, 1.0), (0.5, 0.5, 2.0), tuple(Z[:3])),
    ],
    sp.elliprd: [
        *ranges((0.2, 3), (0.2, 3), (0.2, 3)),
        *calls(
            (1.0, 1.0, 1.0), (0.5, 2.0, 0.5), (0.5, 2.0, 0.5 + 1e-9), (1e-2, 5.0, 30.0),
            tuple(Z[:3]),
        ),
    ],
    sp.elliprj: [
        *ranges((0.2, 3), (0.2, 3), (0.2, 3), (0.2, 3)),
        *ranges((0.2, 3), (0.2, 3), (0.2, 3), (-3, -0.2)),
        *calls(
            (1.0, 1.0, 1.0, 1.0), (1e-2, 5.0, 30.0, 0.3), tuple(Z),
        ),
        case(0.5, 2.0, 3.0, 0.5, tolerances={**EXACT, "step": False}),
        case(0.5, 2.0, 0.5, 0.5 + 1e-9, tolerances={**EXACT, "step": False}),
    ],
}  # fmt: skip
test_rule = table(CASES)


def slopes(f, *args):
    with np.errstate(all="ignore"):
        return rrule(f, *args)[1](1.0)[1:]


def test_edge_points():
    inf = np.inf
    assert slopes(sp.ellipk, 1.0) == (inf,) and slopes(sp.ellipkm1, 0.0) == (-inf,)
    assert slopes(sp.ellipe, 1.0) == (-inf,)
    assert slopes(sp.elliprf, 0.0, 1.0, 2.0)[0] == -inf
    assert slopes(sp.elliprg, 0.0, 1.0, 2.0)[0] == pytest.approx(sp.elliprf(0, 1, 2) / 4)
    assert slopes(sp.agm, 0.0, 1.0) == (inf, 0.0)
    with np.errstate(all="ignore"):
        back = rrule(sp.ellipj, 0.7, 1.0)[1]
        assert back((1.0, 0.0, 0.0, 0.0))[1] == pytest.approx(np.cosh(0.7) ** -2)
        assert np.isfinite(back((1.0, 1.0, 1.0, 1.0))[2])


@pytest.mark.parametrize("gap", [0.0, 1e-12, 1e-6, 1e-3])
def test_no_cancellation_where_arguments_meet(gap):
    """At equal arguments 1 both are −3/10, and nearby as much nearer to it."""
    near = pytest.approx(-0.3, abs=gap + 1e-15)
    assert slopes(sp.elliprd, 1.0 + gap, 1.0, 1.0)[0] == near
    assert slopes(sp.elliprj, 1.0, 1.0, 1.0, 1.0 + gap)[0] == near


def test_derivatives_of_all_sizes():
    """R_D and R_J are homogeneous of degree −3/2 (19.16.9), whatever the sizes."""
    rng = np.random.default_rng(0)
    x, y, z, p = 10.0 ** rng.uniform(-6, 6, (4, 50))
    total = sum(a * s for a, s in zip((x, y, z), map(np.asarray, bars(sp.elliprd, x, y, z))))
    np.testing.assert_allclose(total, -1.5 * sp.elliprd(x, y, z), rtol=1e-13)
    by_x, by_y, by_z, by_p = bars(sp.elliprj, x, y, z, p)
    assert (by_x < 0).all() and (by_y < 0).all() and (by_z < 0).all() and (by_p < 0).all()
    direct = -0.5 * (sp.elliprd(y, z, x) - sp.elliprj(x, y, z, p)) / (p - x)
    np.testing.assert_allclose(by_x, direct, rtol=1e-9)


def bars(f, *args):
    return rrule(f, *args)[1](np.ones(np.shape(args[0])))[1:]


def test_reals_are_not_made_complex():
    assert slopes(sp.elliprd, reals(2) + 3, 1.0, 2.0)[0].dtype == float
