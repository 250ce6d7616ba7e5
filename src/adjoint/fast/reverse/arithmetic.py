"""Arithmetic of cotangents and partial derivatives, in the precision of the primal."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.operators import is_numeric
from adjoint.fast.evaluate.types import (
    FLOAT,
    LOW_KINDS,
    Array,
    IntegersOrFloats,
    Number,
    bar_type,
    may_overflow,
    number,
)
from adjoint.fast.evaluate.values import Known
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.reverse.cotangent_types import abstract_of, are_floats, cast_to, operand_type
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Const, Operand, Value


def bar_name(x: Operand) -> str:
    return f"{x.name}_bar" if isinstance(x, Value) else "t"


def product(ev: Evaluator, bar: Operand, slope: Operand, name: str) -> Operand:
    """Write ``bar * slope`` without a factor 1, and with negations outermost."""
    pairs = (slope, bar), (bar, slope)
    for x, other in pairs:
        if type(x) is Const and type(x.value) in (int, float, complex):
            if x.value == 1:
                return other
            if x.value == -1:
                return _negated(ev, inexact(ev, other), name)
    for x, other in pairs if ev.negated else ():
        opposite = ev.opposite(x)
        if opposite is not None:
            return _negated(ev, product(ev, opposite, other, name), name)
    return inferred(ev, operator.mul, (bar, slope), name)


def _negated(ev: Evaluator, x: Operand, name: str) -> Operand:
    opposite = ev.opposite(x)
    return inferred(ev, operator.neg, (x,), name) if opposite is None else opposite


def sum_of(ev: Evaluator, a: Operand, b: Operand, name: str) -> Operand:
    """Write ``a + b``, as a difference where one is a negation."""
    for x, other in ((b, a), (a, b)) if ev.negated else ():
        opposite = ev.opposite(x)
        if opposite is not None:
            return inferred(ev, operator.sub, (other, opposite), name)
    return inferred(ev, operator.add, (a, b), name)


def inferred(ev: Evaluator, f: Any, operands: tuple[Operand, ...], name: str) -> Operand:
    ev.hint = name
    is_plain = f in _ARITHMETIC and _are_unknown(operands)
    if is_plain:  # shortcuts of the call below
        known = FLOAT if are_floats(ev, *operands) else ev.known_type(f, operands)
        if known is not None:
            return ev.operation(f, operands, known)
    args = [*map(abstract_of, operands)]
    if is_plain and all(map(is_numeric, args)):
        return ev.operand(ev.infer(f, args))
    return ev.operand(ev.call(Known(f), args, {}))


def _are_unknown(operands: tuple[Operand, ...]) -> bool:
    for x in operands:  # a generator would cost more
        if type(x) is not Const:
            return True
    return False


_ARITHMETIC = frozenset({operator.add, operator.sub, operator.mul, operator.truediv, operator.neg})


def inexact(ev: Evaluator, x: Operand) -> Operand:
    """Convert NumPy integers and truth values to float64: they overflow, and their logarithms may
    have low precision."""
    if isinstance(x, Const):
        return Const(np.float64(x.value)) if isinstance(x.value, _WHOLE) else x
    t = operand_type(ev, x)
    if type(t) is Number and t.kinds <= _INEXACT:
        return x
    if isinstance(t, Array) and may_overflow(t):
        of_floats = Array(np.dtype(np.float64), t.shape)
        return ev.operation(np.ndarray.astype, (x, Const(of_floats.dtype)), of_floats)
    if not isinstance(t, Number):
        return x
    whole = {kind for kind in t.kinds if issubclass(kind, _WHOLE)}
    if not whole:
        return x
    return ev.operation(runtime.as_float, (x,), Number((t.kinds - whole) | {np.float64}))


_WHOLE = (np.integer, np.bool_, bool)
_INEXACT = frozenset({float, complex, np.float64, np.complex128})


def beside(ev: Evaluator, y_bar: Operand, x: Operand, y: Value) -> Operand:
    """Apply `as_precise` if the cotangent is a number: unlike an array, a number does not raise
    the precision of a product."""
    return x if isinstance(operand_type(ev, y_bar), Array) else as_precise(ev, x, y)


def as_precise(ev: Evaluator, x: Operand, y: Value) -> Operand:
    """Convert an array or a NumPy number to at least the precision of `y`."""
    t = operand_type(ev, x)
    if isinstance(t, Number) and not t.kinds & LOW_KINDS:
        return x
    if isinstance(t, Array) and may_overflow(t):
        return inexact(ev, x)
    of_y = _dtypes(ev.types[y])
    if isinstance(t, Array):
        precise = {np.promote_types(t.dtype, dtype) for dtype in of_y} - {t.dtype}
        if len(precise) > 1:
            raise NotCovered("numbers of different precisions", ev.span)
        return cast_to(ev, x, Array(precise.pop(), t.shape)) if precise else x
    if not isinstance(t, Number):
        return x
    kinds = {np.promote_types(kind, dtype).type for kind in t.kinds for dtype in of_y}
    if len(kinds) > 1:  # the class is known at run time only
        return ev.operation(runtime.as_precise, (x, y), Number(t.kinds | kinds), name="precise")
    (kind,) = kinds
    if t.kinds == kinds:
        return x
    if isinstance(x, Const):
        return Const(kind(x.value))
    return ev.operation(kind, (x,), number(kind), name="precise")


def _dtypes(t: Any) -> list[Any]:
    """Return the dtypes of the real parts of a number or an array."""
    t = bar_type(t) if isinstance(t, IntegersOrFloats) else t
    kinds = [t.dtype] if isinstance(t, Array) else t.kinds if isinstance(t, Number) else []
    return [np.empty(0, kind).real.dtype for kind in kinds]
