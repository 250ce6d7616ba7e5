"""Operators: floats at once, numbers and arrays by rule, all else by Python's binary protocol."""

from __future__ import annotations

import operator
from collections.abc import Callable
from math import isfinite
from types import FunctionType
from typing import Any
from weakref import ref as weakref

import numpy as np
from numpy import float64, ndarray, vdot, where

from adjoint.rules.projection import FLOAT64
from adjoint.rules.registry import direct, direct_rule, lookup
from adjoint.run.arrays import update_in_place
from adjoint.run.dispatch import (
    DECLINED,
    call_keywords,
    class_attribute,
    linked,
    method_rules,
    run_closure_rules,
    run_rules,
)
from adjoint.run.memory import Memory
from adjoint.run.seal import PLAIN, arrived, seal_direct
from adjoint.run.structure import NUMBERS
from adjoint.run.unknown import run_unknown

__all__ = ["BINARY", "ONE_SIDED", "UNARY", "add", "mul", "sub", "truediv"]

NONE2 = (None, None, None)
REALS = frozenset({float, int, float64})
POLES = (ZeroDivisionError, OverflowError)
"""What Python raises where NumPy's numbers are infinite."""
HUGE = 1e300


# ---- floats and arrays of floats -----------------------------------------------------------------
#
# Each operator at once for two numbers or two arrays of one shape, then by `_binary`. The forms
# ``mul_left`` and ``mul_right`` are for calls in which only the operand on that side can be active:
# the other is a constant, or a global variable that differentiated code has not assigned. A zero
# cotangent stays zero, whatever it is multiplied by.


def add(record: list[Any], slot: int, a: Any, b: Any) -> Any:
    """``a + b``"""
    if type(a) is float and type(b) is float:
        record[slot] = _add_back
        return a + b
    if type(a) is ndarray and type(b) is ndarray and _alike(record[0], a, b):
        memory, y = record[0], a + b
        result = weakref(y)

        def add_back(y_bar: Any) -> tuple[Any, ...]:
            if type(y_bar) is not ndarray or memory.buffers:
                y_bar = arrived(memory, result, y_bar)
            return None, y_bar, y_bar

        record[slot] = add_back
        return y
    return _binary(record, slot, operator.add, a, b)


def sub(record: list[Any], slot: int, a: Any, b: Any) -> Any:
    """``a - b``"""
    if type(a) is float and type(b) is float:
        record[slot] = _sub_back
        return a - b
    if type(a) is ndarray and type(b) is ndarray and _alike(record[0], a, b):
        memory, y = record[0], a - b
        result = weakref(y)

        def sub_back(y_bar: Any) -> tuple[Any, ...]:
            if type(y_bar) is not ndarray or memory.buffers:
                y_bar = arrived(memory, result, y_bar)
                if y_bar is None:
                    return NONE2
            return None, y_bar, -y_bar

        record[slot] = sub_back
        return y
    return _binary(record, slot, operator.sub, a, b)


def mul(record: list[Any], slot: int, a: Any, b: Any) -> Any:
    """``a * b``"""
    if type(a) is float and type(b) is float:

        def mul_back(y_bar: Any) -> tuple[Any, ...]:
            return (None, y_bar * b, y_bar * a) if y_bar else (None, y_bar, y_bar)

        record[slot] = mul_back
        return a * b
    if type(a) is ndarray and type(b) is ndarray and _alike(record[0], a, b):
        memory, y = record[0], a * b
        result = weakref(y)

        def product_back(y_bar: Any) -> tuple[Any, ...]:
            if type(y_bar) is not ndarray or memory.buffers:
                y_bar = arrived(memory, result, y_bar)
                if type(y_bar) is not ndarray:
                    return None, y_bar, y_bar
            a_bar = y_bar * b
            b_bar = a_bar if a is b else y_bar * a
            if not isfinite(_dot(a_bar, b_bar)):
                zero = y_bar == 0
                a_bar, b_bar = where(zero, 0.0, a_bar), where(zero, 0.0, b_bar)
            return None, a_bar, b_bar

        record[slot] = product_back
        return y
    if type(b) is ndarray and (type(a) is float64 or type(a) is float):
        if _is_plain(record[0], b):
            return _number_times_array(record, slot, a, b, False)
    elif type(a) is ndarray and (type(b) is float64 or type(b) is float):
        if _is_plain(record[0], a):
            return _number_times_array(record, slot, b, a, True)
    return _binary(record, slot, operator.mul, a, b)


