"""Derivatives of Bessel functions in the order, for real orders and positive arguments.

Each function is an integral of exp(φ(t) − νt) (DLMF 10.9.17, 10.9.18, 10.32.12, 10.32.9),
differentiated under the integral. The path leads through the saddle point t₀ of the exponent, from
which the integrand falls off at once (method of steepest descent, DLMF 2.4(iv)): nothing large
cancels, and integer orders are no special case. Negative orders follow by reflection (10.4.6,
10.27.2).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rules.scipy.special.half_line_integrals import (
    DROP,
    in_blocks,
    integral,
    long_integral,
    piecewise,
)


def _turn(v: Any) -> tuple[Any, Any]:
    """Return cos πv and sin πv, exact at integers."""
    nearest = np.round(v)
    angle, sign = math.pi * (v - nearest), 1 - 2 * np.mod(nearest, 2)
    return sign * np.cos(angle), sign * np.sin(angle)


def _width(c: Any) -> Any:
    """Return d with cosh d − 1 = `c`."""
    return 2 * np.arcsinh(np.sqrt(0.5 * c))


# ---- I and K: x sinh t₀ = ν, x cosh t₀ = η -------------------------------------------------------


def _excess(v: Any, x: Any) -> Any:
    """Return ν t₀ − η + x, the logarithm of the size of exp(x) K and of exp(x) / I."""
    return v * np.arcsinh(v / x) - v * v / (np.hypot(v, x) + x)


def _across(s: Any, v: Any, eta: Any, t: Any) -> Any:
    """Return the integrand at t₀ + is."""
    phase = v * (np.sin(s) - s)
    bent = np.exp(-2 * eta * np.sin(s / 2) ** 2)
    return (t * np.cos(phase) - s * np.sin(phase)) * bent


def _along(s: Any, v: Any, eta: Any, t: Any, cosine: Any, sine: Any) -> Any:
    """Return the integrand at t₀ + s ± iπ, combined from both branches."""
    power = np.exp(-eta * (np.cosh(s) + 1) - v * (np.sinh(s) + s))
    return (math.pi * cosine - (t + s) * sine) * power


def _ive(v: Any, x: Any) -> Any:
    """Return ∂/∂ν of exp(−x) I for ν ≥ 0, by a path to the line iπ, and along it. 10.32.4 is the
    case t₀ = 0."""
    eta, t = np.hypot(v, x), np.arcsinh(v / x)
    height = 2 * np.arcsin(np.sqrt(np.minimum(0.5 * DROP / eta, 1)))
    length = np.minimum(_width(DROP / eta), 0.5 * DROP / v)
    total = integral(_across, height, v, eta, t) + long_integral(
        _along, length, v, eta, t, *_turn(v)
    )
    return -total / math.pi * np.exp(-_excess(v, x))


def _ive_reflected(v: Any, x: Any) -> Any:
    cosine, sine = _turn(v)
    shift = math.pi * cosine * sp.kve(v, x) - sine * _kve(-v, x)
    return -_ive(-v, x) - 2 / math.pi * np.exp(-2 * x) * shift


def _beside(s: Any, side: Any, v: Any, t: Any, less: Any) -> Any:
    """Return t sinh νt exp(−x cosh t) at t₀ ± s, up to a constant factor."""
    d = side * s
    moved = t + d
    power = np.exp(-2 * less * np.sinh(d / 2) ** 2 - v * (np.expm1(d) - d))
    return -moved * np.expm1(-2 * v * moved) * power


def _kve(v: Any, x: Any) -> Any:
    """Return ∂/∂ν of exp(x) K for ν ≥ 0."""
    eta, t, one = np.hypot(v, x), np.arcsinh(v / x), np.ones_like(v)
    less = x * x / (eta + v)  # η − ν
    left = np.minimum(t, DROP / v + np.sqrt(2 * DROP / v))
    total = integral(_beside, left, -one, v, t, less)
    total = total + integral(_beside, _width(DROP / eta), one, v, t, less)
    return 0.5 * total * np.exp(_excess(v, x))


@in_blocks
def kve_order(v: Any, x: Any) -> Any:
    """Return ∂/∂ν of exp(x) K."""
    return np.sign(v) * _kve(np.abs(v), x)


@in_blocks
def ive_order(v: Any, x: Any) -> Any:
    """Return ∂/∂ν of exp(−x) I; at x = 0 its limit."""
    slope = piecewise(v < 0, _ive_reflected, _ive, v, np.where(x > 0, x, np.nan))
    return np.where((x == 0) & (v >= 0), np.where(v == 0, -np.inf, 0.0), slope)


# ---- J and Y, as H = J + iY: x cosh t₀ = ν, x sinh t₀ = κ, which are imaginary for ν < x ---------

_AHEAD, _BACK = np.exp(1j * math.pi / 3), np.exp(13j * math.pi / 12)
"""Directions in which the integrand falls off whether the saddle point is simple or, at ν = x,
double."""


def _saddle(v: Any, x: Any) -> tuple[Any, Any]:
    root = np.sqrt(np.abs((v - x) * (v + x)))
    real = v >= x
    kappa = np.where(real, root, 1j * root)
    return kappa, np.where(real, np.arcsinh(root / x), 1j * np.arctan2(root, v))


def _ray(s: Any, way: Any, start: Any, v: Any, kappa: Any, t: Any) -> Any:
    """Return the integrand at t₀ + start + s·way."""
    d = start + s * way
    e = 0.5 * np.exp(d)
    f = 0.25 / e
    return way * (t + d) * np.exp(kappa * (e + f - 1) + v * (e - f - d))


def _reach(v: Any, kappa: Any) -> Any:
    """Return the length of a ray beyond which the integrand is negligible."""
    return np.minimum(np.sqrt(4 * DROP / np.abs(kappa)), np.cbrt(10 * DROP / v))


def _ahead(v: Any, x: Any, kappa: Any, t: Any) -> Any:
    """Integrate from the saddle point by a ray to the line iπ, and along it to infinity."""
    one, reach, whole = np.ones_like(t), _reach(v, kappa), (math.pi - t.imag) / _AHEAD.imag
    total = integral(_ray, np.minimum(reach, whole), _AHEAD * one, 0 * one, v, kappa, t)
    s = np.real(t + whole * _AHEAD)
    end = np.arcsinh(np.sinh(s) + DROP / x) - s
    length = np.where(reach < whole, 0, np.minimum(end, DROP / (v + x * np.cosh(s))))
    return total + long_integral(_ray, length, one, whole * _AHEAD, v, kappa, t)


def _behind(v: Any, x: Any, kappa: Any, t: Any) -> Any:
    """Integrate from an imaginary saddle point by a ray to the real axis, and on to −infinity."""
    one, reach, whole = np.ones_like(t), _reach(v, kappa), t.imag / -_BACK.imag
    total = integral(_ray, np.minimum(reach, whole), _BACK * one, 0 * one, v, kappa, t)
    s, c = whole * -_BACK.real, DROP / x
    end = np.arcsinh(np.sinh(s) + c + np.cbrt(6 * c)) - s
    length = np.where(reach < whole, 0, end)
    return total + long_integral(_ray, length, -one, whole * _BACK, v, kappa, t)


def _below(v: Any, x: Any) -> Any:
    """Return ∂H/∂ν for 0 ≤ ν < x."""
    kappa, t = _saddle(v, x)
    path = _ahead(v, x, kappa, t) - _behind(v, x, kappa, t)
    return 1j / math.pi * np.exp(kappa - v * t) * path


def _axis(s: Any, side: Any, kappa: Any, t: Any, less: Any) -> Any:
    """Return the integrand on the real axis at −t₀ ± s, near the other saddle point."""
    d = side * s
    return (d - t) * np.exp(less * (np.sinh(d) - d) - kappa * (np.expm1(-d) + d))


def _above(v: Any, x: Any) -> Any:
    """Return ∂H/∂ν for ν ≥ x: J from the path ahead, Y from the real axis before it."""
    complex_kappa, complex_t = _saddle(v, x)
    path = _ahead(v, x, complex_kappa, complex_t)
    kappa, t, one = complex_kappa.real, complex_t.real, np.ones_like(v)
    less, c, d = x * x / (v + kappa), DROP / kappa, DROP / v  # less: ν − κ
    left = np.minimum(_width(c), np.arcsinh(d + np.cbrt(6 * d)))
    right = np.minimum(2 * t, 1.5 * (c + np.sqrt(2 * c)))
    axis = integral(_axis, left, -one, kappa, t, less) + integral(_axis, right, one, kappa, t, less)
    size = np.exp(kappa - v * t)
    return 1j / math.pi * (size * path + axis / size)


def _hankel(v: Any, x: Any) -> Any:
    return piecewise(v < x, _below, _above, v, x)


def _hankel_reflected(v: Any, x: Any) -> Any:
    cosine, sine = _turn(-v)
    inner = _hankel(-v, x) + 1j * math.pi * (sp.jv(-v, x) + 1j * sp.yv(-v, x))
    real = sine * inner.imag - cosine * inner.real
    return real - 1j * (sine * inner.real + cosine * inner.imag)


@in_blocks
def hankel_order(v: Any, x: Any) -> Any:
    """Return ∂/∂ν of J + iY; at x = 0 the limit of ∂J/∂ν."""
    slope = piecewise(v < 0, _hankel_reflected, _hankel, v, np.where(x > 0, x, np.nan))
    limit = np.where(v == 0, complex(-np.inf, np.nan), complex(0, np.nan))
    return np.where((x == 0) & (v >= 0), limit, slope)
