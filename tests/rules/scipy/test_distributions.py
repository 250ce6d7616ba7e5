"""`adjoint.rules.scipy.special.distributions` and `noncentral`."""

import numpy as np
import pytest
import scipy
import scipy.special as sp
from scipy import stats

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.rulekit.registry import rrule
from tests.rules.harness import case, reals, table
from tests.rules.scipy.operands import EXACT, ranges, real

OLD = tuple(map(int, scipy.__version__.split(".")[:2])) < (1, 15)
"""Noncentral distributions then were by CDFLIB, which is good to four or five digits."""
SOLVED = {"rtol": 1e-5}
"""For inverses that SciPy finds by iterating to eight digits."""
NONCENTRAL = {"rtol": 1e-3, "atol": 1e-4} if OLD else {"rtol": 1e-6}


def counts(*bounds):
    """Functions of counts: Python integers, floats and arrays of them."""
    return [
        *ranges(2, 5, *bounds),
        *ranges(0, 3, *bounds),
        *ranges(2.7, 5, *bounds),
        case(
            np.array([1, 2, 4]),
            np.array([5, 5, 6]),
            reals(2, 3, low=0.2, high=0.8),
            tolerances=EXACT,
        ),
    ]


def solved(*bounds):
    return ranges(*bounds, tolerances=SOLVED)


CASES = {
    sp.gdtr: ranges((0.5, 2), (0.5, 3), (0.2, 3)),
    sp.gdtrc: ranges((0.5, 2), (0.5, 3), (0.2, 3)),
    sp.gdtrix: solved((0.5, 2), (0.5, 3), (0.1, 0.9)),
    sp.gdtria: solved((0.1, 0.9), (0.5, 3), (0.2, 3)),
    sp.gdtrib: solved((0.5, 2), (0.1, 0.9), (0.2, 3)),
    sp.chdtr: ranges((0.5, 5), (0.2, 6)),
    sp.chdtrc: ranges((0.5, 5), (0.2, 6)),
    sp.chdtri: ranges((0.5, 5), (0.1, 0.9)),
    sp.chdtriv: solved((0.1, 0.9), (0.5, 6)),
    sp.pdtr: [c for k in (2, 2.7, np.array([0, 1, 3])) for c in ranges(k, (0.5, 5))],
    sp.pdtrc: [c for k in (2, 2.7, np.array([0, 1, 3])) for c in ranges(k, (0.5, 5))],
    sp.pdtri: [*ranges(2, (0.1, 0.9)), *ranges(np.array([0, 1, 3]), (0.1, 0.9))],
    sp.pdtrik: solved((0.1, 0.9), (0.5, 5)),
    sp.bdtr: [*counts((0.1, 0.9)), case(5, 5, 0.3)],
    sp.bdtrc: [*counts((0.1, 0.9)), case(5, 5, 0.3)],
    sp.bdtri: [*ranges(2, 5, (0.1, 0.9)), *ranges(0, 3, (0.1, 0.9))],
    sp.bdtrik: solved((0.1, 0.9), 10.0, (0.3, 0.6)),
    sp.bdtrin: solved(3.0, (0.1, 0.9), (0.3, 0.6)),
    sp.nbdtr: counts((0.1, 0.9))[:8],
    sp.nbdtrc: counts((0.1, 0.9))[:8],
    sp.nbdtri: [*ranges(2, 5, (0.1, 0.9)), *ranges(0, 3, (0.1, 0.9))],
    sp.nbdtrik: solved((0.1, 0.9), 5.0, (0.3, 0.6)),
    sp.nbdtrin: solved(3.0, (0.1, 0.9), (0.3, 0.6)),
    sp.btdtria: solved((0.2, 0.8), (0.5, 3), (0.2, 0.8)),
    sp.btdtrib: solved((0.5, 3), (0.2, 0.8), (0.2, 0.8)),
    sp.fdtr: ranges((1, 5), (1, 5), (0.2, 3)),
    sp.fdtrc: ranges((1, 5), (1, 5), (0.2, 3)),
    sp.fdtri: ranges((1, 5), (1, 5), (0.1, 0.9)),
    sp.fdtridfd: solved((1, 5), (0.4, 0.5), (0.8, 1)),
    sp.stdtr: [*ranges((1, 9), (-3, 3)), case(1e9, 0.7)],
    sp.stdtrit: [*ranges((1, 9), (0.1, 0.9), tolerances=SOLVED)],
    sp.stdtridf: solved((0.8, 0.85), (1.1, 1.2)),
    sp.nrdtrimn: ranges((0.1, 0.9), (0.5, 2), (-2, 2)),
    sp.nrdtrisd: ranges((-2, -1), (0.6, 0.9), (1, 2)),
    sp.tklmbda: [
        *solved((-0.4, 0.4), (-1, 2)),
        *(case(*args, tolerances=SOLVED) for args in ((0.3, 0.0), (0.3, 1e-9), (5.0, 2.0))),
    ],
    sp.kolmogorov: real(0.3, 2, 0.79, 0.81, 0.1, 0.0, -1.0, 3.0),
    sp.kolmogi: real(0.05, 0.95),
    sp.smirnov: [*ranges(5, (0.1, 0.9)), *ranges(50, (0.1, 0.3))],
    sp.smirnovi: [*ranges(5, (0.1, 0.9)), *ranges(50, (0.1, 0.9))],
    # ---- noncentral ----
    sp.chndtr: [
        *ranges((0.5, 9), (1, 5), (0.5, 3)),
        *(case(*a, tolerances=EXACT) for a in ((2.0, 1.0, 1e-3), (30.0, 7.5, 12.0))),
        case(3.0, 4.0, 0.3, tolerances=EXACT),
    ],
    sp.chndtrix: solved((0.1, 0.9), (1, 5), (0.5, 3)),
    sp.chndtrinc: solved((8, 9), (1, 5), (0.3, 0.4)),
    sp.chndtridf: solved((8, 9), (0.3, 0.4), (1, 2)),
    sp.ncfdtr: ranges((1, 5), (2, 5), (0.5, 3), (0.3, 3), tolerances=NONCENTRAL),
    sp.ncfdtri: ranges((1, 5), (2, 5), (0.5, 3), (0.1, 0.9), tolerances=NONCENTRAL),
    # SciPy's value misses the inverse of its own distribution by 1e-5
    sp.ncfdtrinc: ranges((1, 2), (2, 5), (0.3, 0.4), (3, 4), tolerances={"rtol": 1e-3}),
    sp.ncfdtridfn: solved((0.4, 0.45), (3, 5), (0.5, 1), (1.0, 1.1)),
    sp.ncfdtridfd: solved((3, 5), (0.4, 0.45), (0.5, 1), (1.0, 1.1)),
    sp.nctdtr: [
        *ranges((1, 9), (-2, 2), (-3, 3), tolerances=NONCENTRAL),
        *(case(*a, tolerances=NONCENTRAL) for a in ((0.7, 1.0, 0.5), (3.0, 0.0, 0.7))),
        *([] if OLD else [(3.0, 1.0, 0.0), (40.0, 3.0, 2.5)]),
    ],
    sp.nctdtrit: solved((2, 9), (-1, 1), (0.1, 0.9)),
    sp.nctdtrinc: solved((2, 9), (0.1, 0.9), (0.5, 2)),
    sp.nctdtridf: solved((0.8, 0.85), (0.2, 0.3), (1.5, 1.6)),
}  # fmt: skip
test_rule = table(CASES)


