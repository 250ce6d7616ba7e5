"""The reverse of writes to arrays."""

from __future__ import annotations

import operator

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import Array, Number, Row, bar_type, number
from adjoint.fast.reverse.arithmetic import bar_name, product
from adjoint.fast.reverse.block_cotangents import Scope
from adjoint.fast.reverse.cotangent_types import conjugated, fit, whole
from adjoint.fast.reverse.forward_blocks import Step
from adjoint.fast.reverse.linear_functions import may_repeat
from adjoint.fast.reverse.rows import row_written_back
from adjoint.fast.reverse.sweep import Sweep
from adjoint.fast.single_assignment.walk import callee_of
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Call, Const, Operand, Value


def written_back(sweep: Sweep, op: Call) -> Step:
    """Return the function that writes the reverse of a write to an array or a list."""
    f, ev = callee_of(op), sweep.ev
    y = op.operands[0]
    assert isinstance(y, Value)
    value = op.operands[-1]
    if isinstance(ev.types[y], Row):
        return lambda scope: row_written_back(scope, op)

    def back(scope: Scope) -> None:
        owner = ev.owners(y)[-1]
        if not scope.has_any(owner) and not scope.may_get(owner):
            return
        y_bar = scope.shown(y)
        if f in (runtime.put, runtime.put_broadcast):
            _put_back(scope, op, y_bar)
        elif f in (runtime.add_to, runtime.subtract_from):
            if isinstance(value, Value) and value in sweep.active:
                bar = fit(ev, ev.operation(runtime.own, (y_bar,), ev.types[y]), value, y)
                sign = Const(1 if f is runtime.add_to else -1)
                scope.add(value, product(ev, bar, sign, bar_name(value)))
        elif f is runtime.clear:
            ev.write(Call(None, op.callee, (y_bar, op.operands[1]), (), op.span))
        elif f in runtime.BUFFER_WRITES:
            _added_back(scope, op, y_bar)
        else:
            ev.write(Call(None, Const(f), (y_bar, conjugated(ev, value)), (), op.span))

    return back


def _put_back(scope: Scope, op: Call, y_bar: Operand) -> None:
    f, ev, (y, index, value) = callee_of(op), scope.ev, op.operands
    assert isinstance(y, Value)
    of_y = bar_type(ev.array_type(y))
    assert isinstance(of_y, Array)
    if isinstance(value, Value) and value in scope.sweep.active:
        t = ev.types[value]
        scalar = isinstance(t, Number)
        slot = Array(of_y.dtype, () if isinstance(t, Number) else ev.array_type(value).shape)
        if may_repeat(ev, index):
            kind = number(of_y.dtype.type) if scalar else slot
            bar: Operand = ev.operation(
                runtime.last_part, (y_bar, index, value), kind, name=bar_name(value)
            )
        elif scalar and not _names_one(ev, index, len(of_y.shape)):
            part: Operand = ev.operation(operator.getitem, (y_bar, index), slot)
            bar = ev.operation(np.sum, (part,), number(of_y.dtype.type))
        elif scalar:
            bar = ev.operation(
                operator.getitem, (y_bar, index), number(of_y.dtype.type), name=bar_name(value)
            )
        elif f is runtime.put_broadcast:
            bar = ev.operation(
                runtime.summed_part, (y_bar, index, value), slot, name=bar_name(value)
            )
        else:
            part = ev.operation(operator.getitem, (y_bar, index), slot)
            bar = ev.operation(runtime.own, (part,), slot, name=bar_name(value))
        scope.add(value, whole(ev, bar, value))
    ev.write(Call(None, Const(runtime.clear), (y_bar, index)))


def _added_back(scope: Scope, op: Call, y_bar: Operand) -> None:
    """Write the reverse of ``y[index] += value``."""
    ev, (y, index, value) = scope.ev, op.operands
    if not isinstance(value, Value) or value not in scope.sweep.active:
        return
    of_y, t = bar_type(ev.array_type(y)), ev.types[value]
    assert isinstance(of_y, Array)
    dtype = of_y.dtype
    if callee_of(op) is runtime.add_part:
        slot = Array(dtype, ev.array_type(value).shape)
        part = ev.operation(operator.getitem, (y_bar, index), slot)
        bar = ev.operation(runtime.own, (part,), slot, name=bar_name(value))
    elif isinstance(t, Array):
        slot = Array(dtype, t.shape)
        bar = ev.operation(runtime.summed_part, (y_bar, index, value), slot, name=bar_name(value))
    else:
        part = ev.operation(operator.getitem, (y_bar, index), Array(dtype, ()), name="t")
        bar = ev.operation(np.sum, (part,), number(dtype.type), name=bar_name(value))
    scope.add(value, whole(ev, bar, value))


def _names_one(ev: Evaluator, index: Operand, rank: int) -> bool:
    """Return whether an index selects one element."""
    if isinstance(index, Const):
        parts = index.value if isinstance(index.value, tuple) else (index.value,)
        return len(parts) == rank and all(isinstance(part, int) for part in parts)
    assert isinstance(index, Value)
    if isinstance(ev.types[index], Number):
        return rank == 1
    made = ev.indices.get(index, ())
    return len(made) == rank and all(
        isinstance(x.value, int) if isinstance(x, Const) else isinstance(ev.types[x], Number)  # type: ignore[index]
        for x in made
    )
