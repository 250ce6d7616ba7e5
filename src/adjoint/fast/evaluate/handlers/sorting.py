"""Handlers of what orders items: ``sorted``, ``list.sort``, and ``max`` and ``min`` with a key.

Python's own sort runs at specialisation if the keys are known. If they depend on numbers, the
program finds the order, and reads the numbers in the items at the places that it gives. Keys are
numbers, or tuples of numbers, which are compared from the left.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.growing import restorable
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.item_lists import demand_listed
from adjoint.fast.evaluate.joins import is_number
from adjoint.fast.evaluate.objects.containers import keep, opened_element
from adjoint.fast.evaluate.rows import as_row, items_at
from adjoint.fast.evaluate.types import Row, has_complex, number
from adjoint.fast.evaluate.values import Abstract, Known, ListOf, Ref, Tuple
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
    items = demand_listed(ev, xs, "a call of sorted")
    return ev.allocate(ListOf(_sorted(ev, items, key, reverse)))


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
    items = [*map(_unfolded, items)]
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
    return [_unfolded(ev.call(key, [x], {})) for x in items]


def _unfolded(a: Abstract) -> Abstract:
    """Return a known tuple as a tuple of known items; anything else unchanged."""
    is_tuple = isinstance(a, Known) and type(a.value) is tuple
    return Tuple(tuple(map(Known, a.value))) if is_tuple else a  # type: ignore[union-attr]


def first(ev: Evaluator, f: Any, items: list[Abstract], key: Abstract) -> Abstract:
    """Evaluate ``max(items, key=key)`` or that of ``min``."""
    items = [*map(_unfolded, items)]
    keys = keys_of(ev, items, key)
    known = _known(ev, keys, lambda made: items[f(range(len(made)), key=made.__getitem__)])
    if known is not None:
        return known
    of_row = rows.first_greatest if f is max else rows.first_least
    place = ev.operation(of_row, _columns(ev, keys), number(int), name="i")
    return items_at(ev, items, [place])[0]


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