def mul_left(record: list[Any], slot: int, a: Any, b: Any) -> Any:
    """``a * b`` where `b` has no derivative."""
    if record[0].globals_written:
        return mul(record, slot, a, b)
    if type(a) is float and type(b) in REALS:

        def mul_back(y_bar: Any) -> tuple[Any, ...]:
            return (None, y_bar * b, None) if y_bar else (None, y_bar, None)

        record[slot] = mul_back
        return a * b
    if type(a) is ndarray:
        y = _times(record, slot, a, b, _left)
        if y is not None:
            return y
    return _binary(record, slot, operator.mul, a, b, 0)


def mul_right(record: list[Any], slot: int, a: Any, b: Any) -> Any:
    """``a * b`` where `a` has no derivative."""
    if record[0].globals_written:
        return mul(record, slot, a, b)
    if type(b) is float and type(a) in REALS:

        def mul_back(y_bar: Any) -> tuple[Any, ...]:
            return (None, None, y_bar * a) if y_bar else (None, None, y_bar)

        record[slot] = mul_back
        return a * b
    if type(b) is ndarray:
        y = _times(record, slot, b, a, _right)
        if y is not None:
            return y
    return _binary(record, slot, operator.mul, a, b, 1)


def truediv(record: list[Any], slot: int, a: Any, b: Any) -> Any:
    """``a / b``"""
    if type(a) is float and type(b) is float:
        y = a / b

        def truediv_back(y_bar: Any) -> tuple[Any, ...]:
            if not y_bar:
                return None, y_bar, y_bar
            a_bar = y_bar / b
            return None, a_bar, -a_bar * y

        record[slot] = truediv_back
        return y
    if type(a) is ndarray and type(b) is ndarray and _alike(record[0], a, b):
        memory = record[0]
        quotient: Any = a / b
        result = weakref(quotient)

        def quotient_back(y_bar: Any) -> tuple[Any, ...]:
            if type(y_bar) is not ndarray or memory.buffers:
                y_bar = arrived(memory, result, y_bar)
                if type(y_bar) is not ndarray:
                    return None, y_bar, y_bar
            a_bar: Any = y_bar / b
            b_bar = a_bar * quotient
            np.negative(b_bar, b_bar)
            if not isfinite(_dot(a_bar, b_bar)):
                zero = y_bar == 0
                a_bar = where(zero, 0.0, y_bar * (1 / b))
                b_bar = where(zero, 0.0, y_bar * (-quotient / b))
            return None, a_bar, b_bar

        record[slot] = quotient_back
        return quotient
    if type(a) is ndarray and (type(b) is float64 or type(b) is float):
        if _is_plain(record[0], a):
            return _array_over_number(record, slot, a, b)
    return _binary(record, slot, operator.truediv, a, b)


def truediv_left(record: list[Any], slot: int, a: Any, b: Any) -> Any:
    """``a / b`` where `b` has no derivative."""
    if record[0].globals_written:
        return truediv(record, slot, a, b)
    if type(a) is float and type(b) in REALS:
        y = a / b

        def truediv_back(y_bar: Any) -> tuple[Any, ...]:
            return (None, y_bar / b, None) if y_bar else (None, y_bar, None)

        record[slot] = truediv_back
        return y
    if type(a) is ndarray and type(b) in REALS and 1 / HUGE < abs(b) < HUGE:
        if _is_plain(record[0], a):
            y = a / b
            record[slot] = _scaled_back(record[0], y, 1 / b, _left)
            return y
    return _binary(record, slot, operator.truediv, a, b, 0)


def pow_left(record: list[Any], slot: int, a: Any, b: Any) -> Any:
    """``a ** b`` where `b` has no derivative."""
    if type(a) is float and type(b) in REALS and not record[0].globals_written:
        y = a**b
        if type(y) is float:

            def pow_back(y_bar: Any) -> tuple[Any, ...]:
                if not y_bar:
                    return None, y_bar, None
                try:
                    return None, y_bar * _power_slope(a, b), None
                except POLES:
                    return None, y_bar * _power_slope(float64(a), float64(b)), None

            record[slot] = pow_back
            return y
    if type(a) is ndarray and type(b) is int and b == 2 and not record[0].globals_written:
        if _is_plain(record[0], a):
            return _square(record, slot, a)
    return _binary(record, slot, operator.pow, a, b, 0)


