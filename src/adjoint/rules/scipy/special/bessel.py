"""Rules of Bessel, modified Bessel, Hankel and Airy functions.

The derivative in the order, which has a closed form at special orders only (DLMF 10.15, 10.38), is
that of `adjoint.rules.scipy.special.bessel_orders`; at complex arguments it is refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rulekit.families import NoDerivative, elementwise
from adjoint.rules.scipy.pointwise import RealLinear, pointwise
from adjoint.rules.scipy.special.bessel_orders import hankel_order, ive_order, kve_order

ORDER = NoDerivative("the order")


def _in_reals(slope: Callable[..., Any]) -> NoDerivative:
    """Return a refusal for the order, with the slope that applies at real arguments."""
    return NoDerivative("the order", "has no formula here at complex arguments", in_reals=slope)


def _repeated(slope: Callable[..., Any], sign: int, half: float = 0.5) -> NoDerivative:
    """Return the slope in the order of the n-th derivative in the argument (10.6.7, 10.29.5)."""

    def by_order(v: Any, z: Any, n: Any) -> Any:
        counts = [sign**k * math.comb(n, k) for k in range(n + 1)]
        return half**n * sum(c * slope(v - n + 2 * k, z) for k, c in enumerate(counts))

    return _in_reals(by_order)


def _j_order(v: Any, z: Any) -> Any:
    return np.real(hankel_order(v, z))


def _y_order(v: Any, z: Any) -> Any:
    return np.imag(hankel_order(v, z))


def _h2_order(v: Any, z: Any) -> Any:
    return np.conj(hankel_order(v, z))


def _i_order(v: Any, z: Any) -> Any:
    return np.exp(z) * ive_order(v, z)


def _k_order(v: Any, z: Any) -> Any:
    return np.exp(-z) * kve_order(v, z)


# ---- J, Y, H: 2 C′ = C_{v−1} − C_{v+1} (10.6.1) --------------------------------------------------


def _half_difference(f: Any, v: Any, z: Any) -> Any:
    v = np.real(v)  # a Python number comes with the dtype of the result
    return 0.5 * (f(v - 1, z) - f(v + 1, z))


def _half_sum(f: Any, v: Any, z: Any) -> Any:
    v = np.real(v)
    return 0.5 * (f(v - 1, z) + f(v + 1, z))


elementwise(sp.jv, _in_reals(_j_order), lambda v, z: _half_difference(sp.jv, v, z), singular=True)
elementwise(sp.yv, _in_reals(_y_order), lambda v, z: _half_difference(sp.yv, v, z), singular=True)
# integer orders are rounded towards zero
elementwise(sp.yn, None, lambda n, x: _half_difference(sp.yv, np.trunc(n), x), singular=True)
pointwise(
    sp.hankel1,
    "v z",
    v=_in_reals(lambda v, z: hankel_order(v, z)),
    z=lambda v, z: _half_difference(sp.hankel1, v, z),
)
pointwise(
    sp.hankel2,
    "v z",
    v=_in_reals(_h2_order),
    z=lambda v, z: _half_difference(sp.hankel2, v, z),
)
elementwise(sp.j0, lambda y, x: -sp.j1(x), singular=True)
elementwise(sp.j1, lambda y, x: 0.5 * (sp.j0(x) - sp.jv(2, x)), singular=True)
elementwise(sp.y0, lambda y, x: -sp.y1(x), singular=True)
elementwise(
    sp.y1, lambda y, x: np.where(np.equal(x, 0), np.inf, sp.y0(x) - y / x)[()], singular=True
)


# ---- I: 2 I′ = I_{v−1} + I_{v+1}, K: −2 K′ = K_{v−1} + K_{v+1} (10.29.1) -------------------------

elementwise(
    sp.iv,
    _in_reals(_i_order),
    lambda v, z: _half_sum(sp.iv, v, z),
    singular=True,
)
elementwise(
    sp.kv,
    _in_reals(_k_order),
    lambda v, z: -_half_sum(sp.kv, v, z),
    singular=True,
)
elementwise(sp.kn, None, lambda n, x: -_half_sum(sp.kv, np.trunc(n), x), singular=True)
elementwise(sp.i0, lambda y, x: sp.i1(x), singular=True)
elementwise(sp.i1, lambda y, x: 0.5 * (sp.i0(x) + sp.iv(2, x)), singular=True)
elementwise(sp.k0, lambda y, x: -sp.k1(x), singular=True)
elementwise(sp.k1, lambda y, x: -sp.k0(x) - y / x, singular=True)


# ---- scaled by exponentials ----------------------------------------------------------------------


def _less_imaginary(slope: Any, y: Any, z: Any) -> Any:
    """Return the slope of a function times exp(−|Im z|), which has a kink on the real axis."""
    return RealLinear(slope, -y, 1j * np.sign(np.imag(z))) if np.iscomplexobj(z) else slope


def _less_real(slope: Any, y: Any, z: Any) -> Any:
    """Return the slope of a function times exp(−|Re z|); at the kink the mean of both sides."""
    return RealLinear(slope, -y, np.sign(np.real(z)))


pointwise(
    sp.jve,
    "v z",
    v=_in_reals(_j_order),
    z=lambda y, v, z: _less_imaginary(_half_difference(sp.jve, v, z), y, z),
)
pointwise(
    sp.yve,
    "v z",
    v=_in_reals(_y_order),
    z=lambda y, v, z: _less_imaginary(_half_difference(sp.yve, v, z), y, z),
)
pointwise(
    sp.ive,
    "v z",
    v=_in_reals(lambda v, z: ive_order(v, z)),
    z=lambda y, v, z: _less_real(_half_sum(sp.ive, v, z), y, z),
)
elementwise(
    sp.kve,
    _in_reals(lambda v, z: kve_order(v, z)),
    lambda y, v, z: y - _half_sum(sp.kve, v, z),
    singular=True,
)
pointwise(
    sp.hankel1e,
    "v z",
    v=_in_reals(lambda v, z: np.exp(-1j * z) * hankel_order(v, z)),
    z=lambda y, v, z: _half_difference(sp.hankel1e, v, z) - 1j * y,
)
pointwise(
    sp.hankel2e,
    "v z",
    v=_in_reals(lambda v, z: np.conj(np.exp(-1j * z) * hankel_order(v, z))),
    z=lambda y, v, z: _half_difference(sp.hankel2e, v, z) + 1j * y,
)
elementwise(sp.i0e, lambda y, x: sp.i1e(x) - np.sign(x) * y, singular=True)
elementwise(sp.i1e, lambda y, x: 0.5 * (sp.i0e(x) + sp.ive(2, x)) - np.sign(x) * y, singular=True)
elementwise(sp.k0e, lambda y, x: y - sp.k1e(x), singular=True)
elementwise(sp.k1e, lambda y, x: y - sp.k0e(x) - y / x, singular=True)


# ---- functions that are derivatives (10.6.7, 10.29.5) --------------------------------------------

pointwise(sp.jvp, v=_repeated(_j_order, -1), z=lambda v, z, n: sp.jvp(v, z, n + 1))
pointwise(sp.yvp, v=_repeated(_y_order, -1), z=lambda v, z, n: sp.yvp(v, z, n + 1))
pointwise(sp.ivp, v=_repeated(_i_order, 1), z=lambda v, z, n: sp.ivp(v, z, n + 1))
pointwise(sp.kvp, v=_repeated(_k_order, 1, -0.5), z=lambda v, z, n: sp.kvp(v, z, n + 1))
pointwise(sp.h1vp, v=_repeated(hankel_order, -1), z=lambda v, z, n: sp.h1vp(v, z, n + 1))
pointwise(sp.h2vp, v=_repeated(_h2_order, -1), z=lambda v, z, n: sp.h2vp(v, z, n + 1))


# ---- Airy's functions: w″ = z w (9.2.1) ----------------------------------------------------------

pointwise(sp.airy, "z", z=lambda y, z: (y[1], z * y[0], y[3], z * y[2]))
pointwise(
    sp.itairy,
    "x",
    x=lambda x: (sp.airy(x)[0], sp.airy(x)[2], sp.airy(-x)[0], sp.airy(-x)[2]),
)


def _airye_slopes(y: Any, z: Any) -> tuple[Any, ...]:
    """Return the slopes of scaled Airy functions. Ai and Ai′ are scaled by exp(ζ), Bi and Bi′ by
    exp(−|Re ζ|), with ζ = ⅔ z √z."""
    ai, ai_prime, bi, bi_prime = y
    root = np.sqrt(z + 0j)
    along = np.conj(root) * np.sign(np.real(z * root))
    if not np.iscomplexobj(z):
        root, along = np.real(root), np.real(along)
    return (
        ai_prime + root * ai,
        z * ai + root * ai_prime,
        RealLinear(bi_prime, -bi, along),
        RealLinear(z * bi, -bi_prime, along),
    )


pointwise(sp.airye, "z", z=lambda y, z: _airye_slopes(y, z))
