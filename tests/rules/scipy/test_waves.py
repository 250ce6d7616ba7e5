"""`adjoint.rules.scipy.special.waves` and `legendre`."""

import numpy as np
import pytest
import scipy.special as sp
from scipy.special import _specfun

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.rulekit.registry import rrule
from tests.rules.harness import case, complexes, reals, table
from tests.rules.scipy.operands import EXACT, ranges
from tests.support import check_reverse

# the quadrature inside `ellip_normal` complains
pytestmark = [
    pytest.mark.filterwarnings("ignore:The occurrence of roundoff error"),
    pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning"),
    # and divides by zero at the numbers at which a program asks for the type of its result
    pytest.mark.filterwarnings("ignore:.*_ellip_harm_2:pytest.PytestUnraisableExceptionWarning"),
]
LOW = {"rtol": 1e-5, "atol": 1e-6}
"""For functions that SciPy takes from *specfun*, which are good to seven digits in places."""
Z = 0.5 * complexes(2)
THETA, PHI = reals(2, 1, low=0.3, high=2.5), reals(3, low=0, high=6)


def low(*bounds):
    return ranges(*bounds, tolerances=LOW)


def spheroidal(inner, with_value=None):
    held = [(0, 1), (1, 2), (2, 4)]
    if with_value is None:
        return [c for m, n in held for c in low(m, n, (0.5, 3), inner)]
    return [
        case(m, n, 1.5, float(with_value(m, n, 1.5)), x, tolerances=LOW)
        for m, n in held
        for x in (float(np.mean(inner)), reals(3, low=inner[0], high=inner[1]))
    ]


def stacked(*held, point):
    return [
        *(case(*held, x, diff_n=k, tolerances=EXACT) for k in (0, 1, 2) for x in point),
        case(*held, point[0]),
    ]


CASES = {
    sp.mathieu_a: [c for m in (0, 1, 2, 5) for c in ranges(m, (-3, 9))] + [case(np.arange(3), 2.0)],
    sp.mathieu_b: [c for m in (1, 2, 5) for c in ranges(m, (-3, 9))],
    sp.mathieu_cem: [c for m in (0, 1, 2, 5) for c in low(m, (0.5, 9), (-90, 90))],
    sp.mathieu_sem: [c for m in (1, 2, 5) for c in low(m, (0.5, 9), (-90, 90))],
    sp.mathieu_modcem1: [c for m in (0, 1, 2) for c in low(m, (0.5, 9), (0.1, 2))],
    sp.mathieu_modcem2: [c for m in (0, 1, 2) for c in low(m, (0.5, 9), (0.1, 2))],
    sp.mathieu_modsem1: [c for m in (1, 2) for c in low(m, (0.5, 9), (0.1, 2))],
    sp.mathieu_modsem2: [c for m in (1, 2) for c in low(m, (0.5, 9), (0.1, 2))],
    sp.mathieu_even_coef: [(2, 3.0)],
    sp.mathieu_odd_coef: [(2, 3.0)],
    sp.pro_ang1: spheroidal((-0.9, 0.9)),
    sp.pro_rad1: spheroidal((1.1, 3)),
    sp.pro_rad2: spheroidal((2.5, 4)),
    sp.obl_ang1: spheroidal((-0.9, 0.9)),
    sp.obl_rad1: spheroidal((0.1, 3)),
    sp.obl_rad2: spheroidal((0.1, 3)),
    sp.pro_ang1_cv: spheroidal((-0.9, 0.9), sp.pro_cv),
    sp.pro_rad1_cv: spheroidal((1.1, 3), sp.pro_cv),
    sp.pro_rad2_cv: spheroidal((2.5, 4), sp.pro_cv),
    sp.obl_ang1_cv: spheroidal((-0.9, 0.9), sp.obl_cv),
    sp.obl_rad1_cv: spheroidal((0.1, 3), sp.obl_cv),
    sp.obl_rad2_cv: spheroidal((0.1, 3), sp.obl_cv),
    sp.pro_cv: [(1, 2, 1.5)],
    sp.obl_cv: [(1, 2, 1.5)],
    sp.pro_cv_seq: [(1, 3, 1.5)],
    sp.obl_cv_seq: [(1, 3, 1.5)],
    sp.pbdv: [*low((-2, 3), (-2, 3)), *low(2, (-2, 3))],
    sp.pbvv: [*low((0.2, 3), (0.2, 3)), *low(2, (0.2, 3))],
    sp.pbwa: low((-2, 2), (-2, 2)),
    sp.pbdv_seq: [(2.5, 1.5), (0.3, 1.5), (3, 0.7)],
    sp.pbdn_seq: [(3, 0.7), (-3, 0.7), (0, 1.5)],
    sp.ellip_harm: [(5.0, 8.0, 2, 1, 2.5)],
    sp.ellip_harm_2: [(5.0, 8.0, 2, 1, 10.0)],
    sp.ellip_normal: [(5.0, 8.0, 2, 1)],
    # ---- Legendre ----
    sp.lpmv: [
        *(c for m in (0, 1, 2) for c in ranges(m, 3, (-0.9, 0.9))),
        *ranges(1, (0.5, 3), (-0.9, 0.9)),
        *(case(m, np.array([0, 1, 2]), reals(2, 3, high=0.9, low=-0.9)) for m in (0, 1)),
    ],
    sp.lqn: [(3, 0.3), (3, 1.7), (3, 0.3 + 0.7j), (0, 0.3)],
    sp.lqmn: [(2, 3, 0.3), (2, 3, 1.7), (2, 3, 0.3 + 0.7j), (0, 1, 0.3)],
}
if hasattr(_specfun, "pbvv"):  # SciPy 1.12 asks for what it does not have
    CASES[sp.pbvv_seq] = [(2.5, 1.5), (3, 0.7)]
