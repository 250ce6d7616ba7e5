"""Distributions of `scipy.stats` at one number and at arrays run as programs, in both orders."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import adjoint as ad
from tests.fast.agreeing import generic_tier

P = np.array([1.1, 0.7, 0.4, 0.9])
V = np.array([0.3, -1.0, 0.5, 0.8])
X = np.random.default_rng(0).normal(size=(6, 4))

FUNCTIONS = {
    "cdf of a number": lambda p: stats.norm.cdf(p[0] * 2.0 + np.log(p[1])),
    "cdf of a float": lambda p: stats.norm.cdf(float(p[0])) * p[1],
    "logpdf of a number": lambda p: stats.norm.logpdf(p[0], p[1], p[2]),
    "pdf of a number": lambda p: stats.norm.pdf(p[0], loc=p[1], scale=p[2]),
    "gamma": lambda p: stats.gamma.logpdf(p[0], p[1]),
    "ppf": lambda p: stats.norm.ppf(0.3 + 0.1 * p[0]) ** 2,
    "t": lambda p: stats.t.logpdf(p, 4.0).sum(),
    "beta": lambda p: stats.beta.logpdf(0.1 * p, 2.0, 3.0).sum(),
    "poisson": lambda p: stats.poisson.logpmf(3, p).sum(),
    "expon": lambda p: (stats.expon.logpdf(p, scale=2.0) ** 2).sum(),
    "lognorm": lambda p: stats.lognorm.cdf(p, 0.5).sum(),
    "outside the support": lambda p: (stats.expon.pdf(p - 0.8) ** 2).sum(),
    "frozen": lambda p: stats.norm(p[0], p[1]).logpdf(X[:, 0]).sum() + stats.norm(p[2]).cdf(0.3),
    "frozen by name": lambda p: stats.gamma(a=p[0], scale=p[1]).pdf(X[:, 0] ** 2).sum(),
    "normal, one point": lambda p: stats.multivariate_normal.logpdf(p, np.zeros(4), np.eye(4) * 2),
    "normal, mean": lambda p: stats.multivariate_normal.logpdf(X, p, np.eye(4) * 2).sum(),
    "normal, covariance": lambda p: stats.multivariate_normal.logpdf(
        X, mean=p, cov=np.diag(p**2) + 0.1
    ).sum(),
    "normal, pdf": lambda p: stats.multivariate_normal.pdf(X[0], p, np.diag(p**2) + 0.1),
    "normal, one variance": lambda p: stats.multivariate_normal.logpdf(X[:, :2], p[:2], p[2]).sum(),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_programs_in_both_orders(name):
    f, h = FUNCTIONS[name], 1e-5
    value, (gradient,) = ad.withgradient(f, P)
    assert ad.tier(f, P).tier == "fast"
    np.testing.assert_allclose(value, f(P), rtol=1e-12)
    expected = [(f(P + h * e) - f(P - h * e)) / (2 * h) for e in np.eye(4)]
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(ad.pushforward(f, (P,), (V,))[1], gradient @ V, rtol=1e-9)
    ends = [ad.gradient(f, P + sign * h * V)[0] for sign in (1, -1)]
    product = ad.hvp(f, P, V)
    np.testing.assert_allclose(product, (ends[0] - ends[1]) / (2 * h), rtol=1e-5, atol=1e-6)
    with generic_tier():
        np.testing.assert_allclose(ad.gradient(f, P)[0], gradient, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(ad.hvp(f, P, V), product, rtol=1e-7, atol=1e-9)


def test_singular_covariances():
    """They are left to the generic tier; the density is that on the support."""

    def f(p):
        covariance = np.diag(np.concatenate([p[:3] ** 2, np.zeros(1)]))
        return stats.multivariate_normal.logpdf(X[0] * [1, 1, 1, 0], None, covariance, True)

    with generic_tier():
        try:
            expected = ad.gradient(f, P)[0]
        except ad.AdjointError as error:
            expected = type(error)
    try:
        found = ad.gradient(f, P)[0]
    except ad.AdjointError as error:
        found = type(error)
    assert np.all(found == expected)


def test_no_covariance():
    def f(p):
        return stats.multivariate_normal.logpdf(X[0], p, np.diag(p - 1.0))

    for differentiate in (f, lambda p: ad.gradient(f, p)):
        with pytest.raises((ValueError, np.linalg.LinAlgError), match="positive semidefinite"):
            differentiate(P)
