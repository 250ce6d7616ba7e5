"""`adjoint.rules.scipy.special.elementary`, `information` and `normalizing`."""

import numpy as np
import pytest
import scipy.special as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes
from scipy.special import _ufuncs

import adjoint as ad
from adjoint.errors import NoDerivativeError
from adjoint.rulekit.registry import rrule
from adjoint.testing import check_gradient, check_rule
from tests.rules.harness import case, complexes, reals, table
from tests.rules.scipy.operands import EXACT, holomorphic, ranges, real
from tests.support import check_reverse

Z = complexes(2, 2)
X = reals(2, 3)
W = reals(2, 3, low=0.2, seed=3)


def calls(*argument_tuples):
    return [case(*args, tolerances=EXACT) for args in argument_tuples]


CASES = {
    sp.exp2: real(-2, 2),
    sp.exp10: real(-2, 2),
    sp.expm1: holomorphic(-2, 2, 1e-9),
    sp.log1p: holomorphic(-0.5, 3, 1e-9),
    sp.cbrt: real(0.2, 3, -1.5),
    sp.powm1: [*ranges((0.2, 3), (-2, 2)), *calls((-1.5, 2.0), (1.0, 3.0))][:-2],
    sp.exprel: real(-3, 3, 0.0, 1e-8, 1.0, -1.0, 30.0, -200.0),
    sp.sindg: real(-300, 300, 0.0),
    sp.cosdg: real(-300, 300, 0.0),
    sp.tandg: real(-80, 80, 0.0),
    sp.cotdg: real(10, 170, 90.0),
    sp.radian: ranges((-90, 90), (0, 60), (0, 60)),
    sp.cosm1: real(-2, 2, 0.0, 1e-5),
    sp.diric: [
        *(case(x, n, tolerances=EXACT) for n in (1, 2, 5) for x in (0.7, 0.0, 1e-3)),
        *(case(x, n, tolerances=EXACT) for n in (1, 2, 5) for x in (6.28, -6.29, 12.5)),
        case(reals(2, 3), 4, tolerances=EXACT),
        case(reals(2, 3), np.array([1, 2, 3]), tolerances=EXACT),
        case(x=0.7, n=3),
    ],
    sp.lambertw: [
        *holomorphic(0.2, 3, 0.0, -0.2, 1e3),
        *(case(z, k, tolerances=EXACT) for k in (-1, 1) for z in (-0.2 + 0.1j, Z, 1e3)),
        case(-0.2, k=-1),
        case(0.7, 0, tol=1e-10),
    ],
    _ufuncs._lambertw: [  # the tolerances are moved, too
        *(case(z, 0, 1e-3, tolerances=EXACT) for z in (0.2, 3.0, 0.0, -0.2, 1e3, Z)),
        *(case(z, k, 1e-3, tolerances=EXACT) for k in (-1, 1) for z in (-0.2 + 0.1j, Z, 1e3)),
        case(-0.2, -1, 1e-3),
        case(reals(2, 3, low=0.5), np.array([0, 1, 0]), 1e-3),
    ],
    sp.wrightomega: holomorphic(-2, 2, -30.0, 1e3, 30.0),
    sp.spence: holomorphic(0.2, 3, 1.0, 1.0 + 1e-9, 30.0),
    sp.zeta: [
        *(case(s, q, tolerances=EXACT) for s in (2.0, 3.5) for q in (0.7, reals(3, low=0.5))),
        case(np.array([2.0, 3.0]), reals(2, 1, low=0.5)),
        case(2.0, q=1.5),
        (2.5,),
    ],
    sp.zetac: [(2.5,), (reals(3, low=1.5),)],
    # ---- information ----
    sp.xlogy: [
        *ranges((-2, 2), (0.2, 3)),
        *calls((0.0, 2.0), (Z, Z.T), (1.5, Z), (np.float32(1.5), np.float32(2))),
    ],
    sp.xlog1py: [*ranges((-2, 2), (-0.5, 3)), *calls((0.0, 2.0), (Z, Z.T), (1.5, 1e-9))],
    sp.entr: real(0.2, 3),
    sp.rel_entr: [*ranges((0.2, 3), (0.2, 3)), *calls((1.0, 1.0))],
    sp.kl_div: [*ranges((0.2, 3), (0.2, 3)), *calls((1.0, 1.0))],
    sp.huber: [
        *ranges((0.5, 1.5), (-0.4, 0.4)), *ranges((0.5, 1.5), (1.6, 3)), *calls((1.0, -2.0)),
    ],
    sp.pseudo_huber: [*ranges((0.5, 2), (-3, 3)), *calls((2.0, 1e-3), (2.0, 0.0), (1e-3, 2.0))],
    sp.expit: real(-3, 3, 0.0, 40.0, -40.0),
    sp.log_expit: real(-3, 3, 0.0, 40.0, -40.0),
    sp.logit: real(0.1, 0.9, 0.5, 1e-3),
    sp.boxcox: [*ranges((0.2, 3), (-2, 2)), *calls((2.0, 0.0), (2.0, 1e-9), (1.0, 0.5))],
    sp.boxcox1p: [*ranges((-0.5, 3), (-2, 2)), *calls((2.0, 0.0), (2.0, 1e-9), (0.0, 0.5))],
    sp.inv_boxcox: [*ranges((0.2, 2), (-0.4, 2)), *calls((2.0, 0.0), (2.0, 1e-9), (0.0, 0.5))],
    sp.inv_boxcox1p: [*ranges((0.2, 2), (-0.4, 2)), *calls((2.0, 0.0), (2.0, 1e-9), (0.0, 0.5))],
    # ---- normalizing ----
    sp.logsumexp: [
        (X,), (X.astype("f4"),), (X.tolist(),), (0.7,), (Z,), (np.asfortranarray(X)[:, ::-1],),
        (np.array([1000.0, 1001.0]),),
        case(X, axis=0), case(X, 1), case(X, axis=-1, keepdims=True), case(X, keepdims=True),
        case(reals(2, 3, 2), axis=(0, 2)), case(reals(2, 3, 2), axis=(-1, 0), keepdims=True),
        (X, None, W), (X, 0, W[:1]), (X[0], None, W), (X, 1, -W, True, True),
        (X, None, W, False, True),
        (Z, 0, W[:, :2]), (X, None, 2.0), case(X, axis=0, b=W), case(Z, keepdims=True),
        case(X, return_sign=True),
    ],
    sp.softmax: [
        (X,), (X.astype("f4"),), (X.tolist(),), (0.7,), case(X, axis=0), case(X, -1), (X, (0, 1)),
        case(reals(2, 3, 2), axis=(0, 2)), (np.array([1000.0, 1001.0]),),
    ],
    sp.log_softmax: [
        (X,), (X.astype("f4"),), (X.tolist(),), (0.7,), case(X, axis=0), case(X, -1), (X, (0, 1)),
        case(reals(2, 3, 2), axis=(0, 2)), (np.array([1000.0, 1.0]),),
    ],
}  # fmt: skip
if hasattr(sp, "softplus"):
    CASES[sp.softplus] = [c for c in real(-3, 3, 0.0, 40.0, -40.0)]
