"""The reverse sweep of a program, written in the same IR.

A block is differentiated in two steps. The forward step goes through the operations in order and
plans the reverse of each active one. The reverse step carries out the plan in opposite order and
accumulates cotangents per value. A value of an inner block that it reads becomes a residual: a
further result of a branch, or an item on the tape of a loop.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import ANYTHING
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.passes.sequence import is_effect
from adjoint.fast.reverse.block_cotangents import Scope
from adjoint.fast.reverse.branches import if_back
from adjoint.fast.reverse.contents import Contents
from adjoint.fast.reverse.differentiate import differentiated, is_carrier
from adjoint.fast.reverse.forward_blocks import Branches, ForwardBlock, ForwardLoop, Planned
from adjoint.fast.reverse.loops import loop_back
from adjoint.fast.reverse.writes import written_back
from adjoint.fast.single_assignment.walk import (
    blocks,
    carried_values,
    is_call_of,
    operands,
    read_by,
    results,
    walk,
    walk_ops,
)
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.ir import primitives
from adjoint.ir import single as ir
from adjoint.ir.single import Block, Call, Const, If, Loop, Operand, Unpack, Value
from adjoint.rulekit.partials import Partials

# ---- the sweep ----


class Sweep:
    """The forward and reverse sweep of one program.

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
        self._taped: set[Operand] = set()
        self.contents: Contents = Contents(ev, self.free)
        self._depth = 0

    # ---- active values ---------------------------------------------------------------------------

    def find_all_active(self, block: Block) -> None:
        """Add dependent values to `active` until nothing changes: a write may make a value active
        that was read before."""
        self.used = _used(block) if self.ev.has_rows() else set()
        before = -1
        while before != len(self.active):
            before = len(self.active)
            self.find_active(block)
            if not self.ev.written:
                break
        if self._taped:
            self._demand_unread(block)

    def _demand_unread(self, block: Block) -> None:
        """Refuse tapes of an inner derivative: their items carry derivatives, too. Lists of the
        terms of a sum are tapes that only `sum_of` reads, whose derivative is that of a total."""
        for op in walk(block):
            read = read_by(op)
            if isinstance(op, Call) and op.callee in (_PUSH, _SUM_OF):
                read = iter(op.operands[1:])
            if not self._taped.isdisjoint(read):
                raise NotCovered("a reverse sweep over that of a loop", op.span)

    def find_active(self, block: Block) -> None:
        """Add the values in a block that depend on active ones to `active`."""
        for op in block.ops:
            if isinstance(op, Call):
                if op.result is not None:
                    self.made_by[op.result] = op
                    if op.keywords and self.is_active(x for _, x in op.keywords):
                        raise NotCovered("a keyword that carries a derivative", op.span)
                    if self._carries(op):
                        self.active.add(op.result)
                elif _is_write(op):
                    if self.is_active(op.operands[1:]):
                        self.active.update(x for x in op.operands[:1] if isinstance(x, Value))
                elif op.callee == _PUSH and self.is_active(op.operands[1:]):
                    self._taped.update(x for x in op.operands[:1] if isinstance(x, Value))
                elif is_effect(op) and self.is_active(op.operands):
                    raise NotCovered("a reverse sweep over that of a list", op.span)
            elif isinstance(op, Unpack):
                if isinstance(op.value, Value) and op.value in self.active:
                    self.active.update(op.results)
            elif isinstance(op, If):
                for inner in (op.body, op.orelse):
                    self.find_active(inner)
                    for result, x in zip(op.results, inner.results or (), strict=False):
                        if x in self.active:
                            self.active.add(result)
            elif isinstance(op, Loop):
                self._loop_active(op)

    def is_active(self, operands: Iterable[Operand]) -> bool:
        active = self.active
        for x in operands:  # faster than `any`
            if type(x) is Value and x in active:
                return True
        return False

    def _loop_active(self, op: Loop) -> None:
        if op.iterable is not None and self.iterates_over_active(op.iterable):
            self.active.add(op.body.parameters[0])
        carried = carried_values(op)
        before = -1
        while before != len(self.active):
            before = len(self.active)
            for values, made_of in carried:
                if self.is_active(made_of):
                    self.active.update(values)
            for block in blocks(op):
                self.find_active(block)

    def iterates_over_active(self, iterable: Operand) -> bool:
        if not isinstance(iterable, Value):
            return False
        if iterable in self.active:
            return True
        made = self.made_by.get(iterable)
        if made is None or made.callee == Const(range):
            return False
        return any(map(self.iterates_over_active, made.operands))

    # ---- forward ---------------------------------------------------------------------------------

    def forward(self, block: Block) -> ForwardBlock:
        """Write the forward sweep of a block, with the plan of its reverse."""
        region = ForwardBlock(block.parameters, is_outermost=not self._depth)
        if region.is_outermost:
            self.of_function = set(self.ev.types)
        region.results = None if block.results is None else list(block.results)
        region.defined.update(block.parameters)
        outer, self.ev.block = self.ev.block, region.ops
        try:
            for op in block.ops:
                self._plan(op, region)
        finally:
            self.ev.block = outer
        for op in region.ops:
            is_branch = isinstance(op, Branches)
            inner = op.op if isinstance(op, ForwardLoop) else op
            region.defined.update(op.results if is_branch else results(inner))
        if region.is_outermost:
            self.free |= region.defined
        return region

    def _plan(self, op: ir.Op, region: ForwardBlock) -> None:
        """Write an operation, and plan its reverse."""
        contents = self.contents
        contents.next_operation(not self._depth)
        self._depth += 1
        back = self._forward_op(op, region)
        self._depth -= 1
        if back is not None:
            place, has_blocks = len(region.ops), isinstance(op, If | Loop)
            made = Planned(back, place, contents.number, contents.outer, has_blocks)
            region.plan.append(made)

    def _forward_op(self, op: ir.Op, region: ForwardBlock) -> Callable[[Scope], None] | None:
        match op:
            case Call(result=Value() as y):
                # An array may be active because of a later write only.
                if y in self.active and (not self.ev.written or self._carries(op)):
                    self.ev.span = op.span
                    return differentiated(self, op)
            case Call() if _is_write(op) and op.operands[0] in self.active:
                self.ev.span = op.span
                self.ev.block.append(op)
                self._note_writes(op)
                return written_back(self, op)
            case Unpack(value=Value() as v) if v in self.active:
                self.ev.block.append(op)
                return lambda scope: _unpack_back(scope, op)
            case If() if self._holds_active(op):
                return self._forward_if(op, region)
            case Loop() if self._holds_active(op):
                return self._forward_loop(op)
        self.ev.block.append(op)
        self._note_writes(op)
        return None

    def _note_writes(self, op: ir.Op) -> None:
        for write in _writes_in(op):
            target = write.operands[0]
            assert isinstance(target, Value)
            self.contents.note_write(target)

    def _carries(self, op: Call) -> bool:
        """Return whether the result of a call depends on active operands."""
        return self.is_active(op.operands) and is_carrier(self, op)

    def may_carry(self, x: Value) -> bool:
        """Return whether a derivative may pass through a value: an active one of the function, or
        one from the forward part of a rule."""
        return x in self.active or x not in self.of_function

    def _holds_active(self, op: If | Loop) -> bool:
        """Return whether a branch or a loop has active results or writes."""
        if any(result in self.active for result in op.results):
            return True
        return any(write.operands[0] in self.active for write in _writes_in(op))

    def writes(self, op: If | Loop) -> bool:
        return bool(self.ev.written) and any(_writes_in(op))

    def _forward_if(self, op: If, region: ForwardBlock) -> Callable[[Scope], None]:
        made = Branches(
            op, self.forward(op.body), self.forward(op.orelse), list(op.results), region
        )
        self.ev.block.append(made)  # type: ignore[arg-type]
        return lambda scope: if_back(self, scope, made)

    def _forward_loop(self, op: Loop) -> Callable[[Scope], None]:
        tape = self.ev.value(ANYTHING, name="tape")
        self.ev.block.append(Call(tape, Const(runtime.new_tape), ()))
        steps = self.made_by.get(op.iterable) if isinstance(op.iterable, Value) else None
        is_range = steps is not None and steps.callee == Const(range) and not op.stops
        if is_range:
            self.free.add(op.body.parameters[0])
        made = ForwardLoop(op, self.forward(op.body), op.iterable if is_range else None)
        self.ev.block.append(made)  # type: ignore[arg-type]
        return lambda scope: loop_back(self, scope, made, tape)

    # ---- reverse ---------------------------------------------------------------------------------

    def reverse(self, region: ForwardBlock, scope: Scope) -> None:
        """Write the reverse of a block; `scope` holds the cotangents of its results."""
        for step in reversed(region.plan):
            if not self.contents.last:  # the program writes to no array
                step.back(scope)
                continue
            count = len(self.ev.block)
            before = self.contents.begin(region, step)
            step.back(scope)
            self.contents.end(before, self.ev.block, count)


