"""The state of the sweeps of a program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import Array, Number, Row
from adjoint.fast.reverse.contents import Contents
from adjoint.fast.single_assignment.walk import callee_of, walk_ops
from adjoint.fast.support import functions as runtime
from adjoint.ir import single as ir
from adjoint.ir.single import Call, Const, If, Loop, Operand, Value
from adjoint.rulekit.partials import Partials


class Sweep:
    """The forward and reverse sweep of one program: what is known of its values.

    Parameters
    ----------
    wanted
        The values that the derivative is taken with respect to.
    """

    def __init__(self, ev: Evaluator, wanted: Iterable[Value]) -> None:
        self.ev = ev
        self.active: set[Value] = set(wanted)
        self.used: set[Operand] = set()  # operands read other than for a write or a length
        self.contributions: Counter[Value] = Counter()
        self.of_function: set[Value] = set()  # values from before the forward sweep
        self.primal: set[Value] = set()
        self.made_by: dict[Value, Call] = {}
        self.slopes: dict[Any, Partials | None] = {}  # by callee and operands
        self.free: set[Value] = set()  # values that the whole reverse sweep can read
        self.taped: set[Operand] = set()  # tapes of active items
        self.contents: Contents = Contents(ev, self.free)
        self.depth = 0  # of the operations that are being planned

    def is_active(self, operands: Iterable[Operand]) -> bool:
        active = self.active
        for x in operands:  # faster than `any`
            if type(x) is Value and x in active:
                return True
        return False

    def iterates_over_active(self, iterable: Operand) -> bool:
        if not isinstance(iterable, Value):
            return False
        if iterable in self.active:
            return True
        if isinstance(self.ev.types.get(iterable), Array | Number | Row):
            return False
        made = self.made_by.get(iterable)
        if made is None or made.callee == Const(range):
            return False
        return any(map(self.iterates_over_active, made.operands))

    def may_carry(self, x: Value) -> bool:
        """Return whether a derivative may pass through a value: an active one of the function, or
        one from the forward part of a rule."""
        return x in self.active or x not in self.of_function

    def holds_active(self, op: If | Loop) -> bool:
        """Return whether a branch or a loop has active results or writes."""
        if any(result in self.active for result in op.results):
            return True
        return any(write.operands[0] in self.active for write in writes_in(op))

    def writes(self, op: If | Loop) -> bool:
        return bool(self.ev.written) and any(writes_in(op))


def writes_in(op: ir.Op) -> Iterator[Call]:
    """Yield the writes in an operation and its blocks."""
    return (one for one in walk_ops((op,)) if isinstance(one, Call) and is_write(one))


_WRITES = runtime.WRITES | runtime.BUFFER_WRITES


def is_write(op: Call) -> bool:
    return callee_of(op) in _WRITES
