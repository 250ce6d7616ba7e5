"""Rules of `math`: real functions of real numbers, which give Python floats."""

from __future__ import annotations

import math
from typing import Any

from adjoint.rulekit.families import elementwise
from adjoint.rulekit.projection import is_numeric, project
from adjoint.rulekit.registry import frule, non_differentiable, rrule
from adjoint.rulekit.scalar_lanes import of_a_number
from adjoint.rules.python import math_of_many as math_of_many
from adjoint.rules.python.math_arguments import real_part
from adjoint.rules.python.operators import base_slope, direction

LN2, LN10 = math.log(2.0), math.log(10.0)


def _inverse(x: float) -> float:
    """Return 1 / x for x ≥ 0, infinite at 0."""
    return 1.0 / x if x else math.inf


# ---- one operand ---------------------------------------------------------------------------------

elementwise(math.sin, lambda y, x: math.cos(x))
elementwise(math.cos, lambda y, x: -math.sin(x))
elementwise(math.tan, lambda y, x: 1.0 + y * y)
elementwise(math.asin, lambda y, x: _inverse(math.sqrt((1.0 - x) * (1.0 + x))))
elementwise(math.acos, lambda y, x: -_inverse(math.sqrt((1.0 - x) * (1.0 + x))))
elementwise(math.atan, lambda y, x: 1.0 / (1.0 + x * x))
elementwise(math.sinh, lambda y, x: math.cosh(x))
elementwise(math.cosh, lambda y, x: math.sinh(x))
elementwise(math.tanh, lambda y, x: 1.0 - y * y)
elementwise(math.asinh, lambda y, x: 1.0 / math.hypot(1.0, x))
elementwise(math.acosh, lambda y, x: _inverse(math.sqrt((x - 1.0) * (x + 1.0))))
elementwise(math.atanh, lambda y, x: 1.0 / ((1.0 - x) * (1.0 + x)))
elementwise(math.exp, lambda y, x: y)
elementwise(math.exp2, lambda y, x: y * LN2)
elementwise(math.expm1, lambda y, x: y + 1.0)
elementwise(math.log, lambda y, x: 1.0 / x)
elementwise(math.log2, lambda y, x: 1.0 / (x * LN2))
elementwise(math.log10, lambda y, x: 1.0 / (x * LN10))
elementwise(math.log1p, lambda y, x: 1.0 / (1.0 + x))
elementwise(math.sqrt, lambda y, x: 0.5 / y)
elementwise(math.cbrt, lambda y, x: 1.0 / (3.0 * y * y))
elementwise(math.fabs, direction)
elementwise(math.degrees, 180.0 / math.pi)
elementwise(math.radians, math.pi / 180.0)
elementwise(math.erf, lambda y, x: 2.0 / math.sqrt(math.pi) * math.exp(-x * x))
elementwise(math.erfc, lambda y, x: -2.0 / math.sqrt(math.pi) * math.exp(-x * x))
elementwise(math.gamma, lambda y, x: y * digamma(x))
elementwise(math.lgamma, lambda y, x: digamma(x))
for _f in (math.ceil, math.floor, math.trunc):
    elementwise(_f, None)


def digamma(x: float) -> float:
    """Return ψ = Γ'/Γ by reflection to x > 0, recurrence to x ≥ 10 and the asymptotic series.

    References
    ----------
    Abramowitz & Stegun, *Handbook of Mathematical Functions*, 6.3.5, 6.3.7, 6.3.18.
    """
    if x == -math.inf:
        return math.nan  # ψ takes every real value between any two poles
    shift = 0.0
    if x <= 0.0:
        shift = math.pi / math.tan(math.pi * (x - round(x)))
        x = 1.0 - x
    while x < 10.0:
        shift += 1.0 / x
        x += 1.0
    z = 1.0 / (x * x)
    series = z * (
        1 / 12 - z * (1 / 120 - z * (1 / 252 - z * (1 / 240 - z * (1 / 132 - z * 691 / 32760))))
    )
    return math.log(x) - 0.5 / x - series - shift


