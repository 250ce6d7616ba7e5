"""Rules of private ufuncs of `scipy.special`: densities, distribution functions and inverses.

Not every version of SciPy has all of them. As in `distributions`, the derivative of a distribution
function in its variate is the density, and that of an inverse is one over the density. Derivatives
in shapes are refused where they have no closed form.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special as sp
from scipy.special import _ufuncs

from adjoint.rulekit.families import NoDerivative, elementwise
from adjoint.rules.scipy.special.cumulative_distributions import complement, inverse
from adjoint.rules.scipy.special.distributions import binomial_slope
from adjoint.rules.scipy.special.error_functions import normal_density
from adjoint.rules.scipy.special.incomplete_beta import beta_density, beta_shape_slope
from adjoint.rules.scipy.special.noncentral import CHI, FREEDOM, chi_density, f_slopes, moment

TRIALS = NoDerivative("the number of trials", "is a count")
STATISTIC = NoDerivative("the statistic")
SCALE = NoDerivative("the scale", "moves the location too and has no rule")


PARTIALS: dict[str, tuple[Any, ...]] = {}
"""Partial derivatives by name, for ufuncs that other versions have in other modules."""


def private(name: str, *partials: Any) -> None:
    """Register a ufunc as `elementwise` does, if SciPy has one of this name."""
    PARTIALS[name] = partials
    f = getattr(_ufuncs, name, None)
    if f is not None:
        elementwise(f, *partials, singular=True)


def family(name: str, *slopes: Any) -> None:
    """Register a distribution function, its complement and the inverses of both in the variate.
    `slopes` are those of the function. Inverses for counts are constant."""
    private(f"{name}_cdf", *slopes)
    private(f"{name}_sf", *complement(slopes))
    inverses = slopes[0] is not None
    private(f"{name}_ppf", *(inverse(slopes, 0) if inverses else [None] * len(slopes)))
    private(f"{name}_isf", *(inverse(complement(slopes), 0) if inverses else [None] * len(slopes)))


# ---- beta, binomials -----------------------------------------------------------------------------

private(
    "_beta_pdf",
    lambda y, x, a, b: y * ((a - 1) / x - (b - 1) / (1 - x)),
    lambda y, x, a, b: y * (np.log(x) - sp.psi(a) + sp.psi(a + b)),
    lambda y, x, a, b: y * (np.log1p(-x) - sp.psi(b) + sp.psi(a + b)),
)
family(
    "_beta",
    lambda x, a, b: beta_density(a, b, x),
    lambda x, a, b: beta_shape_slope(a, b, x, 1 - x),
    lambda x, a, b: -beta_shape_slope(b, a, 1 - x, x),
)

private("_binom_pmf", None, TRIALS, lambda y, k, n, p: y * (k / p - (n - k) / (1 - p)))
family("_binom", None, TRIALS, lambda k, n, p: -binomial_slope(k, n, p))

private(
    "_nbinom_pmf",
    None,
    lambda y, k, n, p: y * (sp.psi(k + n) - sp.psi(n) + np.log(p)),
    lambda y, k, n, p: y * (n / p - k / (1 - p)),
)
family(
    "_nbinom",
    None,
    lambda k, n, p: beta_shape_slope(n, np.floor(k) + 1, p, 1 - p),
    lambda k, n, p: beta_density(n, np.floor(k) + 1, p),
)


# ---- a location and a scale: Cauchy, Landau, the skew normal distribution ------------------------


def _standard(y: Any, loc: Any, scale: Any) -> Any:
    return (y - loc) / scale


def _cauchy_slope(y: Any, loc: Any, scale: Any) -> Any:
    z = _standard(y, loc, scale)
    return math.pi * scale * (1 + z * z)


private(
    "_cauchy_ppf",
    lambda y, p, loc, scale: _cauchy_slope(y, loc, scale),
    1,
    lambda y, p, loc, scale: _standard(y, loc, scale),
)
private(
    "_cauchy_isf",
    lambda y, p, loc, scale: -_cauchy_slope(y, loc, scale),
    1,
    lambda y, p, loc, scale: _standard(y, loc, scale),
)


def _landau(x: Any, loc: Any, scale: Any) -> Any:
    return _ufuncs._landau_pdf(x, loc, scale)


# the density is an integral whose derivative has no closed form
private("_landau_pdf", STATISTIC, STATISTIC, STATISTIC)
private(
    "_landau_cdf",
    lambda x, loc, scale: _landau(x, loc, scale),
    lambda x, loc, scale: -_landau(x, loc, scale),
    SCALE,
)
private(
    "_landau_sf",
    lambda x, loc, scale: -_landau(x, loc, scale),
    lambda x, loc, scale: _landau(x, loc, scale),
    SCALE,
)
private(
    "_landau_ppf",
    lambda y, p, loc, scale: 1 / _landau(y, loc, scale),
    1,
    SCALE,
)
private(
    "_landau_isf",
    lambda y, p, loc, scale: -1 / _landau(y, loc, scale),
    1,
    SCALE,
)


def _skew(x: Any, loc: Any, scale: Any, a: Any) -> Any:
    """Return 2 φ(z) Φ(a z) / scale."""
    z = _standard(x, loc, scale)
    return 2 * normal_density(z) * sp.ndtr(a * z) / scale


def _skew_in_shape(x: Any, loc: Any, scale: Any, a: Any) -> Any:
    """Return ∂F/∂a of F = Φ(z) − 2 T(z, a), with Owen's T."""
    z, square = _standard(x, loc, scale), 1 + a * a
    return -np.exp(-0.5 * z * z * square) / (math.pi * square)


