"""Generators that wait at their first ``yield``, as those of `contextlib.contextmanager`.

A generator is run up to the ``yield``. What is left of each block around is kept, from the inside
out, and run when the generator goes on.
"""

from __future__ import annotations

from dataclasses import replace

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.frames import Frame, Suspension, single_of
from adjoint.fast.evaluate.values import Abstract, Generating, Known
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.node import node
from adjoint.ir.single import Block, If, Op


@node(eq=False)
class Suspended:
    """A generator at a ``yield``: for each block around it, the operation that it is in, and the
    block from there on."""

    frame: Frame
    rests: tuple[tuple[Op, Block], ...]


def started(ev: Evaluator, generating: Generating) -> tuple[Abstract, Suspended]:
    """Run a generator to its first ``yield``; return the value there, and the rest."""
    ev.demand_shallow()
    closure = generating.closure
    function = single_of(closure)
    frame = Frame(function, closure, suspends=True)
    parameters = (*generating.values, *closure.cells)
    frame.values.update(zip(function.body.parameters, parameters, strict=True))
    span, hint = ev.span, ev.hint
    ev.frames.append(frame)
    try:
        ev.run(function.body)
    except Suspension as waiting:
        found = waiting.value, Suspended(frame, tuple(waiting.rests))
    else:
        raise NotCovered("a context manager that does not yield", span)
    finally:
        ev.frames.pop()
        ev.span, ev.hint = span, hint
    return found


def run_to_end(ev: Evaluator, suspended: Suspended) -> None:
    """Run the rest of a generator, which must not yield again."""
    span, hint = ev.span, ev.hint
    ev.frames.append(suspended.frame)
    found: list[Abstract] | None = [Known(None)]
    try:
        with ev.uncertain():
            for op, rest in suspended.rests:
                results = op.results if isinstance(op, If) else ()
                suspended.frame.values.update(zip(results, found or (), strict=bool(results)))
                found = ev.run(rest)
                if found is None:
                    raise NotCovered("a context manager that raises", span)
    except Suspension:
        raise NotCovered("a context manager that yields twice", span) from None
    finally:
        ev.frames.pop()
        ev.span, ev.hint = span, hint


def suspend(error: Suspension, op: Op, block: Block, index: int) -> None:
    """Keep the rest of a block in which a generator waits, after the operation at `index`."""
    if isinstance(op, If) or not error.rests:
        error.rests.append((op, replace(block, ops=block.ops[index + 1 :])))
        return
    raise NotCovered("a context manager that yields in a loop", op.span)
