"""Tangents of writes to arrays, to lists of numbers, and to buffers of cotangents."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from adjoint.fast.evaluate.types import Array
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.reverse.arithmetic import inferred
from adjoint.fast.single_assignment.walk import callee_of
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.ir.single import Call, Const, Operand, Value

if TYPE_CHECKING:
    from adjoint.fast.forward.tangent_values import TangentValues

_PUTS = (runtime.put, runtime.put_broadcast)
_SUMS = (runtime.add_to, runtime.subtract_from)
_AT_INDEX = (
    runtime.add_at,
    runtime.add_part,
    runtime.scatter,
    rows.add_part,
    rows.add_shared,
    rows.add_item,
)
_OF_ROWS = (rows.add_to_all, rows.add_each, rows.add_folded, rows.add_stacked)


def written_tangent(sweep: TangentValues, op: Call) -> None:
    """Write a write, and the write to the tangent of its target."""
    ev, f, y = sweep.ev, callee_of(op), op.operands[0]
    dot = sweep.of(y)
    assert dot is not None
    if op.result is not None:  # `take_last` or `take_first`
        ev.write(op)
        taken = ev.operation(f, (dot,), ev.row_type(dot).item, name=f"{op.result.name}_dot")
        sweep.dots[op.result] = sweep.settle(taken, op.result)
        return
    if f in (runtime.scale, runtime.divide):
        _scaled(sweep, op, dot)
        return
    ev.write(op)
    if f in (runtime.clear, rows.clear_item) or f in rows.TAKING:
        ev.write(Call(None, op.callee, (dot, *op.operands[1:])))
        return
    value = op.operands[-1]
    value_dot = sweep.of(value)
    if f in _PUTS:
        if value_dot is None:
            ev.write(Call(None, Const(runtime.clear), (dot, op.operands[1])))
        else:
            ev.write(Call(None, op.callee, (dot, op.operands[1], value_dot)))
    elif f in (rows.append, rows.put_first, rows.put_item):
        given = value_dot
        if given is None:
            of_arrays = isinstance(value, Value) and isinstance(ev.types[value], Array)
            given = sweep.full(value) if of_arrays else Const(0.0)
        ev.write(Call(None, op.callee, (dot, *op.operands[1:-1], given)))
    elif f in _SUMS or f in _AT_INDEX or f in _OF_ROWS:
        if value_dot is not None:
            ev.write(Call(None, op.callee, (dot, *op.operands[1:-1], value_dot)))
    else:
        raise NotCovered(f"a tangent of {getattr(f, '__name__', f)}", op.span)


def _scaled(sweep: TangentValues, op: Call, dot: Operand) -> None:
    """Write ``y *= c`` or ``y /= c``, with the product rule for the tangent of `y`."""
    ev, (y, c) = sweep.ev, op.operands
    c_dot = sweep.of(c)
    if callee_of(op) is runtime.scale:
        term = None if c_dot is None else inferred(ev, operator.mul, (y, c_dot), "t")
        ev.write(op)
        ev.write(Call(None, op.callee, (dot, c)))
        if term is not None:
            ev.write(Call(None, Const(runtime.add_to), (dot, term)))
        return
    ev.write(op)
    if c_dot is not None:
        term = inferred(ev, operator.mul, (y, c_dot), "t")
        ev.write(Call(None, Const(runtime.subtract_from), (dot, term)))
    ev.write(Call(None, op.callee, (dot, c)))