def _square(record: list[Any], slot: int, a: Any) -> Any:
    memory, y = record[0], a**2
    result = weakref(y)

    def square_back(y_bar: Any) -> tuple[Any, ...]:
        if type(y_bar) is not ndarray or memory.buffers:
            y_bar = arrived(memory, result, y_bar)
            if type(y_bar) is not ndarray:
                return None, y_bar, None
        bar = y_bar * a
        bar += bar
        return None, bar if isfinite(_dot(bar, bar)) else where(y_bar == 0, 0.0, bar), None

    record[slot] = square_back
    return y


def neg(record: list[Any], slot: int, a: Any) -> Any:
    """``-a``"""
    if type(a) is float or type(a) is float64:
        record[slot] = _neg_back
        return -a
    if type(a) is ndarray and _is_plain(record[0], a):
        y = -a
        record[slot] = _scaled_back(record[0], y, -1.0, _only)
        return y
    return _neg_of_any(record, slot, a)


def _power_slope(a: Any, b: Any) -> Any:
    """b aᵇ⁻¹, which is 0 for b = 0, also at a = 0."""
    return 2.0 * a if b == 2 else b * a ** (b - 1) if b else 0.0


def _add_back(y_bar: Any) -> tuple[Any, ...]:
    return None, y_bar, y_bar


def _sub_back(y_bar: Any) -> tuple[Any, ...]:
    return (None, y_bar, -y_bar) if y_bar is not None else NONE2


def _neg_back(y_bar: Any) -> tuple[Any, ...]:
    return None, -y_bar if y_bar is not None else None


def _alike(memory: Memory, a: Any, b: Any) -> bool:
    """Whether two arrays have doubles and one shape, and carry their cotangents by value."""
    return (
        a.dtype is FLOAT64
        and b.dtype is FLOAT64
        and a.shape == b.shape
        and a.ndim
        and not (memory.written and (memory.is_written(a) or memory.is_written(b)))
    )


def _is_plain(memory: Memory, a: Any) -> bool:
    """Whether an array has doubles and carries its cotangent by value."""
    return a.dtype is FLOAT64 and a.ndim and not (memory.written and memory.is_written(a))


def _dot(a: Any, b: Any) -> Any:
    """The sum of products of two arrays of one shape, by the way that costs least."""
    return a.dot(b) if a.ndim == 1 else vdot(a, b)


def _number_times_array(record: list[Any], slot: int, a: Any, x: Any, swapped: bool) -> Any:
    """``a * x`` of a number and an array; `swapped` if the array came first."""
    memory, y = record[0], a * x
    result = weakref(y)

    def number_times_back(y_bar: Any) -> tuple[Any, ...]:
        if type(y_bar) is not ndarray or memory.buffers:
            y_bar = arrived(memory, result, y_bar)
            if type(y_bar) is not ndarray:
                return None, y_bar, y_bar
        a_bar, x_bar = float(_dot(y_bar, x)), y_bar * a
        if not (isfinite(a_bar) and isfinite(a)):
            zero = y_bar == 0
            a_bar, x_bar = float(where(zero, 0.0, y_bar * x).sum()), where(zero, 0.0, x_bar)
        return (None, x_bar, a_bar) if swapped else (None, a_bar, x_bar)

    record[slot] = number_times_back
    return y


def _array_over_number(record: list[Any], slot: int, x: Any, a: Any) -> Any:
    """``x / a`` of an array and a number."""
    memory, y = record[0], x / a
    result = weakref(y)

    def over_number_back(y_bar: Any) -> tuple[Any, ...]:
        if type(y_bar) is not ndarray or memory.buffers:
            y_bar = arrived(memory, result, y_bar)
            if type(y_bar) is not ndarray:
                return None, y_bar, y_bar
        x_bar = y_bar / a
        a_bar = -float(_dot(x_bar, y))
        if not isfinite(a_bar):
            zero, inverse = y_bar == 0, 1 / float64(a)
            x_bar = where(zero, 0.0, y_bar * inverse)
            a_bar = float(where(zero, 0.0, y_bar * (-y * inverse)).sum())
        return None, x_bar, a_bar

    record[slot] = over_number_back
    return y


