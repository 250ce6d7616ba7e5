"""The reverse of elementwise operations, by their partial derivatives (slopes)."""

from __future__ import annotations

import cmath
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import (
    ANYTHING,
    Array,
    IntegersOrFloats,
    Number,
    Row,
    bar_type,
    has_complex,
    number,
    witnesses,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.reverse.arithmetic import as_precise, bar_name, beside, inferred, product
from adjoint.fast.reverse.block_cotangents import Scope
from adjoint.fast.reverse.cotangent_types import (
    are_floats,
    cast_to,
    conjugated,
    fit,
    operand_type,
)
from adjoint.fast.reverse.evaluated_slopes import evaluated_slope
from adjoint.fast.reverse.formulas import formula
from adjoint.fast.single_assignment.walk import callee_of, result_of
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.fast.support.result_memory import COPIES, IDENTITIES
from adjoint.fast.support.structural_zeros import zero_beside
from adjoint.ir import primitives
from adjoint.ir.single import Call, Const, Operand, Unpack, Value
from adjoint.rulekit.partials import Partials


def elementwise_back(scope: Scope, op: Call, slopes: Partials) -> None:
    ev = scope.ev
    y = result_of(op)
    y_bar = scope.take(y)
    if y_bar is None:
        return
    for x, p in zip(op.operands, slopes.partials, strict=True):
        if p is None or not isinstance(x, Value) or x not in scope.sweep.active:
            continue
        demand_inexact(ev, x)
        if callable(p):
            slope = _slope(ev, op, x, p)
            if are_floats(ev, x, y, y_bar, slope):
                scope.add(x, product(ev, y_bar, slope, bar_name(x)))
                continue
            is_singular = _is_singular(op, slopes)
            ev.is_singular |= is_singular
            if has_complex(ev.types[y]):
                slope = conjugated(ev, slope)
            bar = product(ev, y_bar, beside(ev, y_bar, slope, y), f"{x.name}_bar")
            if is_singular or slopes.selects:
                bar = carefully(ev, bar, slope if slopes.selects else y_bar, x)
            bar = fit(ev, bar, x, y)
        else:
            bar = product(ev, fit(ev, y_bar, x, y), Const(p), f"{x.name}_bar")
        scope.add(x, bar)


def carefully(ev: Evaluator, bar: Operand, factor: Operand, x: Operand) -> Operand:
    """Write that a product `bar` is zero where one `factor` is, in a careful program."""
    if not ev.is_careful:
        return bar
    t = operand_type(ev, bar)
    return ev.operation(zero_beside, (bar, factor), t, name=bar_name(x))


def _is_singular(op: Call, slopes: Partials) -> bool:
    """Return whether a slope may be infinite at operands where the function itself is finite."""
    power = op.operands[-1]
    if callee_of(op) in _POWERS and isinstance(power, Const):
        return not (isinstance(power.value, int | float) and power.value >= 1)
    return slopes.singular


_POWERS = frozenset({operator.pow, np.power, np.float_power})
PRODUCTS = frozenset({operator.mul, np.multiply})


def _slope(ev: Evaluator, op: Call, x: Value, p: Callable[..., Any]) -> Operand:
    if callee_of(op) in PRODUCTS:  # frequent: a fast path
        a, b = op.operands
        if a is not b:
            return b if x is a else a
    y = result_of(op)
    if is_modulus(ev, op):
        return direction_of(ev, x, y)
    return evaluated_slope(ev, p, (y, *[as_precise(ev, x, y) for x in op.operands]))


def is_modulus(ev: Evaluator, op: Call) -> bool:
    """Return whether an operation is the absolute value of an operand that may be complex."""
    return callee_of(op) in _ABSOLUTE and has_complex(operand_type(ev, op.operands[0]))


_ABSOLUTE = frozenset({abs, operator.abs, np.absolute})


def direction_of(ev: Evaluator, x: Value, y: Value) -> Operand:
    """Write the slope of the modulus `y` of `x`."""
    of_x, of_y = ev.types[x], ev.types[y]
    t = of_x
    if isinstance(of_x, Number) and isinstance(of_y, Number):
        t = number(*(type(a / b) for a in witnesses(of_x) for b in witnesses(of_y)), *of_x.kinds)
    return ev.operation(runtime.direction, (x, y), t, name="slope")


def demand_inexact(ev: Evaluator, x: Value) -> None:
    """Reject operands without a derivative, and integers of which NumPy makes numbers of less than
    double precision."""
    t = ev.types[x]
    if isinstance(t, IntegersOrFloats):
        return
    if isinstance(t, Array) and t.dtype.kind not in "fc" and t.dtype != np.int64:
        raise NotCovered("a derivative with respect to integers", ev.span)
    if isinstance(t, Number) and np.bool_ in t.kinds:  # their sum is a truth value
        raise NotCovered("a derivative with respect to truth values", ev.span)


def demand_floats(ev: Evaluator, x: Value) -> None:
    """Reject operands without a derivative, and integers and complex numbers, of functions that
    order numbers: the shares of ties have the dtype of the operand."""
    demand_inexact(ev, x)
    t = ev.types[x]
    if isinstance(t, Array) and t.dtype == np.int64:
        raise NotCovered("the derivative of an extremum of integers", ev.span)
    if has_complex(t):
        raise NotCovered("the derivative of an extremum of complex numbers", ev.span)


@formula(operator.truediv, np.true_divide)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, (a, b), y = scope.ev, op.operands, result_of(op)
    divisor = beside(ev, y_bar, conjugated(ev, b), y)
    quotient = inferred(ev, operator.truediv, (y_bar, divisor), bar_name(a))
    quotient = carefully(ev, quotient, y_bar, a)
    if isinstance(a, Value) and a in scope.sweep.active:
        demand_inexact(ev, a)
        scope.add(a, fit(ev, quotient, a, y))
    if isinstance(b, Value) and b in scope.sweep.active:
        demand_inexact(ev, b)
        bar = inferred(ev, operator.mul, (quotient, conjugated(ev, y)), bar_name(b))
        bar = carefully(ev, bar, y_bar, b)
        bar = inferred(ev, operator.neg, (bar,), bar_name(b))
        scope.add(b, fit(ev, bar, b, y))


@formula(np.log, cmath.log)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    (x,) = op.operands
    if isinstance(x, Value):
        demand_inexact(scope.ev, x)
    bar = inferred(scope.ev, operator.truediv, (y_bar, conjugated(scope.ev, x)), bar_name(x))
    scope.add(x, carefully(scope.ev, bar, y_bar, x))


@formula(np.maximum, np.minimum)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, (a, b), y = scope.ev, op.operands, result_of(op)
    share = runtime.share_of_greater if callee_of(op) is np.maximum else runtime.share_of_less
    t = bar_type(ev.types[y])
    for x, other in ((a, b), (b, a)):
        if isinstance(x, Value) and x in scope.sweep.active:
            demand_floats(ev, x)
            slope: Operand = ev.operation(share, (x, other, y), t, name="slope")
            if isinstance(t, Array) and not _is_inexact_array(ev, y_bar):
                slope = cast_to(ev, slope, t)  # it may be an array of truth values
            bar = carefully(ev, product(ev, y_bar, slope, bar_name(x)), slope, x)
            scope.add(x, fit(ev, bar, x, y))


def _is_inexact_array(ev: Evaluator, x: Operand) -> bool:
    t = ev.types[x] if isinstance(x, Value) else None
    return isinstance(t, Array) and t.dtype.kind in "fc"


@formula(
    *IDENTITIES,
    *COPIES,
    runtime.own,
    runtime.present,
    np.copy,
    np.ndarray.copy,
    np.float32,
    np.float16,
)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    scope.add(op.operands[0], y_bar)


def share_of_one(y: Any, a: Any, b: Any) -> float:
    """Return the derivative of ``y = max(a, b)``, or ``min``, in `a`: ties share it, NaN stays."""
    return 0.5 if a == b else 1.0 if y == a else 0.0 if y == b else y


@formula(max, min)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    if len(op.operands) > 2:
        _share_of_many(scope, op.operands, result_of(op), y_bar)
        return
    a, b = op.operands
    for x, other in ((a, b), (b, a)):
        if isinstance(x, Value) and x in scope.sweep.active:
            slope = evaluated_slope(scope.ev, share_of_one, (result_of(op), x, other))
            scope.add(x, product(scope.ev, y_bar, slope, bar_name(x)))


def ties_of_numbers(y: Any, *xs: Any) -> int:
    n = 0
    for x in xs:
        if x == y:
            n += 1
    return n or 1  # no operand equals NaN: all cotangents are NaN then


def _portion(y: Any, x: Any, share: Any) -> Any:
    return share if x == y else 0.0 * y * share


def _share_of_many(scope: Scope, xs: tuple[Operand, ...], y: Value, y_bar: Operand) -> None:
    ev = scope.ev
    count = evaluated_slope(ev, ties_of_numbers, (y, *xs))
    share = inferred(ev, operator.truediv, (y_bar, count), "share")
    for x in xs:
        if isinstance(x, Value) and x in scope.sweep.active:
            scope.add(x, evaluated_slope(ev, _portion, (y, x, share)))


@formula(primitives.build_tuple, primitives.build_list, rows.new_keys)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev = scope.ev
    if not op.operands:
        return
    of_row = ev.types[result_of(op)]
    add: Callable[[Operand, Operand], None] = scope.add
    if isinstance(of_row, Row):
        t, name = bar_type(of_row.item), "item_bar"
    else:
        t, name, add = ANYTHING, "bar", scope.add_present
    bars = tuple(ev.value(t, name=name) for _ in op.operands)
    ev.write(Unpack(bars, y_bar))
    for x, bar in zip(op.operands, bars, strict=True):
        add(x, bar)