def slopes(f, *args):
    with np.errstate(all="ignore"):
        return rrule(f, *args)[1](np.float64(1.0))[1:]


@pytest.mark.parametrize(
    "df, nc, t", [(0.5, 2.0, -3.0), (3.0, -20.0, -15.0), (300.0, 4.0, 5.0), (5e4, 1.0, 0.5)]
)
def test_the_noncentral_t_density(df, nc, t):
    with np.errstate(all="ignore"):
        expected = stats.nct.pdf(t, df, nc)
    if np.isfinite(expected):  # early versions of SciPy overflow
        assert slopes(sp.nctdtr, df, nc, t)[2] == pytest.approx(expected, rel=1e-7)


def test_edge_points():
    inf = np.inf
    assert slopes(sp.chdtr, 2, 0.0)[1] == 0.5 and slopes(sp.chdtr, 1, 0.0)[1] == inf
    assert slopes(sp.chdtr, 3, 0.0)[1] == 0.0
    assert slopes(sp.pdtr, 0, 0.0)[1] == -1.0 and slopes(sp.bdtr, 0, 3, 0.0)[2] == pytest.approx(-3)
    assert slopes(sp.kolmogi, 1.0)[0] == -inf
    assert slopes(sp.stdtr, inf, 0.7) == (0.0, pytest.approx(stats.norm.pdf(0.7)))
    assert slopes(sp.pdtrik, 0.01, 3.0) == (0.0, 0.0)  # there is no such number of events
    assert slopes(sp.chndtr, 3.0, 2.0, 0.0)[0] == pytest.approx(0.5 * np.exp(-1.5))


@pytest.mark.parametrize(
    "f, args",
    [
        (sp.chndtr, (3.0, 2.0, 1.0)),
        (sp.chndtrix, (0.4, 2.0, 1.0)),
        (sp.nctdtr, (0.8, 3.0, 1.0)),
        (sp.chndtridf, (3.0, 0.6, 1.0)),
    ],
)
def test_noncentral_ones_have_no_derivative_in_the_degrees_of_freedom(f, args):
    place = 0 if f is sp.nctdtr else 1
    with pytest.raises(NoDerivativeError, match="is needed, which has no closed form"):
        ad.gradient(lambda a: f(*args[:place], a, *args[place + 1 :]), args[place])


@pytest.mark.filterwarnings("ignore:floating point number truncated")
@pytest.mark.parametrize(
    "f, whole, part",
    [
        (sp.kn, (1.0,), (1.7,)),
        (sp.kn, (0.0,), (-0.7,)),
        (sp.yn, (1.0,), (1.7,)),
        (sp.expn, (0.0,), (0.7,)),
        (sp.pdtri, (2.0,), (2.7,)),
        (sp.nbdtr, (2.0, 5.0), (2.7, 5.7)),
        (sp.nbdtrc, (2.0, 5.0), (2.7, 5.7)),
        (sp.nbdtri, (2.0, 5.0), (2.7, 5.7)),
    ],
)
def test_what_is_rounded_to_an_integer_is_one_in_the_derivative_too(f, whole, part):
    (y, back), (rounded, back_of_rounded) = (ad.rrule(f, *n, 0.3) for n in (whole, part))
    assert rounded == y
    assert back_of_rounded(1.0)[-1] == back(1.0)[-1]
