"""Dicts and sets whose keys are numbers of the program.

Such a container is two lists of the program, its keys and its values, in the order of insertion.
Its methods are functions of these lists, which are inlined.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.joins import is_number
from adjoint.fast.evaluate.leaves import Leaf
from adjoint.fast.evaluate.objects.containers import closed, fixed_integer
from adjoint.fast.evaluate.objects.queues import call_queue
from adjoint.fast.evaluate.objects.records import records
from adjoint.fast.evaluate.rows import as_row, row_of
from adjoint.fast.evaluate.types import Row, has_complex, has_truth_value, number
from adjoint.fast.evaluate.values import (
    Abstract,
    DictOf,
    Known,
    ListOf,
    Ref,
    RowOf,
    SetOf,
    TableOf,
)
from adjoint.fast.not_covered import NeedsKnown, NotCovered
from adjoint.fast.support import rows
from adjoint.ir.single import Value


def as_table(ev: Evaluator, address: int) -> TableOf:
    """Turn a dict or a set of known keys into one with keys of the program."""
    held = ev.heap[address]
    assert isinstance(held, DictOf | SetOf)
    if held.kind is frozenset:
        raise NotCovered("a frozenset of numbers that are not known", ev.span)
    ev.demand_own_list(address)
    keys = ev.allocate(ListOf(tuple(closed(ev, key) for key in held.keys)))
    row = as_row(ev, keys.address, rows.new_keys)
    ev.keys_of[row] = row
    made = TableOf((keys,), held.kind, is_in_order=len(held.keys) < 2)
    if isinstance(held, DictOf):
        values = ev.allocate(ListOf(held.items))
        ev.keys_of[as_row(ev, values.address)] = row
        made = TableOf((keys, values), held.kind, held.factory)
    ev.heap[address] = made
    return made


def tabled(
    ev: Evaluator, a: Abstract, key: Abstract = Known(None), value: Abstract = Known(None)
) -> TableOf | None:
    """Return the table that `a` is, or has to be because `key` is a number of the program; ``None``
    for others. The keys of a dict of containers, such as `value`, have to be known."""
    held = ev.held(a)
    if records(ev, a) is not None:
        return None
    if isinstance(held, TableOf) or not isinstance(key, Value):
        return held if isinstance(held, TableOf) else None
    if not isinstance(a, Ref) or not isinstance(held, DictOf | SetOf) or not is_key(ev, key):
        return None
    has_containers = _has_containers(held, value)
    if has_containers and fixed_integer(ev, key) is not None:
        return None
    try:
        ev.demand_value(key, "a key that is not known")
    except NeedsKnown as error:
        if has_containers or any(
            x.value is error.value and _is_option(ev, x) for x in ev.outside.leaves
        ):
            raise
    except NotCovered:
        pass
    return as_table(ev, a.address)


def _has_containers(held: DictOf | SetOf, value: Abstract) -> bool:
    """Return whether values of a dict are lists, dicts or objects."""
    if not isinstance(held, DictOf):
        return False
    factory = getattr(held.factory, "value", None)
    return factory in (list, dict, set) or any(isinstance(x, Ref) for x in (*held.items, value))


def _is_option(ev: Evaluator, leaf: Leaf) -> bool:
    """Return whether a program may be for one value of a number only."""
    return type(leaf.sample) is int and not ev.outside.is_wanted(leaf.source)


def is_empty(ev: Evaluator, a: Abstract) -> bool:
    """Return whether a dict or a set certainly has no keys."""
    held = ev.held(a)
    return isinstance(held, DictOf | SetOf) and not held.keys


def is_key(ev: Evaluator, a: Abstract) -> bool:
    """Return whether `a` is a number by which a table can be read."""
    t = ev.types.get(a) if isinstance(a, Value) else None
    return is_number(a, ev.types) and not has_complex(t) and not has_truth_value(t)


def ordered(ev: Evaluator, a: Abstract) -> Abstract:
    """Return the list of the keys of a dict or a set with keys of the program; others unchanged."""
    held = ev.held(a)
    if not isinstance(held, TableOf) or records(ev, a) is not None:
        return a
    keys = held.items[0]
    if held.kind is not set:
        return keys
    if not held.is_in_order:
        raise NotCovered("the order of a set of numbers that are not known", ev.span)
    found = ev.call(ev.outside.own(_in_order), [keys], {})
    row, of_keys = row_of(ev, found), row_of(ev, keys)
    assert row is not None and of_keys is not None
    ev.keys_of[row] = of_keys
    return found


def call(ev: Evaluator, held: TableOf, name: str, *args: Abstract) -> Abstract:
    """Call a method of a table."""
    if held.kind is deque:
        return call_queue(ev, held, name, *args)
    given = [*held.items, *args]
    if name == "__getitem__" and isinstance(held.factory, Known) and held.factory.value is None:
        name = "count" if _is_counter(held) else "read"
    elif name == "__getitem__":
        given.append(held.factory)
    if name == "__setitem__" and ev.keys_of.get(args[0]) is row_of(ev, held.items[0]):  # type: ignore[arg-type]
        name = "replace"
    if name == "copy" and not args and held.kind is not set:
        return copy_of(ev, held)
    if name == "update" and len(args) == 1:
        return update(ev, held, args[0])
    if name not in _METHODS:
        raise NotCovered("a method of a container whose keys are not known", ev.span)
    return ev.call(ev.outside.own(_METHODS[name]), given, {})


def copy_of(ev: Evaluator, held: TableOf, kind: type | None = None) -> Abstract:
    """Return a copy of a dict, of class `kind`."""
    made = new_table(ev, kind or held.kind, [])
    of_copy = ev.heap[made.address]
    assert isinstance(of_copy, TableOf)
    if kind is None:
        ev.heap[made.address] = replace(of_copy, factory=held.factory)
    ev.call(ev.outside.own(_fill), [*of_copy.items, *held.items], {})
    return made


def update(ev: Evaluator, held: TableOf, other: Abstract) -> Abstract:
    """Evaluate ``d.update(other)`` for two dicts."""
    more = ev.held(other)
    is_plain = held.kind is not set and not _is_counter(held)
    if not is_plain or not isinstance(more, DictOf | TableOf) or not issubclass(more.kind, dict):
        raise NotCovered("a method of a container whose keys are not known", ev.span)
    if isinstance(more, TableOf):
        if more is not held:
            ev.call(ev.outside.own(_fill), [*held.items, *more.items], {})
        return Known(None)
    for key, value in zip(more.keys, more.items, strict=True):
        call(ev, held, "__setitem__", closed(ev, key), value)
    return Known(None)


def _is_counter(held: TableOf) -> bool:
    return hasattr(held.kind, "most_common")


@handler(rows.key_place)
def _(ev: Evaluator, keys: Abstract, key: Abstract) -> Abstract:
    return _place(ev, rows.key_place, keys, key)


@handler(rows.known_place)
def _(ev: Evaluator, keys: Abstract, key: Abstract) -> Abstract:
    return _place(ev, rows.known_place, keys, key)


@handler(rows.set_order)
def _(ev: Evaluator, keys: Abstract) -> Abstract:
    row = row_of(ev, keys)
    assert row is not None
    return ev.allocate(RowOf(ev.operation(rows.set_order, (row,), Row(number(int)), name="order")))


def _place(ev: Evaluator, f: Any, keys: Abstract, key: Abstract) -> Abstract:
    row = row_of(ev, keys)
    if row is None or not is_key(ev, key):
        raise NotCovered("a key of another kind", ev.span)
    return ev.operation(f, (row, ev.operand(key)), number(int), name="i")


# ---- methods -------------------------------------------------------------------------------------


def _read(keys: Any, values: Any, key: Any) -> Any:
    return values[rows.known_place(keys, key)]


def _read_count(keys: Any, values: Any, key: Any) -> Any:
    i = rows.key_place(keys, key)
    return 0 if i < 0 else values[i]


def _read_or_make(keys: Any, values: Any, key: Any, factory: Any) -> Any:
    i = rows.key_place(keys, key)
    if i < 0:
        value = factory()
        keys.append(key)
        values.append(value)
        return value
    return values[i]


def _get(keys: Any, values: Any, key: Any, default: Any = None) -> Any:
    i = rows.key_place(keys, key)
    return default if i < 0 else values[i]


def _set_default(keys: Any, values: Any, key: Any, default: Any = None) -> Any:
    return _read_or_make(keys, values, key, lambda: default)


def _store(keys: Any, values: Any, key: Any, value: Any) -> None:
    i = rows.key_place(keys, key)
    if i < 0:
        keys.append(key)
        values.append(value)
    else:
        values[i] = value


def _replace(keys: Any, values: Any, key: Any, value: Any) -> None:
    values[rows.known_place(keys, key)] = value


def _contains(keys: Any, *values_and_key: Any) -> Any:
    return rows.key_place(keys, values_and_key[-1]) >= 0


def _add(keys: Any, key: Any) -> None:
    if rows.key_place(keys, key) < 0:
        keys.append(key)


def _in_order(keys: Any) -> Any:
    found = []
    for i in rows.set_order(keys):
        found.append(keys[i])
    return found


def _fill(keys: Any, values: Any, more_keys: Any, more_values: Any) -> None:
    for key, value in zip(more_keys, more_values):  # noqa: B905  as many
        _store(keys, values, key, value)


def _tally(keys: Any, values: Any, items: Any) -> None:
    for key in items:
        _store(keys, values, key, _read_count(keys, values, key) + 1)


def _add_all(keys: Any, items: Any) -> None:
    for key in items:
        _add(keys, key)


_METHODS: dict[str, Any] = {
    "tally": _tally,
    "add_all": _add_all,
    "read": _read,
    "count": _read_count,
    "__getitem__": _read_or_make,
    "__setitem__": _store,
    "replace": _replace,
    "__contains__": _contains,
    "get": _get,
    "setdefault": _set_default,
    "add": _add,
}


def new_table(ev: Evaluator, kind: type, pairs: list[tuple[Abstract, ...]]) -> Ref:
    """Return a dict of keys and values, or a set of keys, as tables."""
    made = ev.allocate(SetOf((), kind) if kind is set else DictOf((), (), kind))
    held = as_table(ev, made.address)
    for pair in pairs:
        call(ev, held, "add" if kind is set else "__setitem__", *pair)
    return made
