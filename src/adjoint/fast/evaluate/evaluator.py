"""The partial evaluator: runs a single-assignment function on abstract arguments.

It computes what is known at specialisation: calls of functions, attributes, containers, tests that
types decide. The remaining operations on numbers and arrays, with their branches and loops, are the
program that `Evaluator` writes, in the same IR, with a type for each value.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from inspect import CO_GENERATOR
from typing import Any

from adjoint.fast.evaluate import calls, loops
from adjoint.fast.evaluate.draft import Draft
from adjoint.fast.evaluate.frames import Frame, place, single_of
from adjoint.fast.evaluate.joins import contents_template, generalise, instantiate, match
from adjoint.fast.evaluate.outside_values import Outside, is_own
from adjoint.fast.evaluate.values import (
    LOST,
    MISSING,
    Abstract,
    CellOf,
    Closure,
    External,
    Generating,
    IteratorOf,
    Known,
    Slot,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.ir import single as ir
from adjoint.ir.nodes import Span
from adjoint.ir.single import Block, Call, Const, If, Operand, Unpack, Value

MOST_STEPS = 60_000
"""Greatest number of evaluated operations: recursion and unrolled loops may write none."""
MOST_CALLS = 60
"""Greatest depth of inlined calls."""


class Evaluator(Draft):
    """Run functions on abstract values, and write one program.

    Attributes
    ----------
    copied
        Lists, as values or heap addresses, that the next loop iterates over in a copy.
    inlined
        The names of the inlined user functions.
    """

    heap: Any
    row_lengths: Any

    def __init__(self, outside: Outside) -> None:
        super().__init__(outside)
        self.copied: set[Value | int] = set()
        self.inlined: dict[str, None] = {}
        self._steps = 0

    def release(self) -> None:
        """Drop references to the values that the program was specialised with."""
        self.heap.clear()
        self.frames.clear()
        self.outside.release()

    # ---- functions -------------------------------------------------------------------------------

    def inline(
        self, closure: Closure, args: Sequence[Abstract], keywords: dict[str, Abstract]
    ) -> Abstract:
        """Run a Python function as a part of the program; return its result."""
        from adjoint.fast.evaluate.arguments import bind

        if len(self.frames) >= MOST_CALLS:
            raise NotCovered(f"calls more than {MOST_CALLS} deep, or recursion", self.span)
        function = single_of(closure)
        values = bind(self, function, closure, args, keywords)
        if closure.code.co_flags & CO_GENERATOR:
            return self.allocate(IteratorOf(Generating(closure, tuple(values))))
        if len(function.body.parameters) != len(values) + len(closure.cells):
            raise NotCovered("a function whose variables are not those of its source", self.span)
        frame = Frame(function, closure)
        frame.values.update(zip(function.body.parameters, (*values, *closure.cells), strict=True))
        span, hint = self.span, self.hint
        self.frames.append(frame)
        if not is_own(closure.namespace):
            self.inlined.setdefault(closure.code.co_qualname)
        try:
            found = self.run(function.body)
        except NotCovered as error:
            place(error, closure, self.span, function.filename)
            raise
        finally:
            self.frames.pop()
            self.span, self.hint = span, hint
        if found is None:
            raise NotCovered("a function that always raises", self.span)
        (result,) = found
        if result is MISSING or result is LOST:
            raise NotCovered("a function without a result in some way")
        return result

    # ---- blocks ----------------------------------------------------------------------------------

    def run(self, block: Block) -> list[Abstract] | None:
        """Run a block; return its results, or ``None`` if its end is never reached."""
        self._steps += len(block.ops)
        if self._steps > MOST_STEPS:
            raise NotCovered("what takes too long to specialise", self.span)
        for i, op in enumerate(block.ops):
            if op.span is not None:
                self.span = op.span
            match op:
                case Call():
                    self._call(op)
                case Unpack():
                    self._unpack(op)
                case If():
                    if not self._if(op):
                        return None
                case ir.Loop():
                    if not loops.loop(self, op):
                        return None
                case ir.Raise():
                    self._leave()
                    return None
            consumer = self.frames[-1].consumer
            if consumer is not None and consumer.may_have_stopped(self):
                return consumer.rest(self, replace(block, ops=block.ops[i + 1 :]))
        if block.results is None:
            return None
        return [self.read(x) for x in block.results]

    def read(self, operand: Operand) -> Abstract:
        """Return the abstract value of an operand of the function being run."""
        if type(operand) is Value:
            return self.frames[-1].values[operand]
        if type(operand) is Const:
            return Known(operand.value)
        match operand:
            case ir.Global(name=name):
                return self.outside.global_(self.frames[-1].namespace, name)
            case ir.Undefined():
                return MISSING
            case _:
                raise NotCovered(f"the operand {operand}")

    def _present(self, operand: Operand) -> Abstract:
        found = self.read(operand)
        if found is MISSING:
            raise NotCovered("a variable that may have no value", self.span)
        if found is LOST:
            raise NotCovered("a variable that has a value in some ways only", self.span)
        return found

    def _call(self, op: Call) -> None:
        if op.result is not None:
            self.hint: str = op.result.name if not op.result.name.startswith("_") else "t"
        result = calls.call(
            self,
            self._present(op.callee),
            [self._present(x) for x in op.operands],
            {name: self._present(x) for name, x in op.keywords},
        )
        if op.result is not None:
            self.frames[-1].values[op.result] = result

    def _unpack(self, op: Unpack) -> None:
        from adjoint.fast.evaluate.items import unpacked

        items = unpacked(self, self._present(op.value), len(op.results), op.starred)
        self.frames[-1].values.update(zip(op.results, items, strict=True))

    def _leave(self) -> None:
        """Write a call of `leave`, since user code raises here and the generic tier reports it."""
        from adjoint.fast.support.functions import leave

        self.write(Call(None, Const(leave), (), (), self.span))

    def _if(self, op: If) -> bool:
        from adjoint.fast.evaluate.calls import truth

        condition = truth(self, self._present(op.condition))
        values = self.frames[-1].values
        if isinstance(condition, Known):
            found = self.run(op.body if condition.value else op.orelse)
        else:
            found = self.branch(
                condition,
                lambda: self._side(op.body),
                lambda: self._side(op.orelse),
                op.span,
                tuple(result.name for result in op.results),
            )
        if found is None:
            return False
        values.update(zip(op.results, found, strict=True))
        return True

    def _side(self, block: Block) -> list[Abstract] | None:
        if block.results is None:
            self._leave()  # its operations only serve the error
            return None
        return self.run(block)

    def branch(
        self,
        condition: Value,
        body: Callable[[], list[Abstract] | None],
        orelse: Callable[[], list[Abstract] | None],
        span: Span | None,
        names: tuple[str, ...] = (),
    ) -> list[Abstract] | None:
        """Write both branches, and return the joined results."""
        from adjoint.fast.evaluate.rows import growing

        return growing(self, lambda: self._branch(condition, body, orelse, span, names))

    def _branch(
        self,
        condition: Value,
        body: Callable[[], list[Abstract] | None],
        orelse: Callable[[], list[Abstract] | None],
        span: Span | None,
        names: tuple[str, ...],
    ) -> list[Abstract] | None:
        before, lengths = dict(self.heap), dict(self.row_lengths)
        with self.writing() as ops_a:
            a = body()
        heap_a, self.heap = self.heap, dict(before)
        lengths_a, self.row_lengths = self.row_lengths, lengths
        with self.writing() as ops_b:
            b = orelse()
        heap_b = self.heap
        if b is None:
            self.row_lengths = lengths_a
        elif a is not None:
            known_a = lengths_a.items()
            self.row_lengths = {x: n for x, n in known_a if self.row_lengths.get(x) is n}
        if a is None or b is None:
            # The operations of the remaining branch follow unconditionally, so no join is needed.
            self.heap = heap_b if a is None else heap_a
            leaving, rest = (ops_a, ops_b) if a is None else (ops_b, ops_a)
            sides = Block((), tuple(leaving), None), Block((), (), ())
            self.write(If((), condition, *(sides if a is None else sides[::-1]), span))
            self.block.extend(rest)
            return b if a is None else a
        pairs = zip(a, b, strict=True)
        templates = [generalise(x, y, self, heap_a, heap_b) for x, y in pairs]
        left: list[Operand] = []
        right: list[Operand] = []
        for template, x, y in zip(templates, a, b, strict=True):
            match(template, x, left, self, heap_a)
            match(template, y, right, self, heap_b)
        results: list[Value] = []
        name = ""

        def new(slot: Slot) -> Value:
            results.append(self.slot_value(slot, name))
            return results[-1]

        found = []
        for i, template in enumerate(templates):
            name = names[i] if i < len(names) and not names[i].startswith("_") else "t"
            found.append(instantiate(template, new, self))
        heap = dict(before)
        for address in before:
            one, other = heap_a[address], heap_b[address]
            if one is not other:
                name = getattr(one, "name", "held")
                template = contents_template(address, self, heap_a, heap_b)
                match(template, one, left, self, heap_a)
                match(template, other, right, self, heap_b)
                heap[address] = instantiate(template, new, self)
        for address, held in (*heap_a.items(), *heap_b.items()):
            if address not in heap:
                heap[address] = held
        self.heap = heap
        self.write(
            If(
                tuple(results),
                condition,
                Block((), tuple(ops_a), tuple(left)),
                Block((), tuple(ops_b), tuple(right)),
                span,
            )
        )
        return found

    # ---- cells -----------------------------------------------------------------------------------

    def load_cell(self, cell: Abstract) -> Abstract:
        if isinstance(cell, External):
            return self.outside.of_cell(cell)
        if isinstance(cell, Known):
            return self.outside.own(cell.value.cell_contents)
        held = self.held(cell)
        assert isinstance(held, CellOf), cell
        return held.items[0]
