"""Rules of Kelvin and Struve functions and of integrals of Bessel functions, in the argument."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rulekit.families import NoDerivative, elementwise
from adjoint.rules.scipy.pointwise import pointwise
from adjoint.rules.scipy.special.bessel import ORDER

# ---- Kelvin's functions: w = ber + i bei and ker + i kei obey w″ = i w − w′/x (10.61.3) ----------


def _over(a: Any, x: Any, at_zero: complex) -> Any:
    """Return a/x, or `at_zero` at x = 0."""
    zero = np.equal(x, 0)
    return np.where(zero, at_zero, a / np.where(zero, 1, x))[()]


elementwise(sp.ber, lambda y, x: sp.berp(x), singular=True)
elementwise(sp.bei, lambda y, x: sp.beip(x), singular=True)
elementwise(sp.berp, lambda y, x: -sp.bei(x) - _over(y, x, 0.0), singular=True)
elementwise(sp.beip, lambda y, x: sp.ber(x) - _over(y, x, 0.5), singular=True)
elementwise(sp.ker, lambda y, x: sp.kerp(x), singular=True)
elementwise(sp.kei, lambda y, x: sp.keip(x), singular=True)
elementwise(sp.kerp, lambda y, x: -sp.kei(x) - y / x, singular=True)
elementwise(sp.keip, lambda y, x: sp.ker(x) - y / x, singular=True)
pointwise(
    sp.kelvin,
    "x",
    x=lambda y, x: (y[2], y[3], 1j * y[0] - _over(y[2], x, 0.5j), 1j * y[1] - y[3] / x),
)


# ---- Struve's functions (11.4.25, 11.4.26) -------------------------------------------------------


def _struve_term(v: Any, x: Any) -> Any:
    return (0.5 * x) ** v * sp.rgamma(v + 1.5) / math.sqrt(math.pi)


def _struve_slope(f: Any, sign: int, v: Any, x: Any) -> Any:
    """Return the slope from orders v ± 1, and for v = 0 from order 1, to be finite at x = 0."""
    zero = np.equal(v, 0)
    lower = np.where(zero, 1, v)
    by_both = 0.5 * (f(lower - 1, x) + sign * f(lower + 1, x) + _struve_term(lower, x))
    return np.where(zero, 2 / math.pi + sign * f(1, x), by_both)[()]


elementwise(sp.struve, ORDER, lambda v, x: _struve_slope(sp.struve, -1, v, x), singular=True)
elementwise(sp.modstruve, ORDER, lambda v, x: _struve_slope(sp.modstruve, 1, v, x), singular=True)
elementwise(sp.itstruve0, lambda y, x: sp.struve(0, x), singular=True)
elementwise(sp.it2struve0, lambda y, x: -_over(sp.struve(0, x), x, 2 / math.pi), singular=True)
elementwise(sp.itmodstruve0, lambda y, x: sp.modstruve(0, x), singular=True)


# ---- integrals of Bessel's functions of order 0 --------------------------------------------------


def _less_one_over(f: Any, x: Any, sign: int) -> Any:
    """Return (f(x) − 1)/x for J₀ (`sign` −1) and I₀ (+1). For small x the series (10.2.2, 10.25.2)
    avoids cancellation."""
    near = np.abs(x) < 1
    t = np.where(near, x, 0)
    q = sign * 0.25 * t * t
    series: Any = 1.0
    for k in range(10, 1, -1):
        series = 1 + series * q / (k * k)
    far = np.where(near, 1, x)
    return np.where(near, sign * 0.25 * t * series, (f(far) - 1) / far)[()]


pointwise(sp.itj0y0, "x", x=lambda x: (sp.j0(x), sp.y0(x)))
pointwise(sp.iti0k0, "x", x=lambda x: (sp.i0(x), sp.k0(x)))
pointwise(sp.it2j0y0, "x", x=lambda x: (-_less_one_over(sp.j0, x, -1), -sp.y0(x) / x))
pointwise(sp.it2i0k0, "x", x=lambda x: (_less_one_over(sp.i0, x, 1), -sp.k0(x) / x))


def _besselpoly_slope(a: Any, lmb: Any, nu: Any) -> Any:
    """Return ∂/∂a of ∫₀¹ x^λ J_ν(2ax) dx, under the integral (10.6.1); J₋₁ = −J₁."""
    above = sp.besselpoly(a, lmb + 1, nu + 1)
    below = sp.besselpoly(a, lmb + 1, np.where(np.equal(nu, 0), 1, nu - 1))
    return np.where(np.equal(nu, 0), -below, below) - above


elementwise(
    sp.besselpoly,
    lambda a, lmb, nu: _besselpoly_slope(a, lmb, nu),
    NoDerivative("the exponent"),
    ORDER,
    singular=True,
)


# ---- Wright's generalized function (10.46.1) -----------------------------------------------------

if hasattr(sp, "wright_bessel"):
    elementwise(
        sp.wright_bessel,
        NoDerivative("the parameter a"),
        NoDerivative("the parameter b"),
        lambda a, b, x: sp.wright_bessel(a, b + a, x),
        singular=True,
    )
if hasattr(sp, "log_wright_bessel"):
    elementwise(
        sp.log_wright_bessel,
        NoDerivative("the parameter a"),
        NoDerivative("the parameter b"),
        lambda y, a, b, x: np.exp(sp.log_wright_bessel(a, b + a, x) - y),
        singular=True,
    )
