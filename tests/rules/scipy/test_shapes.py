"""Derivatives in shapes that are zero, where SciPy's formulas have a case of their own: against
differences over a distance at which the formulas on both sides are exact."""

import numpy as np
import pytest
from scipy import stats

import adjoint as ad

H = 1e-2
WEIGHTS = {
    1: {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280},
    2: {0: -205 / 72, 1: 8 / 5, 2: -1 / 5, 3: 8 / 315, 4: -1 / 560},
}


def difference(f, order):
    """Of the eighth order."""
    sign = -1 if order == 1 else 1
    total = 0.0
    for k, weight in WEIGHTS[order].items():
        total += weight * (f(k * H) + sign * f(-k * H) if k else f(0.0))
    return total / H**order


METHODS = "pdf logpdf cdf logcdf sf ppf isf".split()
KAPPAS = {
    "h": lambda f, c: f(0.4, c, 0.3),
    "k": lambda f, c: f(0.4, 0.3, c),
    "h beside zero": lambda f, c: f(0.4, c, 0.0),
    "k beside zero": lambda f, c: f(0.4, 0.0, c),
    "both": lambda f, c: f(0.4, c, 2 * c),
}


def check(f, atol=1e-9):
    first = [ad.gradient(f, 0.0)[0], ad.derivative(f)(0.0)]
    second = [ad.hvp(f, 0.0, 1.0), ad.derivative(ad.derivative(f))(0.0)]
    np.testing.assert_allclose(first, difference(f, 1), rtol=1e-9, atol=atol)
    np.testing.assert_allclose(second, difference(f, 2), rtol=1e-7, atol=100 * atol)
    assert ad.withgradient(f, 0.0).value == f(0.0)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", KAPPAS)
def test_kappa4(name, method):
    of_shape = KAPPAS[name]
    if name == "h beside zero" and method in ("ppf", "isf"):
        pytest.skip("SciPy has NaN for a negative h beside k = 0")
    check(lambda c: of_shape(getattr(stats.kappa4, method), c))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("x", [0.4, 0.9])
def test_pearson3(x, method):
    """SciPy's terms of the density are large and cancel."""
    check(lambda skew: getattr(stats.pearson3, method)(x, skew), atol=1e-7)


@pytest.mark.parametrize("method", ["pdf", "cdf", "ppf"])
def test_tukeylambda(method):
    check(lambda c: getattr(stats.tukeylambda, method)(0.4, c))


def test_the_skew_in_arrays():
    skew, x = np.array([0.0, 0.5, -1e-6]), np.array([[0.1], [2.0]])
    found = ad.gradient(lambda s: np.sum(stats.pearson3.logpdf(x, s)), skew)[0]
    expected = np.sum(x**3 - 3 * x) / 6
    np.testing.assert_allclose(found[[0, 2]], expected, rtol=1e-5)
    f = lambda s: np.sum(stats.pearson3.logpdf(x, s))  # noqa: E731
    slope = (f(0.5 + 1e-5) - f(0.5 - 1e-5)) / 2e-5
    np.testing.assert_allclose(found[1], slope, rtol=1e-7)
    (found,) = ad.gradient(lambda x: np.sum(stats.pearson3.cdf(x, skew)), x)
    np.testing.assert_allclose(found[:, 0], stats.pearson3.pdf(x, skew).sum(1), rtol=1e-9)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("shape", [(0.0, 0.3), (0.0, 0.0), (0.5, 0.0), (-1.0, 0.0), (0.0, 1.0)])
def test_values_are_those_of_scipy(shape):
    x = np.array([-np.inf, -30.0, -1.0, 0.0, 0.4, 1.0, 30.0, np.inf, np.nan])
    for method in METHODS:
        for distribution, shapes in ((stats.kappa4, shape), (stats.pearson3, shape[:1])):
            f = getattr(distribution, method)
            y = ad.pullback(lambda x, *shapes, f=f: f(x, *shapes), x, *shapes)[0]
            np.testing.assert_array_equal(y, f(x, *shapes))
