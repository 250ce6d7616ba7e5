"""Formulas of the reverse of reductions, products and reads of arrays."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import ANYTHING, Array, Number, bar_type, has_complex, number
from adjoint.fast.reverse.arithmetic import bar_name, inferred, product
from adjoint.fast.reverse.block_cotangents import Scope
from adjoint.fast.reverse.cotangent_types import conjugated, fit, operand_type, whole
from adjoint.fast.reverse.elementwise import demand_floats, demand_inexact
from adjoint.fast.reverse.formulas import formula
from adjoint.fast.single_assignment.primitives import same
from adjoint.fast.single_assignment.walk import callee_of, result_of
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Call, Const, Operand, Value
from adjoint.rules.numpy.shapes.shaping import inverse


@formula(np.sum, np.ndarray.sum)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, x = scope.ev, op.operands[0]
    keepdims = dict(op.keywords).get("keepdims")
    t = ev.array_type(x)
    axis = axes_of(op, len(t.shape))
    if isinstance(operand_type(ev, y_bar), Array):
        y_bar = whole(ev, y_bar, result_of(op))
    if len(axis) == len(t.shape) and not isinstance(operand_type(ev, y_bar), Array):
        scope.add(x, y_bar)
        return
    kept = keepdims is not None and isinstance(keepdims, Const) and keepdims.value
    found = operand_type(ev, y_bar)
    if not kept and isinstance(found, Array):
        shape = tuple(1 if i in axis else n for i, n in enumerate(t.shape))
        index = tuple(None if i in axis else slice(None) for i in range(len(t.shape)))
        y_bar = ev.operation(
            operator.getitem, (y_bar, Const(index)), Array(found.dtype, shape), name="t"
        )
    scope.add(x, y_bar)


def axes_of(op: Call, rank: int) -> tuple[int, ...]:
    """Return the axes of a reduction of an array of `rank` axes."""
    operand = dict(op.keywords).get("axis", op.operands[1] if len(op.operands) > 1 else Const(None))
    assert isinstance(operand, Const)
    axis = operand.value
    if axis is None:
        return tuple(range(rank))
    axes = axis if isinstance(axis, tuple) else (axis,)
    return tuple(i % rank for i in axes)


def simple_reduction(op: Call) -> bool:
    names = {name for name, _ in op.keywords}
    return names <= {"axis", "keepdims"} and len(op.operands) <= 2


REDUCTIONS: set[Any] = {np.sum, np.max, np.min, np.ndarray.sum, np.ndarray.max, np.ndarray.min}


@formula(np.max, np.min, np.ndarray.max, np.ndarray.min)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, x, y = scope.ev, op.operands[0], op.result
    assert isinstance(x, Value) and y is not None
    demand_floats(ev, x)
    t = ev.array_type(x)
    axis = axes_of(op, len(t.shape))
    keepdims = dict(op.keywords).get("keepdims", Const(False))
    if isinstance(operand_type(ev, y_bar), Array):
        y_bar = whole(ev, y_bar, y)
    operands = (x, y, y_bar, Const(axis), keepdims)
    scope.add(x, ev.operation(runtime.to_extremes, operands, bar_type(t), name=bar_name(x)))


@formula(np.transpose, np.ndarray.transpose)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    axes: Any = op.operands[1].value if len(op.operands) > 1 else None  # type: ignore[union-attr]
    turned = () if axes is None else (Const(inverse(axes, len(axes))),)
    _turn_back(scope, op, y_bar, np.transpose, *turned)


@formula(np.moveaxis, np.swapaxes, np.ndarray.swapaxes)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    _, source, destination = op.operands
    _turn_back(scope, op, y_bar, callee_of(op), destination, source)


@formula(np.flip)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    _turn_back(scope, op, y_bar, np.flip, *op.operands[1:])


def _turn_back(scope: Scope, op: Call, y_bar: Operand, f: Any, *options: Operand) -> None:
    """Add ``f(y_bar, *options)`` to the cotangent of the first operand of `op`."""
    ev, x = scope.ev, op.operands[0]
    assert isinstance(x, Value)
    given = whole(ev, y_bar, result_of(op)), *options
    scope.add(x, ev.operation(f, given, bar_type(ev.types[x]), name=bar_name(x)))


@formula(np.reshape, np.ravel, np.ndarray.reshape, np.ndarray.ravel, np.ndarray.flatten)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, x = scope.ev, op.operands[0]
    assert isinstance(x, Value) and op.result is not None
    if not isinstance(operand_type(ev, y_bar), Array):
        scope.add(x, y_bar)
        return
    y_bar, t = whole(ev, y_bar, op.result), bar_type(ev.types[x])
    if isinstance(t, Number):  # a float has no shape
        total = ev.operation(np.sum, (y_bar,), number(np.float64), name="t")
        is_pythons = t == number(float) and not has_complex(ev.types[op.result])
        scope.add(x, ev.operation(float, (total,), t, name=bar_name(x)) if is_pythons else total)
        return
    shape = ev.operation(runtime.shape_of, (x,), ANYTHING, name="shape")
    scope.add(x, ev.operation(np.reshape, (y_bar, shape), t, name=bar_name(x)))


@formula(runtime.fitting, np.ascontiguousarray)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, x = scope.ev, op.operands[0]
    assert isinstance(x, Value) and op.result is not None
    if isinstance(operand_type(ev, y_bar), Array):
        y_bar = whole(ev, y_bar, op.result)
        y_bar = ev.operation(same, (y_bar,), bar_type(ev.types[x]), name=bar_name(x))
    scope.add(x, y_bar)


@formula(np.ndarray.tolist)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, (x,) = scope.ev, op.operands
    t = bar_type(ev.array_type(x))
    assert isinstance(t, Array)
    scope.add(x, ev.operation(np.array, (y_bar, Const(t.dtype)), t, name=bar_name(x)))


@formula(operator.getitem)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, (x, index) = scope.ev, op.operands
    assert isinstance(x, Value)
    buffer = scope.buffer(x)
    add = runtime.scatter if may_repeat(ev, index) else runtime.add_at
    ev.write(Call(None, Const(add), (buffer, index, y_bar)))


def may_repeat(ev: Evaluator, index: Operand) -> bool:
    """Return whether an index may select an element more than once."""
    if isinstance(index, Const):
        return False
    assert isinstance(index, Value)
    t = ev.types[index]
    if isinstance(t, Array):
        return t.dtype.kind != "b"
    made = ev.indices.get(index, ())
    return any(may_repeat(ev, part) for part in made)


@formula(operator.matmul, np.matmul, np.dot, np.ndarray.dot)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, (a, b) = scope.ev, op.operands
    assert isinstance(a, Value) and isinstance(b, Value) and op.result is not None
    of_a, of_b = ev.array_type(a), ev.array_type(b)
    ranks = len(of_a.shape), len(of_b.shape)
    y_bar = whole(ev, y_bar, op.result)
    active = scope.sweep.active
    if a in active:
        if ranks == (2, 1):
            bar = _multiplied(ev, np.outer, y_bar, conjugated(ev, b), a)
        elif ranks == (1, 1):
            bar = inferred(ev, operator.mul, (y_bar, conjugated(ev, b)), bar_name(a))
        elif ranks == (1, 2):
            bar = _multiplied(ev, operator.matmul, conjugated(ev, b), y_bar, a)
        else:
            bar = _multiplied(ev, operator.matmul, y_bar, _turned(ev, b, of_b), a)
        scope.add(a, whole(ev, bar, a))
    if b in active:
        if ranks == (1, 2):
            bar = _multiplied(ev, np.outer, conjugated(ev, a), y_bar, b)
        elif ranks == (1, 1):
            bar = inferred(ev, operator.mul, (y_bar, conjugated(ev, a)), bar_name(b))
        else:
            bar = _multiplied(ev, operator.matmul, _turned(ev, a, of_a), y_bar, b)
        scope.add(b, whole(ev, bar, b))


@formula(np.vdot)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    """y = Σ conj(a) b."""
    ev, (a, b) = scope.ev, op.operands
    for x, factor, other in ((a, conjugated(ev, y_bar), b), (b, y_bar, a)):
        if isinstance(x, Value) and x in scope.sweep.active:
            scope.add(x, whole(ev, product(ev, factor, other, bar_name(x)), x))


def _multiplied(ev: Evaluator, f: Any, left: Operand, right: Operand, x: Value) -> Operand:
    """Write the cotangent of `x` as a product of arrays, in the precision of the factors."""
    dtypes = [
        t.dtype if isinstance(t := operand_type(ev, y), Array) else float for y in (left, right)
    ]
    t = Array(np.result_type(*dtypes), ev.array_type(x).shape)
    return ev.operation(f, (left, right), t, name=bar_name(x))


def _turned(ev: Evaluator, x: Value, t: Array) -> Operand:
    turned = Array(t.dtype, t.shape[::-1])
    return conjugated(ev, ev.operation(np.transpose, (x,), turned, name=f"{x.name}_T"))


@formula(runtime.broadcast_like, np.full, np.full_like)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    place = 0 if callee_of(op) is runtime.broadcast_like else 1
    x, y = op.operands[place], result_of(op)
    if isinstance(x, Value):
        scope.add(x, fit(scope.ev, whole(scope.ev, y_bar, y), x, y))


@formula(np.where)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, (condition, a, b), y = scope.ev, op.operands, result_of(op)
    y_bar = whole(ev, y_bar, y)
    for x, picked in ((a, (condition, y_bar, Const(0.0))), (b, (condition, Const(0.0), y_bar))):
        if isinstance(x, Value) and x in scope.sweep.active:
            demand_inexact(ev, x)
            bar = ev.operation(np.where, picked, bar_type(ev.types[y]), name=bar_name(x))
            scope.add(x, fit(ev, bar, x, y))
