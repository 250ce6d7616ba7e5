"""The reverse of what is done with lists of numbers.

The cotangent of a list is a list that at each point of the reverse sweep is as long as the list was
at that point: what was appended is taken away. So no step reads the list itself, which may have
been written to since; but for its length at the end, when the cotangent is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjoint.fast import runtime
from adjoint.fast.evaluate.types import ANYTHING, Number, number
from adjoint.fast.reverse.formulas import Step, formula, steps
from adjoint.ir.single import Call, Const, Operand, Value

if TYPE_CHECKING:
    from adjoint.fast.reverse.scope import Scope
    from adjoint.fast.reverse.sweep import Sweep

__all__ = ["add_item", "row_written_back"]

FLOAT = number(float)


def add_item(scope: Scope, row: Value, bars: Operand, index: Operand, bar: Operand) -> None:
    """Add to the cotangent of an item. Those of the caller's lists say where there is no path."""
    ev = scope.ev
    found = ev.types[bar] if isinstance(bar, Value) else None
    if isinstance(found, Number) and not found.kinds <= {float}:
        bar = ev.operation(float, (bar,), FLOAT, name="t")
    add = runtime.add_optional if row in scope.sweep.leaves else runtime.add_at
    ev.write(Call(None, Const(add), (bars, index, bar)))


def row_written_back(scope: Scope, op: Call) -> None:
    """The reverse of a write."""
    ev, row, value = scope.ev, op.operands[0], op.operands[-1]
    assert isinstance(row, Value)
    bars = scope.buffer(row)
    if op.callee == Const(runtime.take_last):
        ev.write(Call(None, Const(runtime.append), (bars, Const(0.0))))
        return
    is_active = isinstance(value, Value) and value in scope.sweep.active
    if op.callee == Const(runtime.append):
        taken = ev.operation(runtime.take_last, (bars,), FLOAT, name="item_bar")
        if is_active:
            scope.add(value, taken)
        return
    index = op.operands[1]
    if is_active:
        scope.add(value, ev.operation(runtime.item, (bars, index), FLOAT, name="item_bar"))
    ev.write(Call(None, Const(runtime.put_item), (bars, index, Const(0.0))))


def _plain(scope: Scope, y_bar: Operand) -> Operand:
    found = scope.ev.types[y_bar] if isinstance(y_bar, Value) else None
    if isinstance(found, Number) and not found.kinds <= {float}:
        return scope.ev.operation(float, (y_bar,), FLOAT, name="t")
    return y_bar


@formula(runtime.item)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    row, index = op.operands
    assert isinstance(row, Value)
    add_item(scope, row, scope.buffer(row), index, y_bar)


@formula(runtime.total, runtime.exact_total)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    (row,) = op.operands
    assert isinstance(row, Value)
    bars = scope.buffer(row)
    scope.ev.write(Call(None, Const(runtime.add_to_all), (bars, _plain(scope, y_bar))))


@formula(runtime.array_of)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    from adjoint.fast.reverse.fitting import whole

    ev, row = scope.ev, op.operands[0]
    assert isinstance(row, Value) and op.result is not None
    bars = scope.buffer(row)
    ev.write(Call(None, Const(runtime.add_each), (bars, whole(ev, y_bar, op.result))))


@formula(runtime.part)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    row, index = op.operands
    assert isinstance(row, Value)
    bars = scope.buffer(row)
    scope.ev.write(Call(None, Const(runtime.add_part), (bars, index, y_bar)))


@formula(runtime.repeated)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    row = op.operands[0]
    assert isinstance(row, Value)
    scope.ev.write(Call(None, Const(runtime.add_folded), (scope.buffer(row), y_bar)))


def _pop_back(sweep: Sweep, op: Call) -> Step:
    """What was taken away comes back, with its cotangent."""
    y, (row,) = op.result, op.operands
    assert y is not None and isinstance(row, Value)

    def back(scope: Scope) -> None:
        y_bar = scope.take(y)
        bars = scope.buffer(row)
        bar = Const(0.0) if y_bar is None else _plain(scope, y_bar)
        scope.ev.write(Call(None, Const(runtime.append), (bars, bar)))

    return back


steps[runtime.take_last] = _pop_back


def _extreme_back(sweep: Sweep, op: Call) -> Step:
    """Equal numbers share the derivative of the greatest or the least."""
    y, (row,) = op.result, op.operands
    assert y is not None and isinstance(row, Value)
    places = sweep.ev.operation(runtime.ties, (row, y), ANYTHING, name="ties")

    def back(scope: Scope) -> None:
        y_bar = scope.take(y)
        if y_bar is not None:
            bars = scope.buffer(row)
            scope.ev.write(
                Call(None, Const(runtime.add_shared), (bars, places, _plain(scope, y_bar)))
            )

    return back


steps[runtime.greatest] = steps[runtime.least] = _extreme_back
