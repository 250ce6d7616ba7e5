"""Rules of Legendre functions and spherical harmonics, in the argument and the angles.

Degrees and orders are integers. SciPy returns the first two derivatives along with the values; the
third one follows from the differential equation (DLMF 14.2.2).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special as sp

from adjoint.rulekit.families import NoDerivative, elementwise
from adjoint.rules.scipy.pointwise import Components, pointwise


def _lpmv_slope(y: Any, m: Any, v: Any, x: Any) -> Any:
    """Return P′ by (1−x²) P′ = (μ−ν−1) P_{ν+1} + (ν+1) x P_ν (14.10.5); at ±1 by 14.8(i)."""
    end = np.equal(np.abs(x), 1)
    inner = np.where(end, 0, x)
    lower = sp.lpmv(m, v, inner) if np.any(end) else y
    slope = (m - v - 1) * sp.lpmv(m, v + 1, inner) + (v + 1) * inner * lower
    slope = slope / ((1 - inner) * (1 + inner))
    if not np.any(end):
        return slope
    side = np.where(x > 0, 1, np.cos(np.pi * (v + m + 1)))  # even or odd, for integer degrees
    plain = side * v * (v + 1) / 2
    twice = -side * (v - 1) * v * (v + 1) * (v + 2) / 4
    steep = side * np.inf
    limits = np.where(np.equal(m, 2), twice, np.where(np.equal(m, 1), steep, 0))
    return np.where(end, np.where(np.equal(m, 0), plain, limits), slope)[()]


elementwise(
    sp.lpmv, None, NoDerivative("the degree"), lambda y, m, v, x: _lpmv_slope(y, m, v, x),
    singular=True,
)  # fmt: skip


# ---- values stacked with their derivatives -------------------------------------------------------


def _next(f: Any, diff_n: int, args: tuple[Any, ...], third: Any, **options: Any) -> Any:
    """Return the derivative of ``f(*args, diff_n=diff_n)``, derivatives of orders 0 to `diff_n`.
    ``third(w, w′, w″)`` returns the third derivative, which SciPy does not compute."""
    if diff_n < 2:
        return f(*args, diff_n=diff_n + 1, **options)[1:]
    w = f(*args, diff_n=2, **options)
    return np.concatenate([w[1:], third(*w)[None]])


def _degrees(n: Any, ndim: int) -> Any:
    return np.reshape(np.arange(n + 1), (-1, *(1,) * ndim))


def _orders(m: Any, ndim: int) -> Any:
    """Return 0, 1, …, m, −m, …, −1: negative orders are indexed from the end."""
    m = abs(m)
    return np.reshape(np.r_[0 : m + 1, -m:0], (-1, *(1,) * ndim))


def _plain_third(n: Any, z: Any) -> Any:
    """Return 15 C⁽⁷ᐟ²⁾ of degree n − 3 (18.9.19), as a function for `_next`."""
    n = np.asarray(n)
    value = 15 * sp.eval_gegenbauer(np.maximum(n, 3) - 3, 3.5, z)
    return lambda *_: np.where(n < 3, 0, value)


def _associated_third(n: Any, m: Any, z: Any) -> Any:
    n, m = np.asarray(n), np.asarray(m)

    def third(w: Any, slope: Any, curvature: Any) -> Any:
        s = (1 - z) * (1 + z)
        turned = n * (n + 1) - 2 - m * m / s
        return (4 * z * curvature - turned * slope + 2 * m * m * z / (s * s) * w) / s

    return third


def _angular_third(n: Any, m: Any, theta: Any) -> Any:
    """Return the third derivative from w″ + cot θ w′ + (n(n+1) − m²/sin² θ) w = 0."""
    n, m = np.asarray(n), np.asarray(m)

    def third(w: Any, slope: Any, curvature: Any) -> Any:
        s, c = np.sin(theta), np.cos(theta)
        turned = (1 + m * m) / (s * s) - n * (n + 1)
        return turned * slope - c / s * curvature - 2 * m * m * c / s**3 * w

    return third


def _for_all(third: Callable[..., Any]) -> Callable[..., Any]:
    """Return `third` for all degrees up to n and all orders up to m."""
    return lambda n, m, z: third(_degrees(n, np.ndim(z) + 1), _orders(m, np.ndim(z)), z)


def _with_derivatives(name: str, signature: Any, third: Callable[..., Any]) -> None:
    """Register a function whose results are stacked with derivatives in its last operand.

    `signature` ends with ``diff_n``. ``third(*operands)`` returns the function for `_next`.
    """
    f = getattr(sp, name, None)
    if f is None:
        return
    parameters = inspect.signature(signature).parameters.values()
    operands = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    options = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY][:-1]

    def slope(*values: Any) -> Any:
        args, rest = values[: len(operands)], values[len(operands) :]
        return _next(f, rest[-1], args, third(*args), **dict(zip(options, rest, strict=False)))

    slope.__signature__ = inspect.signature(signature)  # type: ignore[attr-defined]
    pointwise(f, signature, **{operands[-1]: slope})


_PLAIN = lambda n, z, *, diff_n=0: None
_ASSOCIATED = lambda n, m, z, *, branch_cut=2, norm=False, diff_n=0: None
_ANGULAR = lambda n, m, theta, *, diff_n=0: None

_with_derivatives("legendre_p", _PLAIN, _plain_third)
_with_derivatives("legendre_p_all", _PLAIN, lambda n, z: _plain_third(_degrees(n, np.ndim(z)), z))
for _name, _signature, _third in (
    ("assoc_legendre_p", _ASSOCIATED, _associated_third),
    ("sph_legendre_p", _ANGULAR, _angular_third),
):
    _with_derivatives(_name, _signature, _third)
    _with_derivatives(f"{_name}_all", _signature, _for_all(_third))


# ---- spherical harmonics: value, gradient and Hessian in (θ, φ) ----------------------------------


def _harmonic_slopes(f: Any, n: Any, m: Any, args: Any, diff_n: int) -> tuple[Any, Any]:
    """Return slopes in θ and φ, shaped like the results of `f`; ∂/∂φ is i m (14.30.1)."""
    turn = 1j * m
    if diff_n == 0:
        _, gradient = f(*args, diff_n=1)
        return gradient[..., 0], gradient[..., 1]
    value, gradient, hessian = f(*args, diff_n=2)
    by_theta = [gradient[..., 0], Components(hessian[..., 0], 1)]
    by_phi = [turn * value, Components(turn[..., None] * gradient, 1)]
    if diff_n == 2:
        third = _angular_third(n, m, args[2])(value, gradient[..., 0], hessian[..., 0, 0])
        mixed, last = turn * hessian[..., 0, 0], turn * turn * gradient[..., 0]
        rows = np.stack([third, mixed], -1), np.stack([mixed, last], -1)
        by_theta.append(Components(np.stack(rows, -2), 2))
        by_phi.append(Components(turn[..., None, None] * hessian, 2))
    return tuple(by_theta), tuple(by_phi)


def _one(n: Any, m: Any, theta: Any, phi: Any, diff_n: int) -> tuple[Any, Any]:
    n, m, theta, phi = np.broadcast_arrays(n, m, theta, phi)
    return _harmonic_slopes(sp.sph_harm_y, n, m, (n, m, theta, phi), diff_n)


def _all(n: Any, m: Any, theta: Any, phi: Any, diff_n: int) -> tuple[Any, Any]:
    theta, phi = np.broadcast_arrays(theta, phi)
    orders = np.broadcast_to(_orders(m, theta.ndim), (n + 1, 2 * abs(m) + 1, *theta.shape))
    degrees = _degrees(n, theta.ndim + 1)
    return _harmonic_slopes(sp.sph_harm_y_all, degrees, orders, (n, m, theta, phi), diff_n)


if hasattr(sp, "sph_harm_y"):
    pointwise(
        sp.sph_harm_y,
        lambda n, m, theta, phi, *, diff_n=0: None,
        theta=lambda n, m, theta, phi, diff_n: _one(n, m, theta, phi, diff_n)[0],
        phi=lambda n, m, theta, phi, diff_n: _one(n, m, theta, phi, diff_n)[1],
    )
    pointwise(
        sp.sph_harm_y_all,
        lambda n, m, theta, phi, *, diff_n=0: None,
        theta=lambda n, m, theta, phi, diff_n: _all(n, m, theta, phi, diff_n)[0],
        phi=lambda n, m, theta, phi, diff_n: _all(n, m, theta, phi, diff_n)[1],
    )


def _older_harmonic(y: Any, m: Any, n: Any, theta: Any, phi: Any) -> Any:
    """Return the slope in the polar angle, here φ, from the next order (14.10.3)."""
    above = np.sqrt(np.maximum((n - m) * (n + m + 1.0), 0)) * np.exp(-1j * theta)
    higher = sp.sph_harm(np.minimum(m + 1, n), n, theta, phi)
    return m * y * np.cos(phi) / np.sin(phi) + above * higher


if hasattr(sp, "sph_harm"):
    pointwise(
        sp.sph_harm,
        "m n theta phi",
        theta=lambda y, m: 1j * np.asarray(m) * y,
        phi=lambda y, m, n, theta, phi: _older_harmonic(y, m, n, theta, phi),
    )


# ---- older names: values and first derivatives of all degrees and orders -------------------------


def _sequence_slopes(y: Any, z: Any, orders: Any = 0) -> tuple[Any, Any]:
    """Return slopes from (1−z²) w″ = 2 z w′ − (n(n+1) − m²/(1−z²)) w."""
    n = _degrees(y[0].shape[-1 - np.ndim(z)] - 1, np.ndim(z))
    s = (1 - z) * (1 + z)
    return y[1], (2 * z * y[1] - (n * (n + 1) - orders * orders / s) * y[0]) / s


def _with_orders(y: Any, m: Any, z: Any) -> tuple[Any, Any]:
    return _sequence_slopes(y, z, np.reshape(np.arange(abs(m) + 1), (-1, *(1,) * (np.ndim(z) + 1))))


pointwise(sp.lqn, z=lambda y, z: _sequence_slopes(y, z))
pointwise(sp.lqmn, z=lambda y, m, z: _with_orders(y, m, z))
if hasattr(sp, "lpn"):
    pointwise(sp.lpn, z=lambda y, z: _sequence_slopes(y, z))
if hasattr(sp, "lpmn"):
    pointwise(sp.lpmn, z=lambda y, m, z: _with_orders(y, m, z))
if hasattr(sp, "clpmn"):
    pointwise(sp.clpmn, z=lambda y, m, z: _with_orders(y, m, z))
