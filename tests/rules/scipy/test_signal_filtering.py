"""`adjoint.rules.scipy.signal`: recursive filters, splines, medians, peaks, designs."""

import numpy as np
import pytest
import scipy.signal as ss

import adjoint as ad
from adjoint.derivatives.differences import inner, random_like
from adjoint.rulekit import registry
from adjoint.rules.scipy.signal import medians, splines
from adjoint.testing import check_gradient
from tests.rules.harness import case, complexes, reals, table
from tests.rules.numpy_linalg.matrices import check_second, check_second_order
from tests.support import check_reverse

X, Z, LINE, CLINE = reals(2, 6, 3), complexes(2, 6, 3), reals(9), complexes(9)
DENOMINATORS = [
    np.array([1.3]), np.array([1.3, 0.4]), np.array([1.0, 0.3, -0.2]),
    np.array([2.0, 0.3, 0.2, 0.1]),
]  # fmt: skip
ORDERS = [(n, a) for n in (1, 2, 3, 5) for a in DENOMINATORS]
TWO = np.array([1.0, 0.3, -0.2])
HILLS = reals(40)
TOPS = ss.find_peaks(HILLS)[0]


def states(n, a):
    return max(n, len(a)) - 1


KINDS = [
    (reals, 1.0, LINE), (complexes, 1.0, LINE), (reals, 1 + 0.1j, LINE), (reals, 1.0, CLINE),
    (complexes, 1 + 0.1j, CLINE),
]  # fmt: skip


def filters():
    """Orders, states, axes, complex numbers."""
    for n, a in ORDERS:
        k = states(n, a)
        for b, c, x in KINDS:
            yield b(n, seed=7), a * c, x
            yield b(n, seed=7), a * c, x, -1, reals(k, seed=4)
        yield reals(n), a, X, 1
        yield reals(n), a, X, 1, reals(2, k, 3)
        yield reals(n), a, X, 1, reals(2, k, 1)  # one state for all
        yield complexes(n), a, Z, 0, complexes(k, 6, 3)
        yield reals(n), a, LINE[:2]  # shorter than the filter
        yield reals(n), a, LINE[:2], -1, reals(k)


CASES = {
    ss.lfilter: [
        *filters(), ([1.0, 2.0], [2.0, 0.3], LINE.tolist()),
        (reals(3).astype("f4"), TWO.astype("f4"), LINE.astype("f4")),
    ],
    ss.lfilter_zi: [
        (b(n, seed=7), a * c) for n, a in ORDERS if states(n, a)
        for b, c in ((reals, 1.0), (complexes, 1 + 0.1j))
    ],
    ss.lfiltic: [
        (b(n, seed=7), a, *given)
        for n, a in ORDERS for b in (reals, complexes)
        for given in ((reals(3),), (reals(5), reals(2, seed=9)), (reals(1), complexes(7)))
    ],
    ss.sepfir2d: [
        (reals(5, 6), reals(3), reals(5)), (complexes(5, 6), reals(3), reals(5)),
        (reals(5, 6), np.array([1.0, 2.0, 1.0]), np.array([1.0, 3.0, 5.0])),
    ],
    **{
        f: [(np.linspace(-2.47, 2.33, 15),), (X,)]
        for f in (splines._spline_filters._cubic, splines._spline_filters._quadratic)
    },
    medians.medians: [(reals(5, 6), np.array(sizes)) for sizes in ((3, 3), (5, 1), (3, 7))],
}  # fmt: skip
test_rules = table(dict(CASES))

FREE = np.array([[1.2, 0.4, 0.3, 0.3, -0.2], [0.7, 0.1, -0.3, -0.4, 0.1]])
CASES[ss.sosfilt] = [(np.insert(FREE, 3, 1.0, 1), X)]
"""Not in the table that is checked: the fourth column cannot be moved. See below."""

if hasattr(splines._spline, "symiirorder1_ic"):
    one, forth = splines._spline.symiirorder1_ic, splines._spline.symiirorder2_ic_fwd
    CASES[splines.first_values] = [
        case(rows(2, 30), np.array(poles), precision=1e-9, compiled=f)
        for rows in (reals, complexes) for f, poles in ((one, [0.3]), (forth, [0.3, 0.4]))
        if rows is reals or f is one
    ]  # fmt: skip
    test_first_values = table({splines.first_values: CASES[splines.first_values]})


# ---- sections ------------------------------------------------------------------------------------


def sections(free):
    return np.insert(free, 3, 1.0, 1)


@pytest.mark.parametrize("factor", [1.0, 1 + 0.1j])
@pytest.mark.parametrize("x, axis", [(LINE, -1), (X, 1), (Z, 0), (X[:, :1], 1)])
def test_sections(factor, x, axis):
    shape = list(x.shape)
    shape[axis] = 2
    free, zi = FREE * factor, reals(2, *shape)
    check_reverse(lambda c, x: ss.sosfilt(sections(c), x, axis), free, x)
    check_reverse(lambda c, x, zi: ss.sosfilt(sections(c), x, axis, zi), free, x, zi)
    check_adjoint(ss.sosfilt, sections(free), x, axis)
    check_adjoint(ss.sosfilt, sections(free), x, axis, zi)


def check_adjoint(f, *args):
    """The adjoint identity, with no tangent in the fourth column."""
    rng = np.random.default_rng(0)
    y, back = ad.rrule(f, *args)
    dots = [random_like(x, rng) if isinstance(x, np.ndarray) else None for x in args]
    dots[0][:, 3] = 0
    y_bar, y_dot = random_like(y, rng), ad.frule(f, tuple(dots), *args)[1]
    terms = [inner(bar, dot) for bar, dot in zip(back(y_bar)[1:], dots, strict=True)]
    assert inner(y_bar, y_dot) == pytest.approx(sum(terms), rel=1e-12)


