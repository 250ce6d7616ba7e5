"""Rules of the builtin functions of numbers, of the types of numbers, and of their methods.

Rules take numbers and arrays; for other objects, substitutes call the object's own method.
"""

from __future__ import annotations

import operator
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.primal.special_methods import special_of
from adjoint.primal.value_kinds import plain_number
from adjoint.rulekit.families import elementwise
from adjoint.rulekit.projection import is_numeric, project, projector
from adjoint.rulekit.registry import frule, non_differentiable, primitive, rrule, substitute
from adjoint.rules.python import operators
from adjoint.runtime.dispatch.number_protocols import check_number
from adjoint.runtime.dispatch.plain_numbers import plain_on


def _has_own(x: Any, special: str) -> bool:
    """Return whether the class of `x` defines the method in Python."""
    return type(special_of(type(x), special)) is FunctionType


class _ABSENT:
    """The default of an argument that was not given: it has no cotangent."""


# ---- functions -----------------------------------------------------------------------------------

elementwise(pow, operators.base_slope, operators.exponent_slope, singular=True)


@rrule.register(pow, trusted=True)
def _(base: int, exp: int, mod: int, /):
    return pow(base, exp, mod), lambda y_bar: (None, None, None, None)


@substitute(pow)
def _pow(base, exp, mod=None):
    """Raise an object with ``__pow__`` to a power."""
    return base**exp if mod is None else type(base).__pow__(base, exp, mod)


@substitute(abs, operator.abs)
def _abs(x, /):
    """Call ``__abs__`` of an object."""
    method = special_of(type(x), "__abs__")
    if method is None:
        raise TypeError(f"bad operand type for abs(): {type(x).__name__!r}")
    return method(x)


@rrule.register(round, trusted=True)
def _(number, ndigits=_ABSENT):
    """Round a number, which is a step function."""
    if _has_own(number, "__round__"):
        return NotImplemented
    if ndigits is _ABSENT:
        return round(number), lambda y_bar: (None, None)
    return round(number, ndigits), lambda y_bar: (None, None, None)


@frule.register(round)
def _(dots, number, ndigits=None):
    return NotImplemented if _has_own(number, "__round__") else (round(number, ndigits), None)


@substitute(round)
def _round(number, ndigits=None):
    """Call ``__round__`` of an object."""
    method = special_of(type(number), "__round__")
    if method is None:
        raise TypeError(f"type {type(number).__name__} doesn't define __round__ method")
    return method(number) if ndigits is None else method(number, ndigits)


for _kind in (*np.float64.__mro__[:-1], np.float32, np.ndarray):
    for _name in (
        "round",
        "trunc",
        "floor",
        "ceil",
        "int",
        "bool",
        "lt",
        "le",
        "gt",
        "ge",
        "eq",
        "ne",
    ):
        if f"__{_name}__" in vars(_kind):
            non_differentiable((_kind, f"__{_name}__"))


# ---- types ---------------------------------------------------------------------------------------

non_differentiable(int)


@rrule.register(float, trusted=True)
def _(*args):
    if not args:
        return 0.0, lambda y_bar: (None,)
    if len(args) > 1:
        return float(*args), None  # Python's own message
    (x,) = args
    if not is_numeric(x) or type(getattr(type(x), "__float__", None)) is FunctionType:
        # Text is a constant; the substitute calls the method of an object.
        if not isinstance(x, str | bytes):
            return NotImplemented
        return float(x), lambda y_bar: (None, None)
    shape = np.shape(x)
    if not shape:
        return float(x), lambda y_bar: (None, project(y_bar, x))
    return float(x), lambda y_bar: (None, project(np.reshape(y_bar, shape), x))


@frule.register(float)
def _(dots, *args):
    if args and type(getattr(type(args[0]), "__float__", None)) is FunctionType:
        return NotImplemented
    if not args or dots[0] is None:
        return float(*args), None
    return float(*args), float(dots[0])


