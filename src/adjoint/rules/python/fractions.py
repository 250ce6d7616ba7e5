"""Rules of `fractions`: in an operation with a float, a fraction is treated as a float.

Fractions are computed from integers, which are not differentiated: a cotangent that reaches one
meets the poison of the operation that made it.
"""

from __future__ import annotations

import operator
from fractions import Fraction
from numbers import Rational
from typing import Any

from adjoint.rulekit.registry import primitive
from adjoint.runtime.dispatch.call import call
from adjoint.runtime.foreign.unknown_call import run_unknown
from adjoint.runtime.memory.memory import Memory


def _is_hiding(memory: Memory, fraction: Any) -> bool:
    """Return whether a level holds `fraction` as made of active values."""
    level = memory.level
    return level is not None and any(one.holds(fraction) for one in level.down())


def _as_float(memory: Memory, fraction: Any) -> Any:
    """Return the fraction as a float; on a level, with the derivatives of its integers."""
    f, parts = operator.truediv, (fraction._numerator, fraction._denominator)
    return f(*parts) if memory.level is None else memory.level.run(f, *parts)


def _deposit(memory: Memory, fraction: Any, bar: Any) -> None:
    """Deposit the cotangent of a fraction as a float at its numerator and denominator."""
    if bar is not None:
        numerator, denominator = fraction.numerator, fraction.denominator
        memory.add_entry(fraction, "_numerator", bar / denominator)
        memory.add_entry(fraction, "_denominator", -bar * numerator / denominator**2)


@primitive(Rational.__float__)
def _(record: list[Any], slot: int, fraction: Any) -> Any:
    memory: Memory = record[0]
    if not isinstance(fraction, Fraction):
        return NotImplemented
    if _is_hiding(memory, fraction):
        return run_unknown(memory, record, slot, Rational.__float__, (fraction,), {})

    def float_back(y_bar: Any) -> tuple[Any, ...]:
        _deposit(memory, fraction, y_bar)
        return None, None

    record[slot] = float_back
    return _as_float(memory, fraction)


def _register(op: Any, special: str, *, reflected: bool, kinds: tuple[type, ...]) -> None:
    @primitive(vars(Fraction)[special])
    def run(record: list[Any], slot: int, fraction: Any, other: Any, *modulus: Any) -> Any:
        memory: Memory = record[0]
        if not isinstance(fraction, Fraction) or not isinstance(other, kinds) or modulus:
            return NotImplemented  # with an integer or a fraction the result is a fraction
        if _is_hiding(memory, fraction):
            return NotImplemented
        number = _as_float(memory, fraction)
        inner: list[Any] = [memory, None]

        def fraction_back(y_bar: Any) -> tuple[Any, ...]:
            bars = None if inner[1] is None else inner[1](y_bar)
            if bars is None:
                return None, None, None
            own, bar = (bars[2], bars[1]) if reflected else (bars[1], bars[2])
            _deposit(memory, fraction, own)
            return None, None, bar

        record[slot] = fraction_back
        return call(inner, 1, op, *((other, number) if reflected else (number, other)))


_REALS: tuple[type, ...] = (float,)
_NUMBERS: tuple[type, ...] = (float, complex)
for _op, _name, _kinds in (
    (operator.add, "add", _NUMBERS),
    (operator.sub, "sub", _NUMBERS),
    (operator.mul, "mul", _NUMBERS),
    (operator.truediv, "truediv", _NUMBERS),
    (operator.pow, "pow", _NUMBERS),
    (operator.floordiv, "floordiv", _REALS),
    (operator.mod, "mod", _REALS),
    (divmod, "divmod", _REALS),
):
    _register(_op, f"__{_name}__", reflected=False, kinds=_kinds)
    _register(_op, f"__r{_name}__", reflected=True, kinds=_kinds)
