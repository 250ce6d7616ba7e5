"""Handlers that make or change tuples, lists, dicts and slices, and that apply ``*`` and ``**``."""

from __future__ import annotations

from dataclasses import replace

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.item_lists import collected, demand_quiet_length
from adjoint.fast.evaluate.items import item
from adjoint.fast.evaluate.iterables import MOST_UNROLLED
from adjoint.fast.evaluate.loops import iterate
from adjoint.fast.evaluate.objects.containers import closed, key_of, opened_element, run
from adjoint.fast.evaluate.objects.derived import plain_content
from adjoint.fast.evaluate.objects.number_keys import as_table, is_key, new_table, update
from adjoint.fast.evaluate.objects.records import append, columns, copy_of, pop, records
from adjoint.fast.evaluate.rows import (
    item_of,
    kind_of,
    length_of_row,
    pop_first,
    prepend,
    row_of,
)
from adjoint.fast.evaluate.types import Array
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
from adjoint.ir import primitives
from adjoint.ir.single import Value


@handler(primitives.build_tuple)
def _(ev: Evaluator, *items: Abstract) -> Abstract:
    return Tuple(items)


@handler(primitives.build_list)
def _(ev: Evaluator, *items: Abstract) -> Abstract:
    return ev.allocate(ListOf(items))


@handler(primitives.build_slice)
def _(ev: Evaluator, start: Abstract, stop: Abstract, step: Abstract) -> Abstract:
    return SliceOf(start, stop, step)


@handler(primitives.build_dict)
def _(ev: Evaluator, *items: Abstract) -> Abstract:
    has_containers = any(isinstance(x, Ref) for x in items[1::2])
    if not has_containers and any(isinstance(k, Value) and is_key(ev, k) for k in items[::2]):
        return new_table(ev, dict, [*zip(items[::2], items[1::2], strict=True)])
    keys = [key_of(ev, k) for k in items[::2]]
    made = dict(zip(keys, items[1::2], strict=True))
    return ev.allocate(DictOf(tuple(made), tuple(made.values())))


@handler(primitives.list_append, list.append)
def _(ev: Evaluator, xs: Abstract, value: Abstract) -> Abstract:
    append(ev, xs, value)
    return Known(None)


def _is_zero(index: Abstract) -> bool:
    return isinstance(index, Known) and type(index.value) is int and index.value == 0


@handler(list.pop)
def _(ev: Evaluator, xs: Abstract, *index: Abstract) -> Abstract:
    if not index:
        return pop(ev, xs)
    if isinstance(ev.held(xs), RowOf) and _is_zero(*index):
        return pop_first(ev, xs)
    return run(ev, xs, list.pop, *(opened_element(ev, i) for i in index))


@handler(list.insert)
def _(ev: Evaluator, xs: Abstract, index: Abstract, value: Abstract) -> Abstract:
    if isinstance(ev.held(xs), RowOf) and _is_zero(index):
        prepend(ev, xs, value)
        return Known(None)
    return run(ev, xs, list.insert, opened_element(ev, index), opened_element(ev, value))


@handler(list.reverse)
def _(ev: Evaluator, xs: Abstract) -> Abstract:
    row = row_of(ev, xs)
    if row is None:
        return run(ev, xs, list.reverse)
    made = item_of(ev, xs, row, Known(slice(None, None, -1)))
    if not isinstance(xs, Ref) or kind_of(ev, xs) is not list:
        raise NotCovered("a write to a list from outside", ev.span)
    ev.heap[xs.address] = ev.held(made)  # type: ignore[assignment]
    return Known(None)


@handler(primitives.list_extend)
def _(ev: Evaluator, xs: Abstract, values: Abstract, function: Abstract | None = None) -> Abstract:
    if isinstance(ev.held(xs), ListOf):
        _demand_length(ev, values, MOST_UNROLLED)
    return _extended(ev, xs, values)


