"""The reverse sweep of a specialised program, written as one more program in the same IR.

Blocks are differentiated in two steps. The forward step goes through the operations in order and
notes, for each active one, what to do in the reverse sweep. The reverse step does that in opposite
order, summing cotangents per value; what it reads of the values of an inner block becomes a
residual: a branch hands it out as one more result, an iteration puts it on the loop's tape.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from adjoint.fast import runtime
from adjoint.fast.covered import NotCovered
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import ANYTHING, Number, Row, bar_type, number
from adjoint.fast.reverse.contents import Contents
from adjoint.fast.reverse.differentiate import differentiated, is_carrier
from adjoint.fast.reverse.fitting import whole
from adjoint.fast.reverse.reached import NO, YES, Reached, both, either, is_there
from adjoint.fast.reverse.regions import Branches, ForwardLoop, Planned, Region, marks, reset
from adjoint.fast.reverse.residuals import on_tape, with_values
from adjoint.fast.reverse.rows import add_item
from adjoint.fast.reverse.scope import Scope
from adjoint.fast.reverse.writes import written_back
from adjoint.fast.single.walk import blocks, operands, results, walk
from adjoint.ir import primitives
from adjoint.ir import single as ir
from adjoint.ir.single import Block, Call, Const, If, Loop, Operand, Unpack, Value

__all__ = ["Sweep"]


_Items: TypeAlias = "list[tuple[Value, Callable[[Scope], Operand | None]]]"


@dataclass
class _Slot:
    """What a loop carries that has a cotangent, of which is known: the value in front of an
    iteration and at its end, whether there is a cotangent behind the loop, and a path to it."""

    value: Value
    end: Operand
    has_bar: bool
    source: Reached
    parameter: Value = field(init=False)
    flag: Value | None = None


@dataclass
class _Flag:
    """A truth value that the reverse of a loop carries: whether there is a path to `of`."""

    of: Value
    start: Operand
    parameter: Value
    after: Operand
    result: Value


@dataclass
class _Iteration:
    """The reverse of an iteration; `after` and `reached` say what its slots are at its end."""

    inner: Scope
    ops: list[ir.Op]
    is_exact: bool
    after: list[Operand] = field(default_factory=list)
    reached: list[Reached] = field(default_factory=list)
    flags: list[_Flag] = field(default_factory=list)
    counter: Value | None = None
    index: Value | None = None
    is_steady: bool = True
    is_known: bool = True


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
        self.leaves = set(self.active)
        self.items: set[Value] = set()  # of the caller's lists
        self.source: Reached = None  # whether there is a path to what is contributed next
        self.taken: Reached = None  # the same for the result of the operation at hand
        self.doubted: set[Value] = set()  # lists, of whose items some may have no path
        self.used: set[Operand] = set()  # lists that something reads
        self.ran: dict[Operand, Operand] = {}  # what tells by its truth that a loop ran
        self.is_exact = False  # whether loops carry truth values, if need be
        self.optional: set[Value] = set()
        self.chosen: set[Value] = set()  # one of several leaves, depending on branches
        self.given: Counter[Value] = Counter()
        self.primal: set[Value] = set()
        self.made_by: dict[Value, Call] = {}
        self.free: set[Value] = set()  # what the reverse sweep has anyway, wherever it is
        self.contents = Contents(ev, self.free)
        self._depth = 0

    # ---- what is active --------------------------------------------------------------------------

    def find_all_active(self, block: Block) -> None:
        """Add to `active` all that depends on it; a write makes active what was read before."""
        self.used = _used(block)
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
                    if self._is_active(x for _, x in op.keywords):
                        raise NotCovered("a keyword that carries a derivative", op.span)
                    if self._carries(op):
                        self.active.add(op.result)
                elif _is_write(op) and self._is_active(op.operands[1:]):
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

    def _is_active(self, operands: Iterable[Operand]) -> bool:
        return any(x in self.active for x in operands if isinstance(x, Value))

    def _loop_active(self, op: Loop) -> None:
        carried = op.body.parameters[-len(op.initial) :] if op.initial else ()
        tested = op.test.parameters if op.test is not None else ()
        results = (op.body.results or ())[op.stops :]
        if op.iterable is not None and self._iterates_over_active(op.iterable):
            self.active.add(op.body.parameters[0])
        now = list(op.initial)
        while True:
            before = len(self.active)
            for i, p in enumerate(carried):
                if self._is_active((now[i], results[i])):
                    self.active.add(p)
                    self.active.update(tested[i : i + 1])
            if op.test is not None:
                self.find_active(op.test)
            self.find_active(op.body)
            if len(self.active) == before:
                break
        for i, result in enumerate(op.results[op.stops :]):
            if carried[i] in self.active or self._is_active((results[i],)):
                self.active.add(result)

    def _iterates_over_active(self, iterable: Operand) -> bool:
        if not isinstance(iterable, Value):
            return False
        if iterable in self.active:
            return True
        made = self.made_by.get(iterable)
        if made is None or made.callee == Const(range):
            return False
        return any(map(self._iterates_over_active, made.operands))

    # ---- forward ---------------------------------------------------------------------------------

    def forward(self, block: Block) -> Region:
        """The forward sweep of a block, with the plan of its reverse."""
        region = Region(block.parameters, is_outermost=not self._depth)
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
            elif isinstance(op, Unpack):
                region.defined.update(op.results)
            elif isinstance(op, Branches):
                region.defined.update(op.results)
            elif isinstance(op, Loop | If):
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
            case Call(result=Value() as y) if y in self.active and self._carries(op):
                self.ev.span = op.span
                return differentiated(self, op)
            case Call(result=None) if _is_write(op) and op.operands[0] in self.active:
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
        for inner in (op, *(inner for block in blocks(op) for inner in walk(block))):
            self._note_write(inner)
        return None

    def _note_write(self, op: ir.Op) -> None:
        if isinstance(op, Call) and _is_write(op):
            target = op.operands[0]
            assert isinstance(target, Value)
            self.contents.note_write(target)

    def _carries(self, op: Call) -> bool:
        """Whether the result depends on what is active; it may be active by a later write only."""
        return self._is_active(op.operands) and is_carrier(op, self.ev)

    def _holds_active(self, op: If | Loop) -> bool:
        """Whether cotangents may come into a branch or a loop."""
        if any(result in self.active for result in op.results):
            return True
        return any(
            isinstance(inner, Call) and _is_write(inner) and inner.operands[0] in self.active
            for block in blocks(op)
            for inner in walk(block)
        )

    def _writes(self, op: If | Loop) -> bool:
        return bool(self.ev.written) and any(
            isinstance(inner, Call) and _is_write(inner)
            for block in blocks(op)
            for inner in walk(block)
        )

    def _forward_if(self, op: If, region: Region) -> Callable[[Scope], None]:
        made = Branches(
            op, self.forward(op.body), self.forward(op.orelse), list(op.results), region
        )
        self._note_chosen(op)
        self.ev.block.append(made)  # type: ignore[arg-type]
        return lambda scope: self._if_back(scope, made)

    def _note_chosen(self, op: If) -> None:
        sides = (op.body.results or (), op.orelse.results or ())
        for result, *ends in zip(op.results, *sides, strict=False):
            if isinstance(self.ev.types[result], Number) and all(map(self._is_chosen, ends)):
                self.chosen.add(result)

    def _is_chosen(self, x: Operand) -> bool:
        return isinstance(x, Const) or x in self.leaves or x in self.chosen

    def _forward_loop(self, op: Loop) -> Callable[[Scope], None]:
        tape = self.ev.value(ANYTHING, name="tape")
        self.ev.block.append(Call(tape, Const(runtime.new_tape), ()))
        steps = self.made_by.get(op.iterable) if isinstance(op.iterable, Value) else None
        is_range = steps is not None and steps.callee == Const(range) and not op.stops
        if is_range:
            self.free.add(op.body.parameters[0])
        made = ForwardLoop(op, self.forward(op.body), op.iterable if is_range else None)
        self.ev.block.append(made)  # type: ignore[arg-type]
        return lambda scope: self._loop_back(scope, made, tape)

    # ---- reverse ---------------------------------------------------------------------------------

    def reverse(self, region: Region, scope: Scope) -> None:
        """Write the reverse of a block; `scope` holds the cotangents of its results."""
        for step in reversed(region.plan):
            count = len(self.ev.block)
            self.taken = self.source = None
            before = self.contents.begin(region, step)
            step.back(scope)
            self.contents.end(before, self.ev.block, count)

    def _if_back(self, scope: Scope, made: Branches) -> None:
        op = made.op
        bars, sources = self._taken(scope, op.results)
        if all(bar is None for bar in bars) and not self._writes(op):
            return
        sides = []
        for region in (made.body, made.orelse):
            with self.ev.writing() as ops:
                inner = Scope(self, scope)
                inner.kind, inner.inner = "if", region.defined
                into = zip(op.results, region.results or (), bars, sources, strict=False)
                for y, x, bar, source in into:
                    if bar is not None:
                        if y in self.optional and isinstance(x, Value):
                            self.optional.add(x)
                        self.source = source
                        inner.add(x, bar, y in self.optional)
                if region.results is not None:
                    self.reverse(region, inner)
            sides.append((inner, ops))
        touched = dict.fromkeys(v for inner, _ in sides for v in inner.bars if v not in inner.inner)
        results: list[Value] = []
        ends: tuple[list[Operand], list[Operand]] = ([], [])
        for v in touched:
            self._join_reached(scope, v, sides, results, ends)
            if scope.has_buffer(v):
                buffer = scope.buffer(v)
                for inner, ops in sides:  # the buffer may be younger than what one side contributed
                    mine = inner.bars.get(v)
                    if mine is not None and mine != buffer:
                        ops.append(Call(None, Const(runtime.add_to), (buffer, mine)))
                continue
            self._join_bars(scope, v, sides, results, ends)
        blocks = []
        for (_, ops), region, end in zip(sides, (made.body, made.orelse), ends, strict=True):
            block = Block((), tuple(ops), tuple(end))
            blocks.append(self._with_residuals(scope, made, region, block))
        self.ev.write(If(tuple(results), op.condition, blocks[0], blocks[1], op.span))

    def _taken(
        self, scope: Scope, values: Iterable[Value]
    ) -> tuple[list[Operand | None], list[Reached]]:
        """The cotangents of several values, and whether there are paths to them."""
        bars, sources = [], []
        for v in values:
            bars.append(scope.take(v))
            sources.append(self.source)
        return bars, sources

    def _join_reached(
        self,
        scope: Scope,
        v: Value,
        sides: Sequence[tuple[Scope, list[ir.Op]]],
        results: list[Value],
        ends: tuple[list[Operand], list[Operand]],
    ) -> None:
        """Whether there is a path to an outer value after a branch."""
        is_leaf = v in self.leaves or v in self.items or v in self.chosen
        is_new = v not in scope.bars and (scope.kind != "loop" or scope._is_inner(v))
        without: Reached = scope.reached.get(v, NO)
        found: list[Reached] = []
        for inner, ops in sides:
            if v not in inner.bars:
                found.append(without)
                continue
            mine = inner.reached.get(v)
            with self.ev.writing(ops):
                if mine == YES and not is_new and v in self.optional:
                    mine = is_there(self.ev, inner.bars[v])
                found.append(mine if v not in scope.reached else scope.joined(v, mine))
        certain = [YES if x == NO and is_new and is_leaf else x for x in found]
        if None in found:
            scope.reached[v] = None
        elif found[0] == found[1]:
            scope.reached[v] = found[0]
        elif is_new and is_leaf and not scope.has_buffer(v) and certain == [YES, YES]:
            scope.reached[v] = YES  # if it is there
        else:
            results.append(self.ev.value(number(bool), name="reached"))
            scope.reached[v] = results[-1]
            for (inner, ops), end, x in zip(sides, ends, found, strict=True):
                bar = inner.bars.get(v, scope.bars.get(v))
                if x == YES and v in self.optional and bar is not None:
                    with self.ev.writing(ops):
                        x = is_there(self.ev, bar)
                assert x is not None
                end.append(x)

    def _join_bars(
        self,
        scope: Scope,
        v: Value,
        sides: Sequence[tuple[Scope, list[ir.Op]]],
        results: list[Value],
        ends: tuple[list[Operand], list[Operand]],
    ) -> None:
        """The cotangent of an outer value after a branch."""
        if not scope._is_inner(v):
            scope._begin(v)
        before = scope.bars.get(v)
        t = bar_type(self.ev.types[v])
        for (inner, ops), end in zip(sides, ends, strict=True):
            mine = inner.bars.get(v)
            if mine is None and before is None:
                if v in self.leaves or v in self.items or v in self.chosen:
                    self.optional.add(v)
                    mine = Const(None)
                else:
                    with self.ev.writing(ops):
                        mine = inner.zeros(v)
            elif mine is None:
                mine = before
            elif before is not None:
                with self.ev.writing(ops):
                    add = runtime.added if v in self.optional else operator.add
                    mine = scope._sum(v, before, mine, add)
            assert mine is not None
            with self.ev.writing(ops):
                end.append(mine if mine == Const(None) else whole(self.ev, mine, v))
        result = self.ev.value(t, name=f"{v.name}_bar")
        results.append(result)
        scope.bars[v] = result

    def _with_residuals(self, scope: Scope, made: Branches, region: Region, block: Block) -> Block:
        """The reverse of a branch, in which what it is given of the forward branch are results of
        the forward `If` that only this branch gives."""
        other = made.orelse if region is made.body else made.body
        block, names = with_values(self.ev, region, block, self.free if scope.is_repeated else None)
        for v, kept in names.items():
            made.results.append(kept)
            made.owner.defined.add(kept)
            assert region.results is not None
            region.results.append(v)
            if other.results is not None:
                other.results.append(Const(None))
        return block

    def _loop_back(self, scope: Scope, made: ForwardLoop, tape: Value) -> None:
        op, region = made.op, made.body
        bars, sources = self._taken(scope, op.results[op.stops :])
        if all(bar is None for bar in bars) and not self._writes(op):
            return
        carried = region.parameters[len(region.parameters) - len(op.initial) :]
        ends = (region.results or [])[op.stops :]
        slots = self._reached(op, region, carried, ends, bars)
        items = self._items_back(scope, op)
        initial: list[Operand] = []
        for i in slots:
            bar = bars[i]
            of = op.results[op.stops + i]
            initial.append(scope.zeros(of) if bar is None else whole(self.ev, bar, of))
        base = _common(sources[i] for i in slots if bars[i] is not None)
        going = [_Slot(carried[i], ends[i], bars[i] is not None, sources[i]) for i in slots]
        back = self._iteration_back(scope, made, going, items, base)
        inner, ops = back.inner, back.ops
        starts, next_ = list(initial), back.after
        inner_parameters = [slot.parameter for slot in going]
        results = [self._bar(slot.value) for slot in going]
        for v, parameter in inner.accumulators.items():
            if not scope._is_inner(v):
                scope._begin(v)
            before = scope.bars.get(v)
            if before is not None and scope.reached.get(v) == YES and v in self.optional:
                scope.reached[v] = is_there(self.ev, before)
            starts.append(scope.zeros(v) if before is None else before)
            inner_parameters.append(parameter)
            next_.append(inner.bars[v])
            result = self._bar(v)
            scope.bars[v] = result
            results.append(result)
        flags = self._carried_flags(back, going)
        starts += [flag.start for flag in flags]
        inner_parameters += [flag.parameter for flag in flags]
        next_ += [flag.after for flag in flags]
        results += [flag.result for flag in flags]
        if items:
            assert back.index is not None and back.counter is not None
            inner_parameters.append(back.counter)
            next_.append(back.index)
            results.append(self.ev.value(number(int), name="i"))
        body = Block(tuple(inner_parameters), tuple(ops), tuple(next_))
        body, steps, count = on_tape(self.ev, made, body, tape, self.free)
        if items:
            starts.append(self._length(tape, count))
        self.ev.write(Loop(tuple(results), tuple(starts), steps, None, body, False, op.span))
        base = YES if back.is_exact else base
        known = {flag.of: flag.result for flag in flags}
        ran = self._reached_in_loop(scope, back, base, tape if count else steps, known)
        for i, slot, result in zip(slots, going, results, strict=False):
            if back.is_exact:
                self.source = known.get(slot.value)
            else:
                self.source = base if slot.has_bar else both(self.ev, base, ran)
            scope.add(op.initial[i], result)

    def _bar(self, v: Value) -> Value:
        return self.ev.value(bar_type(self.ev.types[v]), name=f"{v.name}_bar")

    def _iteration_back(
        self,
        scope: Scope,
        made: ForwardLoop,
        going: list[_Slot],
        items: _Items,
        base: Reached,
    ) -> _Iteration:
        """The reverse of an iteration. At first it is taken for granted that there are paths to
        whatever has a cotangent, or none: `base`; where that is not so in the next iteration, it is
        written once more, with truth values that are carried."""
        if not self.is_exact and base is not None:
            noted, doubted = marks(made.body), set(self.doubted)
            back = self._iteration_written(scope, made, going, items, base)
            if back.is_steady:
                return back
            reset(noted)
            self.doubted = doubted
        outer, self.is_exact = self.is_exact, True
        back = self._iteration_written(scope, made, going, items, YES, is_exact=True)
        self.is_exact = outer
        return back

    def _iteration_written(
        self,
        scope: Scope,
        made: ForwardLoop,
        going: list[_Slot],
        items: _Items,
        base: Reached,
        is_exact: bool = False,
    ) -> _Iteration:
        region, ev = made.body, self.ev
        with ev.writing() as ops:
            inner = Scope(self, scope)
            inner.kind, inner.inner, inner.base = "loop", region.defined, base
            back = _Iteration(inner, ops, is_exact)
            if items:
                back.counter = ev.value(number(int), name="i")
                operands = (back.counter, Const(1))
                back.index = ev.operation(operator.sub, operands, number(int), name="i")
            for slot in going:
                slot.parameter = self._bar(slot.value)
                slot.flag = None
                if is_exact and (slot.source is not None or not slot.has_bar):
                    slot.flag = ev.value(number(bool), name="reached")
                self.source = slot.flag if is_exact else YES if slot.has_bar else None
                inner.add(slot.end, slot.parameter)
            self.reverse(region, inner)
            for source, columns in items:
                bar = columns(inner)
                if bar is not None:
                    at = scope.buffer(source)
                    inner.note(source)
                    assert back.index is not None
                    if isinstance(ev.types[source], Row):
                        add_item(inner, source, at, back.index, bar)
                    else:
                        ev.write(Call(None, Const(runtime.add_at), (at, back.index, bar)))
            for slot in going:
                v = slot.value
                bar = inner.take(v)
                back.reached.append(NO if bar is None else self.source)
                back.after.append(inner.zeros(v) if bar is None else whole(ev, bar, v))
            outer = [x for v, x in inner.reached.items() if v not in inner.inner]
            back.is_steady = None not in outer and all(found == YES for found in back.reached)
            if is_exact or back.is_steady:
                self._add_flags(back)
        return back

    def _add_flags(self, back: _Iteration) -> None:
        """Whether there was a path to an outer value in any iteration, where that is not the same
        in all of them."""
        for v, found in back.inner.reached.items():
            if v in back.inner.inner or not isinstance(found, Value):
                continue
            parameter = self.ev.value(number(bool), name="reached")
            after = either(self.ev, parameter, found)
            assert after is not None
            back.flags.append(_Flag(v, NO, parameter, after, self._flag()))

    def _flag(self) -> Value:
        return self.ev.value(number(bool), name="reached")

    def _carried_flags(self, back: _Iteration, going: list[_Slot]) -> list[_Flag]:
        """The truth values that a loop carries; none of them is known if one is not."""
        flags = list(back.flags)
        if not back.is_exact:
            return flags
        for slot, found in zip(going, back.reached, strict=True):
            start = slot.source if slot.has_bar else NO
            if slot.flag is None:
                continue
            if start is None or found is None:
                back.is_known = False
                start, found = NO, NO
            flags.append(_Flag(slot.value, start, slot.flag, found, self._flag()))
        return flags

    def _reached_in_loop(
        self,
        scope: Scope,
        back: _Iteration,
        base: Reached,
        steps: Operand,
        known: dict[Value, Value],
    ) -> Reached:
        """Note whether there are paths to outer values after a loop, if there are in each iteration
        as far as there are to what it carries: `base`. Returns whether it ran."""
        inner = back.inner
        outer = [v for v in inner.reached if v not in inner.inner]
        if base != YES or not back.is_known:
            self.doubted.update(v for v in outer if isinstance(self.ev.types[v], Row))
        ran = self.ev.operation(operator.truth, (steps,), number(bool), name="reached")
        self.ran[ran] = steps
        for v in outer:
            found = inner.reached[v]
            if found == YES:
                found = both(self.ev, base, ran)
            elif back.is_known:
                found = both(self.ev, base, known.get(v, found))
            else:
                found = None
            scope.reached[v] = either(self.ev, scope.reached.get(v, NO), found)
        if not back.is_known:
            known.clear()
        return ran

    def _length(self, tape: Value, count: int) -> Value:
        """How many iterations a tape is of."""
        n = self.ev.operation(len, (tape,), number(int), name="i")
        if count == 1:
            return n
        return self.ev.operation(operator.floordiv, (n, Const(count)), number(int), name="i")

    def _reached(
        self,
        op: Loop,
        region: Region,
        carried: Sequence[Value],
        ends: Sequence[Operand],
        bars: Sequence[Operand | None],
    ) -> list[int]:
        """The carried values that a cotangent may reach: what the others carry, nothing that has
        one is made of."""
        if self._writes(op):
            return [i for i, p in enumerate(carried) if self._is_active((p, ends[i]))]
        needed: set[Value] = set()
        slots: list[int] = []
        while True:
            more = [
                i
                for i, p in enumerate(carried)
                if i not in slots
                and (p in self.active or self._is_active((ends[i],)))
                and (bars[i] is not None or p in needed)
            ]
            if not more:
                return sorted(slots)
            slots += more
            pending: list[Operand] = [ends[i] for i in more]
            made_of = _made_of(region)
            while pending:
                x = pending.pop()
                if isinstance(x, Value) and x in self.active and x not in needed:
                    needed.add(x)
                    pending += made_of.get(x, ())

    def _note_item(self, source: Value, item: Value) -> None:
        if source in self.leaves and isinstance(self.ev.types[source], Row):
            self.items.add(item)

    def _items_back(self, scope: Scope, op: Loop) -> _Items:
        """For each active array that is iterated over: itself, and what finds the cotangent of the
        item."""
        if op.iterable is None or op.body.parameters[0] not in self.active:
            return []
        item = op.body.parameters[0]
        assert isinstance(op.iterable, Value)
        if op.iterable in self.active:
            self._note_item(op.iterable, item)
            return [(op.iterable, lambda inner: inner.take(item))]
        made = self.made_by[op.iterable]
        f = made.callee.value if isinstance(made.callee, Const) else None
        first = op.body.ops[0]
        if f not in (zip, enumerate) or not isinstance(first, Unpack) or first.value is not item:
            raise NotCovered("an iteration of another kind over what is active", op.span)
        sources = made.operands if f is zip else (Const(None), *made.operands[:1])
        found = []
        for source, column in zip(sources, first.results, strict=True):
            if isinstance(source, Value) and source in self.active:
                self._note_item(source, column)
                found.append((source, _taking(column)))
            elif isinstance(source, Value) and self._iterates_over_active(source):
                raise NotCovered("nested iterators over what is active", op.span)
        return found


def _common(sources: Iterable[Reached]) -> Reached:
    """What several have in common; ``None`` if they are different."""
    found = [*sources]
    return found[0] if found and all(x == found[0] for x in found) else None


def _used(block: Block) -> set[Operand]:
    """What is read for more than to write to it, or for its length."""
    found: set[Operand] = set(block.results or ())
    for op in walk(block):
        if isinstance(op, Call) and op.callee == Const(runtime.count):
            continue
        is_write = isinstance(op, Call) and op.result is None and _is_write(op)
        found.update(operands(op)[2 if is_write else 0 :])  # the callee, and what is written to
        for inner in blocks(op):
            found.update(inner.results or ())
    return found


def _is_write(op: Call) -> bool:
    return isinstance(op.callee, Const) and op.callee.value in runtime.WRITES


def _made_of(region: Region) -> dict[Value, tuple[Operand, ...]]:
    """Of each value in a forward block: the operands that it is made of."""
    found: dict[Value, tuple[Operand, ...]] = {}
    for op in region.ops:
        if isinstance(op, Branches):
            found |= _made_of(op.body) | _made_of(op.orelse)
            for side in (op.body, op.orelse):
                for result, x in zip(op.results, side.results or (), strict=False):
                    found[result] = (*found.get(result, ()), x)
        elif isinstance(op, ForwardLoop):
            found |= _made_of(op.body)
            loop, ends = op.op, (op.body.results or [])[op.op.stops :]
            first = len(op.body.parameters) - len(loop.initial)
            for i, (start, end) in enumerate(zip(loop.initial, ends, strict=True)):
                found[op.body.parameters[first + i]] = start, end
                found[loop.results[loop.stops + i]] = start, end
            if loop.iterable is not None:
                found[op.body.parameters[0]] = (loop.iterable,)
        else:
            found |= dict.fromkeys(results(op), operands(op))
    return found


def _taking(column: Value) -> Callable[[Scope], Operand | None]:
    return lambda inner: inner.take(column)


def _unpack_back(scope: Scope, op: Unpack) -> None:
    """The cotangent of a list of numbers; the columns of ``zip`` are asked for by the loop."""
    assert isinstance(op.value, Value)
    if op.value not in scope.sweep.made_by:
        return
    bars, sources = scope.sweep._taken(scope, op.results)
    if all(bar is None for bar in bars):
        return
    reached: Reached = NO
    for source in sources:
        reached = either(scope.ev, reached, source)
    scope.sweep.source = reached
    given = tuple(Const(0.0) if bar is None else bar for bar in bars)
    packed = scope.ev.operation(primitives.build_list, given, ANYTHING, name="parts")
    scope.ev.packs[packed] = given
    scope.add(op.value, packed)
