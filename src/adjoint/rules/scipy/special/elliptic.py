"""Rules of Legendre's elliptic integrals, Jacobi's functions and the arithmetic-geometric mean.

The derivatives in the parameter use Carlson's R_D (DLMF 19.25.1, 19.25.5 and 19.25.9 with 19.18.1),
in which nothing cancels at m = 0.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rulekit.families import elementwise
from adjoint.rules.scipy.pointwise import pointwise


def _k_slope(complement: Any) -> Any:
    """Return ∂K/∂m at m = 1 − complement."""
    return sp.elliprd(0, 1, complement) / 6


def _e_slope(m: Any) -> Any:
    """Return ∂E/∂m."""
    return -sp.elliprd(0, 1 - m, 1) / 6


elementwise(sp.ellipk, lambda y, m: _k_slope(1 - m), singular=True)
elementwise(sp.ellipkm1, lambda y, p: -_k_slope(p), singular=True)
elementwise(sp.ellipe, lambda y, m: _e_slope(m), singular=True)


def _periods(phi: Any) -> tuple[Any, Any, Any]:
    """Return the number of half turns, and the sine and cosine of the rest (19.2.10)."""
    n = np.round(phi / math.pi)
    rest = phi - n * math.pi
    return n, np.sin(rest), np.cos(rest)


def _whole(n: Any, period: Any) -> Any:
    return np.where(np.equal(n, 0), 0, 2 * n * period)


def f_slope(phi: Any, m: Any) -> Any:
    """Return ∂F/∂m."""
    n, s, c = _periods(phi)
    part = s**3 / 6 * sp.elliprd(c * c, 1, 1 - m * s * s)
    return _whole(n, _k_slope(1 - m)) + part


def _einc_slope(phi: Any, m: Any) -> Any:
    n, s, c = _periods(phi)
    part = -(s**3) / 6 * sp.elliprd(c * c, 1 - m * s * s, 1)
    return _whole(n, _e_slope(m)) + part


elementwise(
    sp.ellipkinc,
    lambda phi, m: 1 / np.sqrt(1 - m * np.sin(phi) ** 2),
    lambda phi, m: f_slope(phi, m),
    singular=True,
)
elementwise(
    sp.ellipeinc,
    lambda phi, m: np.sqrt(1 - m * np.sin(phi) ** 2),
    lambda phi, m: _einc_slope(phi, m),
    singular=True,
)


# ---- Jacobi's functions (22.13.1, 22.13.2, 22.13.3), the amplitude where F(φ, m) = u -------------


def _by_parameter(y: Any, m: Any) -> tuple[Any, ...]:
    sn, cn, dn, phi = y
    turned = -dn * f_slope(phi, m)
    return cn * turned, -sn * turned, -(sn * sn / 2 + m * sn * cn * turned) / dn, turned


pointwise(
    sp.ellipj,
    "u m",
    u=lambda y, m: (y[1] * y[2], -y[0] * y[2], -m * y[0] * y[1], y[2]),
    m=lambda y, m: _by_parameter(y, m),
)


# ---- the arithmetic-geometric mean: π / (2 R_F(0, a², b²)) (19.22.8, 19.25.1) --------------------


def _agm_slope(y: Any, a: Any, b: Any) -> Any:
    """Return the slope in units of the mean, so that squares do not overflow."""
    s = np.where(np.equal(y, 0), 1, y)
    ratio = a / s
    slope = 2 / (3 * math.pi) * ratio * sp.elliprd(0, (b / s) ** 2, ratio**2)
    slope = np.where(np.equal(a, 0), np.inf, slope)
    return np.where(np.equal(b, 0), 0, slope)[()]


elementwise(
    sp.agm, lambda y, a, b: _agm_slope(y, a, b), lambda y, a, b: _agm_slope(y, b, a), singular=True
)