@handler(list.extend)
def _extended(ev: Evaluator, xs: Abstract, values: Abstract) -> Abstract:
    is_grown = isinstance(ev.held(xs), ListOf | RowOf) or records(ev, xs) is not None
    if not is_grown or values == xs:
        raise NotCovered("extending a list", ev.span)
    demand_quiet_length(ev, values)
    of, held = records(ev, values), ev.held(xs)
    if of is not None and isinstance(xs, Ref) and isinstance(held, ListOf) and not held.items:
        ev.demand_own_list(xs.address)
        ev.heap[xs.address] = ev.held(copy_of(ev, of))  # type: ignore[assignment]
        return Known(None)

    def add(x: Abstract, carried: list[Abstract]) -> list[Abstract]:
        append(ev, xs, x)
        return carried

    iterate(ev, values, [], add)
    return Known(None)


@handler(primitives.list_to_tuple)
def _(ev: Evaluator, xs: Abstract) -> Abstract:
    return _as_tuple(ev, xs)


@handler(tuple)
def _(ev: Evaluator, xs: Abstract | None = None) -> Abstract:
    return Tuple(()) if xs is None else _as_tuple(ev, xs)


def _as_tuple(ev: Evaluator, xs: Abstract) -> Abstract:
    if isinstance(xs, Tuple):
        return Tuple(xs.items)
    made = collected(ev, xs)
    held = ev.held(made)
    if isinstance(held, RowOf | TableOf):
        ev.heap[made.address] = replace(held, kind=tuple)
        return made
    assert isinstance(held, ListOf)
    return Tuple(held.items)


@handler(list)
def _(ev: Evaluator, xs: Abstract | None = None) -> Abstract:
    if xs is None:
        return ev.allocate(ListOf(()))
    row = row_of(ev, xs)
    if row is not None:
        if kind_of(ev, xs) is tuple:
            raise NotCovered("a list of a tuple of unknown length", ev.span)
        return item_of(ev, xs, row, Known(slice(None)))
    return collected(ev, xs)


@handler(primitives.apply)
def _(ev: Evaluator, f: Abstract, args: Abstract, keywords: Abstract) -> Abstract:
    items = ev.sequence(args)
    named = {} if isinstance(keywords, Known) and not keywords.value else ev.entries(keywords)
    if named is None:
        raise NotCovered("a call with **", ev.span)
    if isinstance(f, Known) and f.value is zip and (of := records(ev, args)) is not None:
        return _transposed(ev, of)
    if items is None:
        _demand_length(ev, args)
        raise NotCovered("a call with * of unknown length", ev.span)
    if not all(type(name) is str for name in named):
        raise NotCovered("a call with ** of keys that are no strings", ev.span)
    return ev.call(f, items, named)


def _transposed(ev: Evaluator, held: TableOf) -> Abstract:
    """Evaluate ``zip(*xs)`` of tuples or lists."""
    return ev.call(Known(iter), [Tuple(columns(ev, held))], {})


def _demand_length(ev: Evaluator, args: Abstract, most: int | None = None) -> None:
    """Require a known length of an array, or of a list or tuple of numbers, if it depends on
    lengths of at most `most`."""
    row = row_of(ev, args)
    n = None if row is None else length_of_row(ev, row)
    if isinstance(args, Value) and isinstance(t := ev.types[args], Array) and t.shape:
        n = t.shape[0]
    if n is None or isinstance(n, int):
        return
    sizes = [ev.outside.size_of(symbol) for symbol in ev.arguments_of(n)]
    if most is None or all(size is not None and size <= most for size in sizes):
        ev.demand_known("a call with * of unknown length", n)


@handler(primitives.dict_merge, primitives.dict_update)
def _(ev: Evaluator, mapping: Abstract, other: Abstract, f: Abstract | None = None) -> Abstract:
    other = plain_content(ev, other)
    held, keys = ev.held(mapping), ev.keys(other)
    if f is None and isinstance(mapping, Ref) and TableOf in (type(held), type(ev.held(other))):
        table = held if isinstance(held, TableOf) else as_table(ev, mapping.address)
        return update(ev, table, other)
    if not isinstance(mapping, Ref) or not isinstance(held, DictOf):
        raise NotCovered("a dict", ev.span)
    if keys is None:
        raise NotCovered("** of something else than a dict", ev.span)
    ev.demand_own_list(mapping.address)
    made = ev.entries(mapping) or {}
    more = {k: item(ev, other, closed(ev, k)) for k in keys}
    if f is not None and made.keys() & more.keys():
        raise NotCovered("a keyword that is given twice", ev.span)
    made |= more
    ev.heap[mapping.address] = DictOf(tuple(made), tuple(made.values()))
    return Known(None)
