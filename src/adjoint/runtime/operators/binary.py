"""Operators of any operands: numbers and arrays by rule, others by Python's own protocol."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from numpy import float64, ndarray

from adjoint.primal.special_methods import class_attribute, special_of
from adjoint.primal.value_kinds import PLAIN, is_objects
from adjoint.rulekit.partials import beside_zero
from adjoint.rulekit.projection import OTHER_SEQUENCES, SEQUENCES
from adjoint.rulekit.registry import lookup, trusted_rule, trusted_rules
from adjoint.runtime.arrays.overrides import ufunc_override
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.checked_pullback import checked_trusted
from adjoint.runtime.dispatch.linked import DECLINED, linked
from adjoint.runtime.dispatch.number_protocols import AS_ELEMENT, converts
from adjoint.runtime.dispatch.plain_numbers import plain_on
from adjoint.runtime.dispatch.rule_call import run_closure_rules
from adjoint.runtime.foreign.unknown_call import run_unknown
from adjoint.runtime.operators.binary_protocol import (
    NONE2,
    REFLECTED,
    UFUNCS,
    defers_to,
    exchanged,
    is_number,
    overrides,
    protocol,
    python_method,
    unchanged,
)

DOUBLES = frozenset({float, float64})
REALS = frozenset({float, int, float64})
POLES = (ZeroDivisionError, OverflowError)
"""Errors of Python's arithmetic where NumPy's gives infinity."""
HUGE = 1e300


def both_sides(y_bar: Any) -> tuple[Any, ...]:
    return None, y_bar, y_bar


def both_sides_negated(y_bar: Any) -> tuple[Any, ...]:
    return (None, y_bar, -y_bar) if y_bar is not None else NONE2


def binary(record: list[Any], slot: int, op: Any, a: Any, b: Any, only: int | None = None) -> Any:
    if record[0].level is not None:
        return _general(record, slot, op, a, b)
    if type(a) in REALS and type(b) in REALS and op in _SCALAR_BACKS:
        y = op(a, b)
        record[slot] = _SCALAR_BACKS[op](a, b)
        return y
    if only is not None and record[0].globals_written:
        only = None  # the constant operand may be an assigned, active global variable
    if type(a) in PLAIN and type(b) in PLAIN:
        known = trusted_rules[op] if op in trusted_rules else trusted_rule(op)
        if known is not None:
            rule = known[0]
            if only is not None:
                rule = rule.only[only] or rule  # type: ignore[attr-defined]
            result = rule(a, b)
            if result is not NotImplemented:
                y, back = result
                sealed = checked_trusted(record[0], y, back, (a, b))
                if sealed is not None:
                    record[slot] = sealed
                    return y
    return _general(record, slot, op, a, b)


def _general(record: list[Any], slot: int, op: Any, a: Any, b: Any) -> Any:
    if overrides(op, a, b) or (op in UFUNCS and defers_to(a, b)):
        return protocol(record, slot, op, op.__name__.rstrip("_"), a, b)
    if op in UFUNCS and has_ufuncs(a, b) and is_number(a) and is_number(b):
        return by_classes(record, slot, UFUNCS[op], a, b)
    if not isinstance(a, str | bytes | bytearray):  # whose ``%`` formats its operand
        plain_a, plain_b = plain_on(record[0], a), plain_on(record[0], b)
        if (plain_a is not a or plain_b is not b) and _is_ufunc_call(op, a, b):
            plain_a, plain_b = plain_on(record[0], a, True), plain_on(record[0], b, True)
            y = _by_override(record, slot, op, a, b)
            if y is not DECLINED:
                return y
            if converts(AS_ELEMENT, a) or converts(AS_ELEMENT, b):  # ``__float__`` of a float
                return call_keywords(record, slot, UFUNCS[op], (a, b), {})
        a, b = plain_a, plain_b  # the class does not define this operator
    numbers = is_number(a) and is_number(b)
    if (
        numbers or issubclass(type(a), ndarray) or issubclass(type(b), ndarray)
    ):  # an array takes a list for an array
        rules = lookup(op)
        if rules is not None:
            y = run_closure_rules(record, slot, op, rules, (a, b), {})
            if y is not DECLINED:
                return y
    if op in UFUNCS and (
        issubclass(type(a), ndarray | np.generic) or issubclass(type(b), ndarray | np.generic)
    ):
        y = _by_override(record, slot, op, a, b)
        if y is not DECLINED:
            return y
        if is_objects(a) or is_objects(b):
            return call_keywords(record, slot, UFUNCS[op], (a, b), {})
        for one in (a, b):
            if not issubclass(type(one), SEQUENCES + OTHER_SEQUENCES):
                continue
            repeats = op is operator.mul and hasattr(one, "__mul__")
            if not repeats or issubclass(type(a), ndarray) or issubclass(type(b), ndarray):
                return call_keywords(record, slot, UFUNCS[op], (a, b), {})
    if numbers:
        return run_unknown(record[0], record, slot, op, (a, b), {})
    return protocol(record, slot, op, op.__name__.rstrip("_"), a, b)


def _is_ufunc_call(op: Any, a: Any, b: Any) -> bool:
    """Return whether an operand of NumPy makes the operator a ufunc call."""
    of_numpy = ndarray | np.generic
    return op in UFUNCS and (
        isinstance(a, of_numpy) or (isinstance(b, of_numpy) and not isinstance(b, float | complex))
    )


def _by_override(record: list[Any], slot: int, op: Any, *operands: Any) -> Any:
    ufunc = UFUNCS[op] if len(operands) == 2 else _UNARY_UFUNCS[op]
    return by_classes(record, slot, ufunc, *operands)


def by_classes(record: list[Any], slot: int, ufunc: Any, *operands: Any) -> Any:
    """Call a ufunc as classes of its operands override it; `DECLINED` if none does."""
    y = ufunc_override(record, slot, ufunc, "__call__", operands, {})
    if y is DECLINED and has_ufuncs(*operands):
        return call_keywords(record, slot, ufunc, operands, {})
    return y


_UNARY_UFUNCS: dict[Any, Any] = {
    operator.neg: np.negative,
    operator.pos: np.positive,
    operator.invert: np.invert,
    abs: np.absolute,
}


def has_ufuncs(*operands: Any) -> bool:
    """Return whether an operand is an array of a subclass with ``__array_ufunc__`` or
    ``__array_wrap__`` in Python."""
    return any(
        issubclass(type(value), ndarray)
        and type(value) is not ndarray
        and type(class_attribute(type(value), special)) is FunctionType
        for value in operands
        for special in ("__array_ufunc__", "__array_wrap__")
    )


def _product_back(a: Any, b: Any) -> Callable[..., Any]:
    def mul_back(y_bar: Any) -> tuple[Any, ...]:
        if y_bar:
            return None, y_bar * b, y_bar * a
        return None, beside_zero(y_bar, b), beside_zero(y_bar, a)

    return mul_back


_SCALAR_BACKS: dict[Any, Callable[[Any, Any], Callable[..., Any]]] = {
    operator.add: lambda a, b: both_sides,
    operator.sub: lambda a, b: both_sides_negated,
    operator.mul: _product_back,
}
"""Pullbacks for Python's and NumPy's double-precision scalars and Python's integers, mixed."""


