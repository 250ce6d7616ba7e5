"""Iterators that a function makes and asks."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from adjoint.fast.covered import NotCovered
from adjoint.fast.evaluate.values import (
    MISSING,
    Abstract,
    Iterating,
    IteratorOf,
    Known,
    Ref,
)
from adjoint.fast.single import primitives as single_primitives
from adjoint.ir.primitives import begin
from adjoint.ir.single import Value

if TYPE_CHECKING:
    from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.calls import call, handler, truth

__all__ = []


@handler(range)
def _(ev: Evaluator, *operands: Abstract) -> Abstract:
    return Iterating(range, operands)


def _iterating(kind: Any) -> None:
    @handler(kind)
    def _(ev: Evaluator, xs: Abstract) -> Abstract:
        return ev.allocate(IteratorOf(Iterating(kind, (xs,))))


_iterating(reversed)


@handler(enumerate)
def _(ev: Evaluator, xs: Abstract, start: Abstract = Known(0)) -> Abstract:
    if not isinstance(start, Known) or type(start.value) is not int:
        raise NotCovered("enumerate from what is not known", ev.span)
    return ev.allocate(IteratorOf(Iterating(enumerate, (xs, start))))


@handler(zip)
def _(ev: Evaluator, *operands: Abstract, strict: Abstract = Known(False)) -> Abstract:
    if not isinstance(strict, Known) or type(strict.value) is not bool:
        raise NotCovered("an option of zip", ev.span)
    return ev.allocate(IteratorOf(Iterating(zip, operands, None, strict.value)))


@handler(map)
def _(ev: Evaluator, f: Abstract, *operands: Abstract) -> Abstract:
    return ev.allocate(IteratorOf(Iterating(map, operands, f)))


@handler(filter)
def _(ev: Evaluator, f: Abstract, xs: Abstract) -> Abstract:
    return ev.allocate(IteratorOf(Iterating(filter, (xs,), f)))


@handler(iter, begin)
def _(ev: Evaluator, xs: Abstract) -> Abstract:
    if isinstance(xs, Ref) and isinstance(ev.heap[xs.address], IteratorOf):
        return xs
    return ev.allocate(IteratorOf(Iterating(iter, (xs,))))


@handler(single_primitives.yielded)
def _(ev: Evaluator, value: Abstract) -> Abstract:
    consumer = ev.frames[-1].consumer
    assert consumer is not None
    return consumer.take(ev, value)


def _quantifier(f: Any, stopping: bool) -> None:
    """``any`` and ``all``: whether one item is, or is not, what ends the search."""

    @handler(f)
    def _(ev: Evaluator, xs: Abstract) -> Abstract:
        from adjoint.fast.evaluate.loops import search

        def body(x: Abstract, carried: list[Abstract]) -> list[Abstract]:
            found = truth(ev, x)
            return [call(ev, Known(operator.not_), [found], {}) if stopping else found]

        (ended,) = search(ev, xs, [], body)
        return call(ev, Known(operator.not_), [ended], {}) if stopping else ended


_quantifier(any, True)
_quantifier(all, False)


@handler(next)
def _(ev: Evaluator, xs: Abstract, default: Abstract | None = None) -> Abstract:
    """The first item of an iterator, of which nothing else is asked."""
    from adjoint.fast.evaluate.loops import search

    if not isinstance(xs, Ref) or not isinstance(ev.heap[xs.address], IteratorOf):
        raise NotCovered("next of something else than an iterator", ev.span)
    first = MISSING if default is None else default
    ended, found = search(ev, xs, [first], lambda x, carried: [Known(False), x])
    if default is not None:
        return found
    if isinstance(ended, Known) and ended.value:
        raise NotCovered("next of an empty iterator", ev.span)
    if isinstance(ended, Value):
        ev.branch(ended, ev._leave, list, ev.span)
    return call(ev, Known(single_primitives.assigned), [found, Known("item")], {})


@handler(sum)
def _(ev: Evaluator, xs: Abstract, start: Abstract = Known(0)) -> Abstract:
    from adjoint.fast.evaluate.sums import summed

    return summed(ev, xs, start)
