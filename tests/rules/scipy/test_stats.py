"""`adjoint.rules.scipy.stats` and `optimize`: compiled densities, roots, quantiles by them."""

import numpy as np
import pytest
from scipy import stats
from scipy.stats import _stats

import adjoint as ad
from adjoint.rules.scipy import binormal, studentized
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
if binormal.above is not None:
    BEYOND = [(0.3, -0.5, 0.4), (-1.2, 0.7, -0.8), (0.4, 1.1, 0.0)]
    CASES[binormal.above] = [case(*x, tolerances=LOOSE) for x in BEYOND]
test_rule = table(CASES)


@pytest.mark.skipif(binormal.above is None, reason="it is in Fortran")
def test_beyond_infinity():
    """Where one of two normal variables is anything, the other one is normal."""
    for r in (0.0, 0.4):
        found = ad.gradient(lambda x, r: binormal.above(x, -np.inf, r), 0.3, r)
        assert found == (pytest.approx(-stats.norm.pdf(0.3)), 0.0)
        assert ad.gradient(lambda x, r: binormal.above(x, np.inf, r), 0.3, r) == (0.0, 0.0)


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


# ---- estimates of densities ----------------------------------------------------------------------

SAMPLE, PLACES = np.random.default_rng(0).normal(size=(2, 7)), np.array([[0.1, 0.7], [-0.3, 1.1]])


@pytest.mark.parametrize("name", ["evaluate", "logpdf"])
@pytest.mark.parametrize("rows", [slice(1), slice(2)])
def test_second_derivatives_of_kernel_estimates(name, rows):
    x, t, h = SAMPLE[rows], PLACES[rows], 1e-5
    slopes = ad.grad(lambda x: np.sum(getattr(stats.gaussian_kde(x), name)(t) ** 2))
    found = ad.hessian(lambda x: np.sum(getattr(stats.gaussian_kde(x), name)(t) ** 2), x)
    for place in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[place] = h
        wanted = (slopes(x + step) - slopes(x - step)) / (2 * h)
        np.testing.assert_allclose(found[place], wanted, rtol=1e-6, atol=1e-7)


def test_kernel_estimates_move_with_everything():
    """An estimate is that of moved data at moved places; its integral is that of its logarithm."""
    x, t = SAMPLE[0], PLACES[0]
    by_data, by_places = ad.pullback(lambda x, t: stats.gaussian_kde(x)(t), x, t)[1](np.ones(2))[1:]
    assert np.sum(by_data) == pytest.approx(-np.sum(by_places))
    f = stats.gaussian_kde(x)
    np.testing.assert_allclose(by_places, f(t) * ad.gradient(lambda t: f.logpdf(t).sum(), t)[0])
    slope = ad.grad(lambda b: f.integrate_box_1d(-1.0, b))
    np.testing.assert_allclose([slope(b) for b in t], f(t))


def test_kernel_estimates_in_single_precision():
    x, t = SAMPLE[0].astype("f4"), PLACES[0].astype("f4")
    found = ad.gradient(lambda x: stats.gaussian_kde(x)(t).sum(), x)[0]
    wanted = ad.gradient(lambda x: stats.gaussian_kde(x)(t).sum(), x.astype(float))[0]
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)


# ---- the studentized range -----------------------------------------------------------------------


@pytest.mark.parametrize("k", [2.0, 3.0, 10.0, 60.0])
@pytest.mark.parametrize("df", [1.0, 5.5, 63.0, 65.0, 9e4, 2e5])
def test_sums_of_studentized_ranges_are_the_integrals_of_scipy(k, df):
    f = stats.studentized_range
    for q in (0.5, 4.0):
        assert studentized.single_cdf(q, k, df) == pytest.approx(f._cdf(q, k, df), rel=2e-8)
        assert studentized.single_pdf(q, k, df) == pytest.approx(f._pdf(q, k, df), rel=2e-7)


@pytest.mark.parametrize("k, df", [(2.0, 7.0), (3.0, 2.0), (3.0, 1e6)])
def test_the_density_of_the_studentized_range(k, df):
    f, q = stats.studentized_range, np.array([1.1, 2.3])
    slope = lambda q: ad.gradient(lambda q: np.sum(f.cdf(q, k, df)), q)[0]  # noqa: E731
    np.testing.assert_allclose(slope(q), f.pdf(q, k, df), rtol=1e-9)
    check_reverse(lambda q: f.pdf(q, k, df), q, rtol=1e-5)
    second = ad.gradient(lambda q: np.sum(slope(q)), q)[0]
    np.testing.assert_allclose(second, ad.gradient(lambda q: f.pdf(q, k, df).sum(), q)[0])


def test_the_shapes_of_the_studentized_range():
    check_reverse(lambda k, df: stats.studentized_range.cdf(2.3, k, df), 3.0, 7.0, rtol=1e-5)


def test_tukeys_test():
    """Of two samples it is Student's, whose statistic is smaller by a root of two."""
    x, y = SAMPLE
    found = ad.gradient(lambda x, y: stats.tukey_hsd(x, y).pvalue[0, 1], x, y)
    wanted = ad.gradient(lambda x, y: stats.ttest_ind(x, y).pvalue, x, y)
    for bar, expected in zip(found, wanted, strict=True):
        np.testing.assert_allclose(bar, expected, rtol=1e-6, atol=1e-9)

    def low(x):
        return stats.tukey_hsd(x, y).confidence_interval().low[0, 1]

    check_reverse(low, x, rtol=1e-6, atol=1e-8)
