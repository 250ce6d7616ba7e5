"""`scipy.stats.gaussian_kde` and weighed covariances in programs: derivatives of any order."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import adjoint as ad
from tests.fast.agreeing import generic_tier
from tests.fast.test_interpolation import compare

RNG = np.random.default_rng(4)
DATA, PLANE = RNG.standard_normal(12), RNG.standard_normal((2, 12))
POINTS, PLACES = RNG.standard_normal(5), RNG.standard_normal((2, 5))
WEIGHTS = RNG.random(12)
LINE = stats.gaussian_kde(DATA)
WEIGHED = stats.gaussian_kde(PLANE, weights=WEIGHTS, bw_method="silverman")


def test_points():
    compare(lambda x: np.sum(np.log(LINE(x))), (POINTS,))
    compare(lambda x: np.sum(LINE.pdf(x) ** 2), (POINTS[:2],))
    compare(lambda x: np.sum(LINE.logpdf(x) ** 2), (POINTS,))
    compare(lambda x: np.sum(WEIGHED(x) ** 2), (PLACES,))
    compare(lambda x: WEIGHED.logpdf(x)[0] ** 2, (PLACES[:, 0],))


@pytest.mark.parametrize("method", (None, "silverman", 0.4))
def test_data(method):
    def line(data, x):
        return np.sum(np.log(stats.gaussian_kde(data, method)(x)))

    def plane(data, x):
        return np.sum(stats.gaussian_kde(data, bw_method=method).logpdf(x))

    compare(line, (DATA, POINTS))
    compare(plane, (PLANE, PLACES))


def test_weights():
    def f(data, weights, x):
        return np.sum(stats.gaussian_kde(data, weights=weights)(x) ** 2)

    compare(f, (PLANE, WEIGHTS, PLACES), precision=1e-8)


def test_far_away():
    """Where the density vanishes, its logarithm has a slope."""
    f = lambda x: np.sum(LINE.logpdf(x))
    far = np.array([-60.0, 70.0])
    with generic_tier():
        expected = ad.gradient(f, far)[0]
    np.testing.assert_allclose(ad.gradient(f, far)[0], expected, rtol=1e-9)


def test_other_numbers():
    single = stats.gaussian_kde(DATA.astype(np.float32))
    f = lambda x: np.sum(single(x) ** 2)
    with generic_tier():
        expected = ad.gradient(f, POINTS.astype(np.float32))[0]
    found = ad.gradient(f, POINTS.astype(np.float32))[0]
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, rtol=1e-5)
    with pytest.raises(ValueError, match="dimension"):
        ad.gradient(lambda x: np.sum(LINE(x)), PLACES)


def test_weighed_covariance():
    def f(m, weights):
        return np.sum(np.cov(m, aweights=weights) ** 2) + np.sum(np.cov(m[0], aweights=weights))

    compare(f, (PLANE, WEIGHTS))
    compare(lambda m: np.sum(np.cov(m, aweights=WEIGHTS, bias=True) ** 3), (PLANE,))
