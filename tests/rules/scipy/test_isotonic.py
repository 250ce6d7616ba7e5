"""Isotonic regression: means of blocks, in SciPy and in scikit-learn."""

import numpy as np
import pytest
from scipy import optimize
from sklearn import isotonic

import adjoint as ad
from adjoint.testing import check_gradient
from tests.rules.harness import reals

Y = np.arange(9) / 3 + reals(9, low=-1.0, high=1.0)
W = reals(9, low=0.3, high=2.0, seed=1)


def fitted(y, w, increasing=True):
    found = optimize.isotonic_regression(y, weights=w, increasing=increasing)
    return found.x, found.weights


@pytest.mark.parametrize("increasing", [True, False])
def test_values_and_weights_of_blocks(increasing):
    check_gradient(fitted, Y, W, increasing=increasing)
    check_gradient(lambda y: optimize.isotonic_regression(y, increasing=increasing).x ** 2, Y)
    check_gradient(lambda w: optimize.isotonic_regression(list(Y), weights=w).x, W)
    check_gradient(lambda w: optimize.isotonic_regression(np.arange(9) % 4, weights=w).x, W)


def test_the_derivative_is_that_of_means():
    y, w = np.array([1.0, 3.0, 2.0, 4.0]), np.array([1.0, 1.0, 3.0, 2.0])
    slopes = ad.jacobian(lambda y: optimize.isotonic_regression(y, weights=w).x, y)
    pooled = [0.0, 0.25, 0.75, 0.0]
    np.testing.assert_allclose(slopes, [[1, 0, 0, 0], pooled, pooled, [0, 0, 0, 1]])


@pytest.mark.parametrize("f", [
    lambda y: np.sum(fitted(y, W)[0] ** 3),
    lambda w: np.sum(fitted(Y, w)[0] ** 3),
    lambda w: np.sum(fitted(np.cumsum(w) - Y * 2, w * w)[0] ** 2),
])  # fmt: skip
def test_second_derivatives(f):
    slope, h = ad.grad(f), 1e-6
    differences = [(slope(W + h * e) - slope(W - h * e)) / (2 * h) for e in np.eye(9)]
    np.testing.assert_allclose(ad.hessian(f, W), differences, rtol=1e-6, atol=1e-7)


def test_equal_values_are_pooled_as_scipy_reports():
    """Any of the derivatives on the two sides would do."""
    np.testing.assert_array_equal(optimize.isotonic_regression([2.0, 2.0]).blocks, [0, 2])
    assert ad.gradient(lambda y: optimize.isotonic_regression(y).x[0], np.array([2.0, 2.0]))[
        0
    ].tolist() == [0.5, 0.5]


def test_integers_and_single_precision():
    bar = ad.gradient(lambda y: optimize.isotonic_regression(y).x[1], np.array([1, 5, 3]))[0]
    assert bar.dtype == float and bar.tolist() == [0.0, 0.5, 0.5]
    bar = ad.gradient(
        lambda y: optimize.isotonic_regression(y).x[1], np.array([1, 5, 3], np.float32)
    )[0]
    assert bar.dtype == np.float32 and bar.tolist() == [0.0, 0.5, 0.5]


def test_what_is_not_finite_stays_in_its_block():
    y = np.array([1.0, np.nan, 3.0, 2.0])
    assert ad.gradient(lambda y: optimize.isotonic_regression(y).x[2], y)[0].tolist() == [
        0, 0, 0.5, 0.5,
    ]  # fmt: skip


def test_one_and_none():
    assert ad.gradient(lambda y: optimize.isotonic_regression(y).x.sum(), np.zeros(0))[0].size == 0
    assert ad.gradient(lambda y: optimize.isotonic_regression(y).x[0], np.array([3.0]))[0] == 1.0


def test_arguments_stay_as_they_are():
    y, w = Y.copy(), W.copy()
    value, back = ad.pullback(fitted, y, w)
    np.testing.assert_array_equal(value[0], optimize.isotonic_regression(Y, weights=W).x)
    back((np.ones(9), np.zeros(len(value[1]))))
    np.testing.assert_array_equal(y, Y)
    np.testing.assert_array_equal(w, W)


# ---- scikit-learn --------------------------------------------------------------------------------

AT = np.array([-1.0, 0.4, 2.7, 5.1, 20.0])
EQUAL = np.array([0.0, 1.0, 1.0, 2.0, 2.0, 2.0, 4.0, 5.0, 6.0])


def predicted(x, y, w, at, **named):
    model = isotonic.IsotonicRegression(out_of_bounds="clip", **named)
    return model.fit(x, y, sample_weight=w).predict(at)


def test_fits_of_scikit_learn():
    check_gradient(lambda y, w: isotonic.isotonic_regression(y, sample_weight=w), Y, W)
    check_gradient(lambda y: isotonic.isotonic_regression(y, y_min=0.3, y_max=2.0), Y)
    check_gradient(lambda y, w, t: predicted(EQUAL, y, w, t), Y, W, AT)
    check_gradient(lambda y, w, t: predicted(EQUAL, y, w, t, increasing=False), Y, W, AT)
    check_gradient(predicted, np.cumsum(W), Y, W, AT)


def test_samples_of_no_weight_do_not_count():
    w = np.where(np.arange(9) == 4, 0.0, W)
    bar = ad.gradient(lambda y: np.sum(predicted(EQUAL, y, w, AT) ** 2), Y)[0]
    assert bar[4] == 0
    np.testing.assert_allclose(
        np.delete(bar, 4),
        ad.gradient(
            lambda y: np.sum(predicted(np.delete(EQUAL, 4), y, np.delete(w, 4), AT) ** 2),
            np.delete(Y, 4),
        )[0],
    )