# What a pullback returns for one active operand: the only one, or that on one side.


def _only(bar: Any) -> tuple[Any, ...]:
    return None, bar


def _left(bar: Any) -> tuple[Any, ...]:
    return None, bar, None


def _right(bar: Any) -> tuple[Any, ...]:
    return None, None, bar


def _scaled_back(
    memory: Memory, y: Any, factor: Any, placed: Callable[[Any], tuple[Any, ...]]
) -> Callable[[Any], tuple[Any, ...]]:
    """The pullback of an array times a finite number."""
    result = weakref(y)

    def scaled_back(y_bar: Any) -> tuple[Any, ...]:
        if type(y_bar) is not ndarray or memory.buffers:
            y_bar = arrived(memory, result, y_bar)
            if type(y_bar) is not ndarray:
                return placed(y_bar)
        return placed(y_bar * factor)

    return scaled_back


def _times(
    record: list[Any], slot: int, a: Any, b: Any, placed: Callable[[Any], tuple[Any, ...]]
) -> Any:
    """An active array times a number, or an array that does not broadcast it; ``None`` if it is not
    that."""
    memory: Memory = record[0]
    if type(b) in REALS:
        if not -HUGE < b < HUGE or not _is_plain(memory, a):
            return None
        y = a * b
        record[slot] = _scaled_back(memory, y, b, placed)
        return y
    if type(b) is not ndarray or not _is_plain(memory, a) or not _is_plain(memory, b):
        return None
    y = a * b
    if y.shape != a.shape:
        return None
    result = weakref(y)

    def times_back(y_bar: Any) -> tuple[Any, ...]:
        if type(y_bar) is not ndarray or memory.buffers:
            y_bar = arrived(memory, result, y_bar)
            if type(y_bar) is not ndarray:
                return placed(y_bar)
        bar = y_bar * b
        return placed(bar if isfinite(_dot(bar, bar)) else where(y_bar == 0, 0.0, bar))

    record[slot] = times_back
    return y


# ---- everything else -----------------------------------------------------------------------------


def _binary(record: list[Any], slot: int, op: Any, a: Any, b: Any, only: int | None = None) -> Any:
    if type(a) in REALS and type(b) in REALS and op in _SCALAR_BACKS:
        y = op(a, b)
        record[slot] = _SCALAR_BACKS[op](a, b)
        return y
    if only is not None and record[0].globals_written:
        only = None  # what seemed constant may be a global variable with a derivative
    if type(a) in PLAIN and type(b) in PLAIN:
        known = direct[op] if op in direct else direct_rule(op)
        if known is not None:
            rule = known[0]
            if only is not None:
                rule = rule.only[only] or rule  # type: ignore[attr-defined]
            result = rule(a, b)
            if result is not NotImplemented:
                y, back = result
                sealed = seal_direct(record[0], y, back, (a, b))
                if sealed is not None:
                    record[slot] = sealed
                    return y
    if _overrides(op, a, b):
        return _protocol(record, slot, op, op.__name__.rstrip("_"), a, b)
    numbers = _is_number(a) and _is_number(b)
    if (
        numbers or isinstance(a, ndarray) or isinstance(b, ndarray)
    ):  # an array takes a list for an array
        rules = lookup(op)
        if rules is not None:
            y = run_closure_rules(record, slot, op, rules, (a, b), {})
            if y is not DECLINED:
                return y
    found = _array_override(a, b)
    if found is not None and op in _UFUNCS:
        obj, override = found

        def as_given(bars: tuple[Any, ...]) -> tuple[Any, ...]:
            return (None, *bars[4:])

        operands = (obj, _UFUNCS[op], "__call__", a, b)
        return linked(record, slot, as_given, call_keywords, override, operands, {})
    if numbers:
        return run_unknown(record[0], record, slot, op, (a, b), {})
    name = op.__name__.rstrip("_")
    return _protocol(record, slot, op, name, a, b)


def _sum_back(a: Any, b: Any) -> Callable[..., Any]:
    return _add_back


def _difference_back(a: Any, b: Any) -> Callable[..., Any]:
    return _sub_back


def _product_back(a: Any, b: Any) -> Callable[..., Any]:
    def mul_back(y_bar: Any) -> tuple[Any, ...]:
        return (None, y_bar * b, y_bar * a) if y_bar else (None, y_bar, y_bar)

    return mul_back