def method_operator(op: Any, reflected: bool = False) -> Callable[..., Any]:
    """Return the runtime function of ``float.__add__``, or of ``float.__radd__`` if `reflected`,
    which ignores overrides of subclasses."""

    def run(record: list[Any], slot: int, a: Any, b: Any, *modulus: Any) -> Any:
        rules = lookup(op)
        if rules is None or modulus:
            return NotImplemented
        if issubclass(type(a), ndarray) and op in UFUNCS:
            operands: tuple[Any, ...] = (b, a) if reflected else (a, b)
            arrange = exchanged if reflected else unchanged
            if has_ufuncs(a, b):
                return linked(record, slot, arrange, _by_override, op, *operands)
            if is_objects(a) or is_objects(b):
                return linked(record, slot, arrange, call_keywords, UFUNCS[op], operands, {})
        if not issubclass(type(a), ndarray):
            a, b = plain_on(record[0], a), plain_on(record[0], b)
        is_subclassed = type(a) is not ndarray and issubclass(type(a), ndarray)
        f = _of_plain(op, reflected) if is_subclassed else op
        if not reflected:
            y = run_closure_rules(record, slot, f, rules, (a, b), {})
        else:
            operands = (f, rules, (b, a), {})
            y = linked(record, slot, exchanged, run_closure_rules, *operands)
        return NotImplemented if y is DECLINED else y

    return run


def base_unary(op: Any, special: str) -> Callable[..., Any]:
    """Return the runtime function of ``float.__neg__``, which ignores overrides of subclasses."""
    of_arrays = getattr(ndarray, special, op)

    def run(record: list[Any], slot: int, a: Any) -> Any:
        rules = lookup(op)
        if rules is None or not is_number(a):
            return NotImplemented
        if op in _UNARY_UFUNCS and has_ufuncs(a):
            return _by_override(record, slot, op, a)
        f = of_arrays if issubclass(type(a), ndarray) and type(a) is not ndarray else op
        y = run_closure_rules(record, slot, f, rules, (plain_on(record[0], a),), {})
        return NotImplemented if y is DECLINED else y

    return run


@functools.cache
def _of_plain(op: Any, reflected: bool) -> Callable[[Any, Any], Any]:
    """Return the operator of `ndarray`, for operands of a subclass that overrides it."""
    name = op.__name__.rstrip("_")
    special = getattr(ndarray, f"__{REFLECTED[name] if reflected else name}__")

    def run(a: Any, b: Any) -> Any:
        return special(b, a) if reflected else special(a, b)

    run.__name__ = run.__qualname__ = op.__name__
    run.__module__ = op.__module__  # the name in messages
    return run


def unary(op: Any, name: str) -> Callable[..., Any]:
    special = f"__{op.__name__.rstrip('_')}__"

    def run(record: list[Any], slot: int, a: Any) -> Any:
        if is_number(a) and (type(a) in PLAIN or not python_method(type(a), special)):
            if type(a) is not ndarray and has_ufuncs(a):
                return _by_override(record, slot, op, a)
            rules, a = lookup(op), plain_on(record[0], a)
            if rules is not None:
                y = run_closure_rules(record, slot, op, rules, (a,), {})
                if y is not DECLINED:
                    return y
            if is_objects(a) and op in _UNARY_UFUNCS:
                return call_keywords(record, slot, _UNARY_UFUNCS[op], (a,), {})
        f = special_of(type(a), special)
        if type(f) is FunctionType:
            return call_keywords(record, slot, f, (a,), {})
        return run_unknown(record[0], record, slot, op, (a,), {})

    run.__name__ = name
    return run
