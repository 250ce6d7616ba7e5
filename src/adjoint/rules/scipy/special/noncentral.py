"""Rules of the noncentral χ², F and t distributions and their inverses.

The derivatives in the variate and in the noncentrality are densities; those in the degrees of
freedom have no closed form.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rulekit.families import NoDerivative
from adjoint.rules.scipy.special.cumulative_distributions import cumulative
from adjoint.rules.scipy.special.distributions import f_share
from adjoint.rules.scipy.special.incomplete_gamma import gamma_density

FREEDOM = NoDerivative("the degrees of freedom")


# ---- χ²: ∂F/∂x = f, ∂F/∂λ = −f with two degrees of freedom more ----------------------------------


def chi_density(x: Any, df: Any, nc: Any) -> Any:
    """Return exp(−(x+λ)/2) (x/λ)^(ν/2) I_ν(√(λx)) / 2, ν = k/2 − 1; small λx by ₀F₁ (10.39.9)."""
    order, product = df / 2 - 1, nc * x
    near = product < 1
    far = np.where(near, 1, product)
    ratio = np.where(near, 1, x / np.where(near, 1, nc))
    root = np.sqrt(far)
    apart = np.sqrt(x) - np.sqrt(nc)
    by_bessel = 0.5 * np.exp(-0.5 * apart * apart) * ratio ** (order / 2) * sp.ive(order, root)
    small = np.where(near, product, 0)
    by_series = 0.5 * np.exp(-nc / 2) * gamma_density(df / 2, x / 2) * sp.hyp0f1(df / 2, small / 4)
    return np.where(near, by_series, by_bessel)[()]


CHI: tuple[Any, ...] = (
    lambda x, df, nc: chi_density(x, df, nc),
    FREEDOM,
    lambda x, df, nc: -chi_density(x, df + 2, nc),
)
cumulative(*CHI, cdf=sp.chndtr, ppf={0: sp.chndtrix, 1: sp.chndtridf, 2: sp.chndtrinc})


# ---- F: a mixture of beta distributions by Poisson's, summed by ₁F₁ (13.2.2) ---------------------


def f_slopes(m: Any, n: Any, nc: Any, x: Any) -> tuple[Any, Any]:
    """Return the slopes in the variate and in the noncentrality."""
    a, b = m / 2, n / 2
    share, slope = f_share(m, n, x)
    log = sp.xlogy(a - 1, share) + sp.xlog1py(b - 1, -share) - sp.betaln(a, b) - nc / 2
    common, z = np.exp(log), nc / 2 * share
    by_x = common * sp.hyp1f1(a + b, a, z) * slope
    by_nc = -0.5 * common * share * (1 - share) / a * sp.hyp1f1(a + b, a + 1, z)
    return by_x, by_nc


cumulative(
    FREEDOM,
    FREEDOM,
    lambda m, n, nc, x: f_slopes(m, n, nc, x)[1],
    lambda m, n, nc, x: f_slopes(m, n, nc, x)[0],
    cdf=sp.ncfdtr,
    ppf={0: sp.ncfdtridfn, 1: sp.ncfdtridfd, 2: sp.ncfdtrinc, 3: sp.ncfdtri},
)


# ---- t: P(Z + δ ≤ t U) = E Φ(tU − δ), where k U² has the distribution χ² -------------------------

STEPS = np.arange(-160.0, 14.0, 0.25)
"""Nodes in log u, in widths of the integrand, which decays slowly for small u, fast for large."""


def moment(power: int, df: Any, nc: Any, t: Any) -> Any:
    """Return E Uᵖ φ(tU − δ), a parabolic cylinder function (12.5.1). The trapezoidal rule is exact
    to rounding for such integrands; SciPy's functions would overflow or cancel."""
    df, nc, t = np.broadcast_arrays(df, nc, t)
    df, nc, t = df[..., None], nc[..., None], t[..., None]
    n, b, c = df + power, df + t * t, t * nc
    peak = (c + np.sqrt(c * c + 4 * n * b)) / (2 * b)
    width = 1 / np.sqrt(2 * n + c * peak)
    log_u = np.log(peak) + STEPS * width
    u = np.exp(log_u)
    log_c = math.log(2) + df / 2 * np.log(df / 2) - sp.gammaln(df / 2) - 0.5 * math.log(2 * math.pi)
    log = log_c + n * log_u - 0.5 * (df * u * u + (t * u - nc) ** 2)
    step = STEPS[1] - STEPS[0]
    return (np.sum(np.exp(log), axis=-1) * width[..., 0] * step)[()]


cumulative(
    FREEDOM,
    lambda df, nc, t: -moment(0, df, nc, t),
    lambda df, nc, t: moment(1, df, nc, t),
    cdf=sp.nctdtr,
    ppf={0: sp.nctdtridf, 1: sp.nctdtrinc, 2: sp.nctdtrit},
)