# ---- the rest ------------------------------------------------------------------------------------


def test_derived_tangents_are_differentiable():
    check_second_order(ss.lfilter_zi, reals(3), TWO)
    check_second_order(ss.lfiltic, reals(3), TWO, reals(2), reals(2))
    check_second_order(ss.sepfir2d, reals(5, 6), reals(3), reals(3))


def test_forward_rules_are_differentiable():
    for a in (DENOMINATORS[0], TWO):
        check_second(ss.lfilter, reals(3), a, X, axis=1)
    rule = registry.table[ss.lfilter].frules[0].function

    def pushed(b, a, x, zi):
        return rule((b * 0.3, a * 0.2, x * x, None, zi * 0.7), b, a, x, -1, zi)[1]

    check_reverse(pushed, reals(3), TWO, LINE, reals(2))


def test_a_first_coefficient_of_one_has_a_derivative():
    """SciPy does not divide by it then."""
    x = reals(20)
    for f in (ss.lfilter_zi, lambda b, a: ss.lfiltic(b, a, LINE[:3])):
        check_reverse(f, reals(3), TWO)
    for method in ("pad", "gust"):
        check_reverse(lambda b, a, x: ss.filtfilt(b, a, x, method=method), reals(3), TWO, x)
    check_reverse(lambda c: ss.sosfilt_zi(sections(c)), FREE)
    check_reverse(lambda c, x: ss.sosfiltfilt(sections(c), x), FREE, x)
    check_reverse(ss.lp2hp, reals(2), np.array([1.0, 1.4, 0.8]), 1.0)


def test_a_leading_zero_is_refused():
    with pytest.raises((ad.AdjointError, ValueError), match="where that is 0|must be non-zero"):
        ad.gradient(lambda a: ss.lfilter_zi([1.0], a).sum(), np.array([0.0, 1.0, 0.5]))


@pytest.mark.filterwarnings("ignore:some peaks have")
def test_peaks():
    def measured(x):
        found = ss.find_peaks(x, height=-5, prominence=0.1, width=0.1)[1]
        return [found[name] for name in ("peak_heights", "prominences", "widths", "left_ips")]

    check_reverse(measured, HILLS)
    check_reverse(lambda x: ss.find_peaks(x, distance=3)[0] * x.sum(), HILLS)
    check_reverse(lambda x: ss.peak_prominences(x, TOPS, wlen=9)[0], HILLS)
    check_gradient(lambda x, part: ss.peak_widths(x, TOPS, part)[0], HILLS, 0.4)
    check_gradient(lambda x: ss.peak_prominences(x, TOPS)[0], HILLS)
    check_reverse(lambda x: ss.peak_widths(x, TOPS, 1.0)[0], HILLS)
    check_reverse(lambda x: ss.peak_widths(x, TOPS, 0.4, ss.peak_prominences(x, TOPS)), HILLS)


def test_splines():
    x, at = reals(9), np.array([-1.3, 0.2, 2.3, 4.6, 9.7])
    for f, g in ((ss.cspline1d, ss.cspline1d_eval), (ss.qspline1d, ss.qspline1d_eval)):
        check_reverse(f, x)
        check_reverse(lambda x, at: g(f(x), at), x, at)
        check_reverse(lambda x, at: g(x, at, 0.7, 0.3), x, at)
    if splines._spline is not None:  # else it is compiled as a whole
        check_reverse(lambda x: ss.symiirorder1(x, 0.5, 0.3), reals(30))


def test_medians():
    for f in (ss.medfilt, ss.medfilt2d):
        for x in (reals(5, 6), reals(5, 6).astype("f4")):
            check_reverse(lambda x: f(x, [3, 5]), x)
    check_reverse(lambda x: ss.order_filter(x, np.ones((3, 3)), 2), reals(5, 6))


def test_a_filter_is_fitted():
    x, target = reals(30), reals(30, seed=1)

    def loss(b, tail):
        y = ss.lfilter(b, np.concatenate([np.ones(1), tail]), x)
        return np.mean((y - target) ** 2)

    check_reverse(loss, reals(3), np.array([0.3, -0.2]))


def test_states_that_share_their_memory_with_the_signal():
    """As SciPy returns them where there is one denominator: both have their tangents."""
    for a in (np.array([1.3]), TWO):
        x, zi = reals(9), reals(2, seed=1)
        check_gradient(
            lambda b, x, zi: ss.lfilter(b, a, x, zi=zi),
            reals(3),
            x,
            zi,
            modes=("reverse", "forward"),
        )
        ends = ad.pushforward(lambda x: ss.lfilter(TWO, a, x, zi=zi)[1], (x,), (x,))[1]
        np.testing.assert_allclose(ends, ss.lfilter(TWO, a, x, zi=np.zeros(2))[1])
        matrices = (
            ad.jacobian(lambda x: ss.lfilter(TWO, a, x, zi=zi)[1], x, mode=mode)
            for mode in ("forward", "reverse")
        )
        np.testing.assert_allclose(*matrices, atol=1e-14)


def test_time_grows_with_the_signal():
    """No matrices: a long signal is filtered backwards as it was forwards."""
    n = 300_000
    y, back = ad.rrule(ss.lfilter, reals(4), TWO, np.ones(n))
    assert back(y)[3].shape == (n,)
