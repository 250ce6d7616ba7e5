"""Rules of `operator` and of the ufuncs that are the same functions: Python's arithmetic.

They take numbers and arrays. ``+`` of two lists, ``*`` of a list and a number, ``%`` of a string
and operators defined by classes are other functions.
"""

from __future__ import annotations

import cmath
import math
import operator
from typing import Any

import numpy as np

from adjoint.cotangents.finiteness import finite
from adjoint.rulekit.elementwise_forward import filled
from adjoint.rulekit.families import elementwise
from adjoint.rulekit.partials import Traits, is_constant, numeric_operands
from adjoint.rulekit.projection import projector
from adjoint.rulekit.registry import frule, non_differentiable, rrule
from adjoint.rulekit.scalar_lanes import of_a_number


def _quotient_bars(y_bar: Any, y: Any, b: Any) -> Any:
    """Return the cotangents of a / b, or None if an intermediate may have overflowed."""
    a_bar = y_bar / b
    b_bar = a_bar * y
    np.negative(b_bar, b_bar)
    return (a_bar, b_bar) if finite(b_bar) else None


elementwise(operator.pos, 1, also=(np.positive,))
elementwise(operator.neg, -1, also=(np.negative,))
elementwise(operator.add, 1, 1, also=(np.add,))
elementwise(operator.sub, 1, -1, also=(np.subtract,))
elementwise(operator.mul, lambda y, a, b: b, lambda y, a, b: a, also=(np.multiply,), singular=True)
elementwise(
    operator.truediv,
    lambda y, a, b: 1 / b,
    lambda y, a, b: -y / b,
    also=(np.true_divide,),
    singular=True,
    quick=lambda y_bar, y, a, b: _quotient_bars(y_bar, y, b),
)


# ---- powers --------------------------------------------------------------------------------------


_NUMBER = (float, int)  # with `np.float64`


def base_slope(y: Any, a: Any, b: Any) -> Any:
    """Return ∂(aᵇ)/∂a = b aᵇ⁻¹, which is 0 for b = 0, also at a = 0.

    The shortcut of a constant exponent is not differentiable in b.
    """
    if type(b) is int and is_constant(b):
        return 2 * a if b == 2 else b * a ** (b - 1) if b else 0.0
    if isinstance(b, _NUMBER) or np.ndim(b) == 0:
        return _slope_at_zero(a, b) if b == 0 else b * a ** (b - 1)
    zero = np.equal(b, 0)
    if not zero.any():
        return b * a ** (b - 1)
    return np.where(zero, _slope_at_zero(a, b), b * a ** np.where(zero, 1, b - 1))


def _slope_at_zero(a: Any, b: Any) -> Any:
    """Return b aᵇ / a for b = 0: the value is 0, but its derivative in b is not."""
    if isinstance(a, _NUMBER):
        return b / a * a**b if a else 0.0
    zero = np.equal(a, 0)
    a = np.where(zero, 1, a)
    return np.where(zero, 0, b / a * a**b)


def exponent_slope(y: Any, a: Any, b: Any) -> Any:
    """Return ∂(aᵇ)/∂b = aᵇ log a, taken as 0 at a = 0 (0 log 0 = 0)."""
    if isinstance(a, _NUMBER) and (isinstance(y, float) or not np.iscomplexobj(y)):
        # for a < 0, the real part of the derivative of the complex power
        return y * math.log(abs(a)) if a else 0.0
    if type(y) is complex:
        return y * cmath.log(a)
    zero = np.equal(a, 0)
    a = np.where(zero, 1, a)
    if not np.iscomplexobj(y):
        return np.where(zero, 0, y * np.log(np.abs(a)))
    return np.where(zero, 0, y * np.log(a.astype(y.dtype)))


elementwise(
    operator.pow, base_slope, exponent_slope, also=(np.power, np.float_power), singular=True
)


# ---- division with remainder: between the jumps the quotient is constant -------------------------

elementwise(operator.mod, 1, lambda y, a, b: -(a // b), also=(np.remainder,), singular=True)
elementwise(np.fmod, 1, lambda y, a, b: np.rint((y - a) / b), singular=True)
elementwise(operator.floordiv, None, None, also=(np.floor_divide,))


def _divmod(f: Any) -> None:
    traits = Traits.of(f)

    @rrule.register(f)
    def divmod_rule(a, b, /):
        if numeric_operands(traits, (a, b)) is None:
            return NotImplemented
        quotient, remainder = f(a, b)
        to_a, to_b = projector(a), projector(b)

        def divmod_back(y_bar):
            if y_bar[1] is None:
                return None, None, None
            return None, to_a(y_bar[1]), to_b(-quotient * y_bar[1])

        return (quotient, remainder), divmod_back

    @frule.register(f)
    def divmod_forward(dots, a, b, /):
        if numeric_operands(traits, (a, b)) is None:
            return NotImplemented
        quotient, remainder = f(a, b)
        a_dot, b_dot = dots
        y_dot = np.zeros(np.shape(remainder))
        if a_dot is not None:
            y_dot = y_dot + filled(a_dot, a)
        if b_dot is not None:
            y_dot = y_dot - quotient * filled(b_dot, b)
        return (quotient, remainder), (None, y_dot)


_divmod(divmod)
_divmod(np.divmod)


# ---- the absolute value --------------------------------------------------------------------------


def direction(y: Any, x: Any) -> Any:
    """Return x / |x|, the gradient of |x|, taken as 0 at 0."""
    if isinstance(x, _NUMBER):
        return 1.0 if x > 0 else -1.0 if x < 0 else 0.0 * x
    if np.iscomplexobj(x):
        return over(x, np.where(np.equal(y, 0), 1, y))
    return np.sign(x)


def over(z: Any, r: Any) -> Any:
    """Divide complex `z` by real `r`, part by part: NumPy's reciprocal of `r` may overflow."""
    found = np.empty(np.broadcast_shapes(np.shape(z), np.shape(r)), np.asarray(z).dtype)
    np.divide(np.real(z), r, out=found.real)
    np.divide(np.imag(z), r, out=found.imag)
    return found[()]


elementwise(operator.abs, direction, also=(abs, np.absolute), real_valued=True)
of_a_number(abs)
elementwise(np.fabs, direction)


# ---- integers, truth values ----------------------------------------------------------------------

for _f in (operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift):
    elementwise(_f, None, None)  # only of numbers: sets and dicts have these operators too
elementwise(operator.invert, None)
non_differentiable(
    operator.eq,
    operator.ge,
    operator.gt,
    operator.index,
    operator.is_,
    operator.is_not,
    operator.le,
    operator.length_hint,
    operator.lt,
    operator.ne,
    operator.not_,
    operator.truth,
)
