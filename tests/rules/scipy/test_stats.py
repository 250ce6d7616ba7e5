"""`adjoint.rules.scipy.stats` and `optimize`: compiled densities, roots, quantiles by them."""

import numpy as np
import pytest
from scipy import stats
from scipy.stats import _stats

import adjoint as ad
from tests.rules.harness import case, table
from tests.rules.scipy import test_private as private
from tests.rules.scipy.operands import ranges
from tests.support import check_reverse

LOOSE = {"rtol": 1e-6, "atol": 1e-8}
SHAPE = [(0.7, 1.3, 2.0, 0.5), (-1.2, -0.4, 1.5, -0.6), (3.0, 2.0, 1.1, 0.0)]
CASES = {
    _stats.von_mises_cdf: ranges((0.5, 4.0), (-3.0, 3.0), tolerances=LOOSE),
}
if hasattr(_stats, "geninvgauss_logpdf"):
    CASES[_stats.geninvgauss_logpdf] = [case(0.7, 1.3, 2.0), case(2.5, -0.4, 0.8)]
if hasattr(_stats, "genhyperbolic_logpdf"):
    CASES[_stats.genhyperbolic_logpdf] = [case(*x, tolerances=LOOSE) for x in SHAPE]
    CASES[_stats.genhyperbolic_pdf] = [case(*x, tolerances=LOOSE) for x in SHAPE]
if hasattr(stats, "_boost"):
    for name, cases in private.ALL.items():
        f = getattr(stats._boost, name.replace("nom_pmf", "nom_pdf"), None)
        if f is not None:
            CASES[f] = cases[:2]
test_rule = table(CASES)


HELD = {"vonmises": (3.99,), "gausshyper": (13.76, 3.12, 2.51, 5.18), "argus": (1.0,)}


def quantile(q, loc, scale, *shapes, name):
    return getattr(stats, name).ppf(q, *(shapes or HELD[name]), loc=loc, scale=scale)


@pytest.mark.parametrize(
    "name, shapes",
    [
        ("vonmises", ()), ("foldnorm", (1.9,)), ("exponnorm", (1.5,)), ("gausshyper", ()),
        ("recipinvgauss", (0.63,)), ("argus", ()),
    ],
)  # fmt: skip
def test_quantiles_that_are_found_as_roots(name, shapes):
    """In a location, a scale and, where the distribution function has one, the shape."""
    check_reverse(quantile, 0.37, 0.2, 1.3, *shapes, rtol=1e-5, atol=1e-7, name=name)


@pytest.mark.parametrize("q", [0.3, np.array([0.2, 0.7])])
def test_densities_against_their_distribution_functions(q):
    """The derivative of one that has a rule in the variate is the density."""
    for name, shapes in [
        ("beta", (1.5, 2.5)), ("ncx2", (3.0, 1.2)), ("nct", (5.0, 0.4)), ("skewnorm", (2.0,)),
        ("ncf", (4.0, 6.0, 0.5)), ("landau", ()), ("cosine", ()), ("vonmises", (2.0,)),
    ]:  # fmt: skip
        distribution = getattr(stats, name, None)
        if distribution is None:
            continue  # of another version
        x = stats.uniform(0.1, 0.8).ppf(q) if name == "beta" else distribution.ppf(q, *shapes)
        for method, sign in (("cdf", 1), ("sf", -1)):
            f = getattr(distribution, method)
            found = ad.gradient(lambda x: np.sum(f(x, *shapes)), x)[0]
            np.testing.assert_allclose(found, sign * distribution.pdf(x, *shapes), rtol=1e-7)


# ---- shapes of zero ------------------------------------------------------------------------------


@pytest.mark.parametrize("method", "pdf logpdf cdf logcdf sf logsf ppf isf".split())
@pytest.mark.parametrize("distribution", [stats.genextreme, stats.genpareto])
def test_the_shape_at_zero(distribution, method):
    f = getattr(distribution, method)
    first = lambda c: ad.gradient(f, 0.37, c)[1]  # noqa: E731
    for c in (0.0, 0.3, -1.0):
        check_reverse(f, 0.37, c)
        assert ad.withgradient(f, 0.37, c).value == f(0.37, c)
    h = 1e-3
    second = (8 * (first(h) - first(-h)) - first(2 * h) + first(-2 * h)) / (12 * h)
    np.testing.assert_allclose(ad.gradient(first, 0.0)[0], second, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("distribution", [stats.genextreme, stats.genpareto])
def test_values_at_the_ends_are_those_of_scipy(distribution):
    x = np.array([-np.inf, -1.0, 0.0, 1.0, np.inf, np.nan, 2.0, 5.0])
    for method in "logpdf cdf logsf ppf isf".split():
        for c in (0.0, 1.0, -1.0, 0.5):
            with np.errstate(all="ignore"):
                f = lambda x, c=c: getattr(distribution, method)(x, c)  # noqa: B023, E731
                np.testing.assert_array_equal(ad.pullback(f, x)[0], f(x))
