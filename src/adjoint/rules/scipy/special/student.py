"""Derivatives of Student's t distribution in its degrees of freedom."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rules.scipy.special.half_line_integrals import (
    DROP,
    in_blocks,
    integral,
    newton,
    piecewise,
)
from adjoint.rules.scipy.special.incomplete_beta import beta_weight, psi_step


def t_density(df: Any, t: Any) -> Any:
    """Return the density; the normal one at infinite degrees of freedom."""
    normal = np.isinf(df)
    v = np.where(normal, 1, df)
    log = -0.5 * (v + 1) * np.log1p(t * t / v) - 0.5 * np.log(v) - sp.betaln(0.5, v / 2)
    return np.exp(np.where(normal, -0.5 * t * t - 0.5 * math.log(2 * math.pi), log))[()]


def _fall(s: Any, v: Any, share: Any) -> tuple[Any, Any]:
    e = np.expm1(s)
    moved = share * (e + 1) / (1 + share * e)
    return 0.5 * (v + 1) * np.log1p(share * e) - 0.5 * s - DROP, 0.5 * (v + 1) * moved - 0.5


def _change(z: Any, v: Any, step: Any) -> Any:
    """Return ∂/∂v of the logarithm of the density at t² = v z."""
    share = z / (1 + z)
    bent = np.where(share < 0.1, _bent(share), np.log1p(z) - share)
    return 0.5 * (step + share / v - bent)


def _bent(y: Any) -> Any:
    """Return −log(1−y) − y."""
    total: Any = 0.0
    for n in range(14, 1, -1):
        total = (total + 1 / n) * y
    return total * y


def _tail(s: Any, v: Any, z: Any, step: Any, upper: Any) -> Any:
    """Return ∂f/∂v over the density at t, in the variable t exp(s/2) for a tail, or t s."""
    e = np.exp(np.where(upper, s, 0))
    moved = np.where(upper, z * e, z * s * s)
    power = np.exp(-0.5 * (v + 1) * (np.log1p(moved) - np.log1p(z)))
    return power * np.where(upper, 0.5 * np.sqrt(e), 1) * _change(moved, v, step)


def _by_beta(v: Any, square: Any) -> Any:
    """Return the weight from F as an incomplete beta function (DLMF 8.17.4)."""
    total = v + square
    half = np.full_like(v, 0.5)
    return 0.25 * beta_weight(v / 2, half, v / total, square / total) + 0.5 / v


def _by_integral(v: Any, square: Any) -> Any:
    """Integrate ∂f/∂v from 0 to t, or from t on; it has one sign on either side."""
    z, r = square / v, 1 / (v * v)
    by_series = r * (0.5 - r * (0.25 - r * (0.5 - r * (2.125 - r * 15.5))))  # of 5.11.2
    step = np.where(v > 50, by_series, psi_step(v / 2, 0.5) - 1 / v)
    upper = _change(z, v, step) < 0
    share = z / (1 + z)
    bound = 2 * DROP / ((v + 1) * share * (1 - share))
    end = (2 * DROP - (v + 1) * np.log(share)) / v
    start = np.minimum(bound + np.sqrt(2 * bound), end)
    length = np.where(upper, newton(_fall, start, 6, v, share), 1)
    return np.where(upper, 1, -1) * integral(_tail, length, v, z, step, upper)


@in_blocks
def _weight(v: Any, t: Any) -> Any:
    """Return W in ∂F/∂v = −W t f(t); the terms of `_by_beta` cancel for many degrees of freedom."""
    return piecewise(v < 4, _by_beta, _by_integral, v, np.maximum(t * t, 1e-290))


def t_freedom_slope(df: Any, t: Any) -> Any:
    """Return ∂F/∂v; 0 at infinity."""
    inside = np.isfinite(t) & np.isfinite(df)
    v, s = np.where(inside, df, 1), np.where(inside, t, 1)
    return np.where(inside, -_weight(v, s) * s * t_density(v, s), 0)[()]
