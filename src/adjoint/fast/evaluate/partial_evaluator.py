"""The partial evaluator: runs a single-assignment function on abstract arguments.

It computes what is known at specialisation: calls of functions, attributes, containers, tests that
types decide. The remaining operations on numbers and arrays, with their branches and loops, are the
program that `PartialEvaluator` writes, in the same IR, with a type for each value.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from inspect import CO_GENERATOR

from adjoint.fast.evaluate import calls
from adjoint.fast.evaluate.branches import branch, choosing
from adjoint.fast.evaluate.call_frames import (
    Attempt,
    Choice,
    Frame,
    Suspension,
    Undecided,
    place,
    single_of,
)
from adjoint.fast.evaluate.callees.arguments import bind
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.growing import restorable
from adjoint.fast.evaluate.item_lists import unpacked
from adjoint.fast.evaluate.iterators import generators
from adjoint.fast.evaluate.iterators.suspended_generators import suspend
from adjoint.fast.evaluate.loops import loop
from adjoint.fast.evaluate.objects.alternatives import for_each
from adjoint.fast.evaluate.objects.fields import set_field
from adjoint.fast.evaluate.objects.guards import is_own
from adjoint.fast.evaluate.truth_values import truth
from adjoint.fast.evaluate.values import (
    LOST,
    MISSING,
    Abstract,
    Closure,
    Either,
    Generating,
    IteratorOf,
    Known,
    Ref,
)
from adjoint.fast.not_covered import NotCovered, Raises
from adjoint.fast.single_assignment.primitives import assigned, latest, wrote
from adjoint.fast.single_assignment.walk import walk_ops
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.fast.support.printing import write_line
from adjoint.ir import single as ir
from adjoint.ir.single import Block, Call, Const, If, Operand, Unpack, Value

MOST_STEPS = 60_000
"""Greatest number of evaluated operations: recursion and unrolled loops may write none."""
MOST_SPLITS = 6
"""How many branches that raise to one handler split a program."""


class PartialEvaluator(Evaluator):
    """Run functions on abstract values, and write one program."""

    _steps = 0
    call_any = calls.call
    choosing = choosing

    # ---- functions -------------------------------------------------------------------------------

    def inline_any(
        self, closure: Closure, args: Sequence[Abstract], keywords: dict[str, Abstract]
    ) -> Abstract:
        """Run a Python function as a part of the program; return its result."""
        self.demand_shallow()
        function = single_of(closure)
        values = bind(self, function, closure, args, keywords)
        if closure.code.co_flags & CO_GENERATOR:
            made = Generating(closure, tuple(values))
            return self.allocate(IteratorOf(made, place=self.place_now()))
        if len(function.body.parameters) != len(values) + len(closure.cells):
            raise NotCovered("a function whose variables are not those of its source", self.span)
        frame = Frame(function, closure)
        frame.values.update(zip(function.body.parameters, (*values, *closure.cells), strict=True))
        span, hint = self.span, self.hint
        frame.caller = self.origin_now()
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
            raise Raises(None, "a function that always raises", self.span)
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
            try:
                if not self._evaluate(op):
                    return None
            except Suspension as error:
                if self.frames[-1].suspends:
                    suspend(self, error, op, block, i)
                raise
            consumer = self.frames[-1].consumer
            if consumer is not None and generators.may_have_stopped(self, consumer):
                return generators.rest(self, consumer, replace(block, ops=block.ops[i + 1 :]))
        if block.results is None:
            return None
        return [self.read(x) for x in block.results]

    def _evaluate(self, op: ir.Op) -> bool:
        """Run an operation; return whether the one after it may be reached."""
        match op:
            case Call():
                self._call(op)
            case Unpack():
                self._unpack(op)
            case If():
                return self._if(op)
            case ir.Loop():
                return loop(self, op)
            case ir.Raise():
                self._raise(op)
                return False
        return True

    def _present(self, operand: Operand) -> Abstract:
        found = self.read(operand)
        if found is MISSING:
            raise NotCovered("a variable that may have no value", self.span)
        if found is LOST:
            raise NotCovered("a variable that has a value in some ways only", self.span)
        return found

    def _call(self, op: Call) -> None:
        if op.result is not None:
            self.hint = op.result.name if not op.result.name.startswith("_") else "t"
        read = self.read if _takes_all(op) else self._present
        result = self.call_any(
            self._present(op.callee),
            [read(x) for x in op.operands],
            {name: self._present(x) for name, x in op.keywords} if op.keywords else {},
        )
        if op.result is not None:
            self.frames[-1].values[op.result] = result

    def _unpack(self, op: Unpack) -> None:
        def items_of(a: Abstract) -> list[Abstract]:
            return [*unpacked(self, a, len(op.results), op.starred)]

        a = self.demand_some(self._present(op.value))
        items = for_each(self, a, items_of) if isinstance(a, Either) else items_of(a)
        self.frames[-1].values.update(zip(op.results, items, strict=True))

    def _raise(self, op: ir.Raise) -> None:
        """Raise to the handler around, or leave the program where there is none."""
        if not self.may_handle():
            self.leave()
            return
        reason = "an exception that is raised in any case"
        if op.exception is None:
            again = self.caught[-1] if self.caught else Raises(None, reason)
            raise Raises(again.kind, reason, op.span, again.raised)
        raised = self._made(op.exception)
        kind = self.class_of(raised)
        if op.cause is not None and isinstance(raised, Ref):
            set_field(self, raised, "__cause__", self._made(op.cause))
        is_exception = kind is not None and issubclass(kind, BaseException)
        raise Raises(kind if is_exception else None, reason, op.span, raised)

    def _made(self, operand: Operand) -> Abstract:
        """Return an exception that is raised, or a cause; make one of a class."""
        given = self._present(operand)
        is_class = isinstance(given, Known) and isinstance(given.value, type)
        return self.call(given, [], {}) if is_class else given

    def _attempt(self, state: Attempt, op: If) -> list[Abstract] | None:
        """Run the body of a ``try``, and its handler where the body raises; if that depends on
        numbers, write a branch with the rest of the body in one side, the handler in the other."""
        with restorable(self) as restore:
            start, block = len(self.block), self.block
            try:
                return self._handled(state, op)
            except Undecided as error:
                if error.choice is not state.choice:
                    raise
                before, condition = block[start:], error.condition
                restore()
            self.has_split = True

            def again(*outcomes: bool, splits: bool = True) -> list[Abstract] | None:
                known = Attempt(state.frame, splits=splits, choice=Choice(outcomes))
                self.frames[-1].values[op.condition] = Known(known)  # type: ignore[index]
                return self._attempt(known, op)

            if any(isinstance(x, Call) and _acts(x) for x in walk_ops(before)):
                return again(*state.choice.outcomes, splits=False)
            block.extend(before)
            return branch(
                self,
                condition,
                lambda: again(*state.choice.outcomes, True),
                lambda: again(*state.choice.outcomes, False),
                op.span,
                tuple(result.name for result in op.results),
            )

    def _decided(self, condition: Value, op: If) -> Block | None:
        """Return the side of a branch that is evaluated where one side raises to a handler around;
        ``None`` for other branches.

        Raises
        ------
        Undecided
            The side is not chosen yet.
        """
        state = self.splitting()
        if state is None or (op.body.results is None) is (op.orelse.results is None):
            return None
        if state.choice.is_open() and state.choice.met == MOST_SPLITS:
            return None
        return op.body if state.choice.outcome(condition) else op.orelse

    def _handled(self, state: Attempt, op: If) -> list[Abstract] | None:
        """Run the body of a ``try``, or its handler, if the body certainly raises."""
        depth = len(self.attempts)
        self.tries += 1
        self.attempts.append(state)
        try:
            return self.run(op.body)
        except Raises as error:
            if state.is_over:
                raise
            if error.kind is None:
                raise error.uncertain() from None
            caught = error
        finally:
            del self.attempts[depth:]
        self.caught.append(caught)
        try:
            return self.run(op.orelse)
        finally:
            self.caught.pop()

    def _if(self, op: If) -> bool:
        given = self._present(op.condition)
        values = self.frames[-1].values
        if isinstance(given, Known) and isinstance(given.value, Attempt):
            found = self._attempt(given.value, op)
            if found is None:
                return False
            values.update(zip(op.results, found, strict=True))
            return True
        condition = truth(self, given)
        if isinstance(condition, Known):
            block = op.body if condition.value else op.orelse
            found = self.run(block) if self.may_handle() else self._side(block)
        elif (side := self._decided(condition, op)) is not None:
            found = self.run(side)
        else:
            found = branch(
                self,
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
            self.leave()  # its operations only serve the error
            return None
        return self.run(block)


def _takes_all(op: Call) -> bool:
    """Return whether a call takes variables without a value, too."""
    f = op.callee.value if type(op.callee) is Const else None
    return f is assigned or f is wrote or f is latest


def _acts(op: Call) -> bool:
    """Return whether a call must not run twice."""
    return not isinstance(op.callee, Const) or op.callee.value in _ACTING


_ACTING = {
    runtime.draw,
    runtime.read_clock,
    write_line,
    *runtime.WRITES,
    *runtime.BUFFER_WRITES,
    *rows.EFFECTS,
}
