"""Loops: unrolled over items known one by one, loops of the program otherwise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from adjoint.fast.evaluate.call_frames import Body
from adjoint.fast.evaluate.carried_values import Carried
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.growing import growing, restorable
from adjoint.fast.evaluate.iterables import (
    MOST_UNROLLED,
    Steps,
    demand_rows_unwritten,
    demand_steps,
    is_some,
    is_stepped,
    iterator_of,
    opened,
    steps_of,
)
from adjoint.fast.evaluate.iterators.generators import consume, is_pushed, stopping, through
from adjoint.fast.evaluate.iterators.sources import Source, source_of
from adjoint.fast.evaluate.iterators.stepped_iterators import loop_with_yields, through_steps
from adjoint.fast.evaluate.joins import Grows
from adjoint.fast.evaluate.objects.alternatives import for_each, with_copies
from adjoint.fast.evaluate.rows import note_lengths
from adjoint.fast.evaluate.types import number
from adjoint.fast.evaluate.unrolling import Unrolled, tested, while_unrolled
from adjoint.fast.evaluate.values import (
    Abstract,
    Either,
    Generating,
    Iterating,
    IteratorOf,
    Known,
    Ref,
    Rest,
)
from adjoint.fast.evaluate.writes.array_writes import written_in
from adjoint.fast.not_covered import CarriedWrite, NotCovered, TooMany, UsedAgain, WrittenCopy
from adjoint.fast.single_assignment.primitives import yielded
from adjoint.fast.single_assignment.walk import walk
from adjoint.ir.nodes import Span
from adjoint.ir.single import Block, Call, Const, Loop, Operand, Value

MOST_ROUNDS = 8
MOST_APPENDED = 16
"""Greatest length of a loop that is unrolled because a list grows in it."""


# ---- loops of the program ----


def loop(ev: Evaluator, op: Loop) -> bool:
    """Evaluate a loop of the function; return whether its end may be reached."""
    frame = ev.frames[-1]
    carried = [ev.read(x) for x in op.initial]

    def body(x: Abstract | None, now: list[Abstract]) -> list[Abstract] | None:
        given = now if x is None else [x, *now]
        frame.values.update(zip(op.body.parameters, given, strict=True))
        return ev.run(op.body)

    run: Body = body
    stops = op.stops
    if frame.consumer is not None and frame.consumer.stops and _yields(op):
        run, stops = stopping(ev, frame.consumer, body, op.stops), True
    if frame.suspends and _yields(op):
        xs = None if op.iterable is None else ev.call(Known(iter), [ev.read(op.iterable)], {})
        found = loop_with_yields(ev, op, xs, carried)  # type: ignore[arg-type]
    elif op.iterable is not None:
        found = _for(ev, ev.read(op.iterable), carried, run, stops, op)
    else:
        found = _either_while(ev, carried, op, lambda now: run(None, now), stops)
    if found is None:
        return False
    frame.values.update(zip(op.results, found[stops and not op.stops :], strict=True))
    return True


def iterate(
    ev: Evaluator, xs: Abstract, carried: list[Abstract], body: Body, stops: bool = False
) -> list[Abstract]:
    """Fold `body` over an iterable to its end; return the carried values.

    If `stops`, `body` returns a flag "go on" before the carried values, and a flag whether the
    iteration went on to the end precedes the result.
    """
    found = _for(ev, xs, carried, body, stops)
    if found is None:
        raise NotCovered("a loop that always raises", ev.span)
    return found


def _yields(op: Loop) -> bool:
    return any(isinstance(x, Call) and x.callee == Const(yielded) for x in walk(op.body))


def _for(
    ev: Evaluator,
    xs: Abstract,
    carried: list[Abstract],
    body: Body,
    stops: bool,
    op: Loop | None = None,
) -> list[Abstract] | None:
    if isinstance(xs, Either):
        return for_each(ev, xs, lambda x: _for(ev, x, carried, body, stops, op))
    xs = iterator_of(ev, xs)
    if is_stepped(ev, xs):
        return through_steps(ev, xs, carried, body, stops)  # type: ignore[arg-type]
    found = _at_once(ev, xs, carried, body, stops, op)
    if found is not None and not stops:
        _note_end(ev, xs, Known(None))
    return found


def _note_end(ev: Evaluator, xs: Abstract, returned: Abstract) -> None:
    """Note that an iterator has come to its end."""
    held = ev.held(xs)
    if isinstance(held, IteratorOf) and held.source is None and isinstance(xs, Ref):
        ev.heap[xs.address] = replace(held, source=Rest(Steps(()), returned))


def _at_once(
    ev: Evaluator, xs: Abstract, carried: list[Abstract], body: Body, stops: bool, op: Loop | None
) -> list[Abstract] | None:
    """Evaluate an iteration over an iterable that nothing else takes items of."""
    if is_pushed(ev, xs):
        variables = op.body.parameters[1:] if op is not None else ()
        return _pushed(ev, xs, carried, body, stops, variables[0].name if variables else "total")
    span = ev.span if op is None else op.span
    names = ("total",) * len(carried)
    item = "x"
    if op is not None:
        item, *rest = [p.name for p in op.body.parameters]
        names = tuple(rest)

    def kept() -> list[Abstract] | None:
        while True:
            rows = dict(ev.rows_of)
            with restorable(ev) as restore:
                try:
                    source = source_of(ev, xs)
                    if source is None:
                        raise Unrolled
                    state = Carried(ev, carried, names)
                    return _program_loop(ev, state, body, source, stops, span, item)
                except CarriedWrite as error:
                    array = ev.rows_of.get(error.value)
                    if array is None or error.value in rows:
                        raise
                    ev.counted.add(array)
                    restore()
                finally:
                    ev.rows_of = rows

    with restorable(ev) as restore:
        try:
            return growing(ev, kept, lambda: _is_short(ev, xs))
        except NotCovered as error:
            if isinstance(error, UsedAgain | WrittenCopy | TooMany):
                raise
            restore()
            is_tried = not isinstance(error, Unrolled)
            steps = steps_of(ev, xs)
            if steps is not None and not (is_tried and len(steps.steps) > MOST_UNROLLED):
                items = ev.allocate(IteratorOf(Rest(steps)))
                most = len(steps.steps) + 1
                return through_steps(ev, items, carried, body, stops, most)
            if is_tried:
                if steps is None and type(error) is NotCovered:
                    restore()
                    demand_steps(ev, xs, error.reason)
                raise
            restore()
            demand_steps(ev, xs, error.reason)
    raise NotCovered("a loop over something that is not known", ev.span)


def _is_short(ev: Evaluator, xs: Abstract) -> bool:
    """Return whether a loop in which a list grows is short enough to be unrolled."""
    with restorable(ev) as restore:
        steps = steps_of(ev, xs)
        restore()
    most = MOST_APPENDED if ev.outside.rows else MOST_UNROLLED
    return steps is not None and len(steps.steps) <= most


def _pushed(
    ev: Evaluator, xs: Abstract, carried: list[Abstract], body: Body, stops: bool, name: str
) -> list[Abstract] | None:
    """Evaluate an iteration over an iterable that runs the body itself (`is_pushed`)."""
    what = opened(ev, xs)
    if isinstance(what, Generating):
        after, returned = consume(ev, what, carried, body, stops, name)
        if not stops:
            _note_end(ev, xs, returned)
        return after
    assert isinstance(what, Iterating)
    inner, run = through(ev, what, carried, body, stops)
    found = _for(ev, what.operands[0], inner, run, stops)
    if found is None:
        return None
    return [*found[:stops], *found[stops + len(inner) - len(carried) :]]


def _program_loop(
    ev: Evaluator,
    state: Carried,
    body: Body,
    source: Source,
    stops: bool,
    span: Span | None,
    name: str,
) -> list[Abstract] | None:
    """Write a ``for`` loop of the program."""
    iterable, item_type, meaning, n = source
    copied, ev.copied = ev.copied, set()
    outer = dict(ev.rows_of)
    for _ in range(MOST_ROUNDS):
        with ev.writing() as ops:
            now, parameters = state.begin()
            x = ev.value(item_type, name=name if not name.startswith("_") else "item")
            found = with_copies(ev, body(meaning(x), now), state.before)
            demand_rows_unwritten(ev, ops, outer)
        on, after = _parted(ev, found, stops)
        heap = ev.heap
        if not state.widen(after):
            break
    else:
        raise NotCovered("a loop whose types do not settle", ev.span)
    results = (*map(ev.operand, on), *state.operands(after, heap))
    block = Block((x, *parameters), tuple(ops), results)
    found = _ended(ev, state, iterable, None, block, stops, span)
    if is_some(n):  # the loop has at least one iteration
        _narrow(ev, found[stops:], after)
    if copied and not copied.isdisjoint(written_in(ops) | state.heap.keys()):
        raise NotCovered("a list that changes while it is iterated over", ev.span)
    if n is not None and not stops and not state.has_lost_lengths:
        note_lengths(ev, ops, n)
    return found


def _parted(
    ev: Evaluator, found: list[Abstract] | None, stops: bool
) -> tuple[list[Abstract], list[Abstract]]:
    """Split the results of an iteration into the flag "go on", if any, and the carried values."""
    if found is None:
        raise NotCovered("a loop whose iterations never reach their end", ev.span)
    return found[:stops], found[stops:]


def _narrow(ev: Evaluator, results: list[Abstract], after: list[Abstract]) -> None:
    """Give the results of a loop of at least one iteration the types at the end of an iteration."""
    for result, last in zip(results, after, strict=True):
        if isinstance(result, Value) and isinstance(last, Value):
            ev.types[result] = ev.types[last]
            if last not in ev.maybe:
                ev.maybe.discard(result)
                ev.nones.discard(result)


def _ended(
    ev: Evaluator,
    state: Carried,
    iterable: Operand | None,
    test: Block | None,
    body: Block,
    stops: bool,
    span: Span | None,
) -> list[Abstract]:
    """Write the loop; return the abstract values after it."""
    initial = state.operands(state.initial, state.before)
    now, parameters = state.begin()
    on: list[Value] = [ev.value(number(bool), name="done")] if stops else []
    ev.write(Loop((*on, *parameters), initial, iterable, test, body, stops, span))
    return [*on, *now]


def _either_while(
    ev: Evaluator,
    initial: list[Abstract],
    op: Loop,
    body: Callable[[list[Abstract]], list[Abstract] | None],
    stops: bool,
) -> list[Abstract] | None:
    """Evaluate a ``while`` loop as one of the program, or, where that is not covered, one iteration
    after the other, as long as the test is known."""
    with restorable(ev) as restore:
        try:
            return growing(ev, lambda: _while(ev, initial, op, body, stops))
        except NotCovered as error:
            if type(error) not in (NotCovered, Grows):
                raise
            restore()
            try:
                return while_unrolled(ev, initial, op, body, stops)
            except Unrolled:
                raise error from None


def _while(
    ev: Evaluator,
    initial: list[Abstract],
    op: Loop,
    body: Callable[[list[Abstract]], list[Abstract] | None],
    stops: bool,
) -> list[Abstract] | None:
    """Write a ``while`` loop of the program."""
    state = Carried(ev, initial, tuple(p.name for p in op.body.parameters))
    for _ in range(MOST_ROUNDS):
        with ev.writing() as test_ops:
            now, parameters = state.begin()
            condition, passed = tested(ev, op, now)
            if condition is None:
                raise NotCovered("a test that always raises", ev.span)
        heap_tested = ev.heap
        if isinstance(condition, Known) and not condition.value:
            if any(isinstance(p, Value) for p in parameters):
                raise NotCovered("a loop that ends in its second iteration", ev.span)
            ev.block.extend(test_ops)
            return [*([Known(True)] if stops else []), *passed]
        if state.widen(passed):
            continue
        with ev.writing() as ops:
            inner, inner_parameters = state.begin()
            found = with_copies(ev, body(inner), state.before)
        on, after = _parted(ev, found, stops)
        heap = ev.heap
        if not state.widen(after):
            break
    else:
        raise NotCovered("a loop whose types do not settle", ev.span)
    condition_operand = ev.operand(condition)
    if written_in(test_ops):  # the reverse sweep reverses the body only
        raise NotCovered("a test that writes to an array or a list", op.span)
    if state.operands(passed, heap_tested) != parameters:
        raise NotCovered("a test that assigns variables", op.span)
    test = Block(parameters, tuple(test_ops), (condition_operand, *parameters))
    results = (*map(ev.operand, on), *state.operands(after, heap))
    return _ended(
        ev, state, None, test, Block(inner_parameters, tuple(ops), results), stops, op.span
    )
