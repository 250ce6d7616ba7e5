"""Iterators that are used more than once: their items are taken one by one.

The heap holds what is left of such an iterator after each item, so that the code between two items
may take others. Which iterators these are turns out at specialisation (`UsedAgain`): the function
is then specialised again.
"""

from __future__ import annotations

import itertools
import operator
from dataclasses import replace
from functools import partial
from types import GeneratorType
from typing import Any, TypeGuard

from adjoint.fast.evaluate.attribute_reads import special_method
from adjoint.fast.evaluate.branches import branch
from adjoint.fast.evaluate.call_frames import Body, Suspension, attempted
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.iterables import (
    MOST_UNROLLED,
    Steps,
    demand_started,
    demand_steps,
    is_user_iterator,
    steps_of,
    used_again,
)
from adjoint.fast.evaluate.iterators.generators import is_chosen
from adjoint.fast.evaluate.iterators.suspended_generators import Suspended, resumed, started
from adjoint.fast.evaluate.objects.exceptions import stopping
from adjoint.fast.evaluate.unrolling import tested
from adjoint.fast.evaluate.values import (
    Abstract,
    Generating,
    Iterating,
    IteratorOf,
    Known,
    Ref,
    Rest,
    Tuple,
)
from adjoint.fast.not_covered import NotCovered, Raises
from adjoint.ir.single import Loop

_REASON = "items of an iterator that are not known one by one"


def advance(ev: Evaluator, a: Ref) -> Abstract | None:
    """Return the next item of an iterator; ``None`` at its end."""
    cls = ev.class_of(a)
    if cls is not None:
        return _next_of_object(ev, a, cls)
    held = ev.heap[a.address]
    assert isinstance(held, IteratorOf)
    if held.source is None:
        raise used_again(ev, held)
    demand_started(ev, held)
    ev.heap[a.address] = replace(held, source=None, contents=())  # it is running
    found, rest = _advanced(ev, held.source)
    ev.heap[a.address] = replace(held, source=rest, contents=())
    return found


def demand_next(ev: Evaluator, a: Ref) -> Abstract:
    """Return the next item of an iterator, which raises `StopIteration` at its end."""
    before = getattr(ev.held(a), "source", None)
    found = advance(ev, a)
    return _or_stop(ev, a, before) if found is None else found


def _or_stop(ev: Evaluator, a: Ref, before: Any) -> Abstract:
    now = getattr(ev.held(a), "source", None)
    has_returned = isinstance(before, Generating | Suspended) and isinstance(now, Rest)
    raise stopping(ev, now.returned if has_returned else Known(None))  # type: ignore[union-attr]


def _generator(ev: Evaluator, a: Abstract) -> IteratorOf:
    """Return a generator that is advanced item by item."""
    held = ev.held(a)
    if not isinstance(held, IteratorOf):
        raise NotCovered("a method of something else than a generator", ev.span)
    if held.place not in ev.outside.stepped:
        raise used_again(ev, held)
    if not isinstance(held.source, Generating | Suspended | Rest):
        raise NotCovered("a generator that is running", ev.span)
    return held


@handler(GeneratorType.send)
def _(ev: Evaluator, a: Abstract, value: Abstract) -> Abstract:
    held = _generator(ev, a)
    assert isinstance(a, Ref)
    is_none = isinstance(value, Known) and value.value is None
    if is_none or isinstance(held.source, Rest):
        return demand_next(ev, a)
    if isinstance(held.source, Generating):
        raise Raises(TypeError, "a value sent to a generator that has not begun", ev.span)
    ev.heap[a.address] = replace(held, source=None, contents=())  # it is running
    found, rest = resumed(ev, held.source, sent=value)
    left = Rest(Steps(()), rest) if found is None else rest
    ev.heap[a.address] = replace(held, source=left, contents=())
    return _or_stop(ev, a, held.source) if found is None else found


