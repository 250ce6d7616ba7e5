"""Iterables of loops: as known items, or as an iterable value of the program."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any

from adjoint.fast.evaluate.attribute_reads import special_method
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.items import item
from adjoint.fast.evaluate.objects.containers import closed
from adjoint.fast.evaluate.objects.number_keys import ordered
from adjoint.fast.evaluate.plain_classes import is_enumeration, is_plain_object
from adjoint.fast.evaluate.types import Array, Dim, Symbol
from adjoint.fast.evaluate.values import (
    Abstract,
    DequeOf,
    External,
    Generating,
    Iterating,
    IteratorOf,
    Known,
    ListOf,
    Ref,
    Rest,
    RowOf,
    SetOf,
    Tuple,
)
from adjoint.fast.evaluate.writes.array_writes import written_in
from adjoint.fast.not_covered import CarriedWrite, NeedsKnown, NeedsSize, NotCovered, UsedAgain
from adjoint.ir.node import node
from adjoint.ir.single import Op, Value

MOST_UNROLLED = 64
UNEVEN = "iterators of different lengths"


Step = Callable[[], Abstract]


@node
class Steps:
    """The items of an iterable, evaluated on demand, and checks that its length is unchanged."""

    steps: tuple[Step, ...]
    checks: tuple[Callable[[], bool], ...] = ()

    def after(self, i: int) -> Steps:
        """Return the steps after step `i`."""
        return Steps(self.steps[i + 1 :], self.checks)

    def demand_unchanged(self, ev: Evaluator) -> None:
        """Raise `NotCovered` if the iterable has changed its length."""
        if not all(check() for check in self.checks):
            raise NotCovered("a container that changes while it is iterated over", ev.span)


def iterator_of(ev: Evaluator, xs: Abstract) -> Abstract:
    """Return ``iter(xs)`` of an object of a user class; anything else unchanged."""
    cls = ev.class_of(xs)
    if cls is None or not is_plain_object(cls) or isinstance(xs, Known):
        return xs
    if not hasattr(cls, "__iter__"):
        return xs
    found = ev.call(special_method(ev, cls, "__iter__"), [xs], {})
    kind = ev.class_of(found)
    if kind is not None and not hasattr(kind, "__next__"):
        raise NotCovered("a loop over what is no iterator", ev.span)
    return found


def opened(ev: Evaluator, a: Abstract) -> Abstract | Generating:
    """Return an iterable; replace an iterator by its content, and mark it as used."""
    held = ev.held(a)
    if not isinstance(a, Ref) or not isinstance(held, IteratorOf):
        return ordered(ev, a)
    if held.source is None:
        raise used_again(ev, held)
    if is_stepped(ev, a):
        raise NotCovered("items of an iterator that are taken one by one", ev.span)
    demand_started(ev, held)
    ev.heap[a.address] = replace(held, source=None, contents=())
    return held.source  # type: ignore[no-any-return]


def used_again(ev: Evaluator, held: IteratorOf) -> NotCovered:
    """Return the error of a use of an iterator that may have been used."""
    if held.place is None or held.place in ev.outside.stepped:
        return NotCovered("an iterator that is used more than once", ev.span)
    return UsedAgain(held.place, ev.span)


def is_stepped(ev: Evaluator, a: Abstract) -> bool:
    """Return whether items of an iterator are taken one by one (`stepped_iterators`)."""
    held = ev.held(a)
    if not isinstance(held, IteratorOf):
        return is_user_iterator(ev, a)
    source = held.source
    if held.place in ev.outside.stepped or getattr(source, "kind", None) in _STEPPED:
        return True
    return isinstance(source, Iterating) and any(is_stepped(ev, x) for x in source.operands)


def is_user_iterator(ev: Evaluator, a: Abstract) -> bool:
    """Return whether `a` is an object of a user class with ``__next__``. Its ``__iter__`` must only
    return it: it may be called more often than Python does."""
    cls = ev.class_of(a)
    if cls is None or isinstance(a, Known) or not is_plain_object(cls):
        return False
    if not hasattr(cls, "__next__"):
        return False
    iter_of = getattr(cls, "__iter__", None)
    if iter_of is not None and getattr(iter_of, "__code__", _SELF).co_code != _SELF.co_code:
        raise NotCovered("an iterator that does something whenever it is asked for itself", ev.span)
    return True


def _returned(self: Any) -> Any:
    return self


_SELF = _returned.__code__


_STEPPED = (itertools.count, itertools.islice)


def demand_started(ev: Evaluator, held: IteratorOf) -> None:
    """Demand that what an iterator is over has not changed before its iteration begins."""
    if any(
        ev.heap[x.address] is not before or (isinstance(before, RowOf) and ev.row_writes != writes)
        for x, before, writes in held.contents
    ):
        raise NotCovered("an iterator of what was changed since it was made", ev.span)


def steps_of(ev: Evaluator, a: Abstract) -> Steps | None:
    """Return the steps of an iteration; ``None`` if their number is not known."""
    a = opened(ev, a)  # type: ignore[assignment]
    if isinstance(a, Rest):
        a.steps.demand_unchanged(ev)  # also if none is left: a list may have grown
        return a.steps  # type: ignore[no-any-return]
    if isinstance(a, Iterating):
        return _of_view(ev, a.kind, *a.operands) if a.kind in VIEWS else _steps_through(ev, a)
    if isinstance(held := ev.held(a), ListOf):
        n = len(held.items)
        live = (functools.partial(_live, ev, a, i) for i in range(n))
        return Steps(tuple(live), (functools.partial(_is_long, ev, a, n),))
    if isinstance(held, DequeOf | SetOf):
        found = held.items if isinstance(held, DequeOf) else [closed(ev, x) for x in held.keys]
        made = tuple(functools.partial(_itself, x) for x in found)
        return Steps(made, (lambda: ev.held(a) is held,))
    if ev.keys(a) is not None:
        return _of_view(ev, dict.keys, a)
    if isinstance(a, External) and isinstance(a.sample, set | frozenset):
        return Steps(tuple(functools.partial(_itself, Known(x)) for x in a.sample))
    if isinstance(a, Known) and isinstance(a.value, type) and is_enumeration(a.value):
        ev.outside.rely_on(a.value)
        return Steps(tuple(functools.partial(_itself, Known(x)) for x in a.value))  # type: ignore[attr-defined]
    items = ev.sequence(a)
    if items is None and isinstance(a, Known) and isinstance(a.value, tuple | str | range):
        items = tuple(map(Known, a.value)) if len(a.value) <= MOST_UNROLLED else None
    if isinstance(a, Value) and isinstance(t := ev.types[a], Array) and t.shape:
        if isinstance(t.shape[0], int) and t.shape[0] <= MOST_UNROLLED:
            return Steps(tuple(functools.partial(item, ev, a, Known(i)) for i in range(t.shape[0])))
    return None if items is None else Steps(tuple(functools.partial(_itself, x) for x in items))


def demand_steps(ev: Evaluator, a: Abstract, reason: str) -> None:
    """Raise if an iteration has few steps where an integer from outside, or a length, is known."""
    held = ev.held(a)
    source = held.source if isinstance(held, IteratorOf) else a
    if isinstance(source, Generating) and isinstance(held, IteratorOf):
        raise used_again(ev, held)
    if isinstance(source, Iterating):
        for x in source.operands:
            demand_steps(ev, x, reason)
    if not isinstance(a, Value):
        return
    t, dim = ev.types[a], ev.dims.get(a)
    if isinstance(t, Array) and t.shape:
        dim = t.shape[0]
    if isinstance(dim, Symbol):
        (*_, symbol) = dim, *ev.arguments_of(dim)
        raise NeedsSize(symbol, reason, ev.span, MOST_UNROLLED)
    leaf = next((one for one in ev.outside.leaves if one.value is a), None)
    if leaf is not None and type(leaf.sample) is int and leaf.source.argument is None:
        if leaf.sample <= MOST_UNROLLED:
            raise NeedsKnown(a, reason, ev.span)


VIEWS: tuple[Any, ...] = (dict.items, dict.keys, dict.values)


def _of_view(ev: Evaluator, kind: Any, mapping: Abstract) -> Steps | None:
    """Return the steps of an iteration over a dict view."""
    keys = ev.keys(mapping)
    if keys is None:
        return None

    def entry(key: Any) -> Abstract:
        known = closed(ev, key)
        if kind is dict.keys:
            return known
        found = item(ev, mapping, known)
        return found if kind is dict.values else Tuple((known, found))

    return Steps(
        tuple(functools.partial(entry, key) for key in keys), (lambda: ev.keys(mapping) == keys,)
    )


def _is_long(ev: Evaluator, xs: Abstract, n: int) -> bool:
    items = ev.sequence(xs)
    return items is not None and len(items) == n


def _live(ev: Evaluator, xs: Abstract, i: int) -> Abstract:
    items = ev.sequence(xs)
    assert items is not None
    return items[i]


def _itself(x: Abstract) -> Abstract:
    return x


def _steps_through(ev: Evaluator, a: Iterating) -> Steps | None:
    if a.kind is range:
        ends = [n for x in a.operands if (n := ev.known_integer(ev.operand(x))) is not None]
        if len(ends) < len(a.operands) or 0 in ends[2:] or len(range(*ends)) > MOST_UNROLLED:
            return None
        return Steps(tuple(functools.partial(_itself, Known(i)) for i in range(*ends)))
    start = a.operands[1] if a.kind is enumerate and len(a.operands) > 1 else Known(0)
    if not isinstance(start, Known) or a.kind is filter:
        return None
    columns: list[tuple[Step, ...]] = []
    checks: list[Callable[[], bool]] = []
    if a.watched:
        checks.append(lambda: all(ev.held(x) is held for x, held in a.watched))
    for x in a.operands[:1] if a.kind is enumerate else a.operands:
        column = steps_of(ev, x)
        if column is None:
            return None
        columns.append(column.steps)
        checks += column.checks
    _demand_even(ev, a, columns)
    rows = list(zip(*columns, strict=False))
    if a.kind is reversed:
        rows.reverse()
    made = (functools.partial(_row, ev, a, row, i) for i, row in enumerate(rows, start.value))
    return Steps(tuple(made), tuple(checks))


def _demand_even(ev: Evaluator, a: Iterating, columns: list[tuple[Step, ...]]) -> None:
    """Reject iterators among columns of different lengths: Python takes one more item of some."""
    if len({len(column) for column in columns}) > 1:
        if a.strict:
            raise NotCovered("zip(strict=True) of different lengths", ev.span)
        if any(isinstance(ev.held(x), IteratorOf) for x in a.operands):
            raise NotCovered(UNEVEN, ev.span)


def _row(ev: Evaluator, a: Iterating, row: tuple[Step, ...], i: int) -> Abstract:
    found = [step() for step in row]
    if a.kind is zip:
        return Tuple(tuple(found))
    if a.kind is enumerate:
        return Tuple((Known(i), *found))
    return mapped(ev, a, found) if a.kind is map else found[0]


def demand_rows_unwritten(ev: Evaluator, ops: Sequence[Op], outer: Collection[Value]) -> None:
    """Require that an iteration does not write to an array over whose rows it goes; `outer` are the
    rows of other iterations."""
    written = {owner for x in written_in(ops) for owner in ev.owners(x)}
    for row, array in ev.rows_of.items() if written else ():
        if row not in outer and not written.isdisjoint(ev.aliased_by(array)):
            raise CarriedWrite(row, "a row of an array that is written to", ev.span)


def is_some(n: Dim | None) -> bool:
    """Return whether a dimension is known not to be zero."""
    return n is not None and (n > 0 if isinstance(n, int) else n.is_argument)


def mapped(ev: Evaluator, a: Iterating, items: list[Abstract]) -> Abstract:
    assert a.function is not None
    return ev.call(a.function, items, {})
