"""Generators that wait at a ``yield``: those of `contextlib.contextmanager`, and those whose items
are taken one by one (`stepped_iterators`).

A generator is run up to a ``yield``. What is left of each block and loop around it is kept, from
the inside out, and run when the generator goes on.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from adjoint.fast.evaluate.call_frames import Frame, Suspension, single_of
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.values import Abstract, Closure, Generating, Known
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.walk import results
from adjoint.ir.node import node
from adjoint.ir.single import Block, Op, Value

Rest = Callable[[list[Abstract]], "list[Abstract] | None"]
"""What is left of a block or a loop: a function of the results of the operation that waits."""


@node(eq=False)
class Suspended:
    """A generator at a ``yield``: its variables, and what is left, from the inside out."""

    closure: Closure
    values: dict[Value, Abstract]
    rests: tuple[Rest, ...]


def started(
    ev: Evaluator, generating: Generating, is_manager: bool = False
) -> tuple[Abstract | None, Any]:
    """Run a generator to its first ``yield``; see `resumed`."""
    function = single_of(generating.closure)
    parameters = (*generating.values, *generating.closure.cells)
    values = dict(zip(function.body.parameters, parameters, strict=True))
    whole = Suspended(generating.closure, values, (lambda _: ev.run(function.body),))
    return resumed(ev, whole, is_manager)


def resumed(
    ev: Evaluator, waiting: Suspended, is_manager: bool = False, sent: Abstract = Known(None)
) -> tuple[Abstract | None, Any]:
    """Run a generator to its next ``yield``, from one whose value is `sent`; return the value
    there, and what is `Suspended`. If the generator ends before, return ``None``, and what the
    generator returns."""
    ev.demand_shallow()
    frame = Frame(single_of(waiting.closure), waiting.closure, suspends=True)
    frame.values.update(waiting.values)
    frame.is_manager = is_manager
    span, hint = ev.span, ev.hint
    ev.frames.append(frame)
    found: list[Abstract] | None = [sent]
    try:
        for i, rest in enumerate(waiting.rests):
            try:
                found = rest(found or [])
            except Suspension as error:
                left = (*error.rests, *waiting.rests[i + 1 :])
                return error.value, Suspended(waiting.closure, dict(frame.values), left)
            if found is None:
                raise NotCovered("a generator that always raises", span)
    finally:
        ev.frames.pop()
        ev.span, ev.hint = span, hint
    return None, (found or [Known(None)])[0]


def run_to_end(ev: Evaluator, waiting: Suspended) -> None:
    """Run the rest of a context manager, which must not yield again."""
    with ev.uncertain():
        if resumed(ev, waiting, is_manager=True)[0] is not None:
            raise NotCovered("a context manager that yields twice", ev.span)


def suspend(ev: Evaluator, error: Suspension, op: Op, block: Block, index: int) -> None:
    """Keep the rest of a block in which a generator waits, after the operation at `index`."""
    rest = Block(block.parameters, block.ops[index + 1 :], block.results)
    error.rests.append(partial(_go_on, ev, op, rest))


def _go_on(ev: Evaluator, op: Op, rest: Block, found: list[Abstract]) -> list[Abstract] | None:
    made = results(op)
    ev.frames[-1].values.update(zip(made, found, strict=bool(made)))
    return ev.run(rest)