test_rule = table(CASES)


def slopes(f, *args, y_bar=1.0):
    with np.errstate(all="ignore"):
        return [np.asarray(bar).tolist() for bar in rrule(f, *args)[1](y_bar)[1:]]


def test_edge_points():
    inf = np.inf
    assert slopes(sp.xlogy, 0.0, 0.0) == [-inf, 0.0] and slopes(sp.xlog1py, 0.0, -1.0) == [
        -inf,
        0.0,
    ]
    assert slopes(sp.entr, 0.0) == [inf]
    assert slopes(sp.rel_entr, 0.0, 2.0) == [-inf, 0.0] and slopes(sp.kl_div, 0.0, 0.0) == [
        -inf,
        1.0,
    ]
    assert slopes(sp.huber, 1.0, 1.0) == [0.0, 1.0] and slopes(sp.huber, 1.0, 0.0) == [0.0, 0.0]
    assert slopes(sp.pseudo_huber, 0.0, -3.0) == [3.0, 0.0]
    assert slopes(sp.pseudo_huber, 0.0, 0.0) == [0.0, 0.0]
    assert slopes(sp.boxcox, 0.0, 2.0) == [0.0, 0.25] and slopes(sp.boxcox, 0.0, 0.0)[0] == inf
    assert slopes(sp.exprel, -inf) == [0.0] and slopes(sp.exprel, inf) == [inf]
    assert slopes(sp.wrightomega, inf) == [1.0]
    assert slopes(sp.spence, 0.0) == [-inf] and slopes(sp.cbrt, 0.0) == [inf]
    assert slopes(sp.logit, 0.0) == [inf] and slopes(sp.logit, 1.0, y_bar=0.0) == [0.0]
    assert slopes(sp.expit, -800.0) == [0.0] and slopes(sp.log_expit, -800.0) == [1.0]


