"""Handlers of builtins that make or consume iterators: `zip`, `enumerate`, `map`."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from adjoint.fast.evaluate.attribute_reads import special_method
from adjoint.fast.evaluate.branches import branch
from adjoint.fast.evaluate.call_frames import Suspension
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.growing import restorable
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.items import item
from adjoint.fast.evaluate.iterables import is_stepped, is_user_iterator, iterator_of, steps_of
from adjoint.fast.evaluate.iterators.generators import is_pushed, take
from adjoint.fast.evaluate.iterators.stepped_iterators import advance, demand_next
from adjoint.fast.evaluate.loops import iterate
from adjoint.fast.evaluate.objects.derived import plain_content
from adjoint.fast.evaluate.plain_classes import is_enumeration, is_plain_object
from adjoint.fast.evaluate.sums import summed
from adjoint.fast.evaluate.types import Array, Row, number
from adjoint.fast.evaluate.values import (
    LOST,
    MISSING,
    Abstract,
    DictOf,
    External,
    Generating,
    Instance,
    Iterating,
    IteratorOf,
    Known,
    Ref,
    Rest,
    Tuple,
)
from adjoint.fast.not_covered import NotCovered, Raises
from adjoint.fast.single_assignment import primitives as single_primitives
from adjoint.ir.primitives import begin
from adjoint.ir.single import Value


@handler(math.prod)
def _(ev: Evaluator, iterable: Abstract, *, start: Abstract = Known(1)) -> Abstract:
    return ev.call(ev.outside.own(_product), [iterable, start], {})


def _product(iterable: Any, y: Any) -> Any:
    for x in iterable:
        y = y * x
    return y


@handler(range)
def _(ev: Evaluator, *operands: Abstract) -> Abstract:
    operands = tuple(_as_integer(ev, x) for x in operands)
    whole = [type(x.value) is int if isinstance(x, Known) else _is_integer(ev, x) for x in operands]
    if not 1 <= len(operands) <= 3 or not all(whole):
        raise NotCovered("such a range", ev.span)
    if len(operands) == 3 and isinstance(operands[2], Known) and operands[2].value == 0:
        raise NotCovered("a range without steps", ev.span)
    return Iterating(range, operands)


def _as_integer(ev: Evaluator, x: Abstract) -> Abstract:
    """Return the value of ``2**n``, whose class depends on it; other operands unchanged."""
    if not isinstance(x, Value) or ev.types[x] != number(int, float):
        return x
    n = ev.known_integer(x)
    if n is None:
        ev.demand_value(x, "a range of a number that may be no integer")
    return Known(n)


def _is_integer(ev: Evaluator, x: Abstract) -> bool:
    return isinstance(x, Value) and ev.types[x] == number(int)


def _made(ev: Evaluator, what: Iterating) -> Abstract:
    """Return a new iterator. Python calls ``iter`` on the operands at once: a wrong operand raises
    then, and dicts and the operand of ``reversed`` must not change afterwards."""
    n = 1 if what.kind is enumerate else len(what.operands)
    iterators = [iterator_of(ev, x) for x in what.operands[:n]]
    what = replace(what, operands=(*iterators, *what.operands[n:]))
    for x in iterators:
        if not _is_iterable(ev, x):
            kind = TypeError if ev.class_of(x) in (float, int, complex, type(None)) else None
            reason = f"{what.kind.__name__} of something that may not be iterable"
            raise Raises(kind, reason, ev.span)
    dicts = [x for x in _among(what) if isinstance(ev.heap[x.address], DictOf)]
    kept = [*_among(what)] if what.kind is reversed else dicts
    kept_now = tuple((x, ev.heap[x.address], ev.row_writes) for x in kept)
    return ev.allocate(IteratorOf(what, kept_now, ev.place_now()))


def _is_iterable(ev: Evaluator, x: Abstract) -> bool:
    if isinstance(x, Value):
        t = ev.types[x]
        return isinstance(t, Row) or (isinstance(t, Array) and bool(t.shape))
    if isinstance(x, Known):
        if isinstance(x.value, type):
            return is_enumeration(x.value)
        return isinstance(x.value, str | bytes | tuple | range)
    if isinstance(x, Ref):
        return not isinstance(ev.heap[x.address], Instance)
    if isinstance(x, External):
        return isinstance(x.sample, list | dict | tuple | set | frozenset)
    return isinstance(x, Tuple | Iterating | Generating | Rest)


def _among(what: Iterating) -> Iterator[Ref]:
    """Yield the heap objects among the operands, also of inner `Iterating`."""
    for x in what.operands:
        if isinstance(x, Ref):
            yield x
        elif isinstance(x, Iterating):
            yield from _among(x)


@handler(reversed)
def _(ev: Evaluator, xs: Abstract) -> Abstract:
    if isinstance(ev.held(xs), IteratorOf) or (isinstance(xs, Iterating) and xs.kind is not range):
        raise NotCovered("reversed of an iterator", ev.span)
    cls = ev.class_of(xs)
    if cls is not None and is_plain_object(cls) and not isinstance(xs, Known):
        if hasattr(cls, "__reversed__"):
            return ev.call(special_method(ev, cls, "__reversed__"), [xs], {})
        xs = plain_content(ev, xs)
    return _made(ev, Iterating(reversed, (xs,)))


@handler(enumerate)
def _(ev: Evaluator, xs: Abstract, start: Abstract = Known(0)) -> Abstract:
    if not isinstance(start, Known) or type(start.value) is not int:
        ev.demand_value(start, "enumerate from what is not known")
        raise NotCovered("enumerate from what is not known", ev.span)
    return _made(ev, Iterating(enumerate, (xs, start)))


@handler(zip)
def _(ev: Evaluator, *operands: Abstract, strict: Abstract = Known(False)) -> Abstract:
    if not isinstance(strict, Known) or type(strict.value) is not bool:
        raise NotCovered("an option of zip", ev.span)
    return _made(ev, Iterating(zip, operands, None, strict.value))


@handler(map)
def _(ev: Evaluator, f: Abstract, *operands: Abstract) -> Abstract:
    if not operands:
        raise NotCovered("map of nothing", ev.span)
    return _made(ev, Iterating(map, operands, f))


@handler(filter)
def _(ev: Evaluator, f: Abstract, xs: Abstract) -> Abstract:
    return _made(ev, Iterating(filter, (xs,), f))


def _until(f: Any, last: Any) -> Iterator[Any]:
    while True:
        value = f()
        if value == last:
            return
        yield value


def _through(iterables: Any) -> Iterator[Any]:
    for xs in iterables:
        yield from xs


@handler(itertools.chain.from_iterable)
def _(ev: Evaluator, iterables: Abstract) -> Abstract:
    if ev.class_of(iterables) in (float, int, complex, bool, type(None)):
        raise Raises(TypeError, "an iteration over a number", ev.span)
    return ev.call(ev.outside.own(_through), [iterables], {})


@handler(iter, begin)
def _(ev: Evaluator, xs: Abstract, *last: Abstract) -> Abstract:
    if last:
        return ev.call(ev.outside.own(_until), [xs, *last], {})
    xs = iterator_of(ev, xs)
    if isinstance(ev.held(xs), IteratorOf) or is_user_iterator(ev, xs):
        return xs
    return _made(ev, Iterating(iter, (xs,)))


@handler(single_primitives.yielded)
def _(ev: Evaluator, value: Abstract) -> Abstract:
    frame = ev.frames[-1]
    if frame.suspends:
        attempts = (one for one in ev.attempts if one.frame is frame and not one.is_over)
        if not frame.is_manager and any(attempts):
            raise NotCovered("a generator that may be left within a try or with", ev.span)
        raise Suspension(value)
    consumer = frame.consumer
    assert consumer is not None
    return take(ev, consumer, value)


@handler(single_primitives.not_delegated)
def _(ev: Evaluator, sent: Abstract) -> Abstract:
    if not isinstance(sent, Known) or sent.value is not None:
        raise NotCovered("a value sent through yield from", ev.span)
    return Known(None)


@handler(single_primitives.returned_by)
def _(ev: Evaluator, iterator: Abstract) -> Abstract:
    held = ev.held(iterator)
    if is_user_iterator(ev, iterator):
        return Known(None)
    source = held.source if isinstance(held, IteratorOf) else None
    has_ended = isinstance(source, Rest) and not source.steps.steps
    return source.returned if has_ended else LOST  # type: ignore[union-attr]


@handler(next)
def _(ev: Evaluator, xs: Abstract, default: Abstract | None = None) -> Abstract:
    """Return the first item of an iterator."""
    if is_stepped(ev, xs):
        return demand_next(ev, xs) if default is None else advance(ev, xs) or default  # type: ignore[arg-type]
    if not isinstance(ev.held(xs), IteratorOf):
        raise NotCovered("next of something else than an iterator", ev.span)
    found = _taken(ev, xs) or (_first_of_array(ev, xs) if default is None else None)
    if found is not None:
        return found
    first = MISSING if default is None else default
    ended, found = iterate(ev, xs, [first], lambda x, carried: [Known(False), x], True)
    if default is not None:
        return found
    if isinstance(ended, Known) and ended.value:
        raise Raises(StopIteration, "next of an empty iterator", ev.span)
    if isinstance(ended, Value):
        branch(ev, ended, ev.leave, list, ev.span)
    return ev.call(Known(single_primitives.assigned), [found, Known("item")], {})


def _taken(ev: Evaluator, xs: Abstract) -> Abstract | None:
    """Take the first of the items of an iterator; ``None`` if they are not known one by one, or if
    there are none."""
    if is_pushed(ev, xs) or not isinstance(xs, Ref):
        return None
    held = ev.heap[xs.address]
    assert isinstance(held, IteratorOf)
    with restorable(ev) as restore:
        steps = steps_of(ev, xs)
        if steps is None or not steps.steps:
            restore()
            return None
    found = steps.steps[0]()
    steps.demand_unchanged(ev)
    ev.heap[xs.address] = replace(held, source=Rest(steps.after(0)), contents=())
    return found


def _first_of_array(ev: Evaluator, xs: Abstract) -> Abstract | None:
    """Return the first item of an array, over which the iterator goes on; ``None`` if it is one
    over anything else."""
    held = ev.held(xs)
    assert isinstance(held, IteratorOf) and isinstance(xs, Ref)
    what = held.source
    if not isinstance(what, Iterating) or what.kind is not iter:
        return None
    (a,) = what.operands
    if not isinstance(a, Value) or not isinstance(ev.types[a], Array):
        return None
    left = item(ev, a, Known(slice(1, None)))
    ev.heap[xs.address] = replace(held, source=replace(what, operands=(left,)))
    return item(ev, a, Known(0))


@handler(sum)
def _(ev: Evaluator, xs: Abstract, start: Abstract = Known(0)) -> Abstract:
    return summed(ev, xs, start)
