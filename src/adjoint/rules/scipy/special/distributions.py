"""Rules of cumulative distribution functions, their complements and inverses.

The derivative of each in its variate, and in a scale, is the density; that of an inverse one over
the density. Those in shapes (degrees of freedom, counts that are real) follow from the derivatives
of the incomplete gamma and beta functions in their parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rules.families import NoDerivative, elementwise
from adjoint.rules.scipy.special.elementary import exprel_slope
from adjoint.rules.scipy.special.incomplete_beta import (
    beta_density,
    beta_factor,
    beta_shape_slope,
    beta_shift,
    beta_weight,
)
from adjoint.rules.scipy.special.incomplete_gamma import (
    gamma_density,
    gamma_shape_slope,
    gamma_shift,
)
from adjoint.rules.scipy.special.student import t_density, t_freedom_slope, t_shift

__all__ = ["FREEDOM", "binomial_slope", "f_share", "inverse_of_shape"]

FREEDOM = NoDerivative("the degrees of freedom")
ROOT_2PI = math.sqrt(2 * math.pi)


def inverse_of_shape(f: Any, n: int) -> None:
    """A function that solves for a shape in which there is no derivative."""
    elementwise(f, *[NoDerivative("any argument", FREEDOM.why)] * n)


def _solved(f: Any, place: int, slopes: Callable[..., tuple[Any, ...]]) -> None:
    """A function that solves F(…) = p for the operand at whose place p stands; the slopes are those
    of F. At 0 the search for it has ended without a solution."""

    def partial(i: int, y: Any, *operands: Any) -> Any:
        found = slopes(*operands[:place], y, *operands[place + 1 :])
        slope = 1 / found[place] if i == place else -found[i] / found[place]
        return np.where(np.equal(y, 0), 0, slope)[()]

    def of_two(i: int) -> Callable[..., Any]:
        return lambda y, a, b: partial(i, y, a, b)

    def of_three(i: int) -> Callable[..., Any]:
        return lambda y, a, b, c: partial(i, y, a, b, c)

    of = of_two if f.nin == 2 else of_three
    elementwise(f, *map(of, range(f.nin)), singular=True)


# ---- gamma: P(b, ax), χ² and Poisson (8.2.4) -----------------------------------------------------


def _gamma_slopes(a: Any, b: Any, x: Any) -> tuple[Any, Any, Any]:
    density = gamma_density(b, a * x)
    return x * density, gamma_shape_slope(b, a * x), a * density


elementwise(
    sp.gdtr,
    lambda a, b, x: x * gamma_density(b, a * x),
    lambda a, b, x: gamma_shape_slope(b, a * x),
    lambda a, b, x: a * gamma_density(b, a * x),
    singular=True,
)
elementwise(
    sp.gdtrc,
    lambda a, b, x: -x * gamma_density(b, a * x),
    lambda a, b, x: -gamma_shape_slope(b, a * x),
    lambda a, b, x: -a * gamma_density(b, a * x),
    singular=True,
)
elementwise(
    sp.gdtrix,
    lambda y, a, b, p: -y / a,
    lambda y, a, b, p: gamma_shift(b, a * y) / a,
    lambda y, a, b, p: 1 / (a * gamma_density(b, a * y)),
    singular=True,
)
elementwise(
    sp.gdtria,
    lambda y, p, b, x: 1 / (x * gamma_density(b, y * x)),
    lambda y, p, b, x: gamma_shift(b, y * x) / x,
    lambda y, p, b, x: -y / x,
    singular=True,
)
_solved(sp.gdtrib, 1, _gamma_slopes)

elementwise(
    sp.chdtr,
    lambda v, x: 0.5 * gamma_shape_slope(v / 2, x / 2),
    lambda v, x: 0.5 * gamma_density(v / 2, x / 2),
    singular=True,
)
elementwise(
    sp.chdtrc,
    lambda v, x: -0.5 * gamma_shape_slope(v / 2, x / 2),
    lambda v, x: -0.5 * gamma_density(v / 2, x / 2),
    singular=True,
)
elementwise(
    sp.chdtri,
    lambda y, v, p: gamma_shift(v / 2, y / 2),
    lambda y, v, p: -2 / gamma_density(v / 2, y / 2),
    singular=True,
)
_solved(
    sp.chdtriv,
    0,
    lambda v, x: (0.5 * gamma_shape_slope(v / 2, x / 2), 0.5 * gamma_density(v / 2, x / 2)),
)

# counts are rounded down, so that they have no part in the derivative
elementwise(sp.pdtr, None, lambda k, m: -gamma_density(np.floor(k) + 1, m), singular=True)
elementwise(sp.pdtrc, None, lambda k, m: gamma_density(np.floor(k) + 1, m), singular=True)
elementwise(sp.pdtri, None, lambda y, k, p: -1 / gamma_density(np.trunc(k) + 1, y), singular=True)
_solved(sp.pdtrik, 0, lambda k, m: (-gamma_shape_slope(k + 1, m), -gamma_density(k + 1, m)))


# ---- beta: binomials, F and Student's t (8.17.4, 8.17.5) -----------------------------------------


def binomial_slope(k: Any, n: Any, p: Any) -> Any:
    """∂/∂p of Σ_{j>k} C(n, j) pʲ (1−p)ⁿ⁻ʲ, which is constant outside 0 ≤ k < n."""
    k, n = np.floor(k), np.trunc(n)
    inside = (k >= 0) & (k < n)
    return np.where(
        inside, beta_density(np.where(inside, k, 0) + 1, np.where(inside, n - k, 1), p), 0
    )[()]


def _beta_slopes(a: Any, b: Any, x: Any, rest: Any) -> tuple[Any, Any, Any]:
    by_shapes = beta_shape_slope(a, b, x, rest), -beta_shape_slope(b, a, rest, x)
    return *by_shapes, beta_factor(a, b, x, rest) / (x * rest)


def _binomial_slopes(k: Any, n: Any, p: Any) -> tuple[Any, Any, Any]:
    """Of I(n − k, k + 1) at 1 − p."""
    by_a, by_b, density = _beta_slopes(n - k, k + 1, 1 - p, p)
    return by_b - by_a, by_a, -density


elementwise(sp.bdtr, None, None, lambda k, n, p: -binomial_slope(k, n, p), singular=True)
elementwise(sp.bdtrc, None, None, lambda k, n, p: binomial_slope(k, n, p), singular=True)
elementwise(sp.bdtri, None, None, lambda y, k, n, p: -1 / binomial_slope(k, n, y), singular=True)
_solved(sp.bdtrik, 0, _binomial_slopes)
_solved(sp.bdtrin, 1, _binomial_slopes)


def _negative_slope(k: Any, n: Any, p: Any) -> Any:
    """∂/∂p of the probability of at most k failures before the n-th success."""
    return beta_density(np.trunc(n), np.trunc(k) + 1, p)


def _negative_slopes(k: Any, n: Any, p: Any) -> tuple[Any, Any, Any]:
    by_n, by_k, density = _beta_slopes(n, k + 1, p, 1 - p)
    return by_k, by_n, density


elementwise(sp.nbdtr, None, None, lambda k, n, p: _negative_slope(k, n, p), singular=True)
elementwise(sp.nbdtrc, None, None, lambda k, n, p: -_negative_slope(k, n, p), singular=True)
elementwise(sp.nbdtri, None, None, lambda y, k, n, p: 1 / _negative_slope(k, n, y), singular=True)
_solved(sp.nbdtrik, 0, _negative_slopes)
_solved(sp.nbdtrin, 1, _negative_slopes)
_solved(sp.btdtria, 0, lambda a, b, x: _beta_slopes(a, b, x, 1 - x))
_solved(sp.btdtrib, 1, lambda a, b, x: _beta_slopes(a, b, x, 1 - x))
if hasattr(sp, "btdtr"):
    elementwise(
        sp.btdtr,
        lambda a, b, x: beta_shape_slope(a, b, x, 1 - x),
        lambda a, b, x: -beta_shape_slope(b, a, 1 - x, x),
        lambda a, b, x: beta_density(a, b, x),
        singular=True,
    )
    elementwise(
        sp.btdtri,
        lambda y, a, b, p: beta_shift(a, b, y, 1 - y),
        lambda y, a, b, p: -beta_shift(b, a, 1 - y, y),
        lambda y, a, b, p: 1 / beta_density(a, b, y),
        singular=True,
    )


def f_share(m: Any, n: Any, x: Any) -> tuple[Any, Any]:
    """The argument m x / (n + m x) of the beta function that F is, and its derivative in x."""
    total = n + m * x
    return m * x / total, m * n / (total * total)


def _f_weight(m: Any, n: Any, x: Any) -> Any:
    """∂F/∂m over x times the density; ∂F/∂n is −(this) of (n, m, 1/x)."""
    total = n + m * x
    return 0.5 * beta_weight(m / 2, n / 2, m * x / total, n / total) + 1 / m


def _f_slopes(m: Any, n: Any, x: Any) -> tuple[Any, Any, Any]:
    inside = (np.asarray(x) > 0) & (np.asarray(x) < np.inf)
    t = np.where(inside, x, 1)
    total = n + m * t
    factor = np.where(inside, beta_factor(m / 2, n / 2, m * t / total, n / total), 0)
    return factor * _f_weight(m, n, t), -factor * _f_weight(n, m, 1 / t), factor / t


def _f_density(m: Any, n: Any, x: Any) -> Any:
    share, slope = f_share(m, n, x)
    return beta_density(m / 2, n / 2, share) * slope


elementwise(
    sp.fdtr,
    lambda m, n, x: _f_slopes(m, n, x)[0][()],
    lambda m, n, x: _f_slopes(m, n, x)[1][()],
    lambda m, n, x: _f_density(m, n, x),
    singular=True,
)
elementwise(
    sp.fdtrc,
    lambda m, n, x: -_f_slopes(m, n, x)[0][()],
    lambda m, n, x: -_f_slopes(m, n, x)[1][()],
    lambda m, n, x: -_f_density(m, n, x),
    singular=True,
)
elementwise(
    sp.fdtri,
    lambda y, m, n, p: -y * _f_weight(m, n, y),
    lambda y, m, n, p: y * _f_weight(n, m, 1 / y),
    lambda y, m, n, p: 1 / _f_density(m, n, y),
    singular=True,
)
_solved(sp.fdtridfd, 1, _f_slopes)

elementwise(
    sp.stdtr,
    lambda df, t: t_freedom_slope(df, t),
    lambda df, t: t_density(df, t),
    singular=True,
)
elementwise(
    sp.stdtrit,
    lambda y, df, p: t_shift(df, y),
    lambda y, df, p: 1 / t_density(df, y),
    singular=True,
)
_solved(sp.stdtridf, 0, lambda df, t: (t_freedom_slope(df, t), t_density(df, t)))


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
