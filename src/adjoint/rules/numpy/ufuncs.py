"""Rules of NumPy's universal functions, other than those that are operators of Python.

Partials are marked singular if they or their intermediates can overflow, also those of ``exp`` and
``square``, since 0 times infinity must stay 0 in a branch that was not selected.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.rulekit.elementwise_forward import filled
from adjoint.rulekit.families import elementwise
from adjoint.rulekit.matmul import bilinear
from adjoint.rulekit.projection import as_numeric, projector
from adjoint.rulekit.registry import frule, non_differentiable, rrule
from adjoint.rulekit.tangents import steady_in

LN2, LN10 = math.log(2.0), math.log(10.0)


# ---- exponentials, powers, logarithms ------------------------------------------------------------

elementwise(np.exp, lambda y, x: y, singular=True)
elementwise(np.exp2, lambda y, x: y * LN2, singular=True)
elementwise(np.expm1, lambda y, x: y + 1, singular=True)
elementwise(
    np.log,
    lambda y, x: 1 / x,
    singular=True,
    quick=lambda y_bar, y, x: y_bar / x,
)
elementwise(
    np.log2,
    lambda y, x: 1 / (x * LN2),
    singular=True,
    quick=lambda y_bar, y, x: y_bar / (x * LN2),
)
elementwise(
    np.log10,
    lambda y, x: 1 / (x * LN10),
    singular=True,
    quick=lambda y_bar, y, x: y_bar / (x * LN10),
)
elementwise(
    np.log1p,
    lambda y, x: 1 / (1 + x),
    singular=True,
    quick=lambda y_bar, y, x: y_bar / (1 + x),
)
elementwise(np.sqrt, lambda y, x: 0.5 / y, singular=True)
elementwise(np.cbrt, lambda y, x: 1 / (3 * y * y), singular=True)
elementwise(np.square, lambda y, x: 2 * x, singular=True)
elementwise(np.reciprocal, lambda y, x: -y * y, singular=True)


def _share(power: Any, y: Any, a: Any, b: Any) -> Any:
    """Return the share of `a` in the sum; if that is infinite, 1 or 0, or 1/2 if `a` equals `b`."""
    if np.all(np.isfinite(y)):
        return power(a - y)
    is_infinite = np.isinf(y)
    share = power(np.where(is_infinite, -np.inf, a - np.where(is_infinite, 0.0, y)))
    share = np.where(is_infinite & np.equal(a, y), 1.0, share)
    return np.where(is_infinite & np.equal(a, b), 0.5, share)[()]


elementwise(
    np.logaddexp,
    lambda y, a, b: _share(np.exp, y, a, b),
    lambda y, a, b: _share(np.exp, y, b, a),
    singular=True,
)
elementwise(
    np.logaddexp2,
    lambda y, a, b: _share(np.exp2, y, a, b),
    lambda y, a, b: _share(np.exp2, y, b, a),
    singular=True,
)


# ---- trigonometric and hyperbolic functions ------------------------------------------------------


def _arc_slope(x: Any, f: Any, y: Any) -> Any:
    """Return the root of 1 - x², for complex x on the branch of `y`, also at the cuts."""
    return f(y) if np.iscomplexobj(x) else np.sqrt((1 - x) * (1 + x))


elementwise(np.sin, lambda y, x: np.cos(x), singular=True)
elementwise(np.cos, lambda y, x: -np.sin(x), singular=True)
elementwise(np.tan, lambda y, x: 1 + y * y, singular=True)
elementwise(np.arcsin, lambda y, x: 1 / _arc_slope(x, np.cos, y), singular=True)
elementwise(np.arccos, lambda y, x: -1 / _arc_slope(x, np.sin, y), singular=True)


def _ratio(y_bar: Any, divisor: Any) -> Any:
    """Divide by a temporary array, in place."""
    return np.divide(y_bar, divisor, out=divisor)


elementwise(
    np.arctan,
    lambda y, x: 1 / (1 + x * x),
    singular=True,
    quick=lambda y_bar, y, x: _ratio(y_bar, 1 + x * x),
)
elementwise(np.sinh, lambda y, x: np.cosh(x), singular=True)
elementwise(np.cosh, lambda y, x: np.sinh(x), singular=True)
elementwise(np.tanh, lambda y, x: 1 - y * y)


def _arcsinh_slope(x: Any) -> Any:
    return 1 / (np.sqrt(1 + x * x) if np.iscomplexobj(x) else np.hypot(1.0, x))


elementwise(np.arcsinh, lambda y, x: _arcsinh_slope(x), singular=True)
# not the root of a product, which is on another branch for complex x
elementwise(np.arccosh, lambda y, x: 1 / (np.sqrt(x - 1) * np.sqrt(x + 1)), singular=True)
elementwise(np.arctanh, lambda y, x: 1 / ((1 - x) * (1 + x)), singular=True)
elementwise(np.degrees, 180 / math.pi, also=(np.rad2deg,))
elementwise(np.radians, math.pi / 180, also=(np.deg2rad,))


def _scaled(slope: Any, y_bar: Any) -> Any:
    """Multiply a temporary slope by the cotangent, in place."""
    slope *= y_bar
    return slope


def _hypot_slope(y: Any, x: Any) -> Any:
    """Return x / y, taken as 0 at the origin."""
    return x / np.where(np.equal(y, 0), 1, y)


def _arctan2_slope(a: Any, b: Any) -> Any:
    """Return ∂ arctan2(a, b) / ∂a, scaled so that squares do not overflow."""
    r = np.hypot(a, b)
    return b / r / r


elementwise(
    np.hypot,
    lambda y, a, b: _hypot_slope(y, a),
    lambda y, a, b: _hypot_slope(y, b),
    quick=lambda y_bar, y, a, b: (_scaled(a / y, y_bar), _scaled(b / y, y_bar)),
)
elementwise(
    np.arctan2,
    lambda y, a, b: _arctan2_slope(a, b),
    lambda y, a, b: -_arctan2_slope(b, a),
    singular=True,
)


# ---- extrema: a tie is shared equally ------------------------------------------------------------


def _share_of_greater(a: Any, b: Any) -> Any:
    ties, greater = np.equal(a, b), np.greater(a, b)
    return np.where(ties, 0.5, greater) if np.count_nonzero(ties) else greater


def _share_of_number(a: Any, b: Any) -> Any:
    """Return `_share_of_greater`, with NaN as missing."""
    return np.where(np.equal(a, b), 0.5, np.greater(a, b) | np.isnan(b))


elementwise(
    np.maximum,
    lambda y, a, b: _share_of_greater(a, b),
    lambda y, a, b: _share_of_greater(b, a),
    selects=np.greater,
)
elementwise(
    np.minimum,
    lambda y, a, b: _share_of_greater(b, a),
    lambda y, a, b: _share_of_greater(a, b),
    selects=np.less,
)
elementwise(
    np.fmax,
    lambda y, a, b: _share_of_number(a, b),
    lambda y, a, b: _share_of_number(b, a),
    selects=True,
)
elementwise(
    np.fmin,
    lambda y, a, b: _share_of_number(-a, -b),
    lambda y, a, b: _share_of_number(-b, -a),
    selects=True,
)


# ---- parts of numbers ----------------------------------------------------------------------------

elementwise(np.copysign, lambda y, a, b: np.sign(a) * np.copysign(1, b), None)
elementwise(np.heaviside, None, lambda y, a, b: 1.0 * np.equal(a, 0))
elementwise(np.ldexp, lambda y, a, b: np.exp2(b), None, singular=True)
elementwise(np.nextafter, 1, None)


@rrule.register(np.conjugate, trusted=True)
def _(x, /):
    if as_numeric(x) is None:
        return NotImplemented
    to_x = projector(x)
    return np.conjugate(x), lambda y_bar: (None, to_x(np.conjugate(y_bar)))


@frule.register(np.conjugate, trusted=True)
def _(dots, x, /):
    if as_numeric(x) is None:
        return NotImplemented
    return np.conjugate(x), None if dots[0] is None else np.conjugate(filled(dots[0], x))


SIGN_IS_DIRECTION = np.sign(1j) == 1j
"""True if the sign of a complex number is x / |x|, as it is since NumPy 2."""


steady_in(np.sign)


def _turn(y: Any, x: Any, x_dot: Any) -> Any:
    """Return the derivative of x / |x| along `x_dot`, a map that is its own adjoint."""
    r = np.where(np.equal(x, 0), np.inf, np.abs(x))
    return (x_dot - y * np.real(np.conj(y) * x_dot)) / r


@rrule.register(np.sign, trusted=True)
def _(x, /):
    value = as_numeric(x)
    if value is None:
        return NotImplemented
    y = np.sign(x)
    if not (SIGN_IS_DIRECTION and np.iscomplexobj(value)):
        return y, lambda y_bar: (None, None)
    to_x = projector(x)
    return y, lambda y_bar: (None, to_x(_turn(y, value, y_bar)))


@frule.register(np.sign, trusted=True)
def _(dots, x, /):
    y = np.sign(x)
    if dots[0] is None or not (SIGN_IS_DIRECTION and np.iscomplexobj(x)):
        return y, None
    return y, _turn(y, x, filled(dots[0], x))


# ---- two results ---------------------------------------------------------------------------------


@rrule.register(np.modf)
def _(x, /):
    if as_numeric(x) is None:
        return NotImplemented
    to_x = projector(x)
    return np.modf(x), lambda y_bar: (None, None if y_bar[0] is None else to_x(y_bar[0]))


@frule.register(np.modf)
def _(dots, x, /):
    y = np.modf(x)
    return y, None if dots[0] is None else (filled(dots[0], x), np.zeros(np.shape(y[1])))


@rrule.register(np.frexp)
def _(x, /):
    if as_numeric(x) is None:
        return NotImplemented
    to_x = projector(x)
    mantissa, exponent = np.frexp(x)

    def frexp_back(y_bar):
        return None, None if y_bar[0] is None else to_x(np.ldexp(y_bar[0], -exponent))

    return (mantissa, exponent), frexp_back


@frule.register(np.frexp)
def _(dots, x, /):
    mantissa, exponent = np.frexp(x)
    if dots[0] is None:
        return (mantissa, exponent), None
    return (mantissa, exponent), (np.ldexp(filled(dots[0], x), -exponent), None)


# ---- products over axes (NumPy 2) ----------------------------------------------------------------

if hasattr(np, "vecdot"):  # Σ conj(a) b
    bilinear(
        np.vecdot,
        lambda y_bar, a, b: np.expand_dims(np.conj(y_bar), -1) * b,
        lambda y_bar, a, b: np.expand_dims(y_bar, -1) * a,
    )
if hasattr(np, "matvec"):
    bilinear(
        np.matvec,
        lambda y_bar, a, b: y_bar[..., None] * np.conj(b)[..., None, :],
        lambda y_bar, a, b: np.matmul(np.conj(np.swapaxes(a, -1, -2)), y_bar[..., None])[..., 0],
    )
    bilinear(  # conj(a) b
        np.vecmat,
        lambda y_bar, a, b: np.matmul(b, np.conj(y_bar)[..., None])[..., 0],
        lambda y_bar, a, b: a[..., None] * y_bar[..., None, :],
    )


# ---- integers, truth values, steps ---------------------------------------------------------------

non_differentiable(
    *(
        getattr(np, name)
        for name in """
        bitwise_and bitwise_count bitwise_or bitwise_xor ceil equal floor gcd greater greater_equal
        invert isfinite isinf isnan isnat lcm left_shift less less_equal logical_and logical_not
        logical_or logical_xor not_equal right_shift rint signbit spacing trunc
        """.split()
        if hasattr(np, name)
    )
)