def trigamma(x: float) -> float:
    """Return ψ' by reflection, recurrence and the asymptotic series, as `digamma`."""
    if x == -math.inf:
        return math.nan
    sign = 1.0
    shift = 0.0
    if x <= 0.0:
        shift = (math.pi / math.sin(math.pi * (x - round(x)))) ** 2
        x = 1.0 - x
        sign = -1.0
    while x < 10.0:
        shift += sign / (x * x)
        x += 1.0
    z = 1.0 / (x * x)
    series = z * (
        1 / 6
        - z * (1 / 30 - z * (1 / 42 - z * (1 / 30 - z * (5 / 66 - z * (691 / 2730 - z * 7 / 6)))))
    )
    return shift + sign * (1.0 + 0.5 / x + series) / x


elementwise(digamma, lambda y, x: trigamma(x))


# ---- two and three operands ----------------------------------------------------------------------


def _atan2_slope(a: float, b: float) -> float:
    """∂ atan2(a, b) / ∂a; scaled, so that squares do not overflow."""
    r = math.hypot(a, b)
    return b / r / r if r else math.nan


def _quotient_slope(y: Any, a: Any, b: Any) -> float:
    """Return ∂(a - n b)/∂b for the integer n of the remainder."""
    if not math.isfinite(b):
        return 0.0
    slope = (y - a) / b
    return float(round(slope)) if math.isfinite(slope) else slope  # b may be tiny


def _pow_exponent_slope(y: Any, a: Any, b: Any) -> float:
    """aᵇ log |a|, and 0 at a = 0, as for ``**``."""
    return y * math.log(abs(a)) if a else 0.0


elementwise(
    math.log,
    lambda y, a, b: 1.0 / (a * math.log(b)),
    lambda y, a, b: -y / (b * math.log(b)),
)
elementwise(math.pow, base_slope, _pow_exponent_slope)
elementwise(math.atan2, lambda y, a, b: _atan2_slope(a, b), lambda y, a, b: -_atan2_slope(b, a))
elementwise(math.fmod, 1, _quotient_slope)
elementwise(math.remainder, 1, _quotient_slope)
elementwise(math.copysign, lambda y, a, b: direction(y, a) * math.copysign(1.0, b), None)
elementwise(math.ldexp, lambda y, a, b: 2.0**b, None)
if hasattr(math, "fma"):
    elementwise(math.fma, lambda y, a, b, c: b, lambda y, a, b, c: a, 1)


@rrule.register(math.nextafter)
def _(x, towards, /, *, steps=None):
    if not (is_numeric(x) and is_numeric(towards)):
        return NotImplemented
    options = {} if steps is None else {"steps": steps}
    y = math.nextafter(x, towards, **options)
    return y, lambda y_bar: (None, project(y_bar, x), None)


@frule.register(math.nextafter)
def _(dots, x, towards, /, *, steps=None):
    options = {} if steps is None else {"steps": steps}
    return math.nextafter(x, towards, **options), real_part(dots[0])


# ---- two results ---------------------------------------------------------------------------------


@rrule.register(math.modf)
def _(x, /):
    if not is_numeric(x):
        return NotImplemented

    def modf_back(y_bar):
        return None, None if y_bar[0] is None else project(y_bar[0], x)

    return math.modf(x), modf_back


@frule.register(math.modf)
def _(dots, x, /):
    return math.modf(x), None if dots[0] is None else (real_part(dots[0]), 0.0)


@rrule.register(math.frexp)
def _(x, /):
    if not is_numeric(x):
        return NotImplemented
    mantissa, exponent = math.frexp(x)

    def frexp_back(y_bar):
        return None, None if y_bar[0] is None else project(y_bar[0] * 2.0**-exponent, x)

    return (mantissa, exponent), frexp_back


@frule.register(math.frexp)
def _(dots, x, /):
    mantissa, exponent = math.frexp(x)
    dot = real_part(dots[0])
    return (mantissa, exponent), None if dot is None else (dot * 2.0**-exponent, None)


non_differentiable(
    math.comb,
    math.factorial,
    math.gcd,
    math.isclose,
    math.isfinite,
    math.isinf,
    math.isnan,
    math.isqrt,
    math.lcm,
    math.perm,
    math.ulp,
)

of_a_number(
    math.sin,
    math.cos,
    math.tan,
    math.atan,
    math.sinh,
    math.cosh,
    math.tanh,
    math.exp,
    math.expm1,
    math.log,
    math.log1p,
    math.sqrt,
)
