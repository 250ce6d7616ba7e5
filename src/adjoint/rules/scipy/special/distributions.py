"""Rules of cumulative distribution functions, their complements and inverses.

The derivative in the variate, or in a scale, is the density; that of an inverse is one over the
density. Derivatives in shapes (degrees of freedom, real counts) follow from those of the incomplete
gamma and beta functions in their parameters.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rulekit.families import elementwise
from adjoint.rules.scipy.special.cumulative_distributions import cumulative
from adjoint.rules.scipy.special.elementary import exprel_slope
from adjoint.rules.scipy.special.incomplete_beta import (
    beta_density,
    beta_factor,
    beta_shape_slope,
    beta_weight,
)
from adjoint.rules.scipy.special.incomplete_gamma import gamma_density, gamma_shape_slope
from adjoint.rules.scipy.special.student import t_density, t_freedom_slope

ROOT_2PI = math.sqrt(2 * math.pi)


# ---- gamma: P(b, ax), χ² and Poisson (8.2.4) -----------------------------------------------------

cumulative(
    lambda a, b, x: x * gamma_density(b, a * x),
    lambda a, b, x: gamma_shape_slope(b, a * x),
    lambda a, b, x: a * gamma_density(b, a * x),
    cdf=sp.gdtr,
    sf=sp.gdtrc,
    ppf={0: sp.gdtria, 1: sp.gdtrib, 2: sp.gdtrix},
)
cumulative(
    lambda v, x: 0.5 * gamma_shape_slope(v / 2, x / 2),
    lambda v, x: 0.5 * gamma_density(v / 2, x / 2),
    cdf=sp.chdtr,
    sf=sp.chdtrc,
    ppf={0: sp.chdtriv},
    isf={1: sp.chdtri},
)


def _of_count(k: Any, slope: Any) -> Any:
    """Return the slope in a count that solves an equation; infinite at 0, where none is solved."""
    return np.where(np.equal(k, 0), np.inf, slope)[()]


# counts are rounded down, so the derivative in them is zero
cumulative(
    None,
    lambda k, m: -gamma_density(np.floor(k) + 1, m),
    cdf=sp.pdtr,
    sf=sp.pdtrc,
    ppf={1: sp.pdtri},
)
cumulative(
    lambda k, m: _of_count(k, -gamma_shape_slope(k + 1, m)),
    lambda k, m: -gamma_density(k + 1, m),
    ppf={0: sp.pdtrik},
)


# ---- beta: binomials, F and Student's t (8.17.4, 8.17.5) -----------------------------------------


def binomial_slope(k: Any, n: Any, p: Any) -> Any:
    """Return ∂/∂p of Σ_{j>k} C(n, j) pʲ (1−p)ⁿ⁻ʲ, which is constant outside 0 ≤ k < n."""
    k, n = np.floor(k), np.trunc(n)
    inside = (k >= 0) & (k < n)
    return np.where(
        inside, beta_density(np.where(inside, k, 0) + 1, np.where(inside, n - k, 1), p), 0
    )[()]


def _binomial_slope_in_count(k: Any, n: Any, p: Any) -> Any:
    """Return ∂/∂k of I(n − k, k + 1) at 1 − p."""
    by_others = -beta_shape_slope(n - k, k + 1, 1 - p, p)
    return _of_count(k, by_others - beta_shape_slope(k + 1, n - k, p, 1 - p))


cumulative(
    None,
    None,
    lambda k, n, p: -binomial_slope(k, n, p),
    cdf=sp.bdtr,
    sf=sp.bdtrc,
    ppf={2: sp.bdtri},
)
cumulative(
    _binomial_slope_in_count,
    lambda k, n, p: beta_shape_slope(n - k, k + 1, 1 - p, p),
    lambda k, n, p: -beta_density(k + 1, n - k, p),
    ppf={0: sp.bdtrik, 1: sp.bdtrin},
)
cumulative(  # at most k failures before the n-th success
    None,
    None,
    lambda k, n, p: beta_density(np.trunc(n), np.trunc(k) + 1, p),
    cdf=sp.nbdtr,
    sf=sp.nbdtrc,
    ppf={2: sp.nbdtri},
)
cumulative(
    lambda k, n, p: _of_count(k, -beta_shape_slope(k + 1, n, 1 - p, p)),
    lambda k, n, p: beta_shape_slope(n, k + 1, p, 1 - p),
    lambda k, n, p: beta_density(n, k + 1, p),
    ppf={0: sp.nbdtrik, 1: sp.nbdtrin},
)


def f_share(m: Any, n: Any, x: Any) -> tuple[Any, Any]:
    """Return the argument m x / (n + m x) of the beta function in F, and its derivative in x."""
    total = n + m * x
    return m * x / total, m * n / (total * total)


def _f_freedom_slope(m: Any, n: Any, x: Any) -> Any:
    """Return ∂F/∂m; ∂F/∂n is −(this) at (n, m, 1/x), where F becomes 1 − F."""
    inside = (np.asarray(x) > 0) & (np.asarray(x) < np.inf)
    t = np.where(inside, x, 1)
    total = n + m * t
    place = m / 2, n / 2, m * t / total, n / total
    slope = beta_factor(*place) * (0.5 * beta_weight(*place) + 1 / m)
    return np.where(inside, slope, 0)[()]


def _f_density(m: Any, n: Any, x: Any) -> Any:
    share, slope = f_share(m, n, x)
    return beta_density(m / 2, n / 2, share) * slope


cumulative(
    lambda m, n, x: _f_freedom_slope(m, n, x),
    lambda m, n, x: -_f_freedom_slope(n, m, 1 / x),
    lambda m, n, x: _f_density(m, n, x),
    cdf=sp.fdtr,
    sf=sp.fdtrc,
    ppf={1: sp.fdtridfd, 2: sp.fdtri},
)
cumulative(
    lambda df, t: t_freedom_slope(df, t),
    lambda df, t: t_density(df, t),
    cdf=sp.stdtr,
    ppf={0: sp.stdtridf, 1: sp.stdtrit},
)


# ---- the normal distribution, solved for its parameters ------------------------------------------


def _quantile_slope(z: Any) -> Any:
    return ROOT_2PI * np.exp(0.5 * z * z)


elementwise(  # x − σ z(p)
    sp.nrdtrimn,
    lambda p, std, x: -std * _quantile_slope(sp.ndtri(p)),
    lambda p, std, x: -sp.ndtri(p),
    1,
    singular=True,
)
elementwise(  # (x − μ) / z(p)
    sp.nrdtrisd,
    lambda mn, p, x: -1 / sp.ndtri(p),
    lambda y, mn, p, x: -y / sp.ndtri(p) * _quantile_slope(sp.ndtri(p)),
    lambda mn, p, x: 1 / sp.ndtri(p),
    singular=True,
)


# ---- Tukey's λ: x = (pᵏ − (1−p)ᵏ)/k --------------------------------------------------------------


def _tukey_slopes(p: Any, x: Any, lmbda: Any) -> tuple[Any, Any]:
    """Return the slopes of the p that solves for x; p is constant outside |x| < 1/λ."""
    inside = (p > 0) & (p < 1) & ~((lmbda > 0) & (np.abs(x) * lmbda > 1))
    p = np.where(inside, p, 0.5)
    left, right = np.log(p), np.log1p(-p)
    width = np.exp((lmbda - 1) * left) + np.exp((lmbda - 1) * right)
    bent = left**2 * exprel_slope(lmbda * left) - right**2 * exprel_slope(lmbda * right)
    return np.where(inside, 1 / width, 0)[()], np.where(inside, -bent / width, 0)[()]


elementwise(
    sp.tklmbda,
    lambda y, x, lmbda: _tukey_slopes(y, x, lmbda)[0],
    lambda y, x, lmbda: _tukey_slopes(y, x, lmbda)[1],
    singular=True,
)


# ---- the statistics of Kolmogorov and Smirnov ----------------------------------------------------


def _kolmogorov_slope(x: Any) -> Any:
    """Return the slope of 2 Σ (−1)ʲ⁻¹ exp(−2j²x²), for small x from its theta transform."""
    small = x < 0.8
    far, near = np.where(small, 1, x), np.where(small & (x > 0), x, 0.1)
    terms = sum((-1) ** j * j * j * np.exp(-2 * j * j * far * far) for j in range(1, 8))
    near_terms: Any = 0.0
    for k in range(1, 6):
        c = (2 * k - 1) ** 2 * math.pi**2 / 8
        near_terms = near_terms + np.exp(-c / near**2) * (1 - 2 * c / near**2)
    slope = np.where(small, ROOT_2PI / near**2 * near_terms, 8 * far * terms)
    return np.where(x > 0, slope, 0)[()]


elementwise(sp.kolmogorov, lambda x: _kolmogorov_slope(x), singular=True)
elementwise(sp.kolmogi, lambda y, p: -1 / np.abs(_kolmogorov_slope(y)), singular=True)


def _smirnov_slope(n: Any, d: Any) -> Any:
    from scipy.stats import ksone  # the density, which SciPy sums in double-double precision

    return -ksone.pdf(d, np.trunc(n))


elementwise(sp.smirnov, None, lambda n, d: _smirnov_slope(n, d), singular=True)
elementwise(sp.smirnovi, None, lambda y, n, p: 1 / _smirnov_slope(n, y), singular=True)