@handler(GeneratorType.close)
def _(ev: Evaluator, a: Abstract) -> Abstract:
    """End a generator: none waits within a ``try`` or ``with``."""
    held = _generator(ev, a)
    assert isinstance(a, Ref)
    ev.heap[a.address] = replace(held, source=Rest(Steps(())), contents=())
    return Known(None)


def _next_of_object(ev: Evaluator, a: Abstract, cls: type) -> Abstract | None:
    """Return the result of ``__next__``; ``None`` if it raises `StopIteration`."""
    try:
        with attempted(ev):
            return ev.call(special_method(ev, cls, "__next__"), [a], {})
    except Raises as error:
        if error.kind is not StopIteration:
            raise
        return None


def _advanced(ev: Evaluator, source: Any) -> tuple[Abstract | None, Any]:
    """Return the next item of the source of an iterator, and what is left."""
    if isinstance(source, Generating | Suspended):
        run: Any = started if isinstance(source, Generating) else resumed
        found, rest = run(ev, source)
        return found, Rest(Steps(()), rest) if found is None else rest
    if isinstance(source, Rest):
        source.steps.demand_unchanged(ev)  # also at the end: a list may have grown
        if not source.steps.steps:
            return None, Rest(Steps(()), source.returned)
        found = source.steps.steps[0]()
        source.steps.demand_unchanged(ev)
        return found, Rest(source.steps.after(0))
    assert isinstance(source, Iterating)
    if _is_known_range(source):
        known = range(*[x.value for x in source.operands])  # type: ignore[union-attr]
        ends = known[1:].start, known.stop, known.step
        first = Known(known[0]) if known else None
        return first, replace(source, operands=tuple(map(Known, ends)))
    if source.kind is itertools.count:
        start, step = source.operands
        after = ev.call(Known(operator.add), [start, step], {})
        return start, replace(source, operands=(after, step))
    if source.kind is itertools.islice:
        inner, n = source.operands
        if n.value == 0:  # type: ignore[union-attr]
            return None, source
        left = Known(n.value - 1)  # type: ignore[union-attr]
        return advance(ev, inner), replace(source, operands=(inner, left))  # type: ignore[arg-type]
    if source.kind in (zip, map):
        return _row(ev, replace(source, operands=_iterators(ev, source.operands)))
    if source.kind is enumerate:
        inner, start = _iterators(ev, source.operands[:1])[0], source.operands[1]
        found = advance(ev, inner)
        after = Known(start.value + 1)  # type: ignore[union-attr]
        item = None if found is None else Tuple((start, found))
        return item, replace(source, operands=(inner, after))
    if source.kind is filter:
        (inner,) = _iterators(ev, source.operands)
        return _chosen(ev, source, inner), replace(source, operands=(inner,))
    if source.kind is iter and isinstance(source.operands[0], Iterating):
        return _advanced(ev, source.operands[0])
    return _advanced(ev, _rest_of(ev, source))


def _is_known_range(a: Abstract) -> TypeGuard[Iterating]:
    if not isinstance(a, Iterating) or a.kind is not range:
        return False
    return all(isinstance(x, Known) for x in a.operands)


def _rest_of(ev: Evaluator, a: Abstract) -> Any:
    if _is_known_range(a):
        return a
    steps = steps_of(ev, a)
    if steps is None:
        demand_steps(ev, a, _REASON)
        raise NotCovered(_REASON, ev.span)
    return Rest(steps)


def _iterators(ev: Evaluator, operands: tuple[Abstract, ...]) -> tuple[Ref, ...]:
    """Return the operands of ``zip`` and its like as iterators in the heap."""
    return tuple(
        x if isinstance(ev.held(x), IteratorOf) or is_user_iterator(ev, x) else _new(ev, x)  # type: ignore[misc]
        for x in operands
    )


def _new(ev: Evaluator, x: Abstract) -> Ref:
    return ev.allocate(IteratorOf(_rest_of(ev, x)))


