"""`scipy.stats`: methods of the distributions, in the variable and in the parameters."""

from __future__ import annotations

import operator

import numpy as np
from scipy import stats
from scipy.stats._distr_params import distcont, distdiscrete

from tests.census.entries import Section, via

CONTINUOUS = "pdf logpdf cdf logcdf sf logsf ppf isf entropy"
DISCRETE = "pmf logpmf cdf logcdf sf logsf entropy"
INVERSES = ("ppf", "isf")
COUNTS = "its parameters are counts"
PARAMETERS = {"kappa4": (0.2, 0.1), "skellam": (15.0, 8.0)}
"""Instead of those that SciPy tests: at 0 kappa4 is defined by cases, and rates are real."""
COUNTED = {"irwinhall", "ksone", "kstwo"}
BY_QUADRATURE = "integrates numerically, in compiled code"
TOLERANCES = {"rtol": 1e-5, "atol": 1e-7}


def parameters(table):
    """Regular parameters of each distribution, the first that SciPy's own tests take."""
    found = {}
    for name, shapes in table:
        if isinstance(name, str) and all(np.ndim(shape) == 0 for shape in shapes):
            found.setdefault(name, PARAMETERS.get(name, shapes))
    return found


def distribution(name, shapes, methods):
    """Names and examples of one: at a point inside the support, and in all parameters."""
    frozen = getattr(stats, name)
    discrete = isinstance(frozen, stats.rv_discrete)
    point = float(frozen.ppf(0.37, *shapes))
    for method in methods.split():
        f = getattr(frozen, method)
        first = () if method == "entropy" else ((0.37,) if method in INVERSES else (point,))
        operands = [(x, discrete) for x in first]
        operands += [
            (shape, isinstance(shape, int) and (discrete or name in COUNTED)) for shape in shapes
        ]
        moving = [float(x) for x, is_held in operands if not is_held]
        yield f"{name}.{method}", f, via(of_reals, *moving, call=f, operands=operands, **TOLERANCES)


def of_reals(*moving, call, operands):
    """A function of the operands that are not held."""
    rest = iter(moving)
    return call(*[x if is_held else next(rest) for x, is_held in operands])


def table(distributions, methods):
    """All names, and all examples."""
    lines = [
        line
        for name, shapes in parameters(distributions).items()
        for line in distribution(name, shapes, methods)
    ]
    return {name: f for name, f, _ in lines}, {name: example for name, _, example in lines}


def constants(distributions):
    """Those whose parameters are integers."""
    return " ".join(
        f"{name}.{method}"
        for name, shapes in parameters(distributions).items()
        for method in DISCRETE.split()
        if all(isinstance(shape, int) for shape in shapes)
    )


def methods(name, chosen=CONTINUOUS):
    return " ".join(f"{name}.{method}" for method in chosen.split())


MATRIX = np.array([[2.0, 0.3], [0.3, 1.0]])
X, MEAN = np.array([0.5, -0.7]), np.array([0.1, 0.2])
WEIGHTS, ALPHA = np.array([0.2, 0.5]), np.array([1.5, 2.5, 3.0])


def positive(f):
    """In a matrix that may move freely and stays symmetric."""
    return lambda *args: f(*args[:-1], args[-1] @ args[-1].T)


NORMAL, DIRICHLET = stats.multivariate_normal, stats.dirichlet
MULTIVARIATE = {
    "multivariate_normal.pdf": via(positive(NORMAL.pdf), X, MEAN, MATRIX),
    "multivariate_normal.logpdf": via(positive(NORMAL.logpdf), X, MEAN, MATRIX),
    "multivariate_normal.cdf": via(NORMAL.cdf, X),
    "multivariate_normal.logcdf": via(NORMAL.logcdf, X),
    "multivariate_normal.entropy": via(positive(NORMAL.entropy), MEAN, MATRIX),
    "dirichlet.pdf": via(DIRICHLET.pdf, WEIGHTS, ALPHA),
    "dirichlet.logpdf": via(DIRICHLET.logpdf, WEIGHTS, ALPHA),
    "dirichlet.mean": via(DIRICHLET.mean, ALPHA),
    "dirichlet.var": via(DIRICHLET.var, ALPHA),
    "dirichlet.cov": via(DIRICHLET.cov, ALPHA),
    "dirichlet.entropy": via(DIRICHLET.entropy, ALPHA),
}

SLOW = f"""
    {methods("studentized_range")} {methods("genhyperbolic", "cdf logcdf sf logsf ppf isf entropy")}
    burr.entropy crystalball.entropy kstwo.entropy levy_stable.entropy ncx2.entropy skewnorm.entropy
"""

SELDOM = """
    alpha.cdf alpha.entropy argus.entropy beta.logcdf beta.logsf betaprime.cdf betaprime.logcdf
    betaprime.logsf betaprime.sf chi.logcdf chi.logsf chi2.logcdf chi2.logsf dgamma.logcdf
    dpareto_lognorm.entropy dpareto_lognorm.isf dpareto_lognorm.ppf exponnorm.entropy
    exponpow.entropy f.logcdf f.logsf fatiguelife.entropy foldcauchy.entropy gamma.logsf
    gausshyper.cdf gausshyper.entropy gausshyper.isf gausshyper.logcdf gausshyper.logsf
    gausshyper.ppf gausshyper.sf gengamma.logcdf gengamma.logsf gennorm.logcdf gennorm.logsf
    halfgennorm.logcdf halfgennorm.logsf invgamma.logsf jf_skew_t.logcdf jf_skew_t.logsf
    kappa3.entropy kappa4.entropy ksone.entropy kstwobign.entropy levy.entropy levy_l.entropy
    loggamma.cdf loggamma.isf loggamma.logcdf loggamma.logsf loggamma.ppf loggamma.sf
    nakagami.logcdf ncf.entropy ncf.logcdf ncf.logsf nct.entropy nct.logcdf nct.logsf ncx2.cdf
    ncx2.isf ncx2.logcdf ncx2.logpdf ncx2.logsf ncx2.pdf ncx2.ppf ncx2.sf norminvgauss.isf
    norminvgauss.logcdf norminvgauss.logsf norminvgauss.ppf pearson3.entropy pearson3.logcdf
    pearson3.logsf rdist.entropy rdist.logcdf recipinvgauss.entropy rice.entropy skewcauchy.entropy
    vonmises.logcdf vonmises.logsf vonmises_line.logcdf vonmises_line.logsf
"""

SECTIONS = [
    Section(
        "scipy.stats, continuous distributions",
        *table(distcont, CONTINUOUS),
        constants={COUNTS: "irwinhall.entropy"},
        refused={BY_QUADRATURE: SLOW},
        seldom=SELDOM,
    ),
    Section(
        "scipy.stats, discrete distributions",
        *table(distdiscrete, DISCRETE),
        {COUNTS: constants(distdiscrete)},
        seldom="nchypergeom_fisher.entropy",
    ),
    Section(
        "scipy.stats, several variables",
        {name: operator.attrgetter(name)(stats) for name in MULTIVARIATE},
        MULTIVARIATE,
    ),
]