def test_infinite_terms_of_logsumexp():
    inf = np.inf
    assert slopes(sp.logsumexp, np.array([inf, 1.0, inf])) == [[0.5, 0.0, 0.5]]
    assert slopes(sp.logsumexp, np.array([-inf, -inf])) == [[0.0, 0.0]]
    assert slopes(sp.logsumexp, np.array([-inf, 3.0])) == [[0.0, 1.0]]
    rows = np.array([[inf, 1.0], [0.0, 0.0]])
    assert slopes(sp.logsumexp, rows, 1, y_bar=np.ones(2))[0] == [[1.0, 0.0], [0.5, 0.5]]


def test_a_nan_poisons_only_its_row():
    rows = np.array([[np.nan, 1.0], [0.0, 0.0]])
    for f in (sp.softmax, sp.log_softmax):
        bar = np.asarray(slopes(f, rows, 1, y_bar=np.array([[1.0, 2.0], [1.0, 2.0]]))[0])
        assert np.isnan(bar[0]).all() and np.isfinite(bar[1]).all()
    x = np.array([np.nan, 0.5])
    assert np.isnan(slopes(sp.logit, x, y_bar=np.ones(2))[0]).tolist() == [True, False]


def test_the_exponent_of_zeta_has_no_derivative():
    for f in (sp.zeta, sp.zetac, lambda s: sp.zeta(s, 1.5)):
        with pytest.raises(NoDerivativeError, match="in the exponent is needed"):
            ad.gradient(f, 2.5)


def test_weights_by_keyword_have_a_derivative():
    check_reverse(lambda a, w: sp.logsumexp(a, axis=0, b=w).sum(), X, W)
    check_reverse(lambda a: sp.logsumexp(a * (1 + 2j), return_sign=True)[0].real, X)


def test_outputs_and_masks_as_of_numpys_ufuncs():
    x = np.array([0.3, 0.8, 1.2])

    def into(x):
        y = sp.xlogy(x, x + 1, dtype=np.float64)
        return sp.gammaln(y * y + 1, np.empty(3)).sum()

    def masked(x):  # only differentiated: SciPy 1.17 itself writes elsewhere
        out = np.zeros(3)
        sp.expit(x, out=out)
        sp.erf(x, out=out, where=np.array([True, False, True]))
        return (out * out).sum()

    def selected(x):
        out = np.where([True, False, True], sp.erf(x), sp.expit(x))
        return (out * out).sum()

    check_reverse(into, x)
    np.testing.assert_array_equal(ad.gradient(masked, x)[0], ad.gradient(selected, x)[0])
    assert ad.pullback(masked, x)[0] == selected(x)


@settings(max_examples=50)
@given(
    array_shapes(max_dims=4, max_side=3),
    st.data(),
    st.sampled_from([sp.logsumexp, sp.softmax, sp.log_softmax]),
)
def test_any_shape_and_axis(shape, data, f):
    axis = data.draw(
        st.none()
        | st.integers(-len(shape), len(shape) - 1)
        | st.sets(st.integers(0, len(shape) - 1), min_size=1).map(tuple)
    )
    check_rule(f, reals(*shape), axis=axis)


def test_options_of_lambertw():
    for f in (
        lambda z: sp.lambertw(z).real ** 2,
        lambda z: sp.lambertw(-z / 3, k=-1).real ** 2,
        lambda z: abs(sp.lambertw(z + 0.3j, 1, tol=1e-10)),
        lambda z: (sp.lambertw(np.array([z, 2 * z])).real ** 2).sum(),
    ):
        check_gradient(f, 0.6)
        ends = [ad.gradient(f, 0.6 + h)[0] for h in (1e-5, -1e-5)]
        assert ad.hvp(f, 0.6, 1.0) == pytest.approx((ends[0] - ends[1]) / 2e-5, rel=1e-6)
