"""``sum`` of what is iterated over.

From CPython 3.12 on it adds floats with a compensation for what rounding loses (Neumaier), so that
its value is not that of the additions one after the other; its derivative is. The numbers are
gathered, and Python's own `sum` gives the value.
"""

from __future__ import annotations

import operator
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adjoint.fast import runtime
from adjoint.fast.evaluate.calls import call
from adjoint.fast.evaluate.loops import iterate
from adjoint.fast.evaluate.rows import restorable
from adjoint.fast.evaluate.types import ANYTHING, Number
from adjoint.fast.evaluate.values import Abstract, Known
from adjoint.ir import single as ir
from adjoint.ir.single import Call, Const, Operand, Value

if TYPE_CHECKING:
    from adjoint.fast.evaluate.evaluator import Evaluator

__all__ = ["summed", "summed_from"]

COMPENSATED = sys.version_info >= (3, 12)
_PLAIN = frozenset({float, int, bool})
_STARTS = frozenset({float, int})
"""Kinds of numbers, and those of `start` with which the compensation begins."""


class _OfOthers(Exception):
    """Not only of Python's own numbers, of which alone the sum is compensated."""


@dataclass
class _Gathered:
    """The numbers that were added: `items` as far as all of it is in one block."""

    block: list[ir.Op]
    begin: int
    tape: Value | None = None
    items: list[Operand] | None = field(default_factory=list)

    def add(self, ev: Evaluator, x: Abstract, is_first: bool) -> None:
        is_plain = _is_plain(ev, x)
        if is_first and is_plain:
            self.tape = ev.value(ANYTHING, name="items")
        if self.tape is None:
            return
        if not is_plain:
            raise _OfOthers
        given = ev.operand(x)
        ev.write(Call(None, Const(runtime.push), (self.tape, given)))
        if ev.block is not self.block:
            self.items = None
        elif self.items is not None:
            self.items.append(given)


def summed(ev: Evaluator, xs: Abstract, start: Abstract) -> Abstract:
    """``sum(xs, start)``"""
    with restorable(ev) as restore:
        try:
            return _summed(ev, xs, start, COMPENSATED and _is_plain(ev, start, _STARTS))
        except _OfOthers:
            restore()
    return _summed(ev, xs, start, False)


def summed_from(ev: Evaluator, row: Value, start: Abstract, rest: Abstract) -> Abstract:
    """``sum(row, start)`` of a list, where `rest` is the sum without `start`."""
    total = call(ev, Known(operator.add), [start, rest], {})
    if not isinstance(total, Value) or not _is_plain(ev, total):
        return total
    found = ev.operation(runtime.sum_of, (row, ev.operand(start)), ev.types[total])
    return ev.operation(runtime.exactly, (total, found), ev.types[total])


def _summed(ev: Evaluator, xs: Abstract, start: Abstract, is_compensated: bool) -> Abstract:
    gathered = _Gathered(ev.block, len(ev.block))
    seen: list[Abstract] = []

    def add(x: Abstract, carried: list[Abstract]) -> list[Abstract]:
        if is_compensated:
            gathered.add(ev, x, not seen)
        seen[:] = [call(ev, Known(operator.add), [carried[0], x], {})]
        return list(seen)

    (total,) = iterate(ev, xs, [start], add)
    if not seen:
        return total
    if gathered.tape is None:
        return _of_some(ev, total, seen[0])
    found = _of_some(ev, _exact(ev, gathered, total, start), seen[0])
    if found is total or not isinstance(total, Value):
        return found
    assert isinstance(found, Value)
    return ev.operation(runtime.exactly, (total, found), ev.types[found])


def _exact(ev: Evaluator, gathered: _Gathered, total: Abstract, start: Abstract) -> Abstract:
    """The value that Python gives; `total` where that is no other one."""
    block, tape, items = gathered.block, gathered.tape, gathered.items
    assert tape is not None
    is_zero = isinstance(start, Known) and type(start.value) is int and start.value == 0
    first = () if is_zero else (ev.operand(start),)
    if items is None:
        block.insert(gathered.begin, Call(tape, Const(runtime.new_tape), ()))
        if not isinstance(total, Value):
            return total
        return ev.operation(runtime.sum_of, (tape, *first), ev.types[total])
    # all of it is written here: no list is needed
    since = slice(gathered.begin, None)
    block[since] = [op for op in block[since] if not (isinstance(op, Call) and _is_on(op, tape))]
    if not isinstance(total, Value):
        return Known(sum([x.value for x in (*first, *items) if isinstance(x, Const)]))
    if len(items) + len(first) <= 2:
        return total  # one addition loses nothing that the compensation would bring back
    return ev.operation(runtime.sum_of_these, (*first, *items), ev.types[total])


def _is_on(op: Call, tape: Value) -> bool:
    return op.callee == Const(runtime.push) and op.operands[0] is tape


def _is_plain(ev: Evaluator, x: Abstract, kinds: frozenset[type] = _PLAIN) -> bool:
    if isinstance(x, Known):
        return type(x.value) in kinds
    t = ev.types[x] if isinstance(x, Value) else None
    return isinstance(t, Number) and t.kinds <= kinds


def _of_some(ev: Evaluator, total: Abstract, last: Abstract) -> Abstract:
    """A sum whose type does not depend on whether there was anything to add: where nothing was
    added to 0, it would be an integer."""
    if isinstance(total, Value) and isinstance(last, Value):
        of_total, of_last = ev.types[total], ev.types[last]
        if isinstance(of_total, Number) and isinstance(of_last, Number):
            if int in of_total.kinds and int not in of_last.kinds:
                kinds = Number(of_total.kinds - {int})
                return ev.operation(runtime.inexact, (total,), kinds)
    return total