@substitute(float)
def _float(x, /):
    """Call ``__float__`` or ``__index__`` of an object."""
    number = x.__float__() if _has_float(x) else x.__index__()
    check_number(_TO_FLOAT, x, number)
    return number if type(number) is float else float(number)


_TO_FLOAT = ("__float__", "__index__")


def _has_float(x: Any) -> bool:
    if not any(hasattr(type(x), name) for name in _TO_FLOAT):
        float(x)  # Python's own message
    return hasattr(type(x), "__float__")


non_differentiable(_has_float)


@primitive((float, "__new__"))
def _(record: list[Any], slot: int, cls: Any, /, *args: Any) -> Any:
    """Make an instance of a subclass of `float`, with the derivative of its number."""
    if len(args) != 1 or not is_numeric(plain_number(args[0])) or np.ndim(args[0]):
        return NotImplemented
    level = record[0].level
    if level is not None:
        made = float.__new__(cls, *args)
        level.link(made, level.run(float, plain_on(record[0], args[0])))
        return made
    to_x = projector(args[0])

    def new_back(y_bar: Any) -> tuple[Any, ...]:
        return None, None, y_bar if y_bar is None or type(y_bar) is Poison else to_x(y_bar)

    record[slot] = new_back
    return float.__new__(cls, *args)


@rrule.register(complex, trusted=True)
def _(real=_ABSENT, imag=_ABSENT):
    given = _given(real, imag)
    if not all(map(is_numeric, given)):
        if not any(isinstance(x, str) for x in given):
            return NotImplemented
        return complex(*given), lambda y_bar: (None,) * (1 + len(given))  # text is a constant

    def complex_back(y_bar):
        units = (1, -1j)  # conjugates of 1 and i, the factors of the parts
        return None, *(
            project(np.reshape(unit * y_bar, np.shape(x)), x)
            for x, unit in zip(given, units, strict=False)
        )

    return complex(*given), complex_back


def _given(real, imag):
    """Return the parts that were given, with 0 for an absent real part before an imaginary one."""
    parts = (real,) if imag is _ABSENT else (real, imag)
    return () if real is _ABSENT is imag else tuple(0 if x is _ABSENT else x for x in parts)


@frule.register(complex)
def _(dots, real=_ABSENT, imag=_ABSENT):
    y, y_dot = complex(*_given(real, imag)), 0j
    for dot, unit in zip(dots, (1, 1j), strict=False):
        if dot is not None:
            y_dot = y_dot + unit * dot
    return y, y_dot


# ---- attributes and methods ----------------------------------------------------------------------


@rrule.register((float, "real"), (int, "real"), (complex, "real"), trusted=True)
def _(x, /):
    return x.real, lambda y_bar: (None, project(y_bar, x))


@frule.register((float, "real"), (int, "real"), (complex, "real"))
def _(dots, x, /):
    return x.real, None if dots[0] is None else dots[0].real


@rrule.register((float, "imag"), (int, "imag"), (complex, "imag"), trusted=True)
def _(x, /):
    return x.imag, lambda y_bar: (None, project(1j * y_bar, x))


@frule.register((float, "imag"), (int, "imag"), (complex, "imag"))
def _(dots, x, /):
    return x.imag, None if dots[0] is None else dots[0].imag


@rrule.register((float, "conjugate"), (int, "conjugate"), (complex, "conjugate"), trusted=True)
def _(x, /):
    return x.conjugate(), lambda y_bar: (None, project(np.conj(y_bar), x))


@frule.register((float, "conjugate"), (int, "conjugate"), (complex, "conjugate"))
def _(dots, x, /):
    return x.conjugate(), None if dots[0] is None else dots[0].conjugate()


for _kind, _names in (
    (float, "hex is_integer"),  # not as_integer_ratio, whose integers would lose the derivative
    (int, "as_integer_ratio bit_count bit_length denominator is_integer numerator to_bytes"),
    (int, "__ceil__ __floor__ __index__ __int__ __round__ __trunc__"),
):
    for _name in _names.split():
        if hasattr(_kind, _name):
            non_differentiable((_kind, _name))