def _quotient_back(a: Any, b: Any) -> Callable[..., Any]:
    b = b or float64(b)  # a Python zero raises where NumPy's divides

    def truediv_back(y_bar: Any) -> tuple[Any, ...]:
        if not y_bar:
            return None, y_bar, y_bar
        a_bar = y_bar / b
        return None, a_bar, a_bar * -(a / b)

    return truediv_back


_SCALAR_BACKS: dict[Any, Callable[[Any, Any], Callable[..., Any]]] = {
    operator.add: _sum_back,
    operator.sub: _difference_back,
    operator.mul: _product_back,
}
"""Pullbacks for Python's and NumPy's double-precision scalars and integers in any mixture."""


def _array_override(a: Any, b: Any) -> tuple[Any, Any] | None:
    """The operand whose class says itself what ufuncs do with it, beside an array."""
    for obj, other in ((a, b), (b, a)):
        if isinstance(other, ndarray | np.generic):
            override = class_attribute(type(obj), "__array_ufunc__")
            if type(override) is FunctionType:
                return obj, override
    return None


_UFUNCS: dict[Any, Any] = {
    operator.add: np.add,
    operator.sub: np.subtract,
    operator.mul: np.multiply,
    operator.truediv: np.true_divide,
    operator.floordiv: np.floor_divide,
    operator.mod: np.remainder,
    operator.pow: np.power,
    operator.matmul: np.matmul,
}


def _is_number(value: Any) -> bool:
    kind = type(value)
    return kind is ndarray or kind in NUMBERS or issubclass(kind, _NUMERIC)


_NUMERIC = (np.generic, ndarray, float, int, complex)


def base_operator(op: Any) -> Callable[..., Any]:
    """``float.__add__(a, b)`` and its like: what a subclass does itself is passed by."""

    def run(record: list[Any], slot: int, a: Any, b: Any) -> Any:
        rules = lookup(op)
        if rules is not None:
            y = run_closure_rules(record, slot, op, rules, (a, b), {})
            if y is not DECLINED:
                return y
        return NotImplemented

    return run


def _overrides(op: Any, a: Any, b: Any) -> bool:
    """Whether the class of a number or an array says itself what the operator does."""
    name = op.__name__.rstrip("_")
    left, right = type(a), type(b)
    return (left not in PLAIN and _python_method(left, f"__{name}__")) or (
        right not in PLAIN and _python_method(right, f"__{_REFLECTED[name]}__")
    )


_REFLECTED = {
    "add": "radd",
    "sub": "rsub",
    "mul": "rmul",
    "truediv": "rtruediv",
    "floordiv": "rfloordiv",
    "mod": "rmod",
    "pow": "rpow",
    "matmul": "rmatmul",
    "and": "rand",
    "or": "ror",
    "xor": "rxor",
    "lshift": "rlshift",
    "rshift": "rrshift",
    "lt": "gt",
    "gt": "lt",
    "le": "ge",
    "ge": "le",
    "eq": "eq",
    "ne": "ne",
    "divmod": "rdivmod",
}


def _protocol(record: list[Any], slot: int, op: Any, name: str, a: Any, b: Any) -> Any:
    """Python's own order: the left operand's method, the right one's reflected, a subclass on the
    right first."""
    ahead, reflected = f"__{name}__", f"__{_REFLECTED[name]}__"
    left, right = type(a), type(b)
    candidates = [(left, ahead, (a, b), False), (right, reflected, (b, a), True)]
    if left is right:
        candidates = (
            candidates[:1] if name not in ("lt", "le", "gt", "ge", "eq", "ne") else candidates
        )
    elif issubclass(right, left) and getattr(right, reflected, None) is not getattr(
        left, reflected, None
    ):
        candidates.reverse()
    if not any(
        _python_method(kind, special) or method_rules(kind, special)
        for kind, special, _, _ in candidates
    ):
        return run_unknown(record[0], record, slot, op, (a, b), {})
    memory = record[0]
    tried: list[tuple[list[Any], bool]] = []

    def protocol_back(y_bar: Any) -> tuple[Any, ...]:
        bars: list[tuple[Any, Any]] = []
        for inner, swapped in reversed(tried):
            back = inner[1]
            if back is not None:
                _, first, second = back(y_bar)
                bars.append((second, first) if swapped else (first, second))
                y_bar = None  # only the method that answered made the result
        for first, second in bars:
            if first is not None or second is not None:
                return None, first, second
        return NONE2

    for kind, special, operands, swapped in candidates:
        inner: list[Any] = [memory, None]
        tried.append((inner, swapped))
        record[slot] = protocol_back
        y = _special(inner, kind, special, operands)
        if y is not NotImplemented:
            return y
    return op(a, b)  # Python's own message, or its default


