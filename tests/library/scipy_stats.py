"""Distributions, tests and summaries of `scipy.stats`: decorators for NaN and axes, array
namespaces, argument parsers that are written at run time."""

import numpy as np
import scipy.stats as st

from tests.library.registry import case, reals

X = reals(6, low=0.5, high=2.0)
Y = X[::-1] ** 2 + np.arange(6)
UNIT = reals(6, low=0.1, high=0.9, seed=1)

for name, *parameters in (
    ("norm", 0.1, 1.2), ("gamma", 2.3, 0.1, 1.4), ("t", 4.2, 0.1, 1.3), ("expon", 0.1, 1.3),
    ("lognorm", 0.7, 0.0, 1.3), ("weibull_min", 1.7, 0.0, 1.2), ("cauchy", 0.1, 1.2),
    ("chi2", 3.2), ("f", 3.2, 4.1), ("invgamma", 2.3), ("skewnorm", 1.1, 0.1, 1.2),
    ("gumbel_r", 0.1, 1.2), ("genextreme", 0.1, 0.1, 1.2), ("vonmises", 1.3, 0.1),
):  # fmt: skip
    case(f"scipy.stats.{name}.logpdf", X, *parameters)
for name, *parameters in (
    ("norm", 0.1, 1.2), ("logistic", 0.1, 1.2), ("laplace", 0.3, 1.2), ("pareto", 2.3, -0.9, 1.0),
    ("rayleigh", 0.0, 1.2), ("johnsonsu", 0.3, 1.2, 0.1, 1.1), ("exponnorm", 1.2, 0.1, 1.1),
):  # fmt: skip
    case(f"scipy.stats.{name}.cdf", X, *parameters)
case("scipy.stats.beta.logpdf", UNIT, 2.1, 3.2)
case("scipy.stats.genpareto.sf", X, 0.1, 0.0, 1.2)
case("scipy.stats.norm.ppf", UNIT, 0.1, 1.2)
case("scipy.stats.triang.mean", 0.4, 0.0, 3.0)
case("scipy.stats.gompertz.pdf", X, 0.8)
case("scipy.stats.norm", X, 0.1, 1.2, call=lambda x, *args: st.norm(*args).logpdf(x))
case("scipy.stats.norm.nnlf", np.array([0.3, 1.2]), call=lambda theta: st.norm.nnlf(theta, X))
case("scipy.stats.poisson.logpmf", 2.3, call=lambda mu: st.poisson.logpmf(np.arange(4), mu))
case(
    "scipy.stats.dirichlet.logpdf",
    np.array([1.5, 2.0, 3.0]),
    call=lambda a: st.dirichlet.logpdf(np.array([0.2, 0.3, 0.5]), a),
)

for name in (
    "gmean", "hmean", "zscore", "skew", "kurtosis", "sem", "variation", "gstd", "entropy", "tmean",
    "tvar", "circmean", "circvar", "median_abs_deviation", "differential_entropy", "kstat",
):  # fmt: skip
    case(f"scipy.stats.{name}", X)
case("scipy.stats.moment", X, order=3)
case("scipy.stats.trim_mean", X, proportiontocut=0.2)
case("scipy.stats.pmean", X, p=1.5)
case("scipy.stats.boxcox_llf", 0.4, X)
case("scipy.stats.energy_distance", X, Y)
case("scipy.stats.wasserstein_distance", X, Y)


def _regression(x, y):
    result = st.linregress(x, y)
    return result.slope, result.intercept, result.rvalue, result.stderr


def _description(x):
    result = st.describe(x)
    return result.mean, result.variance, result.skewness, result.kurtosis, result.minmax


case("scipy.stats.linregress", X, Y, call=_regression)
case("scipy.stats.describe", X, call=_description)
case("scipy.stats.jarque_bera", X, call=lambda x: tuple(st.jarque_bera(x)))
case("scipy.stats.theilslopes", X, Y, call=lambda x, y: st.theilslopes(y, x).slope)
for name in ("pearsonr", "ttest_ind", "ttest_rel", "f_oneway", "bartlett"):
    case(f"scipy.stats.{name}", X, Y, call=lambda x, y, f=getattr(st, name): f(x, y).statistic)
for name in ("statistic", "pvalue"):
    case("scipy.stats.kstest", X, call=lambda x, n=name: getattr(st.kstest(x, "norm"), n))
case("scipy.stats.kstwo.sf", 0.3, 5)
case("scipy.stats.kstwo.ppf", 0.4, 5)
case("scipy.stats.kstwobign.isf", 0.4)

SAMPLE, PLACES = reals(6, seed=3), reals(3, seed=4)
SAMPLES, MANY_PLACES = reals(2, 8, seed=5), reals(2, 3, seed=6)
for name in ("evaluate", "logpdf"):
    for sample, places in ((SAMPLE, PLACES), (SAMPLES, MANY_PLACES)):
        case(
            f"scipy.stats.gaussian_kde.{name}",
            sample,
            places,
            call=lambda x, t, n=name: getattr(st.gaussian_kde(x), n)(t),
        )
case(
    "scipy.stats.gaussian_kde",
    SAMPLE,
    X,
    0.4,
    PLACES,
    call=lambda x, weights, width, t: st.gaussian_kde(x, width, weights)(t),
)
case(
    "scipy.stats.gaussian_kde.integrate_box_1d",
    SAMPLE,
    -0.3,
    0.7,
    call=lambda x, low, high: st.gaussian_kde(x).integrate_box_1d(low, high),
)
case(
    "scipy.stats.gaussian_kde.integrate_box",
    SAMPLES,
    call=lambda x: st.gaussian_kde(x).integrate_box([-1.0, -0.7], [0.5, np.inf]),
)
case("scipy.stats.tukey_hsd", X, Y, SAMPLE, call=lambda *x: st.tukey_hsd(*x).statistic)
