"""Rules of error functions, normal probabilities, Fresnel and exponential integrals.

Sources are equations of the DLMF (NIST Digital Library of Mathematical Functions).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rulekit.families import elementwise
from adjoint.rules.scipy.pointwise import pointwise

ROOT_2 = math.sqrt(2.0)
ROOT_2PI = math.sqrt(2.0 * math.pi)
ROOT_PI = math.sqrt(math.pi)
FAR = 20.0
"""Size of arguments from which asymptotic series replace differences that would cancel."""


def _tail(t: Any) -> Any:
    """Return Σ_{k≥1} (2k−1)!! tᵏ for |t| ≤ 1/(2 FAR²): an asymptotic series without its 1."""
    total = 0.0
    for k in range(8, 0, -1):
        total = (2 * k - 1) * t * (1 + total)
    return total


def erfcx_slope(y: Any, z: Any) -> Any:
    """Return 2 z erfcx(z) − 2/√π (7.10.2), far out by the series 7.12.1."""
    far = (np.abs(z) > FAR) & (np.real(z) >= 0)
    w = np.where(far, z, FAR)
    series = 2 / ROOT_PI * _tail(-0.5 / (w * w))
    return np.where(far, series, 2 * z * y - 2 / ROOT_PI)[()]


def _dawsn_slope(y: Any, z: Any) -> Any:
    """Return 1 − 2 z F(z) (7.10.3 with 7.5.1), far out by the series 7.12.1."""
    far = np.real(z * z) > FAR * FAR
    w = np.where(far, z, FAR)
    return np.where(far, -_tail(0.5 / (w * w)), 1 - 2 * z * y)[()]


def _wofz_slope(y: Any, z: Any) -> Any:
    """Return −2 z w(z) + 2i/√π (7.10.2), far out in the upper half plane by the series 7.12.1."""
    far = (np.abs(z) > FAR) & (np.imag(z) >= 0)
    w = np.where(far, z, FAR)
    return np.where(far, -2j / ROOT_PI * _tail(0.5 / (w * w)), 2j / ROOT_PI - 2 * z * y)[()]


def _wofz_curvature(y: Any, z: Any) -> Any:
    """Return −2 w(z) − 2 z w′(z), far out by the derivative of the series."""
    far = (np.abs(z) > FAR) & (np.imag(z) >= 0)
    w = np.where(far, z, FAR)
    t = 0.5 / (w * w)
    series = sum((2 * k * _odd_factorial(k) * t**k for k in range(8, 0, -1)), 0.0)
    return np.where(far, 2j / ROOT_PI * series / w, -2 * (y + z * _wofz_slope(y, z)))[()]


def _odd_factorial(k: int) -> float:
    """Return (2k−1)!!."""
    return float(math.prod(range(1, 2 * k, 2)))


def normal_density(x: Any) -> Any:
    return np.exp(-0.5 * x * x) / ROOT_2PI


# ---- error functions (7.10.1, 7.10.2) ------------------------------------------------------------

elementwise(sp.erf, lambda y, z: 2 / ROOT_PI * np.exp(-z * z), singular=True)
elementwise(sp.erfc, lambda y, z: -2 / ROOT_PI * np.exp(-z * z), singular=True)
elementwise(sp.erfi, lambda y, z: 2 / ROOT_PI * np.exp(z * z), singular=True)
elementwise(sp.erfcx, lambda y, z: erfcx_slope(y, z), singular=True)
elementwise(sp.dawsn, lambda y, z: _dawsn_slope(y, z), singular=True)
elementwise(sp.erfinv, lambda y, x: ROOT_PI / 2 * np.exp(y * y), singular=True)
elementwise(sp.erfcinv, lambda y, x: -ROOT_PI / 2 * np.exp(y * y), singular=True)
pointwise(sp.wofz, "z", z=lambda y, z: _wofz_slope(y, z))


# ---- the normal distribution ---------------------------------------------------------------------

elementwise(sp.ndtr, lambda y, x: normal_density(x), singular=True)
# φ/Φ by the scaled function, since both underflow
elementwise(sp.log_ndtr, lambda y, x: 2 / (ROOT_2PI * sp.erfcx(-x / ROOT_2)), singular=True)
elementwise(sp.ndtri, lambda y, p: ROOT_2PI * np.exp(0.5 * y * y), singular=True)
elementwise(sp.ndtri_exp, lambda y, x: ROOT_2PI / 2 * sp.erfcx(-y / ROOT_2), singular=True)
elementwise(  # Owen (1956), equation 2.3
    sp.owens_t,
    lambda y, h, a: -0.5 * normal_density(h) * sp.erf(a * h / ROOT_2),
    lambda y, h, a: np.exp(-0.5 * h * h * (1 + a * a)) / (2 * math.pi * (1 + a * a)),
    singular=True,
)


def _voigt_slopes(y: Any, x: Any, sigma: Any, gamma: Any) -> tuple[Any, Any, Any]:
    """Return the slopes of Re w(z) / (σ √2π), z = (x + iγ) / (σ √2) (7.19.1).

    At σ = 0 the profile is Lorentzian. The slope in σ is σ times the second derivative in x,
    because the profile obeys the heat equation in σ²/2.
    """
    s = np.where(np.equal(sigma, 0), 1, sigma)
    z = (x + 1j * gamma) / (s * ROOT_2)
    w = sp.wofz(z)
    slope = _wofz_slope(w, z) / (2 * s * s * math.sqrt(math.pi))
    by_sigma = np.real(_wofz_curvature(w, z)) / (2 * s * s * ROOT_2PI)
    square = x * x + gamma * gamma
    lorentz = 1 / (math.pi * square * square)
    bare = np.equal(sigma, 0)
    return (
        np.where(bare, -2 * x * gamma * lorentz, np.real(slope)),
        np.where(bare, 0, by_sigma),
        np.where(bare, (x * x - gamma * gamma) * lorentz, -np.imag(slope)),
    )


elementwise(
    sp.voigt_profile,
    lambda y, x, sigma, gamma: _voigt_slopes(y, x, sigma, gamma)[0],
    lambda y, x, sigma, gamma: _voigt_slopes(y, x, sigma, gamma)[1],
    lambda y, x, sigma, gamma: _voigt_slopes(y, x, sigma, gamma)[2],
    singular=True,
)


# ---- Fresnel integrals (7.2.7, 7.2.8) ------------------------------------------------------------

pointwise(
    sp.fresnel,
    "z",
    z=lambda z: (np.sin(0.5 * math.pi * z * z), np.cos(0.5 * math.pi * z * z)),
)


def _modified_fresnel(f: Any, sign: int) -> None:
    """Register F = ∫ₓ^∞ exp(±it²) dt and K = exp(∓i(x² + π/4)) F / √π = erfcx(exp(∓iπ/4) x) / 2.

    For x < 0 the imaginary part of SciPy's F has the wrong sign, and K is right; the derivative is
    that of the integral.
    """
    turn = np.exp(-0.25j * sign * math.pi)
    pointwise(
        f,
        "x",
        x=lambda y, x: (-np.exp(1j * sign * x * x), 0.5 * turn * erfcx_slope(2 * y[1], turn * x)),
    )


_modified_fresnel(sp.modfresnelp, 1)
_modified_fresnel(sp.modfresnelm, -1)


# ---- exponential, sine and cosine integrals (6.2, 8.19.13) ---------------------------------------

elementwise(sp.exp1, lambda y, z: -np.exp(-z) / z, singular=True)
elementwise(sp.expi, lambda y, z: np.exp(z) / z, singular=True)


def _expn_slope(n: Any, x: Any) -> Any:
    below = -sp.expn(np.maximum(n - 1, 0), x)
    return np.where(n >= 1, below, -np.exp(-x) * (1 + 1 / x) / x)[()]


elementwise(sp.expn, None, lambda n, x: _expn_slope(n, x), singular=True)


def _sinhc(z: Any) -> Any:
    """Return sinh z / z; near 0 by its series."""
    near = np.abs(z) < 0.5
    t = np.where(near, z, 0)
    series: Any = 1.0
    for k in range(8, 0, -1):
        series = 1 + series * t * t / (2 * k * (2 * k + 1))
    far = np.where(near, 1, z)
    return np.where(near, series, np.sinh(far) / far)[()]


pointwise(sp.sici, "z", z=lambda z: (np.sinc(z / math.pi), np.cos(z) / z))
pointwise(sp.shichi, "z", z=lambda z: (_sinhc(z), np.cosh(z) / z))