private(
    "_skewnorm_cdf",
    lambda x, loc, scale, a: _skew(x, loc, scale, a),
    lambda x, loc, scale, a: -_skew(x, loc, scale, a),
    lambda x, loc, scale, a: -_standard(x, loc, scale) * _skew(x, loc, scale, a),
    lambda x, loc, scale, a: _skew_in_shape(x, loc, scale, a),
)
private(
    "_skewnorm_ppf",
    lambda y, p, loc, scale, a: 1 / _skew(y, loc, scale, a),
    1,
    lambda y, p, loc, scale, a: _standard(y, loc, scale),
    lambda y, p, loc, scale, a: -_skew_in_shape(y, loc, scale, a) / _skew(y, loc, scale, a),
)
private(
    "_skewnorm_isf",
    lambda y, p, loc, scale, a: -1 / _skew(y, loc, scale, a),
    1,
    lambda y, p, loc, scale, a: _standard(y, loc, scale),
    lambda y, p, loc, scale, a: -_skew_in_shape(y, loc, scale, a) / _skew(y, loc, scale, a),
)

# ---- the cosine distribution ---------------------------------------------------------------------


def _cosine(x: Any) -> Any:
    return np.where(np.abs(x) < math.pi, 1 + np.cos(x), 0) / (2 * math.pi)


private("_cosine_cdf", lambda x: _cosine(x))
private("_cosine_invcdf", lambda y, p: 1 / _cosine(y))

# ---- the inverse Gaussian distribution -----------------------------------------------------------


def _wald_slopes(x: Any, mu: Any, lam: Any) -> tuple[Any, Any, Any]:
    """Return the slopes of F = Φ(r(x/μ − 1)) + exp(2λ/μ) Φ(−r(x/μ + 1)), r = √(λ/x), in x, μ, λ."""
    root = np.sqrt(lam / x)
    near, far = root * (x / mu - 1), root * (x / mu + 1)
    tail = np.exp(2 * lam / mu + sp.log_ndtr(-far))
    density = root * normal_density(near) / x
    return density, -2 * lam / (mu * mu) * tail, 2 / mu * tail - root * normal_density(near) / lam


def _wald_inverse(name: str, sign: float) -> None:
    private(
        name,
        lambda y, p, mu, lam: sign / _wald_slopes(y, mu, lam)[0],
        lambda y, p, mu, lam: -_wald_slopes(y, mu, lam)[1] / _wald_slopes(y, mu, lam)[0],
        lambda y, p, mu, lam: -_wald_slopes(y, mu, lam)[2] / _wald_slopes(y, mu, lam)[0],
    )


_wald_inverse("_invgauss_ppf", 1.0)
_wald_inverse("_invgauss_isf", -1.0)

# ---- noncentral χ², F and t ----------------------------------------------------------------------

private(
    "_ncx2_pdf",
    lambda y, x, df, nc: y * ((df / 2 - 1) / x - 0.5) + nc / (2 * x) * chi_density(x, df + 2, nc),
    FREEDOM,
    lambda y, x, df, nc: 0.5 * (chi_density(x, df + 2, nc) - y),
)
family("_ncx2", *CHI)


