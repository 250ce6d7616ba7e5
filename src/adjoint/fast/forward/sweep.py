"""The forward sweep of tangents: each operation is followed by that of its tangent.

Branches get the tangents of their results as further results, loops those of their carried values.
Beside each tape of residuals that carry tangents runs a tape of these tangents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import ANYTHING, Array, bar_type
from adjoint.fast.forward.activity import EFFECTS, Column
from adjoint.fast.forward.tangent_values import TangentValues
from adjoint.fast.forward.tangents import tangent
from adjoint.fast.forward.writes import written_tangent
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.passes.sequence import is_effect
from adjoint.fast.single_assignment.walk import callee_of, result_of
from adjoint.fast.support import functions as runtime
from adjoint.fast.support.result_memory import VIEWS
from adjoint.ir.single import Block, Call, Const, If, Loop, Op, Operand, Raise, Unpack, Value


class ForwardSweep(TangentValues):
    """The forward sweep of one program."""

    def __init__(self, ev: Evaluator, wanted: Sequence[Value], **options: bool) -> None:
        super().__init__(ev, wanted, **options)
        self._tapes: dict[Operand, Value] = {}

    def run(self, block: Block, wanted: Sequence[Value]) -> tuple[list[Value], list[Op]]:
        """Return the tangents of `wanted`, as parameters, and the operations with those of their
        tangents."""
        given = [self.new(x) for x in wanted]
        return given, self.push(block, {})

    def push(self, block: Block, given: Mapping[Value, Operand]) -> list[Op]:
        """Return the operations of a block with those of their tangents, from `given` ones."""
        self.activity.find_all(block)
        self.dots.update(given)
        with self.ev.writing() as ops:
            for x in block.parameters:
                if x in self.ev.written and x in self.activity.active:
                    self._bind(x, self.full(x))
            self._ops(block.ops)
        return ops

    # ---- operations ------------------------------------------------------------------------------

    def _ops(self, ops: Iterable[Op]) -> None:
        for op in ops:
            match op:
                case Call():
                    self.ev.span = op.span
                    self._call(op)
                case Unpack():
                    self._unpack(op)
                case If():
                    self._if(op)
                case Loop():
                    self._loop(op)
                case Raise():
                    self.ev.write(op)

    def _call(self, op: Call) -> None:
        f = callee_of(op)
        ev, y = self.ev, op.result
        if f is runtime.new_tape:
            ev.write(op)
            if self.activity.is_active_tape(y):  # type: ignore[arg-type]
                self._tapes[y] = ev.operation(runtime.new_tape, (), ANYTHING, name="dots")  # type: ignore[index]
            return
        if f is runtime.push:
            self._push(op)
            return
        if f in EFFECTS and self.of(op.operands[0]) is not None:
            written_tangent(self, op)
            return
        if f is runtime.demand_view:
            ev.write(op)
            dots = tuple(map(self.of, op.operands))
            if None not in dots:
                ev.write(Call(None, op.callee, dots, (), op.span))  # type: ignore[arg-type]
            return
        if y is None or y not in self.activity.active:
            if y is None and is_effect(op) and any(self.of(x) is not None for x in op.operands):
                raise NotCovered(f"a tangent of {getattr(f, '__name__', f)}", op.span)
            ev.write(op)
            return
        if self.activity.may_change and not self._moves(op):
            ev.write(op)
            dot: Operand = self.zeros(y)
        else:
            if op.keywords and any(self.of(x) is not None for _, x in op.keywords):
                raise NotCovered("a keyword that carries a derivative", op.span)
            place = len(ev.block)
            self.is_exact = self.has_low(op)
            try:
                found = tangent(self, op)
            finally:
                self.is_exact = False
            dot = self._separate(self.settle(found, y), op, place)
        self._bind(y, dot)

    def _moves(self, op: Call) -> bool:
        """Return whether the result of an operation is active not only by a later write."""
        is_moving = any(self.of(x) is not None for x in self.activity.carriers(op))
        return is_moving and not self.activity.is_rounded(op)

    def _bind(self, y: Value, dot: Operand) -> None:
        self.dots[y] = dot
        if isinstance(dot, Value):
            if y in self.ev.written:
                self.ev.written.add(dot)
            if y in self.ev.places:
                self.ev.places.setdefault(dot, self.ev.places[y])

    def _separate(self, dot: Operand, op: Call, place: int) -> Operand:
        """Copy a tangent that must not share memory with one that is written to; the operations
        from `place` on have made it."""
        ev, y = self.ev, result_of(op)
        if not ev.written or not isinstance(ev.types[y], Array) or not isinstance(dot, Value):
            return dot
        if y in ev.written and y in ev.views:
            shown = self.of(op.operands[0])
            if dot is not shown and (dot not in ev.views or shown not in ev.aliased_by(dot)):
                raise NotCovered("a tangent of a view that is no view", op.span)
            return dot
        is_view = callee_of(op) in VIEWS
        shares = not ev.aliased_by(dot).isdisjoint(ev.written) and not is_view
        if shares or (y in ev.written and not self._is_made_since(place, dot, y)):
            return ev.operation(runtime.own, (dot,), bar_type(ev.types[y]), name=f"{y.name}_dot")
        return dot

    def _is_made_since(self, place: int, dot: Value, y: Value) -> bool:
        """Return whether an operation from `place` on has made an array, in memory of its own."""
        return (
            dot in self.ev.fresh
            and dot is not y
            and any(isinstance(op, Call) and op.result is dot for op in self.ev.block[place:])
        )

    def _push(self, op: Call) -> None:
        tape, *items = op.operands
        self.ev.write(op)
        dots = [
            self._tapes[x] if x in self._tapes else self.full(x)
            for x, carries in zip(items, self.activity.tapes[tape], strict=True)  # type: ignore[index]
            if carries
        ]
        if dots:
            self.ev.write(Call(None, Const(runtime.push), (self._tapes[tape], *dots)))

    def _unpack(self, op: Unpack) -> None:
        self.ev.write(op)
        dot = self.of(op.value)
        if dot is None:
            return
        if op.starred is not None:
            raise NotCovered("the rest of what carries tangents", op.span)
        if not isinstance(dot, Value):
            raise NotCovered("a structure without tangents", op.span)
        self.ev.write(Unpack(tuple(map(self.new, op.results)), dot, None, op.span))

    # ---- branches --------------------------------------------------------------------------------

    def _if(self, op: If) -> None:
        ev = self.ev
        moving = [i for i, y in enumerate(op.results) if y in self.activity.active]
        taped = [i for i, y in enumerate(op.results) if self.activity.is_active_tape(y)]
        sides = []
        for block in (op.body, op.orelse):
            ends = block.results
            with ev.writing() as ops:
                self._ops(block.ops)
                if ends is not None:
                    more = [self._end(ends[i], op.results[i]) for i in moving]
                    more += [self._tapes.get(ends[i], Const(None)) for i in taped]
                    ends = (*ends, *more)
            sides.append(Block(block.parameters, tuple(ops), ends))
        dots = [self.new(op.results[i]) for i in moving]
        for i in taped:
            dots.append(ev.value(ANYTHING, name="dots"))
            self._tapes[op.results[i]] = dots[-1]
        ev.write(If((*op.results, *dots), op.condition, sides[0], sides[1], op.span))

    def _end(self, x: Operand, y: Value) -> Operand:
        """Return the tangent of `x` at the end of a block, for a result or a carried value `y`."""
        dot = self.full(x)
        if isinstance(dot, Const) and isinstance(self.ev.types[y], Array) and dot.value is not None:
            raise NotCovered("a number in place of an array")
        return dot

    # ---- loops -----------------------------------------------------------------------------------

    def _loop(self, op: Loop) -> None:
        ev, active = self.ev, self.activity.active
        first = len(op.body.parameters) - len(op.initial)
        carried = op.body.parameters[first:]
        moving = [i for i, x in enumerate(carried) if x in active]
        if any(x in ev.written for x in carried):
            raise NotCovered("an array that a loop carries and writes to", op.span)
        initial = [self._end(op.initial[i], carried[i]) for i in moving]
        iterable, item, unpacks, skip = self._iterated(op)
        test = None
        if op.test is not None:
            parameters = [self.new(op.test.parameters[i]) for i in moving]
            with ev.writing() as ops:
                self._ops(op.test.ops)
                ends = op.test.results
                if ends is not None:
                    ends = (*ends, *(self._end(ends[1 + i], carried[i]) for i in moving))
            test = Block((*op.test.parameters, *parameters), tuple(ops), ends)
        parameters = [self.new(carried[i]) for i in moving]
        with ev.writing() as ops:
            for unpack in unpacks:
                ev.write(unpack)
            self._ops(op.body.ops[skip:])
            ends = op.body.results
            if ends is not None:
                ends = (*ends, *(self._end(ends[op.stops + i], carried[i]) for i in moving))
        body = Block((*item, *carried, *parameters), tuple(ops), ends)
        results = [self.new(op.results[op.stops + i]) for i in moving]
        ev.write(
            Loop(
                (*op.results, *results),
                (*op.initial, *initial),
                iterable,
                test,
                body,
                op.stops,
                op.span,
            )
        )

    def _iterated(self, op: Loop) -> tuple[Operand | None, tuple[Value, ...], list[Unpack], int]:
        """Return the iterable that also yields tangents, the parameter for its items, the
        operations that unpack them, and how many operations of the body these replace."""
        ev = self.ev
        item = op.body.parameters[: len(op.body.parameters) - len(op.initial)]
        sources, targets = self._sources(op)
        if not sources:
            return op.iterable, item, [], 0
        assert op.iterable is not None
        made = self.activity.is_zip(op.iterable)
        step = ev.value(ANYTHING, name="step")
        if made is None:
            iterable = ev.operation(zip, (op.iterable, *sources), ANYTHING, name="steps")
            return iterable, (step,), [Unpack((*item, *targets), step)], 0
        columns = op.body.ops[0]
        assert isinstance(columns, Unpack)
        iterable = ev.operation(zip, (*made.operands, *sources), ANYTHING, name="steps")
        return iterable, (step,), [Unpack((*columns.results, *targets), step)], 1

    def _sources(self, op: Loop) -> tuple[list[Operand], list[Value]]:
        """Return the iterables of tangents, and the values for their items; those of a tape in the
        order in which it yields them."""
        found: list[tuple[Operand, Value]] = []
        steps: dict[Value, Operand] = {}
        of_tapes: list[tuple[Column, Operand, Value]] = []
        for column in self.activity.columns(op):
            if column.tape is None:
                dot = self.of(column.source)
                if dot is not None:
                    found.append((dot, self.new(column.value)))
                continue
            if not self.activity.tapes[column.tape][column.place]:
                continue
            dots = self._tapes[self.activity.tape_operand(column.source)]
            if dots not in steps:
                steps[dots] = self.ev.operation(reversed, (dots,), ANYTHING, name="steps")
            if self.activity.is_active_tape(column.value):
                target = self.ev.value(ANYTHING, name="dots")
                self._tapes[column.value] = target
            else:
                target = self.new(column.value)
            of_tapes.append((column, steps[dots], target))
        of_tapes.sort(key=lambda one: -one[0].place)
        found += [(source, target) for _, source, target in of_tapes]
        return [source for source, _ in found], [target for _, target in found]
