"""Handlers of what orders items: ``sorted``, ``list.sort``, and ``max`` and ``min`` with a key.

Python's own sort runs at specialisation if the keys are known. If they depend on numbers, the
program finds the order, and reads the numbers in the items at the places that it gives. Keys are
numbers, or tuples of numbers, which are compared from the left.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.growing import restorable
from adjoint.fast.evaluate.handlers.table import handler, in_programs
from adjoint.fast.evaluate.item_lists import listed
from adjoint.fast.evaluate.iterables import demand_steps
from adjoint.fast.evaluate.joins import is_number
from adjoint.fast.evaluate.objects.containers import keep, opened_element
from adjoint.fast.evaluate.objects.templates import unfolded
from adjoint.fast.evaluate.rows import as_row, items_at, number_of, row_of
from adjoint.fast.evaluate.types import Row, has_complex, number
from adjoint.fast.evaluate.values import Abstract, Known, ListOf, Ref, RowOf, Tuple
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support import rows
from adjoint.ir.single import Const, Value


@handler(sorted)
def _(
    ev: Evaluator,
    xs: Abstract,
    *,
    key: Abstract = Known(None),
    reverse: Abstract = Known(False),
) -> Abstract:
    of_many: Any = _of_many
    with restorable(ev) as restore:
        items = listed(ev, xs)
        if items is not None:
            return ev.allocate(ListOf(_sorted(ev, items, key, reverse)))
        restore()
        try:
            return ev.inline(ev.outside.own_closure(of_many), [xs, key, reverse], {})
        except NotCovered:
            restore()
    demand_steps(ev, xs, "a call of sorted")
    raise NotCovered("a call of sorted", ev.span)


def _of_many(xs: Any, key: Any, descends: Any) -> Any:
    items = [x for x in xs]  # noqa: C416  a loop of the program
    keys = items if key is None else [key(x) for x in items]
    order = _order_of(keys, descends)
    return [items[order[i]] for i in range(len(items))]


@in_programs
def _order_of(ev: Evaluator, keys: Abstract, descends: Abstract) -> Abstract:
    """Stand for the places of the items of a list in their order."""
    row = row_of(ev, keys)
    if row is None or not isinstance(descends, Known) or has_complex(number_of(ev, row)):
        raise NotCovered("an order of such keys", ev.span)
    order = (Const(bool(descends.value)), row)
    return ev.allocate(RowOf(ev.operation(rows.order, order, Row(number(int)), name="order")))


@handler(list.sort)
def _(
    ev: Evaluator,
    xs: Abstract,
    *,
    key: Abstract = Known(None),
    reverse: Abstract = Known(False),
) -> Abstract:
    held = ev.held(xs)
    if not isinstance(xs, Ref) or not isinstance(held, ListOf):
        raise NotCovered("a call of sorted", ev.span)
    ev.heap[xs.address] = empty = ListOf(())  # what its key finds
    try:
        items = _sorted(ev, [*held.items], key, reverse)
        if ev.heap[xs.address] is not empty:
            raise NotCovered("a list that changes while it is sorted", ev.span)
    finally:
        ev.heap[xs.address] = held
    keep(ev, xs, held, [opened_element(ev, x) for x in items])
    return Known(None)


def _sorted(
    ev: Evaluator, items: list[Abstract] | None, key: Abstract, reverse: Abstract
) -> tuple[Abstract, ...]:
    if items is None or not isinstance(reverse, Known) or type(reverse.value) not in (bool, int):
        raise NotCovered("a call of sorted", ev.span)
    descends = bool(reverse.value)
    items = [*map(unfolded, items)]
    keys = keys_of(ev, items, key)

    def in_order(made: list[Any]) -> Abstract:
        order = sorted(range(len(made)), key=made.__getitem__, reverse=descends)
        return Tuple(tuple(items[i] for i in order))

    known = _known(ev, keys, in_order)
    if known is not None:
        return known.items  # type: ignore[union-attr]
    order = ev.operation(
        rows.order, (Const(descends), *_columns(ev, keys)), Row(number(int)), name="order"
    )
    places = [ev.operation(rows.item, (order, Const(i)), number(int)) for i in range(len(items))]
    return tuple(items_at(ev, items, places))


def keys_of(ev: Evaluator, items: list[Abstract], key: Abstract) -> list[Abstract]:
    """Return the keys by which items are ordered."""
    if isinstance(key, Known) and key.value is None:
        return items
    return [unfolded(ev.call(key, [x], {})) for x in items]


def first(ev: Evaluator, f: Any, items: list[Abstract], key: Abstract) -> Abstract:
    """Evaluate ``max(items, key=key)`` or that of ``min``."""
    items = [*map(unfolded, items)]
    keys = keys_of(ev, items, key)
    known = _known(ev, keys, lambda made: items[f(range(len(made)), key=made.__getitem__)])
    if known is not None:
        return known
    of_row = rows.first_greatest if f is max else rows.first_least
    place = ev.operation(of_row, _columns(ev, keys), number(int), name="i")
    return items_at(ev, items, [place])[0]


def first_of_many(
    ev: Evaluator, f: Any, items: Abstract, key: Abstract, default: Abstract | None
) -> Abstract:
    """Evaluate ``max(items, key=key)``, or that of ``min``, of items of unknown number."""
    given = [Known(default is not None), Known(None) if default is None else default]
    if isinstance(key, Known) and key.value is None:
        if row_of(ev, items) is None:
            raise NotCovered(f"{f.__name__} of what is not known, with a default", ev.span)
        by_length: Any = _or_default
        return ev.inline(ev.outside.own_closure(by_length), [Known(f), items, *given], {})
    greater = Known(operator.gt if f is max else operator.lt)
    by_key: Any = _first
    return ev.inline(ev.outside.own_closure(by_key), [items, key, greater, *given], {})


def _or_default(f: Any, items: Any, has_default: bool, default: Any) -> Any:
    return f(items) if len(items) > 0 else default


def _first(items: Any, key: Any, greater: Any, has_default: bool, default: Any) -> Any:
    found = known = None
    for x in items:
        k = key(x)
        if known is None or greater(k, known):
            found, known = x, k
    if known is None and not has_default:
        raise ValueError
    return default if known is None else found


def _known(
    ev: Evaluator, keys: list[Abstract], order: Callable[[list[Any]], Abstract]
) -> Abstract | None:
    """Return what follows from the order of keys; ``None`` if they are numbers, or tuples of
    numbers, that are not known."""

    def ordered() -> Abstract:
        try:
            return order([opened_element(ev, x) for x in keys])
        except TypeError:
            raise NotCovered("a comparison that raises TypeError", ev.span) from None

    if not all(is_number(x, ev.types) for key in keys for x in _parts(key)):
        return ev.choosing(ordered)
    with restorable(ev) as restore:
        try:
            return ordered()
        except NotCovered:
            restore()
            return None


def _parts(key: Abstract) -> tuple[Abstract, ...]:
    return key.items if isinstance(key, Tuple) else (key,)


def _columns(ev: Evaluator, keys: list[Abstract]) -> tuple[Value, ...]:
    """Return lists of the numbers in keys that are numbers, or tuples of as many numbers."""
    if len({len(key.items) if isinstance(key, Tuple) else None for key in keys}) > 1:
        raise NotCovered("an order of tuples of several lengths", ev.span)
    columns = zip(*map(_parts, keys), strict=True)
    return tuple(_row(ev, column) for column in columns)


def _row(ev: Evaluator, keys: tuple[Abstract, ...]) -> Value:
    row = as_row(ev, ev.allocate(ListOf(keys)).address)
    if has_complex(ev.row_type(row).item):
        raise NotCovered("an order of complex numbers", ev.span)
    return row