def _used(block: Block) -> set[Operand]:
    """Return the operands that are read other than for a write or a length."""
    found: set[Operand] = set(block.results or ())
    for op in walk(block):
        if is_call_of(op, rows.count):
            continue
        is_write = isinstance(op, Call) and op.result is None and _is_write(op)
        # of a write, without the callee and what is written to
        found.update(operands(op)[2:] if is_write else read_by(op))
    return found


def _writes_in(op: ir.Op) -> Iterator[Call]:
    """Yield the writes in an operation and its blocks."""
    return (one for one in walk_ops((op,)) if isinstance(one, Call) and _is_write(one))


_PUSH, _SUM_OF = Const(runtime.push), Const(runtime.sum_of)
_WRITES = runtime.WRITES | runtime.BUFFER_WRITES


def _is_write(op: Call) -> bool:
    return isinstance(op.callee, Const) and op.callee.value in _WRITES


def _unpack_back(scope: Scope, op: Unpack) -> None:
    """Contribute to the cotangent of an unpacked list; the loop takes the columns of ``zip``."""
    assert isinstance(op.value, Value)
    if op.value not in scope.sweep.made_by:
        return
    bars = [*map(scope.take, op.results)]
    if all(bar is None for bar in bars):
        return
    given = tuple(Const(0.0) if bar is None else bar for bar in bars)
    packed = scope.ev.operation(primitives.build_list, given, ANYTHING, name="parts")
    scope.ev.packs[packed] = given
    scope.add(op.value, packed)
