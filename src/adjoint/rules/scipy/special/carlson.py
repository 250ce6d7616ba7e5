"""Rules of Carlson's symmetric elliptic integrals (DLMF 19.16), for real and complex arguments.

The derivatives of R_D and R_J are differences of such integrals over a difference of arguments,
which cancel where the arguments are near each other. They are computed by duplication instead: each
integral is a fourth of itself at nearer arguments plus an elementary term (19.26.20, 19.26.21). The
divided difference has the same form, and its elementary terms are written without cancellation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rulekit.families import elementwise

DUPLICATIONS = 14
"""Number of terms; each is 1/16 of the last, and brings arguments 4 times nearer together."""


def _roots(x: Any, y: Any, z: Any) -> tuple[Any, Any, Any, Any]:
    a, b, c = np.sqrt(x), np.sqrt(y), np.sqrt(z)
    return a, b, c, a * b + a * c + b * c


def _between(x: Any, p: Any, a: Any, r: Any, shift: Any) -> Any:
    """Return (1/(a (x + λ)) − 1/(r (p + λ))) / (p − x), where a² = x, r² = p."""
    return (p + r * a + x + shift) / (a * r * (a + r) * (x + shift) * (p + shift))


def _rd_difference(x: Any, y: Any, z: Any) -> Any:
    """Return (R_D(y, z, x) − R_D(x, y, z)) / (z − x)."""
    total, weight = 0.0, 3.0
    for _ in range(DUPLICATIONS):
        a, _b, c, shift = _roots(x, y, z)
        total = total + weight * _between(x, z, a, c, shift)
        x, y, z = (x + shift) / 4, (y + shift) / 4, (z + shift) / 4
        weight /= 16
    return total + weight / 5 * ((x + y + z) / 3) ** -2.5


def _arcsine_rest(e: Any) -> Any:
    """Return (R_C(1 − e, 1) − 1) / e = 1/6 + 3/40 e + …, the series of arcsin √e / √e."""
    near = np.abs(e) < 0.1
    t = np.where(near, e, 0)
    series: Any = 0.0
    for k in range(16, 0, -1):
        # the ratio of neighbouring coefficients
        series = (1 + series) * ((2 * k - 1) ** 2 / (2 * k * (2 * k + 1)))
        series = series * t if k > 1 else series
    far = np.where(near, 1, e)
    return np.where(near, series, (sp.elliprc(1 - far, 1 + 0 * far) - 1) / far)


def _rj_difference(x: Any, y: Any, z: Any, p: Any) -> Any:
    """Return (R_D(y, z, x) − R_J(x, y, z, p)) / (p − x), for p ≥ 0."""
    total, weight = 0.0, 3.0
    for _ in range(DUPLICATIONS):
        a, _b, _c, shift = _roots(x, y, z)
        r = np.sqrt(p)
        beta = r * (p + shift)
        rest = _arcsine_rest((p - x) * (p - y) * (p - z) / (beta * beta))
        bent = (p - y) * (p - z) * rest / (beta * beta * beta)
        total = total + weight * (_between(x, p, a, r, shift) - bent)
        x, y, z, p = (x + shift) / 4, (y + shift) / 4, (z + shift) / 4, (p + shift) / 4
        weight /= 16
    return total + weight / 5 * ((x + y + z + 2 * p) / 5) ** -2.5


# ---- R_F, R_G (19.18.1; 19.21.10) ----------------------------------------------------------------

elementwise(
    sp.elliprf,
    lambda x, y, z: -sp.elliprd(y, z, x) / 6,
    lambda x, y, z: -sp.elliprd(x, z, y) / 6,
    lambda x, y, z: -sp.elliprd(x, y, z) / 6,
    singular=True,
)


def _rg_slope(x: Any, y: Any, z: Any) -> Any:
    """Return ∂R_G/∂z = R_F/4 − z R_D(x, y, z)/12; the latter is 0 at z = 0."""
    zero = np.equal(z, 0)
    last = np.where(zero, 0, z * sp.elliprd(x, y, np.where(zero, 1, z)))
    return sp.elliprf(x, y, z) / 4 - last / 12


elementwise(
    sp.elliprg,
    lambda x, y, z: _rg_slope(y, z, x),
    lambda x, y, z: _rg_slope(x, z, y),
    lambda x, y, z: _rg_slope(x, y, z),
    singular=True,
)


# ---- R_C = R_F(x, y, y), for y < 0 the principal value (19.6.15) ---------------------------------


def _rc_slopes(value: Any, x: Any, y: Any) -> tuple[Any, Any]:
    below = (np.imag(y) == 0) & (np.real(y) < 0)
    s = np.where(below, 1, y)
    gap = np.where(below, x - y, 1)
    across = -0.5 * (value - 1 / np.sqrt(x)) / gap
    by_x = np.where(below, across, -sp.elliprd(s, s, x) / 6)
    # R_C is homogeneous of degree −1/2
    by_y = np.where(below, -(0.5 * value + x * across) / y, -sp.elliprd(x, s, s) / 3)
    return by_x[()], by_y[()]


elementwise(
    sp.elliprc,
    lambda y, x, s: _rc_slopes(y, x, s)[0],
    lambda y, x, s: _rc_slopes(y, x, s)[1],
    singular=True,
)


# ---- R_D and R_J, of degree −3/2 in all their arguments ------------------------------------------


def _rd_last(value: Any, x: Any, y: Any, z: Any) -> Any:
    moved = x * _rd_difference(_nonzero(x), y, z) + y * _rd_difference(_nonzero(y), x, z)
    return (0.5 * moved - 1.5 * value) / z


def _nonzero(x: Any) -> Any:
    """Replace 0 by 1 in a factor x: the difference grows like x^(−1/2), so x times it is 0 at 0."""
    return np.where(np.equal(x, 0), 1, x)[()]


elementwise(
    sp.elliprd,
    lambda x, y, z: -0.5 * _rd_difference(x, y, z),
    lambda x, y, z: -0.5 * _rd_difference(y, x, z),
    lambda y, x1, x2, z: _rd_last(y, x1, x2, z),
    singular=True,
)


def _rj_slope(value: Any, x: Any, y: Any, z: Any, p: Any) -> Any:
    """Return ∂R_J/∂x; for p < 0 (principal value) p is far from x and nothing cancels."""
    below = (np.imag(p) == 0) & (np.real(p) < 0)
    gap = np.where(below, p - x, 1)
    direct = (sp.elliprd(y, z, x) - value) / gap
    return -0.5 * np.where(below, direct, _rj_difference(x, y, z, np.where(below, x, p)))


def _rj_last(value: Any, x: Any, y: Any, z: Any, p: Any) -> Any:
    moved = (
        x * _rj_slope(value, x, y, z, p)
        + y * _rj_slope(value, y, x, z, p)
        + z * _rj_slope(value, z, x, y, p)
    )
    return -(1.5 * value + moved) / p


elementwise(
    sp.elliprj,
    lambda y, x1, x2, x3, p: _rj_slope(y, x1, x2, x3, p),
    lambda y, x1, x2, x3, p: _rj_slope(y, x2, x1, x3, p),
    lambda y, x1, x2, x3, p: _rj_slope(y, x3, x1, x2, p),
    lambda y, x1, x2, x3, p: _rj_last(y, x1, x2, x3, p),
    singular=True,
)
