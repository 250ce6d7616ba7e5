"""The reverse of operations on lists of numbers or arrays.

The cotangent of a list is a list that at each point of the reverse sweep is as long as the primal
was at that point: the reverse of ``append`` removes an item, that of ``pop`` adds one. So the
reverse sweep reads only the final length of the primal, which may have been written to. Arrays in a
cotangent are replaced, not added to in place: others may refer to them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import (
    ANYTHING,
    Array,
    Number,
    Row,
    bar_type,
    has_complex,
    holds_arrays,
    is_complex,
    number,
)
from adjoint.fast.reverse.block_cotangents import Scope
from adjoint.fast.reverse.cotangent_types import whole
from adjoint.fast.reverse.formulas import formula, steps
from adjoint.fast.reverse.forward_blocks import Step
from adjoint.fast.reverse.sweep import Sweep
from adjoint.fast.single_assignment.walk import callee_of, result_of
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.ir.single import Call, Const, Operand, Value


def item_type(ev: Evaluator, row: Value) -> Number | Array:
    """Return the type of the cotangents of the items of a list."""
    t = bar_type(ev.types[row])
    assert isinstance(t, Row)
    return t.item


def _zero(ev: Evaluator, row: Value, item: Value | None) -> Operand:
    """Return the zero cotangent of an item of a list."""
    t = item_type(ev, row)
    if not isinstance(t, Array):
        return Const(0j if is_complex(t) else 0.0)
    assert item is not None  # see `with_item`
    return ev.operation(runtime.zeros_like, (item,), t, name="item_bar")


def with_item(ev: Evaluator, op: Call) -> Call:
    """Return a write; one that takes an array from a list with a result, whose zeros its reverse
    puts into the cotangent of the list."""
    row = op.operands[0]
    if op.result is None and callee_of(op) in rows.TAKING and holds_arrays(ev.type_at(row)):
        return replace(op, result=ev.value(ev.row_type(row).item, name="item"))
    return op


def _as_item(ev: Evaluator, row: Value, bar: Operand) -> Operand:
    """Convert the cotangent of an item that is a number to a Python number."""
    t, found = item_type(ev, row), ev.types[bar] if isinstance(bar, Value) else None
    if isinstance(t, Array):
        return bar
    if not isinstance(found, Number) or found.kinds <= t.kinds:
        return bar
    kind = complex if is_complex(t) else float
    if kind is float and has_complex(t):
        return bar
    return ev.operation(kind, (bar,), number(kind), name="t")


def add_item(scope: Scope, row: Value, bars: Operand, index: Operand, bar: Operand) -> None:
    """Write the addition of `bar` to the cotangent of an item."""
    f = rows.add_item if isinstance(item_type(scope.ev, row), Array) else runtime.add_at
    bar = _as_item(scope.ev, row, bar)
    scope.ev.write(Call(None, Const(f), (bars, index, bar)))


def row_written_back(scope: Scope, op: Call) -> None:
    """Write the reverse of a write to a list."""
    ev, row, value = scope.ev, op.operands[0], op.operands[-1]
    assert isinstance(row, Value)
    if row not in scope.sweep.used:
        return
    bars = scope.buffer(row)
    of_item = item_type(ev, row)
    f = callee_of(op)
    if f in rows.TAKING:
        ev.write(Call(None, Const(rows.TAKING[f]), (bars, _zero(ev, row, op.result))))
        return
    is_active = isinstance(value, Value) and value in scope.sweep.active
    if f in rows.PUTTING:
        taken = ev.operation(rows.PUTTING[f], (bars,), of_item, name="item_bar")
        if is_active:
            scope.add(value, taken)
        return
    index = op.operands[1]
    if is_active:
        scope.add(value, ev.operation(rows.item, (bars, index), of_item, name="item_bar"))
    if isinstance(of_item, Array):
        ev.write(Call(None, Const(rows.clear_item), (bars, index)))
    else:
        ev.write(Call(None, Const(rows.put_item), (bars, index, _zero(ev, row, None))))


@formula(rows.item)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    row, index = op.operands
    assert isinstance(row, Value)
    add_item(scope, row, scope.buffer(row), index, y_bar)


@formula(rows.total, rows.total_or_zero, rows.exact_total)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    (row,) = op.operands
    assert isinstance(row, Value)
    bars = scope.buffer(row)
    scope.ev.write(Call(None, Const(rows.add_to_all), (bars, _as_item(scope.ev, row, y_bar))))


@formula(rows.array_of, rows.stacked)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, row = scope.ev, op.operands[0]
    assert isinstance(row, Value) and op.result is not None
    bars = scope.buffer(row)
    f = rows.add_stacked if callee_of(op) is rows.stacked else rows.add_each
    ev.write(Call(None, Const(f), (bars, whole(ev, y_bar, op.result))))


def _for_items(ev: Evaluator, row: Value, copy: Value | None, bars: Operand) -> Operand:
    """Convert the cotangent of a copy to that of the list, whose item type may be wider."""
    assert copy is not None
    of_row, of_copy = item_type(ev, row), item_type(ev, copy)
    if is_complex(of_row) and not is_complex(of_copy):
        f: Any = rows.complex_items
    elif has_complex(of_copy) and not has_complex(of_row):
        f = rows.real_items
    else:
        return bars
    return ev.operation(f, (bars,), bar_type(ev.types[row]), name="bars")


@formula(rows.part)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    row, index = op.operands
    assert isinstance(row, Value)
    given = _for_items(scope.ev, row, op.result, y_bar)
    scope.ev.write(Call(None, Const(rows.add_part), (scope.buffer(row), index, given)))


@formula(rows.repeated)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    row = op.operands[0]
    assert isinstance(row, Value)
    given = _for_items(scope.ev, row, op.result, y_bar)
    scope.ev.write(Call(None, Const(rows.add_folded), (scope.buffer(row), given)))


def _pop_back(sweep: Sweep, op: Call) -> Step:
    """Return the reverse of ``pop``: put the cotangent of the popped item at its place."""
    y, (row,) = result_of(op), op.operands
    assert isinstance(row, Value)

    def back(scope: Scope) -> None:
        y_bar = scope.take(y)
        bars = scope.buffer(row)
        ev = scope.ev
        if y_bar is None:
            bar = _zero(ev, row, y)
        else:
            bar = whole(ev, _as_item(ev, row, y_bar), y)
            if isinstance(bar, Value):  # the list refers to it from now on
                ev.fresh.discard(bar)
        ev.write(Call(None, Const(rows.TAKING[callee_of(op)]), (bars, bar)))

    return back


steps[rows.take_last] = steps[rows.take_first] = _pop_back


def _extreme_back(sweep: Sweep, op: Call) -> Step:
    """Return the reverse of ``max`` or ``min``: ties share the cotangent."""
    y, (row,) = result_of(op), op.operands
    assert isinstance(row, Value)
    places = sweep.ev.operation(rows.ties, (row, y), ANYTHING, name="ties")

    def back(scope: Scope) -> None:
        y_bar = scope.take(y)
        if y_bar is not None:
            bars = scope.buffer(row)
            bar = _as_item(scope.ev, row, y_bar)
            scope.ev.write(Call(None, Const(rows.add_shared), (bars, places, bar)))

    return back


steps[rows.greatest] = steps[rows.least] = _extreme_back