def _f_further(x: Any, m: Any, n: Any, nc: Any) -> Any:
    """Return the density with two more degrees of freedom, at the same share m x / (n + m x)."""
    return f_slopes(m + 2, n, nc, m * x / (m + 2))[0] * m / (m + 2)


def _f_in_variate(y: Any, x: Any, m: Any, n: Any, nc: Any) -> Any:
    """Return the slope in x of f = h(s) s′, with the share s and the mixture h of betas."""
    total = n + m * x
    share, slope = m * x / total, m * n / (total * total)
    inner = ((m / 2 - 1) / share - (n / 2 - 1) * total / n) * slope - 2 * m / total
    return y * inner + nc / 2 * slope / share * _f_further(x, m, n, nc)


private(
    "_ncf_pdf",
    lambda y, x, m, n, nc: _f_in_variate(y, x, m, n, nc),
    FREEDOM,
    FREEDOM,
    lambda y, x, m, n, nc: 0.5 * (_f_further(x, m, n, nc) - y),
)
family(
    "_ncf",
    lambda x, m, n, nc: f_slopes(m, n, nc, x)[0],
    FREEDOM,
    FREEDOM,
    lambda x, m, n, nc: f_slopes(m, n, nc, x)[1],
)
private(
    "_nct_pdf",
    lambda x, df, nc: nc * moment(2, df, nc, x) - x * moment(3, df, nc, x),
    FREEDOM,
    lambda x, df, nc: x * moment(2, df, nc, x) - nc * moment(1, df, nc, x),
)
family(
    "_nct",
    lambda x, df, nc: moment(1, df, nc, x),
    FREEDOM,
    lambda x, df, nc: -moment(0, df, nc, x),
)

# ---- Kolmogorov and Smirnov ----------------------------------------------------------------------


def _kolmogorov_curvature(x: Any) -> Any:
    """Return the second derivative of P(K > x) by its series in exp(−2k²x²). For small x the
    transformed series (Jacobi's) is used."""
    large = x > 0.9
    far, near, k = np.where(large, x, 1.0), np.where(large, 0.5, x), np.arange(1, 12)
    far, near = np.asarray(far)[..., None], np.asarray(near)[..., None]
    terms = (-1.0) ** k * 8 * k**2 * (1 - 4 * k**2 * far**2) * np.exp(-2 * k**2 * far**2)
    c = (2 * k - 1) ** 2 * math.pi**2 / 8
    powers = 2 / near**3 - 10 * c / near**5 + 4 * c**2 / near**7
    others = -math.sqrt(2 * math.pi) * powers * np.exp(-c / near**2)
    return np.where(large, np.sum(terms, -1), np.sum(others, -1))[()]


private("_kolmogp", lambda x: _kolmogorov_curvature(x))
private("_kolmogc", lambda x: -_ufuncs._kolmogp(x))
private("_kolmogci", lambda y, p: -1 / _ufuncs._kolmogp(y))
private("_smirnovp", None, STATISTIC)
private("_smirnovc", None, lambda n, x: -_ufuncs._smirnovp(n, x))
private("_smirnovci", None, lambda y, n, p: -1 / _ufuncs._smirnovp(n, y))

# ---- exponentials and harmonic numbers -----------------------------------------------------------

private("_log1mexp", lambda x: -1 / np.expm1(-x))
private("_scaled_exp1", lambda y, x: y / x + y - 1)


def _log_harmonic(first: Any, last: Any, a: Any) -> Any:
    """Return Σ log(i) i⁻ᵃ from `first` to `last`."""

    def one(first: Any, last: Any, a: Any) -> Any:
        i = np.arange(first, last + 1.0)
        return np.sum(np.log(i) * i**-a)

    return np.vectorize(one, otypes=[float])(first, last, a)[()]


private(
    "_normalized_gen_harmonic",
    None,
    None,
    None,
    lambda y, j, k, n, a: (
        (y * _log_harmonic(1, n, a) - _log_harmonic(j, k, a)) / _ufuncs._gen_harmonic(n, a)
    ),
)
private("_gen_harmonic", None, lambda n, a: -_log_harmonic(1, n, a))
