"""The items of an iterable in a list, and in the variables of an unpacking."""

from __future__ import annotations

import operator

from adjoint.fast.evaluate.branches import branch
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.growing import restorable
from adjoint.fast.evaluate.items import item, length_of
from adjoint.fast.evaluate.iterables import demand_steps, is_stepped, iterator_of, steps_of
from adjoint.fast.evaluate.iterators.generators import is_pushed
from adjoint.fast.evaluate.iterators.stepped_iterators import drained
from adjoint.fast.evaluate.loops import iterate
from adjoint.fast.evaluate.objects.records import append, copy_of, records
from adjoint.fast.evaluate.plain_classes import is_plain_object
from adjoint.fast.evaluate.types import Array, Number
from adjoint.fast.evaluate.values import (
    Abstract,
    External,
    Iterating,
    Known,
    ListOf,
    Ref,
    Tuple,
)
from adjoint.fast.not_covered import NotCovered, Raises
from adjoint.ir.single import Value

_UNPACKING = "unpacking something else than a tuple or a list"


def listed(ev: Evaluator, a: Abstract) -> list[Abstract] | None:
    """Return the items of an iterable; ``None`` if they are not known one by one."""
    demand_quiet_length(ev, a)
    a = iterator_of(ev, a)
    if is_stepped(ev, a):
        return drained(ev, a)  # type: ignore[arg-type]
    with restorable(ev) as restore:
        if is_pushed(ev, a):
            items = ev.sequence(collected(ev, a))
            if items is None:
                restore()
            return None if items is None else list(items)
        steps = steps_of(ev, a)
        if steps is None:
            restore()
    if steps is None:
        return None
    found = []
    for step in steps.steps:
        found.append(step())
        steps.demand_unchanged(ev)
    return found


def demand_listed(ev: Evaluator, a: Abstract, reason: str) -> list[Abstract]:
    """Return the items of an iterable, which have to be known one by one."""
    items = listed(ev, a)
    if items is None:
        demand_steps(ev, a, reason)
        raise NotCovered(reason, ev.span)
    return items


def demand_quiet_length(ev: Evaluator, a: Abstract) -> None:
    """Require that ``len`` of an object changes nothing: it may be asked before an iteration."""
    cls = ev.class_of(a)
    if cls is None or not is_plain_object(cls) or not hasattr(cls, "__len__"):
        return
    heap, writes, written = dict(ev.heap), ev.row_writes, len(ev.written)
    with restorable(ev) as restore:
        ev.call(Known(len), [a], {})
        changes = any(ev.heap[at] is not held for at, held in heap.items())
        if changes or ev.row_writes != writes or len(ev.written) != written:
            raise NotCovered("an object whose length changes something", ev.span)
        restore()


def collected(ev: Evaluator, xs: Abstract) -> Ref:
    """Return a new list of the items of an iterable."""
    if (held := records(ev, xs)) is not None:
        return copy_of(ev, held)
    steps = None if is_pushed(ev, xs) else listed(ev, xs)
    if steps is not None:
        return ev.allocate(ListOf(tuple(steps)))
    made = ev.allocate(ListOf(()))

    def add(x: Abstract, carried: list[Abstract]) -> list[Abstract]:
        append(ev, made, x)
        return carried

    iterate(ev, xs, [], add)
    return made


def unpacked(ev: Evaluator, a: Abstract, n: int, starred: int | None) -> list[Abstract]:
    """Return the values of ``x, y, *z = a``."""
    if isinstance(a, Value) and starred is not None:
        a = Tuple(tuple(demand_listed(ev, a, _UNPACKING)))
    if isinstance(a, Value):
        t = ev.types[a]
        length = t.shape[0] if isinstance(t, Array) and t.shape else None
        if isinstance(t, Number):
            raise Raises(TypeError, "unpacking a number", ev.span)
        if length is None:
            raise NotCovered(_UNPACKING, ev.span)
        if isinstance(length, int) and length != n:
            raise Raises(ValueError, "unpacking into another number of variables", ev.span)
        if length != n:
            ev.demand_known("unpacking an array of unknown length", length)
            wrong = ev.infer(operator.ne, [length_of(ev, a, 0), Known(n)])
            branch(ev, wrong, ev.leave, list, ev.span)  # type: ignore[arg-type]
        return [item(ev, a, Known(i)) for i in range(n)]
    items_known = ev.sequence(a)
    if items_known is None and isinstance(a, Ref | External | Iterating):
        items_known = tuple(demand_listed(ev, a, _UNPACKING))
    if items_known is None:
        if isinstance(a, Known) and isinstance(a.value, int | float | complex | None):
            raise Raises(TypeError, "unpacking a number", ev.span)
        raise NotCovered(_UNPACKING, ev.span)
    if starred is None:
        if len(items_known) != n:
            raise Raises(ValueError, "unpacking into another number of variables", ev.span)
        return list(items_known)
    after = n - starred - 1
    if len(items_known) < n - 1:
        raise Raises(ValueError, "unpacking into another number of variables", ev.span)
    middle = items_known[starred : len(items_known) - after]
    last = items_known[len(items_known) - after :] if after else ()
    return [*items_known[:starred], ev.allocate(ListOf(tuple(middle))), *last]
