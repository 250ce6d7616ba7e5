"""Generators that are iterated over once: the body of the iteration replaces each ``yield``.

    def halves(xs):              total = 0
        for x in xs:             for x in xs:
            yield x / 2              total = total + x / 2

    total = 0
    for h in halves(xs):
        total = total + h

A cell in the heap holds the values that the iteration carries, so that branches and loops of the
generator join them like other written variables. Where the iteration may end early, the rest of the
generator must not run: each of its loops stops, and the operations after a ``yield`` follow a test.
"""

from __future__ import annotations

import operator
from typing import Any

from adjoint.fast.evaluate.branches import branch
from adjoint.fast.evaluate.call_frames import Body, Consumer, Frame, single_of
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.truth_values import truth
from adjoint.fast.evaluate.values import (
    MISSING,
    Abstract,
    CellOf,
    Generating,
    Iterating,
    IteratorOf,
    Known,
    Tuple,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.ir.single import Block, Value


def take(ev: Evaluator, consumer: Consumer, value: Abstract) -> Abstract:
    """Run the body for ``yield value``."""
    if consumer.stops and any(one.frame is ev.frames[-1] for one in ev.attempts if not one.is_over):
        raise NotCovered("a generator that may be left within a try or with", ev.span)
    now = list(_cell(ev, consumer).items[consumer.stops :])
    span, hint = ev.span, ev.hint
    ev.frames.append(consumer.frame)
    try:
        with ev.uncertain():
            found = consumer.body(value, now)
    finally:
        ev.frames.pop()
    ev.span, ev.hint = span, hint
    if found is None:
        raise NotCovered("a loop whose iterations never reach their end", ev.span)
    _hold(ev, consumer, *found)
    return Known(None)


def _cell(ev: Evaluator, consumer: Consumer) -> CellOf:
    held = ev.heap[consumer.address]
    assert isinstance(held, CellOf)
    return held


def _hold(ev: Evaluator, consumer: Consumer, *items: Abstract) -> None:
    ev.heap[consumer.address] = CellOf(items, _cell(ev, consumer).name)


def may_have_stopped(ev: Evaluator, consumer: Consumer) -> bool:
    """Return whether the iteration may have ended."""
    going = _cell(ev, consumer).items[0] if consumer.stops else None
    return going is not None and not (isinstance(going, Known) and going.value is True)


def _goes_on(ev: Evaluator, consumer: Consumer) -> None:
    """Set the flag: the operations that follow run only if the iteration goes on."""
    _hold(ev, consumer, Known(True), *_cell(ev, consumer).items[1:])


def rest(ev: Evaluator, consumer: Consumer, block: Block) -> list[Abstract] | None:
    """Run the rest of a block of the generator under the test that the iteration goes on."""
    if not block.ops:
        return None if block.results is None else [ev.read(x) for x in block.results]
    going = _cell(ev, consumer).items[0]
    skipped: list[Abstract] = [MISSING] * len(block.results or ())
    if isinstance(going, Known):
        return skipped

    def run() -> list[Abstract] | None:
        _goes_on(ev, consumer)
        return ev.run(block)

    assert isinstance(going, Value)
    return branch(ev, going, run, lambda: skipped, ev.span)


def stopping(ev: Evaluator, consumer: Consumer, body: Body, stops: bool) -> Body:
    """Make a loop body of the generator end the loop together with the iteration; if `stops`,
    `body` already returns a flag "go on" before the carried values."""

    def run(x: Any, now: list[Abstract]) -> list[Abstract] | None:
        _goes_on(ev, consumer)
        found = body(x, now)
        if found is None:
            return None
        if not found:  # after the iteration, the rest of the body only raises
            found = [*[Known(True)] * stops, *[MISSING] * len(now)]
        on: Abstract = found[0] if stops else Known(True)
        going = _cell(ev, consumer).items[0]
        if isinstance(going, Known):
            on = on if going.value else going
        elif isinstance(on, Known) and on.value is True:
            on = going
        else:
            made = branch(ev, going, lambda: [on], lambda: [Known(False)], ev.span)  # type: ignore[arg-type]
            assert made is not None
            (on,) = made
        return [on, *found[stops:]]

    return run


def consume(
    ev: Evaluator,
    generating: Generating,
    carried: list[Abstract],
    body: Body,
    stops: bool,
    name: str = "held",
) -> tuple[list[Abstract], Abstract]:
    """Run a generator; return the carried values, preceded, if `stops`, by a flag that the
    iteration went on to the end, and what the generator returns."""
    ev.demand_shallow()
    going: tuple[Abstract, ...] = (Known(True),) if stops else ()
    cell = ev.allocate(CellOf((*going, *carried), name))
    closure = generating.closure
    function = single_of(closure)
    frame = Frame(function, closure)
    parameters = (*generating.values, *closure.cells)
    frame.values.update(zip(function.body.parameters, parameters, strict=True))
    frame.consumer = Consumer(cell.address, body, stops, ev.frames[-1])
    span, hint = ev.span, ev.hint
    ev.frames.append(frame)
    try:
        found = ev.run(function.body)
    finally:
        ev.frames.pop()
    ev.span, ev.hint = span, hint
    if found is None:
        raise NotCovered("a generator that always raises", ev.span)
    held = ev.heap.pop(cell.address)
    assert isinstance(held, CellOf)
    # It returns nothing if all that it does after the iteration has ended is to raise.
    return list(held.items), found[0] if found else Known(None)


def is_pushed(ev: Evaluator, a: Abstract) -> bool:
    """Return whether an iterable runs the body itself: a generator, a ``filter``, or a ``map`` or
    an ``enumerate`` over one of these."""
    held = ev.held(a)
    what = held.source if isinstance(held, IteratorOf) else None
    if isinstance(what, Iterating):
        if (what.kind in (map, enumerate) and len(what.operands) == 1) or what.kind is enumerate:
            return is_pushed(ev, what.operands[0])
        return what.kind is filter
    return isinstance(what, Generating)


def through(
    ev: Evaluator, what: Iterating, carried: list[Abstract], body: Body, stops: bool
) -> tuple[list[Abstract], Body]:
    """Turn an iteration over ``map``, ``filter`` or ``enumerate`` into one over its operand: return
    the carried values, preceded by a counter for ``enumerate``, and the new body."""
    function = what.function
    if what.kind is enumerate:
        start = what.operands[1] if len(what.operands) > 1 else Known(0)

        def numbered(x: Abstract, now: list[Abstract]) -> list[Abstract] | None:
            found = body(Tuple((now[0], x)), now[1:])
            if found is None:
                return None
            after = ev.call(Known(operator.add), [now[0], Known(1)], {})
            return [*found[:stops], after, *found[stops:]]

        return [start, *carried], numbered
    assert function is not None
    if what.kind is map:
        return carried, lambda x, now: body(ev.call(function, [x], {}), now)
    return carried, lambda x, now: _filtered(ev, function, x, now, body, stops)


def is_chosen(ev: Evaluator, function: Abstract, x: Abstract) -> Any:
    """Return the truth value by which ``filter(function, ...)`` chooses `x`."""
    is_none = isinstance(function, Known) and function.value is None
    return truth(ev, x if is_none else ev.call(function, [x], {}))


def _filtered(
    ev: Evaluator, function: Abstract, x: Abstract, now: list[Abstract], body: Body, stops: bool
) -> list[Abstract] | None:
    chosen = is_chosen(ev, function, x)
    left: list[Abstract] = [*([Known(True)] if stops else []), *now]
    if isinstance(chosen, Known):
        return body(x, now) if chosen.value else left
    return branch(ev, chosen, lambda: body(x, now), lambda: left, ev.span)
