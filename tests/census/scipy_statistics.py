"""`scipy.stats`: what describes samples, and tests of hypotheses, in the samples."""

from __future__ import annotations

import numpy as np
from scipy import stats

from tests.census.entries import Section, public, via
from tests.rules.harness import reals

A = np.array([0.31, 1.72, 0.93, 2.54, 1.15, 0.66, 1.97, 3.08])
B = np.array([0.52, 1.13, 2.74, 1.85, 0.26, 2.37, 1.48, 2.99])
C = np.array([1.01, 0.44, 2.15, 1.36, 3.27, 0.88, 1.69, 2.4])
LONG = np.concatenate([A, B + 0.05, C - 0.03])
COUNTS = np.array([16.0, 18.0, 16.5, 14.0, 12.0, 12.5])
P = np.array([0.2, 0.5, 0.3])
Q = np.array([0.4, 0.4, 0.2])
TABLE = np.array([[10.0, 10.5, 20.0], [20.0, 20.5, 19.0]])
LOWEST = {"rtol": 1e-3, "atol": 1e-4}
"""Differences of where a minimum is found have few digits."""

TOLERANCES = {"rtol": 1e-5, "atol": 1e-7}


def both(name, *args, **options):
    """The statistic and the p-value."""
    f = getattr(stats, name)

    def found(*args):
        result = f(*args, **options)
        return result.statistic, result.pvalue

    return via(found, *args, **TOLERANCES)


def value(name, *args, **options):
    f = getattr(stats, name)
    return via(lambda *args: f(*args, **options), *args, **TOLERANCES)


