"""Rules of cumulative distribution functions, their complements and inverses.

The derivative of each in its variate, and in a scale, is the density; that of an inverse one over
the density. Shapes (degrees of freedom, counts that are real) have no derivative in closed form.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rules.families import NoDerivative, elementwise
from adjoint.rules.scipy.special.elementary import exprel_slope
from adjoint.rules.scipy.special.incomplete import beta_density, gamma_density

__all__ = ["FREEDOM", "SHAPE", "TRIALS", "binomial_slope", "f_share", "inverse_of_shape"]

SHAPE = NoDerivative("the shape parameter")
FREEDOM = NoDerivative("the degrees of freedom")
TRIALS = NoDerivative("the number of trials")
ROOT_2PI = math.sqrt(2 * math.pi)


def inverse_of_shape(f: Any, n: int, what: NoDerivative = SHAPE) -> None:
    """A function that solves for a shape: none of its derivatives has a closed form."""
    elementwise(f, *[NoDerivative("any argument", what.why)] * n)


# ---- gamma: γ(b, ax), χ² and Poisson (8.2.4) -----------------------------------------------------

elementwise(
    sp.gdtr,
    lambda a, b, x: x * gamma_density(b, a * x),
    SHAPE,
    lambda a, b, x: a * gamma_density(b, a * x),
    singular=True,
)
elementwise(
    sp.gdtrc,
    lambda a, b, x: -x * gamma_density(b, a * x),
    SHAPE,
    lambda a, b, x: -a * gamma_density(b, a * x),
    singular=True,
)
elementwise(
    sp.gdtrix,
    lambda y, a, b, p: -y / a,
    SHAPE,
    lambda y, a, b, p: 1 / (a * gamma_density(b, a * y)),
    singular=True,
)
elementwise(
    sp.gdtria,
    lambda y, p, b, x: 1 / (x * gamma_density(b, y * x)),
    SHAPE,
    lambda y, p, b, x: -y / x,
    singular=True,
)
inverse_of_shape(sp.gdtrib, 3)

elementwise(sp.chdtr, FREEDOM, lambda v, x: 0.5 * gamma_density(v / 2, x / 2), singular=True)
elementwise(sp.chdtrc, FREEDOM, lambda v, x: -0.5 * gamma_density(v / 2, x / 2), singular=True)
elementwise(sp.chdtri, FREEDOM, lambda y, v, p: -2 / gamma_density(v / 2, y / 2), singular=True)
inverse_of_shape(sp.chdtriv, 2, FREEDOM)

# counts are rounded down, so that they have no part in the derivative
elementwise(sp.pdtr, None, lambda k, m: -gamma_density(np.floor(k) + 1, m), singular=True)
elementwise(sp.pdtrc, None, lambda k, m: gamma_density(np.floor(k) + 1, m), singular=True)
elementwise(sp.pdtri, None, lambda y, k, p: -1 / gamma_density(np.trunc(k) + 1, y), singular=True)
inverse_of_shape(sp.pdtrik, 2)


# ---- beta: binomials, F and Student's t (8.17.4, 8.17.5) -----------------------------------------


def binomial_slope(k: Any, n: Any, p: Any) -> Any:
    """∂/∂p of Σ_{j>k} C(n, j) pʲ (1−p)ⁿ⁻ʲ, which is constant outside 0 ≤ k < n."""
    k, n = np.floor(k), np.trunc(n)
    inside = (k >= 0) & (k < n)
    return np.where(
        inside, beta_density(np.where(inside, k, 0) + 1, np.where(inside, n - k, 1), p), 0
    )[()]


elementwise(sp.bdtr, None, None, lambda k, n, p: -binomial_slope(k, n, p), singular=True)
elementwise(sp.bdtrc, None, None, lambda k, n, p: binomial_slope(k, n, p), singular=True)
elementwise(sp.bdtri, None, None, lambda y, k, n, p: -1 / binomial_slope(k, n, y), singular=True)
inverse_of_shape(sp.bdtrik, 3)
inverse_of_shape(sp.bdtrin, 3)


def _negative_slope(k: Any, n: Any, p: Any) -> Any:
    """∂/∂p of the probability of at most k failures before the n-th success."""
    return beta_density(np.trunc(n), np.trunc(k) + 1, p)


elementwise(sp.nbdtr, None, None, lambda k, n, p: _negative_slope(k, n, p), singular=True)
elementwise(sp.nbdtrc, None, None, lambda k, n, p: -_negative_slope(k, n, p), singular=True)
elementwise(sp.nbdtri, None, None, lambda y, k, n, p: 1 / _negative_slope(k, n, y), singular=True)
inverse_of_shape(sp.nbdtrik, 3)
inverse_of_shape(sp.nbdtrin, 3)
inverse_of_shape(sp.btdtria, 3)
inverse_of_shape(sp.btdtrib, 3)
if hasattr(sp, "btdtr"):
    elementwise(sp.btdtr, SHAPE, SHAPE, lambda a, b, x: beta_density(a, b, x), singular=True)
    elementwise(
        sp.btdtri, SHAPE, SHAPE, lambda y, a, b, p: 1 / beta_density(a, b, y), singular=True
    )


def f_share(m: Any, n: Any, x: Any) -> tuple[Any, Any]:
    """The argument m x / (n + m x) of the beta function that F is, and its derivative in x."""
    total = n + m * x
    return m * x / total, m * n / (total * total)


def _f_density(m: Any, n: Any, x: Any) -> Any:
    share, slope = f_share(m, n, x)
    return beta_density(m / 2, n / 2, share) * slope


elementwise(sp.fdtr, FREEDOM, FREEDOM, lambda m, n, x: _f_density(m, n, x), singular=True)
elementwise(sp.fdtrc, FREEDOM, FREEDOM, lambda m, n, x: -_f_density(m, n, x), singular=True)
elementwise(sp.fdtri, FREEDOM, FREEDOM, lambda y, m, n, p: 1 / _f_density(m, n, y), singular=True)
inverse_of_shape(sp.fdtridfd, 3, FREEDOM)


def _t_density(df: Any, t: Any) -> Any:
    """At infinite degrees of freedom the normal one."""
    normal = np.isinf(df)
    v = np.where(normal, 1, df)
    log = -0.5 * (v + 1) * np.log1p(t * t / v) - 0.5 * np.log(v) - sp.betaln(0.5, v / 2)
    return np.exp(np.where(normal, -0.5 * t * t - math.log(ROOT_2PI), log))[()]


elementwise(sp.stdtr, FREEDOM, lambda df, t: _t_density(df, t), singular=True)
elementwise(sp.stdtrit, FREEDOM, lambda y, df, p: 1 / _t_density(df, y), singular=True)
inverse_of_shape(sp.stdtridf, 2, FREEDOM)


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
    """Of the function that solves for p; it is constant outside |x| < 1/λ."""
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
    """Of 2 Σ (−1)ʲ⁻¹ exp(−2j²x²), for small x of its theta transform."""
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
