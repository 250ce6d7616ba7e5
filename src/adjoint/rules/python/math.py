"""Rules of `math`: real functions of real numbers, which give Python floats."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.ir.primitives import begin
from adjoint.rulekit.families import elementwise
from adjoint.rulekit.projection import is_numeric, project
from adjoint.rulekit.registry import frule, non_differentiable, rrule, substitute
from adjoint.rulekit.scalar_lanes import of_a_number
from adjoint.rules.python.math_arguments import real
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
    return math.nextafter(x, towards, **options), _real(dots[0])


def _real(x: Any) -> Any:
    """Return the real part of a number or of its tangent, which is all that `math` reads."""
    return x.real if isinstance(x, complex | np.ndarray) else x


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
    return math.modf(x), None if dots[0] is None else (_real(dots[0]), 0.0)


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
    dot = _real(dots[0])
    return (mantissa, exponent), None if dot is None else (dot * 2.0**-exponent, None)


# ---- any number of operands ----------------------------------------------------------------------


@rrule.register(math.hypot)
def _(*coordinates):
    if not all(map(is_numeric, coordinates)):
        return NotImplemented
    y = math.hypot(*coordinates)

    def hypot_back(y_bar):
        scale = y_bar / y if y else 0.0  # the norm has slope 0 at 0
        return None, *(project(scale * _real(x), x) for x in coordinates)

    return y, hypot_back


@frule.register(math.hypot)
def _(dots, *coordinates):
    y, y_dot = math.hypot(*coordinates), 0.0
    for x, x_dot in zip(coordinates, dots, strict=True):
        if x_dot is not None and y:
            y_dot = y_dot + _real(x) / y * _real(x_dot)
    return y, y_dot


def _is_vector(xs: Any) -> bool:
    """Return whether `xs` is a sequence of numbers that can be read twice."""
    if isinstance(xs, np.ndarray):
        return xs.ndim == 1 and is_numeric(xs)
    return isinstance(xs, list | tuple) and all(is_numeric(x) and np.ndim(x) == 0 for x in xs)


def _like(bars: list[float], xs: Any) -> Any:
    """Pack one cotangent per element into a cotangent of the sequence `xs`."""
    if isinstance(xs, np.ndarray):
        return project(np.array(bars), xs)
    items = [project(bar, x) for bar, x in zip(bars, xs, strict=True)]
    return items if isinstance(xs, list) else tuple(items)


def _pairs(dots: Any, xs: Any) -> Any:
    """Return pairs of an element and its tangent, for the elements that have one."""
    if dots is None:
        return []
    return [(x, x_dot) for x, x_dot in zip(xs, dots, strict=True) if x_dot is not None]


def _real_pairs(dots: Any, xs: Any) -> Any:
    """Return `_pairs` with the real parts of the tangents."""
    return [(x, _real(x_dot)) for x, x_dot in _pairs(dots, xs)]


def _gaps(p, q):
    """Return the differences of coordinates; NumPy cannot subtract its booleans."""
    return [
        _real(a) - (int(b) if type(b) is np.bool_ else _real(b)) for a, b in zip(p, q, strict=True)
    ]


@rrule.register(math.dist)
def _(p, q, /):
    if not (_is_vector(p) and _is_vector(q)):
        return NotImplemented
    y = math.dist(p, q)

    def dist_back(y_bar):
        scale = y_bar / y if y else 0.0
        bars = [scale * gap for gap in _gaps(p, q)]
        return None, _like(bars, p), _like([-bar for bar in bars], q)

    return y, dist_back


@frule.register(math.dist)
def _(dots, p, q, /):
    if not (_is_vector(p) and _is_vector(q)):
        return NotImplemented
    y, y_dot = math.dist(p, q), 0.0
    if y:
        gaps = [gap / y for gap in _gaps(p, q)]
        for gap, a_dot in _real_pairs(dots[0], gaps):
            y_dot = y_dot + gap * a_dot
        for gap, b_dot in _real_pairs(dots[1], gaps):
            y_dot = y_dot - gap * b_dot
    return y, y_dot


@substitute(math.dist)
def _dist(p, q, /):
    """Compute the distance of iterables, or of objects with ``__float__``."""
    p, q = tuple(p), tuple(q)
    if len(p) != len(q):
        raise ValueError("both points must have the same number of dimensions")
    return math.hypot(*[float(a) - float(b) for a, b in zip(p, q, strict=True)])


@rrule.register(math.fsum)
def _(xs, /):
    if not _is_vector(xs):
        return NotImplemented
    return math.fsum(xs), lambda y_bar: (None, _like([y_bar] * len(xs), xs))


@frule.register(math.fsum)
def _(dots, xs, /):
    if not _is_vector(xs):
        return NotImplemented
    return math.fsum(xs), None if dots[0] is None else math.fsum(
        [dot for _, dot in _real_pairs(dots[0], xs)]
    )


@substitute(math.fsum)
def _fsum(xs, /):
    """Sum an iterator, or objects with ``__float__``."""
    return math.fsum([real(x) for x in xs])


@rrule.register(math.prod, keyword_bars=True)
def _(xs, /, *, start=1):
    if not (_is_vector(xs) and is_numeric(start) and np.ndim(start) == 0):
        return NotImplemented
    y = math.prod(xs, start=start)

    def prod_back(y_bar):
        before = _running_products(xs)
        after = _running_products(list(xs)[::-1])[::-1]
        slopes = [start * before[i] * after[i + 1] for i in range(len(xs))]
        bars = [y_bar * slope.conjugate() for slope in slopes]
        return None, _like(bars, xs), {"start": project(y_bar * before[-1].conjugate(), start)}

    return y, prod_back


def _running_products(xs: Any) -> list[Any]:
    products = [1]
    for x in xs:
        products.append(products[-1] * x)
    return products


@frule.register(math.prod)
def _(dots, xs, /, *, start=1):
    if not (_is_vector(xs) and is_numeric(start) and np.ndim(start) == 0):
        return NotImplemented
    y, y_dot = start, 0.0
    x_dots = [None] * len(xs) if dots[0] is None else dots[0]
    for x, x_dot in zip(xs, x_dots, strict=True):
        y_dot = y_dot * x if x_dot is None else y_dot * x + y * x_dot
        y = y * x
    return y, y_dot


@substitute(math.prod)
def _prod(xs, /, *, start=1):
    """Multiply the elements of an iterator, or arrays or objects with ``__mul__``."""
    y = start
    for x in xs:
        y = y * x
    return y


_END = object()

sumprod: Any = getattr(math, "sumprod", None)  # new in Python 3.12

if sumprod is not None:

    @rrule.register(sumprod)
    def _(p, q, /):
        if not (_is_vector(p) and _is_vector(q)):
            return NotImplemented
        y = sumprod(p, q)
        return y, lambda y_bar: (
            None,
            _like([y_bar * b.conjugate() for b in q], p),
            _like([y_bar * a.conjugate() for a in p], q),
        )

    @frule.register(sumprod)
    def _(dots, p, q, /):
        if not (_is_vector(p) and _is_vector(q)):
            return NotImplemented
        y_dot = 0.0
        for b, a_dot in _pairs(dots[0], q):
            y_dot = y_dot + b * a_dot
        for a, b_dot in _pairs(dots[1], p):
            y_dot = y_dot + a * b_dot
        return sumprod(p, q), y_dot

    @substitute(sumprod)
    def _sumprod(p, q, /):
        """Sum the products of iterables, or of objects with ``__mul__``."""
        p, q = _side_by_side(begin(p), begin(q))
        if _is_vector(p) and _is_vector(q):
            return sumprod(p, q)
        total = 0
        for a, b in zip(p, q, strict=True):
            total = total + a * b
        return total

    def _side_by_side(ps: Any, qs: Any) -> tuple[list[Any], list[Any]]:
        """List the elements of two iterators, which are advanced in turn."""
        p: list[Any] = []
        q: list[Any] = []
        while True:
            a, b = next(ps, _END), next(qs, _END)
            if (a is _END) is not (b is _END):
                raise ValueError("Inputs are not the same length")
            if a is _END:
                return p, q
            p.append(a)
            q.append(b)


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
