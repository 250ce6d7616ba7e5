"""Rules of the incomplete beta functions and their inverses, in all operands.

The derivative in the argument is the density (DLMF 8.17.1). The derivatives in the parameters are
integrals of the differentiated density; on one of the two tails the integrand has a constant sign.
"""

from __future__ import annotations

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


def beta_density(a: Any, b: Any, x: Any) -> Any:
    """Return x^(a−1) (1−x)^(b−1) / B(a, b)."""
    return np.exp(sp.xlogy(a - 1, x) + sp.xlog1py(b - 1, -x) - sp.betaln(a, b))


def psi_step(a: Any, b: Any) -> Any:
    """Return ψ(a+b) − ψ(a), for large a by the asymptotic series (5.11.2), without cancellation."""
    large = a > 16
    n = np.where(large, a, 16)
    total = n + b
    by_series = np.log1p(b / n) + 0.5 * b / (n * total) + _psi_rest(n) - _psi_rest(total)
    small = np.where(large, 1, a)
    return np.where(large, by_series, sp.psi(small + b) - sp.psi(small))


def _psi_rest(n: Any) -> Any:
    r = 1 / (n * n)
    return r * (1 / 12 - r * (1 / 120 - r * (1 / 252 - r * (1 / 240 - r / 132))))


# ---- in the parameters: x^a (1−x)^b / B(a, b) times a weight -------------------------------------

_N = np.arange(1.0, 51.0)


def _log(x: Any, rest: Any) -> Any:
    """Return log x, where `rest` is 1 − x."""
    return np.where(x < 0.5, np.log(x), np.log1p(-rest))


def beta_factor(a: Any, b: Any, x: Any, rest: Any) -> Any:
    """Return x^a (1−x)^b / B(a, b)."""
    return np.exp(a * _log(x, rest) + b * _log(rest, x) - sp.betaln(a, b))


def _by_series(a: Any, b: Any, x: Any, rest: Any) -> Any:
    """Return the weight by 8.17.7 with 15.2.1, whose terms do not grow for b x ≤ 1."""
    n = a[..., None] + _N
    terms = np.cumprod((_N - b[..., None]) / _N * x[..., None], -1)
    total, slope = 1 + a * np.sum(terms / n, -1), np.sum(terms * _N / (n * n), -1)
    level = _log(x, rest) + psi_step(a, b) - 1 / a
    return np.exp(-b * np.log1p(-x)) / a * (level * total + slope)


def _fall(v: Any, a: Any, b: Any, x: Any) -> tuple[Any, Any]:
    e = np.expm1(v)
    return (a + b) * np.log1p(x * e) - a * v - DROP, (a + b) * x * (e + 1) / (1 + x * e) - a


def _length(a: Any, b: Any, x: Any, rest: Any) -> Any:
    bound = DROP / ((a + b) * x * rest)
    end = (DROP - (a + b) * _log(x, rest)) / b
    return newton(_fall, np.minimum(bound + np.sqrt(2 * bound), end), 8, a, b, x)


def _tail(v: Any, a: Any, b: Any, x: Any, rest: Any, side: Any, level: Any) -> Any:
    power = np.exp(a * v - (a + b) * np.log1p(x * np.expm1(v)))
    return power * (level - np.log1p(rest * np.expm1(side * v)))


def _by_integral(a: Any, b: Any, x: Any, rest: Any) -> Any:
    """Integrate the density times log t − ψ(a) + ψ(a+b) over the side of x where it has one sign.
    The variable is log(t/(1−t)); the lower tail is the upper one of the mirrored function."""
    level = _log(x, rest) + psi_step(a, b)
    upper = level > 0
    p, q = np.where(upper, a, b), np.where(upper, b, a)
    near, far = np.where(upper, x, rest), np.where(upper, rest, x)
    side = np.where(upper, -1.0, 1.0)
    return side * integral(_tail, _length(p, q, near, far), p, q, near, rest, side, level)


def _split(a: Any, b: Any, x: Any, rest: Any) -> Any:
    """Return the weight for an exponent of 1 − t near −1: the integral of log t, and the tail."""
    length, level = _length(a, b + 1, x, rest), _log(x, rest)
    by_log = integral(_tail, length, a, b, x, rest, -np.ones_like(a), level)
    return -by_log - psi_step(a, b) * sp.betainc(b, a, rest) / beta_factor(a, b, x, rest)


def _by_integrals(a: Any, b: Any, x: Any, rest: Any) -> Any:
    singular = (b < 1) & (x > 0.5) & (a * rest <= 1)
    return piecewise(singular, _split, _by_integral, a, b, x, rest)


@in_blocks
def beta_weight(a: Any, b: Any, x: Any, rest: Any) -> Any:
    """Return W in ∂I/∂a = W x^a (1−x)^b / B(a, b), where `rest` is 1 − x."""
    near = (x <= 0.5) & (b * x <= 1)
    return piecewise(near, _by_series, _by_integrals, a, b, x, rest)


def beta_shape_slope(a: Any, b: Any, x: Any, rest: Any) -> Any:
    """Return ∂I/∂a; ∂I/∂b is −(this) at (b, a, rest, x), where I becomes 1 − I."""
    inside = (np.asarray(x) > 0) & (np.asarray(rest) > 0)
    t, u = np.where(inside, x, 0.5), np.where(inside, rest, 0.5)
    return np.where(inside, beta_factor(a, b, t, u) * beta_weight(a, b, t, u), 0)[()]


# ---- rules ---------------------------------------------------------------------------------------

_SLOPES = (
    lambda a, b, x: beta_shape_slope(a, b, x, 1 - x),
    lambda a, b, x: -beta_shape_slope(b, a, 1 - x, x),
    lambda a, b, x: beta_density(a, b, x),
)
cumulative(
    *_SLOPES,
    cdf=sp.betainc,
    sf=getattr(sp, "betaincc", None),
    ppf={0: sp.btdtria, 1: sp.btdtrib, 2: sp.betaincinv},
    isf={2: getattr(sp, "betainccinv", None)},
)
cumulative(*_SLOPES, cdf=getattr(sp, "btdtr", None), ppf={2: getattr(sp, "btdtri", None)})
