"""The reverse sweep of a specialised program, written as one more program in the same IR.

Blocks are differentiated in two steps. The forward step goes through the operations in order and
notes, for each active one, what to do in the reverse sweep. The reverse step does that in opposite
order, summing cotangents per value; what it reads of the values of an inner block becomes a
residual: a branch hands it out as one more result, an iteration puts it on the loop's tape.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import ANYTHING
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.reverse.branches import if_back
from adjoint.fast.reverse.contents import Contents
from adjoint.fast.reverse.differentiate import differentiated, is_carrier
from adjoint.fast.reverse.loops import loop_back
from adjoint.fast.reverse.regions import Branches, ForwardLoop, Planned, Region
from adjoint.fast.reverse.scope import Scope
from adjoint.fast.reverse.writes import written_back
from adjoint.fast.single.walk import blocks, is_call_of, operands, walk
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.ir import primitives
from adjoint.ir import single as ir
from adjoint.ir.single import Block, Call, Const, If, Loop, Operand, Unpack, Value
from adjoint.rulekit.partials import Slopes

# ---- the sweep ----


class Sweep:
    """Both sweeps of one program.

    Parameters
    ----------
    active
        The values that the derivative is taken with respect to; the others that depend on them are
        found here.
    """

    def __init__(self, ev: Evaluator, wanted: Iterable[Value]) -> None:
        self.ev = ev
        self.active: set[Value] = set(wanted)
        self.used: set[Operand] = set()  # lists that something reads
        self.given: Counter[Value] = Counter()
        self.of_function: set[Value] = set()  # what there was before the forward sweep
        self.primal: set[Value] = set()
        self.made_by: dict[Value, Call] = {}
        self.slopes: dict[Any, Slopes | None] = {}  # by callee, of those whose rule has them
        self.free: set[Value] = set()  # what the reverse sweep has anyway, wherever it is
        self.contents = Contents(ev, self.free)
        self._depth = 0

    # ---- what is active --------------------------------------------------------------------------

    def find_all_active(self, block: Block) -> None:
        """Add to `active` all that depends on it; a write makes active what was read before."""
        self.used = _used(block) if self.ev.has_rows() else set()
        before = -1
        while before != len(self.active):
            before = len(self.active)
            self.find_active(block)
            if not self.ev.written:
                return

    def find_active(self, block: Block) -> None:
        """Add to `active` what depends on it."""
        for op in block.ops:
            if isinstance(op, Call):
                if op.result is not None:
                    self.made_by[op.result] = op
                    if op.keywords and self.is_active(x for _, x in op.keywords):
                        raise NotCovered("a keyword that carries a derivative", op.span)
                    if self._carries(op):
                        self.active.add(op.result)
                elif _is_write(op) and self.is_active(op.operands[1:]):
                    self.active.update(x for x in op.operands[:1] if isinstance(x, Value))
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
        for x in operands:  # a loop: there are many of them
            if type(x) is Value and x in active:
                return True
        return False

    def _loop_active(self, op: Loop) -> None:
        carried = op.body.parameters[-len(op.initial) :] if op.initial else ()
        tested = op.test.parameters if op.test is not None else ()
        results = (op.body.results or ())[op.stops :]
        if op.iterable is not None and self.iterates_over_active(op.iterable):
            self.active.add(op.body.parameters[0])
        now = list(op.initial)
        while True:
            before = len(self.active)
            for i, p in enumerate(carried):
                if self.is_active((now[i], results[i])):
                    self.active.add(p)
                    self.active.update(tested[i : i + 1])
            if op.test is not None:
                self.find_active(op.test)
            self.find_active(op.body)
            if len(self.active) == before:
                break
        for i, result in enumerate(op.results[op.stops :]):
            if carried[i] in self.active or self.is_active((results[i],)):
                self.active.add(result)

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

    def forward(self, block: Block) -> Region:
        """The forward sweep of a block, with the plan of its reverse."""
        region = Region(block.parameters, is_outermost=not self._depth)
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
            if isinstance(op, Call):
                if op.result is not None:
                    region.defined.add(op.result)
            elif isinstance(op, Unpack | Branches | Loop | If):
                region.defined.update(op.results)
            elif isinstance(op, ForwardLoop):
                region.defined.update(op.op.results)
        if region.is_outermost:
            self.free |= region.defined
        return region

    def _plan(self, op: ir.Op, region: Region) -> None:
        """Write an operation, and note how it is reversed."""
        contents = self.contents
        contents.next_operation(not self._depth)
        self._depth += 1
        back = self._forward_op(op, region)
        self._depth -= 1
        if back is not None:
            place, has_blocks = len(region.ops), isinstance(op, If | Loop)
            made = Planned(back, place, contents.number, contents.outer, has_blocks)
            region.plan.append(made)

    def _forward_op(self, op: ir.Op, region: Region) -> Callable[[Scope], None] | None:
        match op:
            case Call(result=Value() as y):
                # what arrays hold may be active by a later write only
                if y in self.active and (not self.ev.written or self._carries(op)):
                    self.ev.span = op.span
                    return differentiated(self, op)
            case Call() if _is_write(op) and op.operands[0] in self.active:
                self.ev.span = op.span
                self.ev.block.append(op)
                self._note_write(op)
                return written_back(self, op)
            case Unpack(value=Value() as v) if v in self.active:
                self.ev.block.append(op)
                return lambda scope: _unpack_back(scope, op)
            case If() if self._holds_active(op):
                return self._forward_if(op, region)
            case Loop() if self._holds_active(op):
                return self._forward_loop(op)
        self.ev.block.append(op)
        self._note_write(op)
        for block in blocks(op):
            for inner in walk(block):
                self._note_write(inner)
        return None

    def _note_write(self, op: ir.Op) -> None:
        if isinstance(op, Call) and _is_write(op):
            target = op.operands[0]
            assert isinstance(target, Value)
            self.contents.note_write(target)

    def _carries(self, op: Call) -> bool:
        """Whether the result depends on what is active."""
        return self.is_active(op.operands) and is_carrier(self, op)

    def may_carry(self, x: Value) -> bool:
        """Whether a derivative may go through a value: an active one of the function's own, or one
        that the forward part of a rule has made."""
        return x in self.active or x not in self.of_function

    def _holds_active(self, op: If | Loop) -> bool:
        """Whether cotangents may come into a branch or a loop."""
        if any(result in self.active for result in op.results):
            return True
        return any(
            isinstance(inner, Call) and _is_write(inner) and inner.operands[0] in self.active
            for block in blocks(op)
            for inner in walk(block)
        )

    def writes(self, op: If | Loop) -> bool:
        return bool(self.ev.written) and any(
            isinstance(inner, Call) and _is_write(inner)
            for block in blocks(op)
            for inner in walk(block)
        )

    def _forward_if(self, op: If, region: Region) -> Callable[[Scope], None]:
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

    def reverse(self, region: Region, scope: Scope) -> None:
        """Write the reverse of a block; `scope` holds the cotangents of its results."""
        for step in reversed(region.plan):
            if not self.contents.last:  # nothing is ever written to
                step.back(scope)
                continue
            count = len(self.ev.block)
            before = self.contents.begin(region, step)
            step.back(scope)
            self.contents.end(before, self.ev.block, count)


def _used(block: Block) -> set[Operand]:
    """What is read for more than to write to it, or for its length."""
    found: set[Operand] = set(block.results or ())
    for op in walk(block):
        if is_call_of(op, rows.count):
            continue
        is_write = isinstance(op, Call) and op.result is None and _is_write(op)
        found.update(operands(op)[2 if is_write else 0 :])  # the callee, and what is written to
        for inner in blocks(op):
            found.update(inner.results or ())
    return found


def _is_write(op: Call) -> bool:
    return isinstance(op.callee, Const) and op.callee.value in runtime.WRITES


def _unpack_back(scope: Scope, op: Unpack) -> None:
    """The cotangent of a list of numbers; the columns of ``zip`` are asked for by the loop."""
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
