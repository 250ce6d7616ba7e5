"""Lists and tuples of unknown length, of tuples, lists or dicts.

Such a list is lists of the program, one for each column of its template. An item that is read is a
copy, and so is what has been put in: nothing may write to either (`Heap.demand_own_list`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from adjoint.fast.evaluate import rows
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.objects.record_templates import COLUMN, Record, leaves_of, template_of
from adjoint.fast.evaluate.types import number
from adjoint.fast.evaluate.values import (
    Abstract,
    DictOf,
    Known,
    ListOf,
    Ref,
    RowOf,
    SliceOf,
    TableOf,
    Tuple,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.support.rows import demand_items

_REASON = "a list of unknown length of things of several kinds"


def records(ev: Evaluator, a: Any) -> TableOf | None:
    """Return the columns of a list or a tuple of records; ``None`` for anything else."""
    held = ev.held(a)
    return held if isinstance(held, TableOf) and held.kind in (list, tuple) else None


def as_records(ev: Evaluator, address: int, template: Record) -> None:
    """Turn a list of known items into the columns of its items."""
    held = ev.heap[address]
    assert isinstance(held, ListOf)
    ev.demand_own_list(address)
    if any(one.ref.address == address for one in ev.outside.adopted):
        raise NotCovered("a list from outside of something else than numbers", ev.span)
    items = [_columns(ev, template, x) for x in held.items]
    count = sum(leaf == COLUMN for leaf in leaves_of(template))
    columns = zip(*items, strict=True) if items else [()] * count
    made = tuple(ev.allocate(ListOf(column)) for column in columns)
    for column in made:
        rows.as_row(ev, column.address, of_arrays=True)
    ev.heap[address] = TableOf(made, list, Known(template))


def append(ev: Evaluator, xs: Abstract, value: Abstract) -> None:
    """Write ``xs.append(value)``."""
    held = records(ev, xs)
    if held is None or held.kind is not list:
        rows.append(ev, xs, value)
        return
    found = _columns(ev, _template(held), value)
    for column, x in zip(held.items, found, strict=True):
        rows.append(ev, column, x)


def copy_of(ev: Evaluator, held: TableOf) -> Ref:
    """Return a new list of the same items."""
    made = read(ev, replace(held, kind=list), Known(slice(None)))
    assert isinstance(made, Ref)
    return made


def read(ev: Evaluator, held: TableOf, index: Abstract) -> Abstract:
    """Evaluate ``xs[index]``."""
    found = []
    for column in held.items:
        row = rows.row_of(ev, column)
        assert row is not None
        found.append(rows.item_of(ev, column, row, index))
    if isinstance(index, SliceOf) or (isinstance(index, Known) and isinstance(index.value, slice)):
        return ev.allocate(replace(held, items=tuple(found)))
    return filled(ev, held, found)


def pop(ev: Evaluator, xs: Abstract) -> Abstract:
    """Write ``xs.pop()``."""
    held = records(ev, xs)
    if held is None or held.kind is not list:
        return rows.pop(ev, xs)
    return filled(ev, held, [rows.pop(ev, column) for column in held.items])


def columns(ev: Evaluator, held: TableOf) -> tuple[Ref, ...]:
    """Return copies, as tuples, of the columns of tuples or lists of numbers or arrays, of which
    there has to be one at least: what is made of none has no columns."""
    template = _template(held)
    if template.kind is dict or any(part != COLUMN for part in template.parts):
        raise NotCovered(_REASON, ev.span)
    found: list[Ref] = []
    for column in held.items:
        row = rows.row_of(ev, column)
        assert row is not None
        if not found:
            ev.operation(demand_items, (row,), number(bool))
        copied = rows.row_of(ev, rows.item_of(ev, column, row, Known(slice(None))))
        assert copied is not None
        found.append(ev.allocate(RowOf(copied, tuple)))
    return tuple(found)


def filled(ev: Evaluator, held: TableOf, values: list[Abstract]) -> Abstract:
    """Return an item with these values in its columns."""
    return _filled(ev, _template(held), iter(values))


def _template(held: TableOf) -> Record:
    assert isinstance(held.factory, Known)
    return held.factory.value  # type: ignore[no-any-return]


def _columns(ev: Evaluator, template: Record, a: Abstract) -> tuple[Abstract, ...]:
    """Return the values in the columns of an item, which nothing may write to from now on."""
    if template_of(a, ev.types, ev.heap) != template:
        raise NotCovered(_REASON, ev.span)
    return tuple(_values(ev, template, a))


def _values(ev: Evaluator, template: Any, a: Any) -> Iterator[Abstract]:
    if template == COLUMN:
        yield a
    if not isinstance(template, Record):
        return
    if isinstance(a, Ref):
        ev.link(a.address, 0)
        a = ev.heap[a.address]
    items = a.items if not isinstance(a, Known) else map(Known, a.value)
    for part, x in zip(template.parts, items, strict=True):
        yield from _values(ev, part, x)


def _filled(ev: Evaluator, template: Any, values: Iterator[Abstract]) -> Abstract:
    if template == COLUMN:
        return next(values)
    if not isinstance(template, Record):
        return Known(template)
    items = tuple(_filled(ev, part, values) for part in template.parts)
    if template.kind not in (list, dict):
        return Tuple(items, template.kind)
    made = ev.allocate(ListOf(items) if template.kind is list else DictOf(template.keys, items))
    ev.link(made.address, 0)
    return made
