"""Handlers of what orders items: ``sorted``, ``list.sort``, and ``max`` and ``min`` with a key.

Python's own sort runs at specialisation if the keys are known. If they depend on numbers, the
program finds the order, and reads the numbers in the items at the places that it gives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.item_lists import demand_listed
from adjoint.fast.evaluate.joins import generalise, instantiate, is_number, match
from adjoint.fast.evaluate.objects.containers import keep, opened_element
from adjoint.fast.evaluate.rows import as_row, item_of, restorable
from adjoint.fast.evaluate.types import Row, has_complex, number
from adjoint.fast.evaluate.values import Abstract, Known, ListOf, Slot, Tuple
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support import rows
from adjoint.ir.single import Const, Operand, Value


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
    items = _sorted(ev, None if not isinstance(held, ListOf) else [*held.items], key, reverse)
    keep(ev, xs, held, [opened_element(ev, x) for x in items])
    return Known(None)


def _sorted(
    ev: Evaluator, items: list[Abstract] | None, key: Abstract, reverse: Abstract
) -> tuple[Abstract, ...]:
    if items is None or not isinstance(reverse, Known) or type(reverse.value) not in (bool, int):
        raise NotCovered("a call of sorted", ev.span)
    descends = bool(reverse.value)
    keys = keys_of(ev, items, key)
    known = _known(
        ev, keys, lambda ks: sorted(range(len(ks)), key=ks.__getitem__, reverse=descends)
    )
    if known is not None:
        return tuple(items[i] for i in known)
    row = _row(ev, keys)
    order = ev.operation(rows.order, (row, Const(descends)), Row(number(int)), name="order")
    places = [ev.operation(rows.item, (order, Const(i)), number(int)) for i in range(len(items))]
    return tuple(items_at(ev, items, places))


def keys_of(ev: Evaluator, items: list[Abstract], key: Abstract) -> list[Abstract]:
    """Return the keys by which items are ordered."""
    if isinstance(key, Known) and key.value is None:
        return items
    return [ev.call(key, [x], {}) for x in items]


def first(ev: Evaluator, f: Any, items: list[Abstract], key: Abstract) -> Abstract:
    """Evaluate ``max(items, key=key)`` or that of ``min``."""
    keys = keys_of(ev, items, key)
    known = _known(ev, keys, lambda made: [f(range(len(made)), key=made.__getitem__)])
    if known is not None:
        return items[known[0]]
    of_row = rows.first_greatest if f is max else rows.first_least
    place = ev.operation(of_row, (_row(ev, keys),), number(int), name="i")
    return items_at(ev, items, [place])[0]


def _known(
    ev: Evaluator, keys: list[Abstract], order: Callable[[list[Any]], list[int]]
) -> list[int] | None:
    """Return an order of keys; ``None`` if it depends on numbers."""
    with restorable(ev) as restore:
        try:
            return order([opened_element(ev, x) for x in keys])
        except NotCovered:
            if not all(is_number(x, ev.types) for x in keys):
                raise
            restore()
            return None
        except TypeError:
            raise NotCovered("a comparison that raises TypeError", ev.span) from None


def _row(ev: Evaluator, keys: list[Abstract]) -> Value:
    row = as_row(ev, ev.allocate(ListOf(tuple(keys))).address)
    if has_complex(ev.row_type(row).item):
        raise NotCovered("an order of complex numbers", ev.span)
    return row


def items_at(ev: Evaluator, items: list[Abstract], places: list[Value]) -> list[Abstract]:
    """Return the items at places that the program computes: numbers, or tuples of numbers."""
    template: Any = items[0]
    for x in items[1:]:
        template = generalise(template, x, ev, ev.heap, ev.heap)
    if not _is_of_numbers(template):
        raise NotCovered("an order of objects that depends on numbers", ev.span)
    columns: list[list[Operand]] = []
    for x in items:
        columns.append([])
        match(template, x, columns[-1], ev, ev.heap)
    parts = []
    for column in zip(*columns, strict=True):
        made = ListOf(tuple(Known(x.value) if isinstance(x, Const) else x for x in column))
        parts.append(as_row(ev, ev.allocate(made).address))
    found = []
    for place in places:
        found.append(_instance(ev, template, iter(parts), place))
    return found


def _instance(ev: Evaluator, template: Any, parts: Any, place: Value) -> Abstract:
    def read(slot: Slot) -> Value:
        row = next(parts)
        found = item_of(ev, row, row, place)
        assert isinstance(found, Value)
        return found

    return instantiate(template, read, ev)  # type: ignore[no-any-return]


def _is_of_numbers(template: Any) -> bool:
    """Return whether the parts of items that differ are numbers, in tuples."""
    if isinstance(template, Tuple):
        return template.kind is not list and all(map(_is_of_numbers, template.items))
    if isinstance(template, Slot):
        return not template.maybe
    return isinstance(template, Known | Value)