def _python_method(kind: type, special: str) -> bool:
    return type(class_attribute(kind, special)) is FunctionType


def _special(inner: list[Any], kind: type, special: str, operands: tuple[Any, ...]) -> Any:
    f = class_attribute(kind, special)
    if type(f) is FunctionType:
        return call_keywords(inner, 1, f, operands, {})
    if f is None:
        return NotImplemented
    if _is_number(operands[0]):
        return run_unknown(inner[0], inner, 1, f, operands, {})
    rules = method_rules(kind, special)
    if rules is not None:
        y = run_rules(inner, 1, f, rules, operands, {})
        if y is not DECLINED:
            return y
    return f(*operands)


def _plain_operator(op: Any, name: str, only: int | None = None) -> Callable[..., Any]:
    def run(record: list[Any], slot: int, a: Any, b: Any) -> Any:
        return _binary(record, slot, op, a, b, only)

    run.__name__ = name
    return run


def _sum_of_one(op: Any, name: str, only: int, scale: int) -> Callable[..., Any]:
    """``a + b`` or ``a - b`` where the operand other than `only` has no derivative."""
    two_sided = add if op is operator.add else sub

    def sum_back(y_bar: Any) -> tuple[Any, ...]:
        if scale != 1 and y_bar is not None:
            y_bar = -y_bar
        return (None, None, y_bar) if only else (None, y_bar, None)

    def run(record: list[Any], slot: int, a: Any, b: Any) -> Any:
        memory: Memory = record[0]
        if memory.globals_written:
            return two_sided(record, slot, a, b)
        active, constant = (b, a) if only else (a, b)
        if type(active) is float and type(constant) in REALS:
            record[slot] = sum_back
            return op(a, b)
        if type(active) is ndarray and _is_plain(memory, active):
            kind = type(constant)
            if kind in REALS or (kind is ndarray and _is_plain(memory, constant)):
                y = op(a, b)
                if type(y) is ndarray and y.dtype is FLOAT64 and y.shape == active.shape:
                    result = weakref(y)

                    def array_back(y_bar: Any) -> tuple[Any, ...]:
                        if type(y_bar) is not ndarray or memory.buffers:
                            y_bar = arrived(memory, result, y_bar)
                        return sum_back(y_bar)

                    record[slot] = array_back
                    return y
        return _binary(record, slot, op, a, b, only)

    run.__name__ = name
    return run


def _comparison(op: Any, name: str) -> Callable[..., Any]:
    """Comparisons have no derivative; those of user classes are code like any other."""

    def run(record: list[Any], slot: int, a: Any, b: Any) -> Any:
        kind = type(a)
        if kind in NUMBERS or kind is ndarray or kind is str:
            if type(b) in NUMBERS or type(b) is ndarray or type(b) is str:
                return op(a, b)
        left, right = f"__{name}__", f"__{_REFLECTED[name]}__"
        if _python_method(kind, left) or _python_method(type(b), right):
            return _protocol(record, slot, op, name, a, b)
        return op(a, b)

    run.__name__ = name
    return run


def _in_place(op: Any, plain: Callable[..., Any], special: str, name: str) -> Callable[..., Any]:
    def run(record: list[Any], slot: int, a: Any, b: Any) -> Any:
        kind = type(a)
        if kind in NUMBERS:
            return plain(record, slot, a, b)
        if isinstance(a, ndarray):
            return update_in_place(record, slot, op, plain, a, b)
        f = class_attribute(kind, special)
        if f is not None:
            inner: list[Any] = [record[0], None]

            def in_place_back(y_bar: Any) -> tuple[Any, ...]:
                return inner[1](y_bar) if inner[1] is not None else NONE2

            blank, record[slot] = record[slot], in_place_back
            y = _special(inner, kind, special, (a, b))
            if y is not NotImplemented:
                return y
            record[slot] = blank
        return plain(record, slot, a, b)

    run.__name__ = name
    return run


