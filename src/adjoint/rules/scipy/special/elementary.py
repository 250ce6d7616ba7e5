"""Rules of elementary and some transcendental functions that `scipy.special` adds to NumPy's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special as sp
from scipy.special import _ufuncs

from adjoint.rulekit.families import NoDerivative, elementwise
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.pointwise import pointwise

LN2, LN10, DEGREE = math.log(2.0), math.log(10.0), math.pi / 180


# ---- exponentials, logarithms, roots -------------------------------------------------------------

elementwise(sp.exp2, lambda y, x: y * LN2, singular=True)
elementwise(sp.exp10, lambda y, x: y * LN10, singular=True)
elementwise(sp.expm1, lambda y, x: y + 1, singular=True)
elementwise(sp.log1p, lambda y, x: 1 / (1 + x), singular=True)
elementwise(sp.cbrt, lambda y, x: 1 / (3 * y * y), singular=True)
elementwise(
    sp.powm1,
    lambda x, p: p * np.power(x, p - 1.0),  # integers have no negative powers
    lambda y, x, p: sp.xlogy(y + 1, x),
    singular=True,
)


def exprel_slope(x: Any) -> Any:
    """Return (eˣ (x − 1) + 1) / x², the derivative of (eˣ − 1)/x; near 0 by its series."""
    near = np.abs(x) < 1
    t = np.where(near, x, 0)
    series: Any = 0.0
    for k in range(18, 0, -1):
        series = (1 + series) * t * ((k + 1) / (k * (k + 2)))
    far = np.where(near | np.isinf(x), 1, x)
    slope = (np.exp(far) * (far - 1) + 1) / (far * far)
    return np.where(near, 0.5 * (1 + series), np.where(np.isinf(x), np.exp(x), slope))[()]


elementwise(sp.exprel, lambda y, x: exprel_slope(x), singular=True)


# ---- angles in degrees, cosine less one ----------------------------------------------------------

elementwise(sp.sindg, lambda y, x: DEGREE * sp.cosdg(x), singular=True)
elementwise(sp.cosdg, lambda y, x: -DEGREE * sp.sindg(x), singular=True)
elementwise(sp.tandg, lambda y, x: DEGREE * (1 + y * y), singular=True)
elementwise(sp.cotdg, lambda y, x: -DEGREE * (1 + y * y), singular=True)
elementwise(sp.radian, DEGREE, DEGREE / 60, DEGREE / 3600)
elementwise(sp.cosm1, lambda y, x: -np.sin(x), singular=True)
non_differentiable(sp.round)


def _diric_slope(y: Any, x: Any, n: Any) -> Any:
    """Return (cos(nx/2) − y cos(x/2)) / (2 sin(x/2)), by a series near the extrema at 2πk."""
    k = np.round(x / (2 * math.pi))
    t = x / 2 - k * math.pi
    near = np.abs(n * t) < 1e-2
    square = n * n - 1.0
    sign = 1 - 2 * np.mod(k * (n - 1), 2)
    series = sign * square * t * ((3 * n * n - 7.0) * t * t / 30 - 1) / 6
    s = np.where(near, 1, np.sin(x / 2))
    return np.where(near, series, (np.cos(n * x / 2) - y * np.cos(x / 2)) / (2 * s))


pointwise(sp.diric, x=lambda y, x, n: _diric_slope(y, x, np.asarray(n)))


# ---- inverses of z eᶻ (4.13.4), the dilogarithm (25.12.2) ----------------------------------------

pointwise(sp.lambertw, z=lambda y: np.exp(-y) / (1 + y))
elementwise(  # which `lambertw` calls
    _ufuncs._lambertw, lambda y, z, k, tol: np.exp(-y) / (1 + y), None, None, singular=True
)
elementwise(sp.wrightomega, lambda y, z: _omega_slope(y, z), singular=True)


def _omega_slope(y: Any, z: Any) -> Any:
    """Return ω/(1 + ω), and 1 at infinity, where ω(z) ≈ z − log z."""
    far = np.isinf(np.real(y))
    return np.where(far, 1, y / (1 + np.where(far, 1, y)))[()]


def _spence_slope(z: Any) -> Any:
    """Return log z / (1 − z); near 1 by the series of log(1 + u)/u."""
    u = z - 1
    near = np.abs(u) < 0.02
    t = np.where(near, u, 0)
    series: Any = 0.0
    for k in range(10, -1, -1):
        series = 1 / (k + 1) - t * series
    far = np.where(near, 2, z)
    return np.where(near, -series, np.log(far) / (1 - far))[()]


elementwise(sp.spence, lambda z: _spence_slope(z), singular=True)


# ---- ζ (25.11.17) --------------------------------------------------------------------------------

EXPONENT = NoDerivative("the exponent")

pointwise(sp.zeta, x=EXPONENT, q=lambda x, q: -x * sp.zeta(np.add(x, 1), q))
elementwise(sp.zetac, EXPONENT)
