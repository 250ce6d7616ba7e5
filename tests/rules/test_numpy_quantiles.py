"""Medians, percentiles and quantiles, with and without NaN."""

import numpy as np
import pytest

import adjoint as ad
from adjoint.rulekit.registry import rrule
from tests.rules.harness import case, complexes, reals, table
from tests.support import check_reverse

X = reals(3, 4)
X3 = reals(2, 3, 4, seed=1)
HOLES = np.where(X > -0.5, X, np.nan)
SINGLE = reals(3, 4, dtype=np.float32)
STRIDED = reals(6, 4)[::2, ::-1]
WEIGHTS = reals(3, 4, low=0.5, seed=2)
METHODS = """
    inverted_cdf averaged_inverted_cdf closest_observation interpolated_inverted_cdf hazen weibull
    linear median_unbiased normal_unbiased lower higher midpoint nearest
""".split()
WEIGHED = np.lib.NumpyVersion(np.__version__) >= "2.0.0"

KINDS = [
    (X,),
    case(X, axis=0),
    case(X, axis=-1, keepdims=True),
    case(X3, axis=(0, 2), keepdims=True),
    case(X3, axis=(2, -3)),
    case(STRIDED, axis=1),
    case(np.asfortranarray(X3), axis=1),
    (SINGLE,),
    case(SINGLE, axis=0),
    (reals(5),),
    (reals(4),),
    ([3.0, 1.0, 2.0],),
    ([[1.0, -3.0], (2.0, 0.5)],),
    (2.5,),
    (np.array(1.5),),
    (np.array([3, 1, 2, 5]),),
    case(np.zeros((2, 0)), axis=0),
]
TRUTHS = (np.array([True, False]),)
HOLED = [(HOLES,), case(HOLES, axis=0), case(HOLES, axis=(0, 1), keepdims=True)]


def levels(scale, holes):
    """Every method, and every kind of array, at some probabilities."""
    q = scale * np.array([0.13, 0.47, 0.83])
    weighed = [
        case(X, 0.4 * scale, method="inverted_cdf", weights=WEIGHTS),
        case(X, 0.4 * scale, axis=0, method="inverted_cdf", weights=WEIGHTS, keepdims=True),
    ]
    if holes:
        weighed += [case(HOLES, q, axis=0, method="inverted_cdf", weights=WEIGHTS)]
    else:  # NumPy's functions without NaN fail here
        weighed += [
            case(X, q, 1, method="inverted_cdf", weights=WEIGHTS[0]),
            case(X3, q, (2, 0), method="inverted_cdf", weights=reals(4, 2, low=0.5)),
        ]
    return [
        *(case(*k.args[:1], q, **k.kwargs) if hasattr(k, "kwargs") else (*k, q) for k in KINDS),
        *(case(X, q, axis=0, method=method) for method in METHODS),
        *(case(X3, 0.37 * scale, axis=(0, 2), method=method) for method in METHODS),
        *(case(reals(5), [0.02 * scale, 0.97 * scale], method=method) for method in METHODS),
        *(case(HOLES, q, axis=1, method=method) for method in METHODS * holes),
        *(case(HOLES, 0.3 * scale, method=method) for method in METHODS * holes),
        (X, 0.3 * scale),
        (X, np.float32(0.3 * scale), 0),
        (X, []),
        (X, q[:2, None], 1),
        case(X, q=(0.2 * scale, 0.9 * scale), overwrite_input=False),
        *(weighed if WEIGHED else []),
    ]


CASES = {
    np.median: [*KINDS, TRUTHS, (complexes(5),), case(complexes(3, 4), axis=0)],
    np.nanmedian: [*KINDS, *HOLED, TRUTHS],
    np.quantile: levels(1.0, False),
    np.percentile: levels(100.0, False),
    np.nanquantile: levels(1.0, True),
    np.nanpercentile: levels(100.0, True),
}
test_rule = table(CASES)


def bar(f, x, *args, y_bar=1.0, **kwargs):
    return rrule(f, np.array(x), *args, **kwargs)[1](y_bar)[1].tolist()


def test_equal_elements_share_equally():
    assert bar(np.median, [1.0, 2.0, 2.0, 3.0]) == [0, 0.5, 0.5, 0]
    assert bar(np.median, [2.0, 2.0, 2.0]) == [1 / 3] * 3
    assert bar(np.quantile, [1.0, 3.0, 3.0], 1.0) == [0, 0.5, 0.5]
    assert bar(np.quantile, [3.0, 1.0, 3.0], 0.5, method="lower") == [0.5, 0, 0.5]


def test_rows_of_nan_only_contribute_nothing():
    x = np.array([[1.0, np.nan, 3.0], [np.nan, np.nan, np.nan]])
    with pytest.warns(RuntimeWarning, match="All-NaN"):
        assert bar(np.nanmedian, x, 1, y_bar=np.ones(2)) == [[0.5, 0, 0.5], [0, 0, 0]]


def test_beyond_the_ends_the_probability_has_no_effect():
    _, back = rrule(np.quantile, np.array([1.0, 2.0, 4.0]), np.array([0.01, 0.99]), method="hazen")
    assert back(np.ones(2))[2].tolist() == [0, 0]
    _, back = rrule(np.quantile, np.array([1.0, 2.0, 4.0]), np.array([0.0, 1.0]))
    assert back(np.ones(2))[2].tolist() == [2, 4]


def test_probabilities_of_two_axes_without_nan_over_several():
    """NumPy moves their axes to the wrong places; what it computes is differentiated all the
    same."""
    q = np.array([[0.21], [0.91]])
    check_reverse(lambda x: np.nanquantile(x, q, axis=(0, -1)), X3)


def test_the_argument_is_rearranged_as_numpy_does():
    def f(v):
        return np.median(v, overwrite_input=True) + np.quantile(v, 0.3)

    x, plain = reals(3, 4), reals(3, 4)
    assert f(plain) == ad.withgradient(f, x).value
    np.testing.assert_array_equal(x, plain)


def test_single_precision_stays():
    for f in (np.median, np.nanmedian):
        assert rrule(f, SINGLE)[1](np.float32(1.0))[1].dtype == np.float32


def test_the_input_that_may_be_overwritten_is():
    def f(x):
        y = x * 1.0
        middle = np.median(y, overwrite_input=True)
        return middle * y[0] + y[1] * y[2]

    x = np.array([3.0, 1.0, 2.0, 0.5, 9.0, 4.0])
    assert ad.withgradient(f, x).value == f(x)
    check_reverse(f, x)
