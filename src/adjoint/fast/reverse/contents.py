"""Contents of arrays at the operations of the forward sweep.

The reverse of an operation reads its operands and results. If one is an array that is written to
after the operation, the forward sweep copies the array directly after the operation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import Array
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.primitives import same
from adjoint.fast.single_assignment.substitution import renamed
from adjoint.fast.single_assignment.walk import callee_of, operands, walk_ops
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.ir import single as ir
from adjoint.ir.node import node
from adjoint.ir.single import Block, Call, Const, Operand, Value


@dataclass(eq=False, repr=False)
class OpenBlock:
    """The operations of a block of the forward sweep under construction."""

    parameters: tuple[Value, ...]
    is_outermost: bool = False
    ops: list[Any] = field(default_factory=list)
    defined: set[Value] = field(default_factory=set)


@node
class Place:
    """The place of an operation in the forward sweep.

    Attributes
    ----------
    index
        Index in its region directly after the operation.
    number, outer
        Number of the operation among all, and that of the outermost operation around it among the
        outermost ones.
    has_blocks
        Whether the operation is a branch or a loop.
    """

    region: OpenBlock
    index: int
    number: int
    outer: int
    has_blocks: bool


@dataclass(eq=False, repr=False)
class _Step:
    """The operation that is being reversed, and the copies made directly after it."""

    place: Place
    copies: dict[Value, Operand] = field(default_factory=dict)


class Contents:
    """Writes of the forward sweep, and the copies that they make necessary.

    Writes are ordered as in the text. An array made in an iteration is written to in this iteration
    only, so the order decides. Any other array that a loop writes to counts as written to after
    every read in the loop, because a later iteration may write.
    """

    ev: Evaluator
    free: set[Value]
    number: int
    outer: int

    def __init__(self, ev: Evaluator, free: set[Value]) -> None:
        self.ev, self.free = ev, free
        self.last: dict[Value, tuple[int, int]] = {}
        self.outer = self.number = 0
        self._primal: set[Value] = set()
        self._step: _Step | None = None

    def next_operation(self, is_outermost: bool) -> None:
        """Count an operation of the forward sweep."""
        self.number += 1
        self.outer += is_outermost

    def note_write(self, target: Value) -> None:
        self.last |= dict.fromkeys(self.ev.owners(target), (self.outer, self.number))

    def note_later_writes(self, targets: Iterable[Value]) -> None:
        """Count arrays as written to after the forward sweep."""
        self.last |= dict.fromkeys(targets, (self.outer + 1, self.number + 1))

    def begin(self, place: Place) -> _Step | None:
        """Begin the reverse of an operation; return the state for `end`."""
        if not self._primal:
            self._primal.update(self.ev.types)
        before, self._step = self._step, _Step(place)
        return before

    def end(self, before: _Step | None, ops: list[ir.Op], start: int) -> None:
        """End the reverse of an operation: its operations, ``ops[start:]``, read copies of arrays
        that are written to later."""
        step, self._step = self._step, before
        if step is None:
            return
        names: dict[Value, Operand] = {}
        inner = ops[start:]
        if not step.place.has_blocks:  # operations in inner blocks have been treated already
            inner = [*walk_ops(inner)]
        for op in inner:
            for x in _contents_read(op):
                if isinstance(x, Value) and self._is_changed(x, step.place):
                    if x in self._primal:
                        names[x] = self._copy(x, step)
        if names:
            ops[start:] = renamed(Block((), tuple(ops[start:]), None), names).ops

    def contribution_at_step(self, x: Operand) -> Operand:
        """Return an operand with the contents of the contribution `x` at the operation that is
        being reversed: `x`, a copy, or an alias under a new name."""
        step = self._step
        if step is None or not isinstance(x, Value) or x not in self._primal:
            return x
        if self.ev.aliased_by(x).isdisjoint(self.last):
            return x
        if self._is_changed(x, step.place):
            return self._copy(x, step)
        alias = self.ev.operation(same, (x,), self.ev.types[x], name=x.name)
        self.ev.note_alias(alias, (x,))
        return alias

    def _is_changed(self, x: Value, place: Place) -> bool:
        for owner in self.ev.aliased_by(x):
            if owner not in self.last:
                continue
            outer, number = self.last[owner]
            mine = owner in place.region.defined and owner not in place.region.parameters
            if number > place.number if mine else outer >= place.outer:
                return True
        return False

    def _copy(self, x: Value, step: _Step) -> Operand:
        if x not in step.copies:
            t, region = self.ev.types[x], step.place.region
            if not isinstance(t, Array):
                reason = "what shows an array that is written to after it was used"
                raise NotCovered(reason, self.ev.span)
            made = self.ev.value(t, name=x.name)
            region.ops.insert(step.place.index, Call(made, Const(runtime.own), (x,)))
            region.defined.add(made)
            if region.is_outermost:
                self.free.add(made)
            step.copies[x] = made
        return step.copies[x]


_SIZES = frozenset(
    {
        runtime.length,
        runtime.shape_of,
        runtime.zeros_like,
        rows.zeros_of,
        rows.complex_zeros_of,
        rows.array_zeros_of,
    }
)
"""Functions that read only the sizes of their operands."""
_LAST_FOR_SIZE = frozenset(
    {
        runtime.broadcast_like,
        runtime.real_like,
        runtime.summed_part,
        runtime.last_part,
        runtime.present,
    }
)
"""Functions that read only the size or class of their last operand."""


def _contents_read(op: ir.Op) -> tuple[Operand, ...]:
    f = callee_of(op)
    if f in _SIZES:
        return ()
    return operands(op)[1:-1] if f in _LAST_FOR_SIZE else operands(op)