if hasattr(sp, "sph_harm"):
    CASES[sp.sph_harm] = [
        *(case(m, 3, PHI, THETA, tolerances=EXACT) for m in (0, 1, 3, -2)),
        case(np.array([0, 1, 2]), 2, 0.3, 0.7),
    ]
if hasattr(sp, "lpn"):
    CASES[sp.lpn] = [(3, 0.3), (0, 0.3)]
if hasattr(sp, "lpmn"):
    CASES[sp.lpmn] = [(2, 3, 0.3), (0, 1, 0.3)]
if hasattr(sp, "clpmn"):
    CASES[sp.clpmn] = [(2, 3, 0.3 + 0.7j), (0, 1, 0.3 + 0.7j)]
if hasattr(sp, "legendre_p"):
    CASES |= {
        sp.legendre_p: [
            *(c for n in (0, 1, 3, 6) for c in stacked(n, point=[0.3, reals(2, 2), 1.0])),
            case(np.array([0, 2, 5]), reals(2, 1), diff_n=2, tolerances=EXACT),
            case(2, [0.3, 0.4]),
        ],
        sp.legendre_p_all: stacked(4, point=[0.3, reals(2, 2), Z, -1.0]),
        sp.assoc_legendre_p: [
            *(c for m in (0, 1, -2) for c in stacked(3, m, point=[0.3, 0.5 * reals(2, 2), Z])),
            case(3, np.array([0, 1]), 0.4 * reals(3, 1), norm=True, diff_n=2, tolerances=EXACT),
            case(3, 1, Z + 3, branch_cut=3, tolerances=EXACT),
        ],
        sp.assoc_legendre_p_all: [
            *stacked(3, 2, point=[0.3, 0.5 * reals(2, 2), Z]),
            case(3, 2, 0.3, norm=True),
        ],
        sp.sph_legendre_p: [
            *(c for m in (0, 1, -2) for c in stacked(3, m, point=[0.3, THETA])),
            case(np.array([1, 2]), 1, 0.7, diff_n=2),
        ],
        sp.sph_legendre_p_all: stacked(3, 2, point=[0.3, THETA]),
        sp.sph_harm_y: [
            *(case(3, m, THETA, PHI, diff_n=k, tolerances=EXACT) for m in (0, 2) for k in range(3)),
            case(3, -3, THETA, PHI, diff_n=2, tolerances=EXACT),
            case(2, 1, 0.3, 0.7),
            case(np.array([1, 2, 2]), np.array([0, 1, -2]), 0.3, PHI, diff_n=2, tolerances=EXACT),
        ],
        sp.sph_harm_y_all: [
            *(case(3, 2, THETA, PHI, diff_n=k, tolerances=EXACT) for k in range(3)),
            case(1, 1, 0.3, 0.7),
        ],
    }  # fmt: skip
test_rule = table(CASES)


@pytest.mark.parametrize("m, slope", [(0, 6.0), (2, -30.0), (3, 0.0)])
def test_associated_functions_at_the_ends(m, slope):
    """Against differences to the inside: (1 − x²)^(m/2) is flat for m > 2."""
    for x, sign in ((1.0, 1), (-1.0, (-1) ** (3 + m + 1))):
        got = rrule(sp.lpmv, m, 3.0, x)[1](1.0)[3]
        inside = (sp.lpmv(m, 3, x) - sp.lpmv(m, 3, x * (1 - 1e-7))) / (x * 1e-7)
        assert got == pytest.approx(sign * slope) and got == pytest.approx(inside, abs=0.02)
    assert np.isinf(rrule(sp.lpmv, 1, 3.0, 1.0)[1](1.0)[3])


@pytest.mark.parametrize(
    "f, args",
    [
        (sp.pro_cv, (1, 2, 1.5)),
        (sp.ellip_normal, (5.0, 8.0, 2, 1)),
        (sp.mathieu_even_coef, (2, 3.0)),
        (sp.pbdv_seq, (2.5, 1.5)),
    ],
)
def test_parameters_have_no_derivative(f, args):
    point = next(i for i, a in enumerate(args) if isinstance(a, float))

    def called(a):
        y = f(*args[:point], a, *args[point + 1 :])
        return np.sum(y[0] if isinstance(y, tuple) else y)

    with pytest.raises(NoDerivativeError, match="is needed, which has no closed form"):
        ad.gradient(called, args[point])


def test_tuples_of_results_in_ordinary_code():
    def product(x):
        ai, slope, _, _ = sp.airy(x)
        sn, *_ = sp.ellipj(x, 0.3)
        return ai * slope + sn

    check_reverse(product, 0.7)
    if hasattr(sp, "sph_harm_y"):
        check_reverse(lambda t: np.abs(sp.sph_harm_y(3, 2, t, 2 * t)) ** 2, 0.7)
        check_reverse(lambda t: sp.legendre_p(3, t)[0], 0.7)
