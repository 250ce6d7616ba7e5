"""``sum`` of an iterable.

From CPython 3.12 on, ``sum`` compensates the rounding errors of floats (Neumaier). Its value then
differs from that of successive additions; its derivative does not. The program gathers the numbers
and calls `sum` for the value. The first operand that is no number ends the compensation.
"""

from __future__ import annotations

import operator
import sys
from dataclasses import dataclass
from itertools import takewhile

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.loops import iterate
from adjoint.fast.evaluate.rows import reduced, row_of
from adjoint.fast.evaluate.types import ANYTHING, Number, holds_arrays, is_covered
from adjoint.fast.evaluate.values import Abstract, Known
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.walk import blocks, walk
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.ir import single as ir
from adjoint.ir.single import Call, Const, Operand, Value

COMPENSATED = sys.version_info >= (3, 12)
_STARTS = frozenset({float, int, complex} if sys.version_info >= (3, 14) else {float, int})
_PLAIN = _STARTS | {bool}
"""Classes of totals and of addends that Python adds with compensation."""


@dataclass(eq=False, repr=False)
class _Gathered:
    """The addends on a tape, from the first one that may be compensated."""

    block: list[ir.Op]
    begin: int
    start: Abstract
    tape: Value | None = None
    is_over: bool = False

    def add(self, ev: Evaluator, total: Abstract, x: Abstract) -> Abstract:
        """Push the addend `x` on the tape; return the total that `x` is added to."""
        if self.tape is None:
            if not _may_be(ev, total, _STARTS) or not _may_be(ev, x, _PLAIN):
                self.is_over = True
                return total
            if self.is_over:
                raise NotCovered("a sum that is compensated in some calls", ev.span)
            self.tape = ev.value(ANYTHING, name="items")
        if _kinds(ev, x):
            ev.write(Call(None, Const(runtime.push), (self.tape, ev.operand(x))))
            return total
        if ev.block is not self.block:
            raise NotCovered("a sum of numbers and others", ev.span)
        # Python has summed the numbers before an array or an object with compensation.
        found = _exactly(ev, self, total)
        self.tape, self.is_over = None, True
        return found

    def taken(self) -> tuple[Operand, ...] | None:
        """Remove the pushes and return the addends; ``None`` if some are pushed in inner blocks."""
        ops = self.block[self.begin :]
        inner = (one for op in ops for block in blocks(op) for one in walk(block))
        if any(self._pushed(op) is not None for op in inner):
            return None
        self.block[self.begin :] = [op for op in ops if self._pushed(op) is None]
        return tuple([x for x in map(self._pushed, ops) if x is not None])

    def _pushed(self, op: ir.Op) -> Operand | None:
        if not isinstance(op, Call) or op.callee != Const(runtime.push):
            return None
        tape, x = op.operands
        return x if tape is self.tape else None


def summed(ev: Evaluator, xs: Abstract, start: Abstract) -> Abstract:
    """Evaluate ``sum(xs, start)``."""
    if isinstance(start, Known) and isinstance(start.value, str | bytes):
        raise NotCovered("a sum of strings", ev.span)
    row = row_of(ev, xs)
    of_arrays = row is not None and holds_arrays(ev.types[row])
    if row is not None and (_is_zero(start) if of_arrays else _kinds(ev, start)):
        return _of_row(ev, row, start)
    gathered = _Gathered(ev.block, len(ev.block), start)
    is_compensated = COMPENSATED and _may_be(ev, start, _STARTS)
    seen: list[Abstract] = []

    def add(x: Abstract, carried: list[Abstract]) -> list[Abstract]:
        total = gathered.add(ev, carried[0], x) if is_compensated else carried[0]
        seen[:] = [ev.call(Known(operator.add), [total, x], {})]
        return list(seen)

    (total,) = iterate(ev, xs, [start], add)
    if not seen:
        return total
    if gathered.tape is None:
        return _of_some(ev, total, seen[0])
    return _of_some(ev, _exactly(ev, gathered, total), seen[0])


def _of_row(ev: Evaluator, row: Value, start: Abstract) -> Abstract:
    """Write ``sum(row, start)`` of a list and a number."""
    rest = reduced(ev, rows.total, row)
    if _is_zero(start):
        return rest
    total = ev.call(Known(operator.add), [start, rest], {})
    assert isinstance(total, Value)
    found = ev.operation(runtime.sum_of, (row, ev.operand(start)), ev.types[total])
    return ev.operation(runtime.exactly, (total, found), ev.types[total])


def _exactly(ev: Evaluator, gathered: _Gathered, total: Abstract) -> Abstract:
    """Return `total`, the sum by successive additions, with the value that Python's `sum` gives."""
    block, tape, start = gathered.block, gathered.tape, gathered.start
    assert tape is not None
    first = () if _is_zero(start) else (ev.operand(start),)
    items = gathered.taken()
    if items is None:
        block.insert(gathered.begin, Call(tape, Const(runtime.new_tape), ()))
        if not isinstance(total, Value):
            return total
        found = ev.operation(runtime.sum_of, (tape, *first), ev.types[total])
    elif not isinstance(total, Value):
        return Known(sum([x.value for x in (*first, *items) if isinstance(x, Const)]))
    else:
        items = (*first, *items)
        compensated = takewhile(lambda x: _may_be(ev, x, _PLAIN), items)
        if len([*compensated]) <= 2:
            return total  # the compensation has no effect on a single addition
        found = ev.operation(runtime.sum_of_these, items, ev.types[total])
    return ev.operation(runtime.exactly, (total, found), ev.types[total])


def _kinds(ev: Evaluator, x: Abstract | Operand) -> frozenset[type]:
    """Return the classes that `x` may have; none if it is no number."""
    if isinstance(x, Known | Const):
        return frozenset({type(x.value)}) if is_covered(type(x.value)) else frozenset()
    t = ev.types[x] if isinstance(x, Value) else None
    return t.kinds if isinstance(t, Number) else frozenset()


def _is_zero(start: Abstract) -> bool:
    return isinstance(start, Known) and type(start.value) is int and start.value == 0


def _may_be(ev: Evaluator, x: Abstract | Operand, kinds: frozenset[type]) -> bool:
    return not kinds.isdisjoint(_kinds(ev, x))


def _of_some(ev: Evaluator, total: Abstract, last: Abstract) -> Abstract:
    """Return a sum with a check that it is not the integer 0 of an empty iterable."""
    if ev.sums_some and isinstance(total, Value) and isinstance(last, Value):
        of_total, of_last = ev.types[total], ev.types[last]
        if isinstance(of_total, Number) and isinstance(of_last, Number):
            if int in of_total.kinds and int not in of_last.kinds:
                kinds = Number(of_total.kinds - {int})
                return ev.operation(runtime.inexact, (total,), kinds)
    return total
