"""Sums, means, products, extrema, order statistics."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.fast.programs import store
from adjoint.rulekit.registry import rrule
from adjoint.rules.numpy.aggregates.logarithmic_sums import log_sum
from adjoint.testing import check_gradient, check_rule
from tests.rules.harness import case, complexes, reals, table

X = reals(3, 4)
X3 = reals(2, 3, 4, seed=1)
Z = complexes(3, 4)
MASK = X > -0.5
HOLES = np.where(MASK, X, np.nan)
SINGLE = reals(3, 4, dtype=np.float32)
ZEROS = np.array([[0.0, 2.0, 3.0], [1.5, 0.0, 0.0], [1.0, -2.0, 0.5]])

AXES = [
    (X,),
    (X, 0),
    (X, -1),
    case(X3, axis=(0, 2)),
    case(X3, axis=1, keepdims=True),
    case(X3, axis=(2, -3), keepdims=True),
    case(X, keepdims=True),
    case(np.asfortranarray(X3)[:, ::2], axis=1),
    (reals(5),),
    (2.5,),
    (np.float64(2.5),),
    ([1.0, 3.0, 2.0],),
    ([[1.0, -3.0], (2.0, 0.5)], 1),
    (SINGLE,),
    case(SINGLE, axis=0),
    (np.array(1.5),),
]
ZERO_D = [case(np.array(1.5), axis=0), case(2.5, axis=-1, keepdims=True)]
EMPTY = [(np.zeros((0, 3)),), case(np.zeros((0, 3)), axis=0), case(np.zeros((2, 0)), axis=1)]
INTEGERS = [(np.arange(6).reshape(2, 3),), case(np.arange(6).reshape(2, 3), axis=1)]
COMPLEX = [(Z,), case(Z, axis=1), (Z.astype(np.complex64),)]
MASKED = [case(X, where=MASK), case(X, axis=1, where=MASK, keepdims=True)]
COARSE = {"rtol": 5e-2}
WIDE = [
    case(SINGLE, dtype=np.float64),
    case(Z, axis=1, dtype=complex),
    case(X, axis=0, dtype=np.float32, tolerances=COARSE),
    case(X, dtype=complex),
]
FROM = [case(X, initial=1.5), case(X, axis=0, initial=-1.5, where=MASK)]

SPREAD = [
    *AXES[:8],
    case(X, ddof=1),
    case(X3, axis=(0, 1), ddof=2, keepdims=True),
    case(X, ddof=1.5),
    case(X3, axis=(0, 1), ddof=0.5, keepdims=True),
    (Z,),
    case(Z, axis=0),
    case(X, axis=0, where=reals(3, 4, seed=5) > -1),
    (SINGLE,),
    ([1.0, 3.0, 2.5],),
    case(Z, axis=0, dtype=complex),
]
if np.__version__ >= "2":
    SPREAD += [
        case(X, axis=1, mean=np.mean(X, axis=1, keepdims=True)),
        case(X, axis=0, correction=1),
    ]
SUMS = [*AXES, *ZERO_D, *EMPTY, *INTEGERS, *COMPLEX, *MASKED, *WIDE]
EXTREMA = [
    *AXES,
    *INTEGERS,
    *ZERO_D,
    case(X, initial=0.3),
    case(X, axis=0, where=MASK, initial=-0.25),
    case(X, axis=1, where=[1, 0, 2, 1], initial=-5.0),
    case(SINGLE, initial=np.float64(0.1)),
    case(np.array([3, 5]), initial=0.5),
]

CASES = {
    np.sum: [*SUMS, *FROM],
    np.mean: [*AXES, *INTEGERS, *COMPLEX, *MASKED, *WIDE, case(np.zeros((0, 3)), axis=1)],
    np.prod: [*SUMS, *FROM, (ZEROS,), case(ZEROS, axis=0), case(ZEROS, axis=1, keepdims=True)],
    np.max: EXTREMA,
    np.min: EXTREMA,
    np.amax: EXTREMA[:3],
    np.amin: EXTREMA[:3],
    np.ptp: AXES,
    np.var: SPREAD,
    np.std: SPREAD,
    np.average: [
        (X,),
        case(X, axis=1),
        (X, None, reals(3, 4, low=0.5, seed=2)),
        (X, 1, reals(4, low=0.5, seed=2)),
        (X3, 1, reals(3, low=0.5, seed=2)),
        (X3, (0, 2), reals(2, 3, 4, low=0.5, seed=2)),
        (Z, 0, complexes(3, 4, seed=4) + 3),
        case([1.0, 2.0], weights=[3.0, 1.0]),
        (X, 1, reals(4, low=0.5, seed=2), True),
        (X, None, None, True),
        (X, None, reals(3, 4, low=0.5, seed=2), True),
        (X3, (0, 2), reals(2, 4, low=0.5, seed=2)),
        (X3, (2, 0), reals(4, 2, low=0.5, seed=2), True),
        case(X, axis=(-1,), weights=[1.0, 2.0, 0.5, 1.5], keepdims=True),
        case(Z, axis=0, weights=reals(3, low=0.5, seed=2)),
    ],
    log_sum: [(X,), case(X3, axis=(0, 2)), case(X, axis=1, keepdims=True), (SINGLE, None)],
    np.nansum: [
        (HOLES,),
        case(np.array(1.5), axis=0),
        case(HOLES, axis=0, keepdims=True),
        (Z,),
        case(HOLES, where=X < 1),
        case(HOLES, axis=1, where=[2, 0, 3, 1]),
    ],
    np.nanmedian: [*AXES, (HOLES,), case(HOLES, axis=1), case(HOLES, axis=0, keepdims=True)],
    np.nanmean: [
        (HOLES,),
        case(X, where=[2, 0, 3, 1]),
        case(HOLES, axis=1),
        case(HOLES, axis=0, keepdims=True),
    ],
    np.nanvar: [(HOLES,), case(HOLES, axis=1), case(X, axis=0, ddof=1, keepdims=True), (Z,)],
    np.nanstd: [(HOLES,), case(HOLES, axis=1), case(X, axis=0, ddof=1, keepdims=True), (Z,)],
    np.nanprod: [
        (HOLES,),
        case(np.array(1.5), axis=0),
        case(HOLES, axis=1),
        case(HOLES, axis=0, keepdims=True),
    ],
    np.nanmax: [(HOLES,), case(HOLES, axis=1), case(HOLES, axis=0, keepdims=True)],
    np.nanmin: [(HOLES,), case(HOLES, axis=1), case(HOLES, axis=0, keepdims=True)],
    np.trapezoid if hasattr(np, "trapezoid") else np.trapz: [  # noqa: NPY201
        (X,),
        (X, None, 0.5),
        (X, np.sort(reals(4, seed=3))),
        (X, np.sort(reals(3, 4, seed=3), axis=0), 1.0, 0),
        (X3, np.sort(reals(3, seed=3)), 1.0, 1),
        (Z,),
        case(X, dx=reals(3, low=0.2, seed=3)),
        (reals(6), np.sort(reals(2, 6, seed=3), axis=1)),
        (X3, np.sort(reals(1, 1, 4, seed=3))),
        case([1.0, 2.0, 4.0], x=(0.0, 1.0, 3.0)),
        (np.float32([1.0, 2.0, 4.0]), np.float32([0.0, 1.0, 3.0])),
    ],
}
test_rule = table(CASES)


def bar(f, x, y_bar=1.0, **kwargs):
    return rrule(f, x, **kwargs)[1](y_bar)[1]


def test_ties_share_equally():
    np.testing.assert_array_equal(bar(np.max, np.array([1.0, 3.0, 3.0])), [0, 0.5, 0.5])
    np.testing.assert_array_equal(bar(np.min, np.array([2.0, 2.0, 2.0, 5.0])), [1 / 3] * 3 + [0])
    np.testing.assert_array_equal(bar(np.ptp, np.array([1.0, 1.0, 4.0])), [-0.5, -0.5, 1])


def test_prod_with_zeros():
    np.testing.assert_array_equal(bar(np.prod, np.array([0.0, 2.0, 3.0])), [6, 0, 0])
    np.testing.assert_array_equal(bar(np.prod, np.array([0.0, 2.0, 0.0])), [0, 0, 0])


def test_prod_that_underflows():
    x = np.array([1e-200, 1e-200, 1e300])
    np.testing.assert_allclose(bar(np.prod, x), [1e100, 1e100, 0.0], rtol=1e-12)


@pytest.mark.parametrize("f", [np.std, np.nanstd, np.var, np.nanvar])
@pytest.mark.parametrize("ddof", [0, 1, 0.5, np.float64(1.5)])
def test_std_at_zero_deviation(f, ddof):
    np.testing.assert_array_equal(bar(f, np.ones(3), ddof=ddof), np.zeros(3))
    gradient = ad.gradient(lambda x, d: f(x, ddof=d), np.ones(3), 0.5)
    assert (gradient[0].tolist(), gradient[1]) == ([0.0, 0.0, 0.0], 0.0)
    tangents = np.arange(3.0), 1.0
    assert ad.pushforward(lambda x, d: f(x, ddof=d), (np.ones(3), 0.5), tangents)[1] == 0.0


def test_sum_rounded_to_integers_has_no_derivative():
    y, back = rrule(np.sum, np.array([0.5, 1.5]), dtype=int)
    assert y == 1 and back(1.0) == (None, None)


@pytest.mark.parametrize("f", [np.sum, np.mean, np.prod, np.max, np.min, np.std, np.var])
def test_out_is_declined(f):
    assert rrule(f, np.ones(3), out=np.zeros(())) is None


def test_operand_by_keyword():
    y, back = rrule(np.sum, a=[1.0, 2.0], initial=3.0)
    assert y == 6.0
    assert back(2.0) == (None, {"a": [2.0, 2.0], "initial": 2.0})
    y, back = rrule(np.max, np.array([1.0, 2.0]), initial=2.0)
    f_bar, x_bar, named = back(1.0)
    np.testing.assert_array_equal(x_bar, [0, 0.5])
    assert named == {"initial": 0.5}


def test_single_precision_stays():
    for f in (np.sum, np.mean, np.prod, np.max, np.std, np.var):
        y, back = rrule(f, SINGLE)
        assert back(np.float32(1.0))[1].dtype == np.float32


@pytest.mark.parametrize("f", [np.sum, np.mean, np.max, np.std, np.cumsum, np.sort])
@pytest.mark.parametrize(
    "x", [np.array([1, 2.0], object), np.ma.masked_array([1.0, 2.0], [False, True])]
)
def test_objects_and_masks_are_declined(f, x):
    assert rrule(f, x) is None


def test_what_numpy_hands_on_although_nobody_gave_it():
    nothing = np._NoValue
    y, back = rrule(np.sum, X, axis=0, keepdims=nothing, initial=nothing, where=nothing)
    np.testing.assert_array_equal(y, X.sum(axis=0))
    np.testing.assert_array_equal(back(np.ones(4))[1], np.ones((3, 4)))


def test_total_of_the_weights_alone():
    _, back = rrule(np.average, np.ones(3), None, np.array([1.0, 2.0, 3.0]), True)
    np.testing.assert_array_equal(back((None, 2.0))[3], [2, 2, 2])


@pytest.mark.filterwarnings("ignore:Casting complex")
@pytest.mark.parametrize(
    "f", [np.sum, np.mean, np.prod, np.var, np.std, np.nansum, np.nanprod, np.nanvar, np.nanstd]
)
def test_complex_numbers_cast_to_reals(f):
    check_rule(f, Z, dtype=np.float64)
    check_rule(f, Z, axis=1, dtype=np.float64)


@pytest.mark.filterwarnings("ignore:Mean of empty", "ignore:invalid value", "ignore:divide by")
def test_the_mean_of_nothing():
    assert bar(np.mean, np.zeros((0, 3))).shape == (0, 3)
    assert bar(np.mean, np.zeros((2, 0)), np.ones(2), axis=1).shape == (2, 0)


@pytest.mark.parametrize(
    "f", [np.var, np.std, np.nanvar, np.nanstd, np.ndarray.var, np.ndarray.std]
)
def test_degrees_of_freedom_that_are_no_integer(f):
    for x in (X, Z):
        check_gradient(lambda x, d: np.sum(f(x, 0, ddof=d)), x, 0.5)
        check_gradient(lambda x, d: np.sum(f(x, None, None, None, d)), x, 0.5)
    check_gradient(lambda d: f(X, ddof=d, where=MASK), 0.5)


LEAST = np.array([-np.inf, -np.inf])


@pytest.mark.parametrize(
    "f",
    [
        lambda x: np.logaddexp(np.logaddexp.reduce(LEAST + x), x[0] ** 2),
        lambda x: np.logaddexp(np.logaddexp.reduce([-np.inf + x[0], -np.inf]), x[0] ** 2),
        lambda x: np.logaddexp.reduce(np.logaddexp.reduce(np.stack([LEAST + x, x**2]), axis=1)),
        lambda x: np.logaddexp.reduce([x[0] ** 2, -np.inf, x[1] * x[0]]),
    ],
)
@pytest.mark.parametrize("is_enabled", [True, False])
def test_sums_of_infinite_logarithms(f, is_enabled, monkeypatch):
    """Terms of a sum of zero have no part in either derivative."""
    monkeypatch.setattr(store, "is_enabled", [is_enabled])
    x, v, h = np.array([0.3, 0.7]), np.array([1.0, 2.0]), 1e-5
    gradient = ad.gradient(f, x)[0]
    slopes = [(f(x + h * e) - f(x - h * e)) / (2 * h) for e in np.eye(2)]
    np.testing.assert_allclose(gradient, slopes, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(ad.pushforward(f, (x,), (v,))[1], gradient @ v, rtol=1e-12)
    ends = [ad.gradient(f, x + sign * h * v)[0] for sign in (1, -1)]
    np.testing.assert_allclose(ad.hvp(f, x, v), (ends[0] - ends[1]) / (2 * h), rtol=1e-6, atol=1e-8)


def test_infinite_terms_share_equally():
    for terms, expected in (
        ([np.inf, 1.0, np.inf], [0.5, 0.0, 0.5]),
        ([-np.inf, -np.inf], [0.0, 0.0]),
        ([-np.inf, 3.0], [0.0, 1.0]),
    ):
        assert ad.gradient(np.logaddexp.reduce, np.array(terms))[0].tolist() == expected
