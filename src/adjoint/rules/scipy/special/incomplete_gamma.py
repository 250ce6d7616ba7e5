"""Rules of the incomplete gamma functions and their inverses, in both operands.

The derivative in the argument is the density (DLMF 8.2.4 with 8.2.1). The derivative in the
parameter is the integral of the differentiated density (8.2.1); on one of the two tails the
integrand has a constant sign.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rules.scipy.special.cumulative_distributions import cumulative
from adjoint.rules.scipy.special.half_line_integrals import (
    DROP,
    in_blocks,
    integral,
    newton,
    piecewise,
)


def _poisson(k: Any, x: Any) -> Any:
    """Return x^k exp(−x) / Γ(k+1); for large k without cancellation by Stirling (5.11.1)."""
    large = k > 16
    n = np.where(large, k, 16)
    ratio, r = x / n, 1 / (n * n)
    near = np.abs(ratio - 1) < 0.5
    log_ratio = np.where(near, np.log1p((x - n) / n), np.log(np.where(near, 1, ratio)))
    series = (1 / 12 - r * (1 / 360 - r * (1 / 1260 - r / 1680))) / n
    stirling = n * (log_ratio - (x - n) / n) - 0.5 * np.log(2 * math.pi * n) - series
    log = np.where(large, stirling, sp.xlogy(k, x) - x - sp.gammaln(np.where(large, 1, k + 1)))
    return np.where(np.equal(x, np.inf), 0, np.exp(log))[()]


def gamma_density(a: Any, x: Any) -> Any:
    """Return x^(a−1) exp(−x) / Γ(a)."""
    return _poisson(a - 1, x)


# ---- in the parameter: P(a, x) = x^a exp(−x)/Γ(a+1) · … ------------------------------------------

_N = np.arange(1.0, 21.0)
_FACTORIALS = np.cumprod(_N)


def _fall(v: Any, a: Any, x: Any, side: Any) -> tuple[Any, Any]:
    return x * np.expm1(side * v) - side * a * v - DROP, side * (x * np.exp(side * v) - a)


def _tail(v: Any, a: Any, x: Any, side: Any, level: Any) -> Any:
    """Return t^a exp(−t) (1 + a (log t − ψ(a+1))) at t = x exp(±v), up to a constant factor."""
    fall = x * np.expm1(side * v) - side * a * v
    return np.exp(-fall) * (1 + a * (level + side * v))


def _by_series(a: Any, x: Any) -> Any:
    """Return the weight by the series 8.7.1."""
    n = a[..., None] + _N
    terms = (-x[..., None]) ** _N / (_FACTORIALS * n)
    total, slope = 1 + a * np.sum(terms, -1), np.sum(terms * _N / n, -1)
    return -np.exp(x) * ((np.log(x) - sp.psi(a + 1)) * total + slope)


def _by_integral(a: Any, x: Any) -> Any:
    """Integrate the density times log t − ψ(a) over the side of x where it has one sign."""
    level = np.log(x) - sp.psi(a + 1)
    side = np.where(1 + a * level > 0, 1.0, -1.0)
    bound = DROP / x + np.sqrt(2 * DROP / x)
    start = np.where(side > 0, np.log1p(bound), bound)
    length = newton(_fall, start, 4, a, x, side)
    return side * integral(_tail, length, a, x, side, level)


@in_blocks
def _weight(a: Any, x: Any) -> Any:
    """Return W > 0 in ∂P/∂a = −W x^a exp(−x)/Γ(a+1)."""
    return piecewise(x < 1, _by_series, _by_integral, a, x)


def gamma_shape_slope(a: Any, x: Any) -> Any:
    """Return ∂P/∂a."""
    inside = (np.asarray(x) > 0) & (np.asarray(x) < np.inf)
    t = np.where(inside, x, 1)
    return np.where(inside, -_weight(a, t) * _poisson(a, t), 0)[()]


# ---- rules ---------------------------------------------------------------------------------------

cumulative(
    lambda a, x: gamma_shape_slope(a, x),
    lambda a, x: gamma_density(a, x),
    cdf=sp.gammainc,
    sf=sp.gammaincc,
    ppf={1: sp.gammaincinv},
    isf={1: sp.gammainccinv},
)