EXAMPLES = {
    "alexandergovern": both("alexandergovern", A, B, C),
    "anderson": via(lambda x: stats.anderson(x, method="interpolate").statistic, A, **TOLERANCES),
    "anderson_ksamp": via(lambda *x: stats.anderson_ksamp(x).statistic, A, B, **TOLERANCES),
    "ansari": both("ansari", A, B),
    "bartlett": both("bartlett", A, B, C),
    "bayes_mvs": value("bayes_mvs", A),
    "binned_statistic": via(
        lambda x, v: stats.binned_statistic(x, v, "mean", bins=3).statistic, A, B, **TOLERANCES
    ),
    "binned_statistic_2d": via(
        lambda v: stats.binned_statistic_2d(A, B, v, "sum", bins=2).statistic, C, **TOLERANCES
    ),
    "binned_statistic_dd": via(
        lambda v: stats.binned_statistic_dd([A, B], v, "std", bins=2).statistic, C, **TOLERANCES
    ),
    "boxcox": via(lambda x, l: stats.boxcox(x, l), A, 0.7, **TOLERANCES),
    "boxcox_llf": value("boxcox_llf", 0.7, A),
    "boxcox_normmax": via(stats.boxcox_normmax, A[:5], **LOWEST),
    "brunnermunzel": both("brunnermunzel", A, B),
    "bws_test": both("bws_test", A[:5], B[:4]),
    "chatterjeexi": both("chatterjeexi", A, B),
    "chi2_contingency": both("chi2_contingency", TABLE),
    "chisquare": both("chisquare", COUNTS),
    "circmean": value("circmean", A),
    "circstd": value("circstd", A),
    "circvar": value("circvar", A),
    "combine_pvalues": both("combine_pvalues", P),
    "cramervonmises": via(lambda x: stats.cramervonmises(x, "norm").statistic, A, **TOLERANCES),
    "cramervonmises_2samp": both("cramervonmises_2samp", A, B),
    "cumfreq": via(lambda x: stats.cumfreq(x, 4).cumcount, A, **TOLERANCES),
    "describe": value("describe", A),
    "differential_entropy": value("differential_entropy", A),
    "directional_stats": via(
        lambda x: stats.directional_stats(x).mean_direction, reals(4, 3), **TOLERANCES
    ),
    "dunnett": via(lambda *x: stats.dunnett(*x[:-1], control=x[-1]).statistic, A, B, C),
    "ecdf": via(lambda x: stats.ecdf(x).cdf.quantiles, A),
    "energy_distance": value("energy_distance", A, B),
    "entropy": value("entropy", P, Q),
    "epps_singleton_2samp": both("epps_singleton_2samp", A, B),
    "expectile": value("expectile", A, 0.3),
    "f_oneway": both("f_oneway", A, B, C),
    "false_discovery_control": value("false_discovery_control", P),
    "fligner": both("fligner", A, B, C, center="mean"),
    "friedmanchisquare": both("friedmanchisquare", A, B, C),
    "gaussian_kde": via(lambda x, t: stats.gaussian_kde(x)(t), A, np.array([0.7, 1.9])),
    "gmean": value("gmean", A),
    "gstd": value("gstd", A),
    "gzscore": value("gzscore", A),
    "hmean": value("hmean", A),
    "iqr": value("iqr", A),
    "jarque_bera": both("jarque_bera", A),
    "kendalltau": both("kendalltau", A, B),
    "kruskal": both("kruskal", A, B, C),
    "ks_1samp": via(lambda x: stats.ks_1samp(x, stats.norm.cdf).statistic, A, **TOLERANCES),
    "ks_2samp": both("ks_2samp", A, B),
    "kstat": value("kstat", A, n=3),
    "kstatvar": value("kstatvar", A),
    "kstest": via(lambda x: stats.kstest(x, "norm").statistic, A, **TOLERANCES),
    "kurtosis": value("kurtosis", A),
    "kurtosistest": both("kurtosistest", LONG),
    "levene": both("levene", A, B, C),
    "linregress": via(lambda x, y: tuple(stats.linregress(x, y)), A, B, **TOLERANCES),
    "lmoment": value("lmoment", A),
    "mannwhitneyu": both("mannwhitneyu", A, B),
    "median_abs_deviation": value("median_abs_deviation", A),
    "median_test": via(lambda *x: stats.median_test(*x).median, A, B),
    "mode": via(lambda x: stats.mode(x).mode, A),
    "moment": value("moment", A, order=3),
    "mood": both("mood", A, B),
    "mvsdist": via(lambda x: stats.mvsdist(x)[0].mean(), A),
    "normaltest": both("normaltest", LONG),
    "obrientransform": value("obrientransform", A, B),
    "pearsonr": both("pearsonr", A, B),
    "percentileofscore": value("percentileofscore", A, 1.4),
    "pmean": value("pmean", A, 1.7),
    "pointbiserialr": via(
        lambda y: tuple(stats.pointbiserialr(np.array([0, 0, 1, 0, 1, 1, 0, 1]), y)), A
    ),
    "poisson_means_test": via(
        lambda m, n: stats.poisson_means_test(3, m, 5, n).statistic, 8.3, 9.1
    ),
    "power_divergence": both("power_divergence", COUNTS, lambda_=2 / 3),
    "ppcc_max": via(stats.ppcc_max, A[:4], **LOWEST),
    "probplot": via(lambda x: stats.probplot(x)[1], A, **TOLERANCES),
    "quantile": value("quantile", A, np.array([0.21, 0.63])),
    "quantile_test": via(lambda x: stats.quantile_test(x, q=1.4).pvalue, A),
    "rankdata": value("rankdata", A),
    "ranksums": both("ranksums", A, B),
    "relfreq": via(lambda x: stats.relfreq(x, 4).frequency, A),
    "scoreatpercentile": value("scoreatpercentile", A, 37.0),
    "sem": value("sem", A),
    "sigmaclip": via(lambda x: stats.sigmaclip(x, 1.5, 1.5).clipped, A),
    "skew": value("skew", A),
    "skewtest": both("skewtest", LONG),
    "somersd": both("somersd", A, B),
    "spearmanr": both("spearmanr", A, B),
    "theilslopes": via(lambda y, x: tuple(stats.theilslopes(y, x)), A, np.sort(B)),
    "tiecorrect": value("tiecorrect", A),
    "tmax": value("tmax", A, 2.9),
    "tmean": value("tmean", A, (0.4, 2.9)),
    "tmin": value("tmin", A, 0.4),
    "trim1": value("trim1", A, 0.2),
    "trim_mean": value("trim_mean", A, 0.2),
    "trimboth": value("trimboth", A, 0.2),
    "tsem": value("tsem", A, (0.4, 2.9)),
    "tstd": value("tstd", A, (0.4, 2.9)),
    "ttest_1samp": both("ttest_1samp", A, 1.2),
    "ttest_ind": both("ttest_ind", A, B),
    "ttest_ind_from_stats": via(
        lambda m, s, n, t: tuple(stats.ttest_ind_from_stats(m, s, 8, n, t, 9)), 1.1, 0.7, 1.5, 0.9
    ),
    "ttest_rel": both("ttest_rel", A, B),
    "tukey_hsd": via(lambda *x: stats.tukey_hsd(*x).statistic, A, B, C),
    "tvar": value("tvar", A, (0.4, 2.9)),
    "variation": value("variation", A),
    "wasserstein_distance": value("wasserstein_distance", A, B),
    "wasserstein_distance_nd": value("wasserstein_distance_nd", reals(3, 2), reals(3, 2) + 0.3),
    "weightedtau": both("weightedtau", A, B),
    "wilcoxon": both("wilcoxon", A, B),
    "yeojohnson": via(lambda x, l: stats.yeojohnson(x, l), A, 0.7),
    "yeojohnson_llf": value("yeojohnson_llf", 0.7, A),
    "yeojohnson_normmax": via(stats.yeojohnson_normmax, A[:4], **LOWEST),
    "zmap": value("zmap", A, B),
    "zscore": value("zscore", A),
}  # fmt: skip


MADE = """
    Binomial BootstrapMethod CensoredData Covariance Logistic Mixture MonteCarloMethod Normal
    PermutationMethod Uniform make_distribution order_statistic truncate rv_continuous rv_discrete
    rv_histogram abs exp log power estimated_cdf spearmanrho fit goodness_of_fit
"""
"""Distributions and methods as objects, what works on those, and what not all versions have."""

PLOTS = "boxcox_normplot ppcc_plot yeojohnson_normplot"
COUNTED = """
    barnard_exact binomtest boschloo_exact fisher_exact logrank page_trend_test random_table
    multivariate_hypergeom multinomial dirichlet_multinomial
"""
IN_C = "shapiro siegelslopes"
"""Until SciPy 1.18."""

RESAMPLED = "bootstrap monte_carlo_test multiscale_graphcorr permutation_test sobol_indices"


def samples():
    """Functions of `scipy.stats` of samples: no distributions."""
    found = public(stats, leaving_out=f"{MADE} {PLOTS} {COUNTED} {RESAMPLED} {IN_C}")
    return {name: f for name, f in found.items() if not hasattr(f, "rvs")}


SELDOM = "alexandergovern boxcox_normmax dunnett ppcc_max tukey_hsd yeojohnson_normmax"

SECTIONS = [Section("scipy.stats, samples", samples(), EXAMPLES, seldom=SELDOM)]