def _row(ev: Evaluator, source: Iterating) -> tuple[Abstract | None, Iterating]:
    """Return the next item of a ``zip`` or a ``map``."""
    items: list[Abstract] = []
    for x in source.operands:
        found = advance(ev, x)  # type: ignore[arg-type]
        if found is None:
            if source.strict and len(source.operands) > 1:
                others = source.operands[1:] if not items else ()
                if items or any(advance(ev, other) is not None for other in others):  # type: ignore[arg-type]
                    raise NotCovered("zip(strict=True) of different lengths", ev.span)
            return None, source
        items.append(found)
    if source.function is None:
        return Tuple(tuple(items)), source
    return ev.call(source.function, items, {}), source


def _chosen(ev: Evaluator, source: Iterating, inner: Ref) -> Abstract | None:
    """Return the next item of a ``filter``."""
    assert source.function is not None
    while (found := advance(ev, inner)) is not None:
        chosen = is_chosen(ev, source.function, found)
        if not isinstance(chosen, Known):
            raise NotCovered(_REASON, ev.span)
        if chosen.value:
            return found
    return None


# ---- loops ---------------------------------------------------------------------------------------


def through_steps(
    ev: Evaluator,
    xs: Ref,
    carried: list[Abstract],
    body: Body,
    stops: bool,
    most: int = MOST_UNROLLED,
) -> list[Abstract] | None:
    """Evaluate an iteration over an iterator whose items are taken one by one."""
    for i in range(most):
        item = advance(ev, xs)
        if item is None:
            return [*([Known(True)] if stops else []), *carried]
        found = body(item, carried)
        if found is None:
            return None
        on, carried = found[:stops], found[stops:]
        if on and not isinstance(on[0], Known):
            now, left = carried, most - i - 1
            return branch(
                ev,
                on[0],  # type: ignore[arg-type]
                lambda: through_steps(ev, xs, now, body, stops, left),
                lambda: [Known(False), *now],
                ev.span,
            )
        if on and not on[0].value:  # type: ignore[union-attr]
            return [Known(False), *carried]
    raise NotCovered(_REASON, ev.span)


def drained(ev: Evaluator, xs: Ref) -> list[Abstract]:
    """Return the items that are left of an iterator."""
    found: list[Abstract] = []
    while (item := advance(ev, xs)) is not None:
        found.append(item)
        if len(found) > MOST_UNROLLED:
            raise NotCovered(_REASON, ev.span)
    return found


def loop_with_yields(
    ev: Evaluator, op: Loop, xs: Ref | None, carried: list[Abstract], rounds: int = 0
) -> list[Abstract] | None:
    """Evaluate a loop of a generator that may wait in it, one iteration after the other."""
    values = ev.frames[-1].values
    while rounds < MOST_UNROLLED:
        rounds += 1
        if xs is None:
            condition, carried = tested(ev, op, carried)
            if not isinstance(condition, Known):
                raise NotCovered("a generator whose end depends on numbers", op.span)
            is_over, given = not condition.value, carried
        else:
            item = advance(ev, xs)
            is_over, given = item is None, [item, *carried]  # type: ignore[list-item]
        if is_over:
            return [*([Known(True)] if op.stops else []), *carried]
        values.update(zip(op.body.parameters, given, strict=True))
        try:
            found = ev.run(op.body)
        except Suspension as waiting:
            waiting.rests.append(partial(_after_iteration, ev, op, xs, rounds))
            raise
        if found is None:
            return None
        carried = found[op.stops :]
        if _is_left(op, found):
            return found
    raise NotCovered(_REASON, op.span)


def _is_left(op: Loop, found: list[Abstract]) -> bool:
    """Return whether an iteration has left a loop."""
    if not op.stops:
        return False
    if not isinstance(found[0], Known):
        raise NotCovered("a generator whose end depends on numbers", op.span)
    return not found[0].value


def _after_iteration(
    ev: Evaluator, op: Loop, xs: Ref | None, rounds: int, found: list[Abstract] | None
) -> list[Abstract] | None:
    """Go on with a loop after an iteration in which the generator has waited."""
    if found is None or _is_left(op, found):
        return found
    return loop_with_yields(ev, op, xs, found[op.stops :], rounds)
