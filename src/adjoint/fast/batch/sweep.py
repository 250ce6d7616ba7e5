"""The sweep that turns a program of one row into one of all rows.

What differs between rows gets a leading axis; what is the same for all rows stays as it is, and is
computed once::

    y = mul(x, a)          ys = mul(xs, a)            x: (3,)  xs: (n, 3)
    s = sum(y)             ss = sum(ys, axis=1)       s: a number  ss: (n,)

A branch on a condition that differs between rows is not covered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from adjoint.fast.batch import arrays, elementwise, products  # noqa: F401  each registers formulas
from adjoint.fast.batch.formulas import formulas
from adjoint.fast.batch.values import BatchValues, Part
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import Array, Dim
from adjoint.fast.forward.activity import EFFECTS
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.passes.sequence import is_effect
from adjoint.fast.single_assignment.walk import callee_of, result_of, walk
from adjoint.fast.support import functions as runtime
from adjoint.ir import primitives
from adjoint.ir.single import Block, Call, Const, If, Loop, Op, Operand, Raise, Unpack, Value


class BatchSweep(BatchValues):
    """The sweep over one program."""

    def __init__(self, ev: Evaluator, length: Dim, count: Operand) -> None:
        super().__init__(ev, length, count)
        self._written: set[Value] = set()
        self._targets: set[Value] = set()
        self._tapes: dict[Value, list[Part]] = {}
        self._readers: dict[Value, list[Part]] = {}

    def run(self, block: Block, given: Mapping[Value, Value]) -> list[Op]:
        """Return the operations for all rows of those of `block`.

        Raises
        ------
        NotCovered
            The rows have to run one after the other.
        """
        self._targets = {x for one in written_by(block) for x in self.ev.aliased_by(one)}
        self.has_writes: bool = bool(self._targets)
        while True:
            self.rows, self._tapes = dict(given), {}
            try:
                with self.ev.writing() as ops:
                    self._ops(block.ops)
                return ops
            except _WrittenPerRow as found:
                if found.values <= self._written:
                    raise NotCovered(
                        "an array of all rows that is written to", self.ev.span
                    ) from None
                self._written |= found.values

    # ---- operations ------------------------------------------------------------------------------

    def _ops(self, ops: Iterable[Op]) -> None:
        for op in ops:
            self.ev.span = op.span
            match op:
                case Call():
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
        ev, y = self.ev, op.result
        f = callee_of(op)
        operands = (*op.operands, *(x for _, x in op.keywords))
        if f in primitives.BUILDING and y is not None:
            self.built[y] = op
        if f is runtime.new_tape and y is not None:
            self._tapes[y] = []
        if f is runtime.push:
            self._push(op)
            return
        if f in _ITERATING and any(map(self._is_followed, op.operands)):
            self._iterate(op, f)
            return
        if not any(map(self.differs, operands)):
            ev.write(op)
            if y is not None and y in self._written and isinstance(ev.types[y], Array):
                self.bind(y, self.full(y))
            return
        if f in primitives.BUILDING:
            return  # written with what takes it
        if f is runtime.length or f is runtime.shape_of:
            self._measure(op)
            return
        found = formulas.get(np.ufunc if _is_elementwise(f) else f)
        if found is None:
            raise NotCovered(f"{getattr(f, '__name__', f)} of rows", op.span)
        if is_effect(op):
            target = op.operands[0]
            if target not in self.rows:
                raise _WrittenPerRow(ev.aliased_by(target))
        rows = found(self, op)
        if y is not None:
            assert rows is not None
            self.bind(y, rows)

    def _measure(self, op: Call) -> None:
        """Write a length or the shape of a row, which is the same for all rows."""
        x = self.full(op.operands[0])
        if len(op.operands) == 1:
            self.ev.write(Call(op.result, Const(runtime.shape_of_row), (x,), (), op.span))
            return
        axis = op.operands[1]
        assert isinstance(axis, Const) and isinstance(axis.value, int)
        self.ev.write(Call(op.result, op.callee, (x, Const(axis.value + 1)), (), op.span))

    def _unpack(self, op: Unpack) -> None:
        ev = self.ev
        if op.value in self.columns:
            made = tuple(map(self.taken, op.results, self.columns[op.value]))
            ev.write(Unpack(made, op.value, op.starred, op.span))
        elif self.differs(op.value):
            if op.starred is not None or op.value not in self.rows:
                raise NotCovered("the rest of a row", op.span)
            made = tuple(map(self.new, op.results))
            items = self.turned(op.value)
            if self.has_writes:  # the numbers of one row are no views
                items = ev.operation(runtime.own, (items,), ev.types[items], name=items.name)
            ev.write(Unpack(made, items, None, op.span))
        else:
            ev.write(op)

    # ---- branches --------------------------------------------------------------------------------

    def _if(self, op: If) -> None:
        ev = self.ev
        if self.differs(op.condition):
            raise NotCovered("a branch that differs between rows", op.span)
        sides = []
        for block in (op.body, op.orelse):
            with ev.writing() as ops:
                self._ops(block.ops)
            sides.append(ops)
        ends = [block.results for block in (op.body, op.orelse) if block.results is not None]
        differing = {i for end in ends for i, x in enumerate(end) if self.differs(x)}
        blocks = []
        for block, ops in zip((op.body, op.orelse), sides, strict=True):
            found = block.results
            if found is not None:
                with ev.writing(ops):
                    found = self._ends(found, op.results, differing)
            blocks.append(Block(block.parameters, tuple(ops), found))
        for end in ends:
            for y, x in zip(op.results, end, strict=True):
                if isinstance(x, Value) and x in self._tapes:
                    self._join(y, x)
        results = tuple(self.new(y) if i in differing else y for i, y in enumerate(op.results))
        ev.write(If(results, op.condition, blocks[0], blocks[1], op.span))

    def _ends(
        self, ends: Sequence[Operand], values: Sequence[Value], differing: set[int]
    ) -> tuple[Operand, ...]:
        """Return the ends of a block for results or carried values."""
        return tuple(
            self.full_for(x, y) if i in differing else x
            for i, (x, y) in enumerate(zip(ends, values, strict=True))
        )

    # ---- loops -----------------------------------------------------------------------------------

    def _loop(self, op: Loop) -> None:
        differing = {i for i, x in enumerate(op.initial) if self.differs(x)}
        while True:
            before, rows = len(differing), dict(self.rows)
            with self.ev.writing() as ops:
                self._loop_with(op, differing)
            if len(differing) == before:
                break
            self.rows: dict[Value, Value] = rows
        for one in ops:
            self.ev.write(one)

    def _loop_with(self, op: Loop, differing: set[int]) -> None:
        """Write a loop that carries values that differ between rows; add to `differing` what turns
        out to be one."""
        ev = self.ev
        first = len(op.body.parameters) - len(op.initial)
        item, carried = op.body.parameters[:first], op.body.parameters[first:]
        initial = self._ends(op.initial, carried, differing)
        iterable = op.iterable
        if iterable in self.columns:
            self.columns[item[0]] = self.columns[iterable]
        elif iterable in self._readers:
            parts = self._readers[iterable]
            item = (self.taken(item[0], parts[-1] if parts else False),)
        elif iterable is not None and self.differs(iterable):
            self._demand_unwritten(iterable)
            iterable = self.turned(iterable)
            item = (self.new(item[0]),)
        test = None
        if op.test is not None:
            parameters = self._carried(op.test.parameters, differing)
            test = self._block(op.test, parameters, carried, differing, 1)
        parameters = (*item, *self._carried(carried, differing))
        body = self._block(op.body, parameters, carried, differing, int(op.stops))
        shifted = {i + int(op.stops) for i in differing}
        results = tuple(self.new(y) if i in shifted else y for i, y in enumerate(op.results))
        ev.write(Loop(results, initial, iterable, test, body, op.stops, op.span))

    def _carried(self, values: Sequence[Value], differing: set[int]) -> tuple[Value, ...]:
        return tuple(self.new(x) if i in differing else x for i, x in enumerate(values))

    def _block(
        self,
        block: Block,
        parameters: tuple[Value, ...],
        carried: Sequence[Value],
        differing: set[int],
        first: int,
    ) -> Block:
        """Return a block of a loop; its carried values begin at result `first`."""
        with self.ev.writing() as ops:
            self._ops(block.ops)
            ends = block.results
            if ends is not None:
                if any(map(self.differs, ends[:first])):
                    raise NotCovered("a loop that ends at other times in other rows", self.ev.span)
                differing |= {i for i, x in enumerate(ends[first:]) if self.differs(x)}
                ends = (*ends[:first], *self._ends(ends[first:], carried, differing))
        return Block(parameters, tuple(ops), ends)

    def _demand_unwritten(self, x: Operand) -> None:
        """Refuse iteration over what is written to, which an iterator sees."""
        if not self.ev.aliased_by(x).isdisjoint(self._targets):
            raise NotCovered("iteration over rows that are written to", self.ev.span)

    def _is_followed(self, x: Operand) -> bool:
        """Return whether iteration over an operand gives what differs between rows, or tapes."""
        return self.differs(x) or x in self.columns or x in self._tapes or x in self._readers

    def _iterate(self, op: Call, f: object) -> None:
        """Write an iterable of what differs between rows."""
        y, operands = result_of(op), op.operands
        if f is reversed and operands[0] in self._tapes:
            self._readers[y] = self._tapes[operands[0]]
            self.ev.write(op)
            return
        seen: Counter[Operand] = Counter()
        parts: list[Part] = []
        sources = []
        for x in operands:
            found: Part = self.differs(x)
            if x in self._readers:
                flags = self._readers[x]
                found = flags[-1 - seen[x]] if flags else False
                seen[x] += 1
            elif found:
                self._demand_unwritten(x)
                x = self.turned(x)
            elif x in self.columns:
                found = self.columns[x]
            elif x in self._tapes:
                raise NotCovered("iteration over a tape", op.span)
            parts.append(found)
            sources.append(x)
        if f is reversed:
            raise NotCovered("rows in reverse", op.span)
        self.columns[y] = (False, parts[0]) if f is enumerate else tuple(parts)
        self.ev.write(Call(y, op.callee, tuple(sources), op.keywords, op.span))

    # ---- tapes -----------------------------------------------------------------------------------

    def _push(self, op: Call) -> None:
        """Push residuals; a place on the tape that differs between rows in one iteration, does so
        in all."""
        tape, *items = op.operands
        assert isinstance(tape, Value)
        parts = self._tapes[tape]
        if not parts:
            parts += [False] * len(items)
        if len(parts) != len(items):
            raise NotCovered("a tape with iterations of several kinds", op.span)
        given = []
        for i, x in enumerate(items):
            if isinstance(x, Value) and x in self._tapes:
                parts[i] = x
            elif self.differs(x):
                parts[i] = True
            if parts[i] is True and isinstance(x, Const) and type(x.value) is int:
                raise NotCovered("an integer among residuals of rows", op.span)
            is_given = parts[i] is True and x != Const(None)
            given.append(self.full(x) if is_given else x)
        self.ev.write(Call(None, op.callee, (tape, *given), (), op.span))

    def _join(self, y: Value, x: Value) -> None:
        """Record that `y` may be the tape `x`."""
        known = self._tapes.setdefault(y, self._tapes[x])
        if known is not self._tapes[x] and known != self._tapes[x]:
            raise NotCovered("one tape or another of other residuals", self.ev.span)

    def taken(self, x: Value, part: Part) -> Value:
        """Return what holds an item of an iterable, for all rows if it differs between them."""
        if isinstance(part, Value):
            self._tapes[x] = self._tapes[part]
        elif isinstance(part, tuple):
            self.columns[x] = part
        return self.new(x) if part is True else x


def written_by(block: Block) -> Iterator[Operand]:
    """Yield the arrays that the operations of a block write to."""
    for op in walk(block):
        if isinstance(op, Call) and callee_of(op) in EFFECTS:
            yield op.operands[0]


class _WrittenPerRow(Exception):
    """Raised where what differs between rows is written to an array that is one for all rows."""

    def __init__(self, values: set[Value]) -> None:
        self.values = values


def _is_elementwise(f: object) -> bool:
    return isinstance(f, np.ufunc) and f.signature is None and f.nout == 1 and f not in formulas


_ITERATING = (zip, enumerate, reversed)
