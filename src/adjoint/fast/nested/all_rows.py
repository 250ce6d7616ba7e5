"""A function of one row, for all rows: in the operations of the program around it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.fast.batch.sweep import BatchSweep
from adjoint.fast.batch.values import note_rows
from adjoint.fast.evaluate.composites import expanded
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import Array, Dim, number
from adjoint.fast.evaluate.values import Abstract, Known
from adjoint.fast.evaluate.writes.views import with_aliases
from adjoint.fast.nested.inner_derivatives import demand_own_writes, items_of, mapped
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Block, Const, Operand, Value


def all_rows(
    ev: Evaluator,
    f: Abstract,
    args: Sequence[Abstract],
    in_axes: Sequence[Any],
    keywords: dict[str, Abstract],
    out_axes: Any,
) -> Abstract:
    """Write ``vmap(f, in_axes, out_axes)(*args, **keywords)``."""
    rows = _Rows(ev)
    given = [
        arg if axis is None else rows.of(arg, axis) for arg, axis in zip(args, in_axes, strict=True)
    ]
    named = {name: rows.of(arg, 0) for name, arg in keywords.items()}
    if rows.length is None or rows.count is None:
        raise NotCovered("rows of no argument", ev.span)
    held = dict(ev.heap)
    with ev.writing() as ops:
        y = ev.call(f, given, named)
    if any(ev.heap[address] is not before for address, before in held.items()):
        raise NotCovered("a function that writes to its row, or to what is around it", ev.span)
    _demand_numbers(ev, y)
    block = expanded(ev, Block(tuple(rows.given), tuple(ops), ()))
    demand_own_writes(ev, block, block.parameters)
    block = with_aliases(ev, block)
    note_rows(ev, block)
    sweep = BatchSweep(ev, rows.length, rows.count)
    for op in sweep.run(block, rows.given):
        ev.write(op)
    return mapped(ev, y, lambda x: _result(sweep, x, out_axes))


class _Rows:
    """The rows of arguments.

    Attributes
    ----------
    length, count
        The number of rows: as a dimension, and as an operand.
    given
        By value of one row: the value of all rows.
    """

    def __init__(self, ev: Evaluator) -> None:
        self.ev = ev
        self.length: Dim | None = None
        self.count: Operand | None = None
        self.given: dict[Value, Value] = {}

    def of(self, arg: Abstract, axis: int) -> Abstract:
        """Return one row of an argument, or of each array in one."""
        _demand_numbers(self.ev, arg)
        return mapped(self.ev, arg, lambda x: self._row(x, axis))

    def _row(self, x: Value | Known, axis: int) -> Value:
        ev = self.ev
        t = ev.types[x] if isinstance(x, Value) else None
        if not isinstance(x, Value) or not isinstance(t, Array) or not t.shape:
            raise NotCovered("rows of a number", ev.span)
        if type(axis) is not int or not -len(t.shape) <= axis < len(t.shape):
            raise NotCovered("an axis of rows that there is not", ev.span)
        length = t.shape[axis]
        if self.length is None:
            self.length = length
            operands = (x, Const(axis % len(t.shape)))
            self.count = ev.operation(runtime.length, operands, number(int), name="n")
            ev.dims[self.count] = length
        if length != self.length or length == 0:
            raise NotCovered("arguments that are not known to have as many rows", ev.span)
        rest = tuple(n for i, n in enumerate(t.shape) if i != axis % len(t.shape))
        rows = moved(ev, x, axis, 0)
        row = ev.value(Array(t.dtype, rest) if rest else number(t.dtype.type), name=x.name)
        self.given[row] = rows
        return row


def _demand_numbers(ev: Evaluator, y: Abstract) -> None:
    """Refuse results that are not stacked: text, objects, integers that no array holds."""
    if isinstance(y, Value):
        return
    if isinstance(y, Known):
        value = y.value
        is_large = type(value) is int and not -(2**63) <= value < 2**63
        if is_large or not (value is None or type(value) in (int, float, np.float64)):
            raise NotCovered("rows that cannot be stacked", ev.span)
        return
    for part in items_of(ev, y) or ():
        _demand_numbers(ev, part)


def moved(ev: Evaluator, x: Value, at: int, to: int) -> Value:
    """Move an axis of an array."""
    t = ev.array_type(x)
    rank = len(t.shape)
    if at % rank == to % rank:
        return x
    shape = [n for i, n in enumerate(t.shape) if i != at % rank]
    shape.insert(to % rank, t.shape[at % rank])
    operands = (x, Const(at), Const(to))
    return ev.operation(np.moveaxis, operands, Array(t.dtype, tuple(shape)), name=x.name)


def _result(sweep: BatchSweep, x: Value | Known, axis: Any) -> Value:
    """Return the result of all rows, in memory of its own."""
    ev = sweep.ev
    if type(axis) is not int:
        raise NotCovered("results that are the same for all rows", ev.span)
    found = sweep.full(x if isinstance(x, Value) else Const(x.value))
    if not -len(ev.array_type(found).shape) <= axis < len(ev.array_type(found).shape):
        raise NotCovered("an axis of rows that there is not", ev.span)
    if found not in ev.fresh:
        found = ev.operation(runtime.own, (found,), ev.types[found], name=found.name)
    return moved(ev, found, 0, axis)