def _unary(op: Any, name: str) -> Callable[..., Any]:
    special = f"__{op.__name__.rstrip('_')}__"

    def run(record: list[Any], slot: int, a: Any) -> Any:
        if _is_number(a):
            rules = lookup(op)
            if rules is not None:
                y = run_closure_rules(record, slot, op, rules, (a,), {})
                if y is not DECLINED:
                    return y
        f = getattr(type(a), special, None)
        if type(f) is FunctionType:
            return call_keywords(record, slot, f, (a,), {})
        return run_unknown(record[0], record, slot, op, (a,), {})

    run.__name__ = name
    return run


_neg_of_any = _unary(operator.neg, "neg")


def run_divmod(record: list[Any], slot: int, a: Any, b: Any) -> Any:
    """``divmod(a, b)`` of objects; of numbers it has a rule."""
    if _is_number(a) and _is_number(b):
        return NotImplemented
    return _protocol(record, slot, divmod, "divmod", a, b)


def truth(record: list[Any], slot: int, value: Any) -> bool:
    """``bool(value)``; a user's ``__bool__`` or ``__len__`` is code like any other."""
    if value is True or value is False:
        return value
    kind = type(value)
    if kind in NUMBERS or kind is ndarray:
        return bool(value)
    for special in ("__bool__", "__len__"):
        f = class_attribute(kind, special)
        if type(f) is FunctionType:
            return bool(call_keywords(record, slot, f, (value,), {}))
        if f is not None:
            break
    return bool(value)


def not_(record: list[Any], slot: int, value: Any) -> bool:
    """``not value``"""
    return not truth(record, slot, value)


def contains(record: list[Any], slot: int, container: Any, value: Any) -> bool:
    """``value in container``"""
    f = getattr(type(container), "__contains__", None)
    if type(f) is FunctionType:
        return bool(call_keywords(record, slot, f, (container, value), {}))
    return value in container


BINARY: dict[Any, Callable[..., Any]] = {
    operator.add: add,
    operator.sub: sub,
    operator.mul: mul,
    operator.truediv: truediv,
    **{
        op: _plain_operator(op, op.__name__)
        for op in (
            operator.floordiv,
            operator.mod,
            operator.pow,
            operator.matmul,
            operator.and_,
            operator.or_,
            operator.xor,
            operator.lshift,
            operator.rshift,
        )
    },
    **{
        op: _comparison(op, op.__name__)
        for op in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
    },
}
for _name in (
    "add",
    "sub",
    "mul",
    "truediv",
    "floordiv",
    "mod",
    "pow",
    "matmul",
    "and_",
    "or_",
    "xor",
    "lshift",
    "rshift",
):
    _op = getattr(
        operator, "i" + _name.rstrip("_") if not _name.endswith("_") else "i" + _name[:-1]
    )
    BINARY[_op] = _in_place(
        _op, BINARY[getattr(operator, _name)], f"__i{_name.rstrip('_')}__", "i" + _name
    )
ONE_SIDED: dict[tuple[Any, int], Callable[..., Any]] = {
    (operator.mul, 0): mul_left,
    (operator.mul, 1): mul_right,
    (operator.truediv, 0): truediv_left,
    **{
        (op, i): _sum_of_one(op, f"{op.__name__}_{side}", i, scale)
        for op, scales in ((operator.add, (1, 1)), (operator.sub, (1, -1)))
        for i, side, scale in ((0, "left", scales[0]), (1, "right", scales[1]))
    },
    (operator.truediv, 1): _plain_operator(operator.truediv, "truediv_right", 1),
    (operator.pow, 0): pow_left,
    (operator.pow, 1): _plain_operator(operator.pow, "pow_right", 1),
    (operator.matmul, 0): _plain_operator(operator.matmul, "matmul_left", 0),
    (operator.matmul, 1): _plain_operator(operator.matmul, "matmul_right", 1),
}
"""By operator and the one operand that can be active: 0 or 1."""
UNARY: dict[Any, Callable[..., Any]] = {
    operator.neg: neg,
    **{op: _unary(op, op.__name__) for op in (operator.pos, operator.invert)},
    operator.truth: truth,
    operator.not_: not_,
    operator.contains: contains,
}
