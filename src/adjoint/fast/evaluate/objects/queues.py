"""Deques of numbers of unknown length.

Such a deque is a list of the program. Its methods are functions of this list and of the greatest
length, which are inlined.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.rows import as_row
from adjoint.fast.evaluate.values import Abstract, DequeOf, Known, ListOf, TableOf
from adjoint.fast.not_covered import NotCovered


def as_queue(ev: Evaluator, address: int) -> TableOf:
    """Turn a deque of known items into a list of the program."""
    held = ev.heap[address]
    assert isinstance(held, DequeOf)
    ev.demand_own_list(address)
    items = ev.allocate(ListOf(held.items))
    row = as_row(ev, items.address)
    ev.keys_of[row] = row  # like a dict, it must not change while it is iterated over
    made = ev.heap[address] = TableOf((items,), deque, Known(held.most))
    return made


def call_queue(ev: Evaluator, held: TableOf, name: str, *args: Abstract) -> Abstract:
    """Call a method of a deque."""
    if name not in _METHODS:
        raise NotCovered("a method of a deque of unknown length", ev.span)
    return ev.call(ev.outside.own(_METHODS[name]), [*held.items, held.factory, *args], {})


def _append(items: Any, most: Any, value: Any) -> None:
    items.append(value)
    if most is not None and len(items) > most:
        items.pop(0)


def _append_left(items: Any, most: Any, value: Any) -> None:
    items.insert(0, value)
    if most is not None and len(items) > most:
        items.pop()


def _extend(items: Any, most: Any, values: Any) -> None:
    for value in values:
        _append(items, most, value)


def _extend_left(items: Any, most: Any, values: Any) -> None:
    for value in values:
        _append_left(items, most, value)


def _pop(items: Any, most: Any) -> Any:
    return items.pop()


def _pop_left(items: Any, most: Any) -> Any:
    return items.pop(0)


def _read(items: Any, most: Any, index: Any) -> Any:
    return items[index]


def _store(items: Any, most: Any, index: Any, value: Any) -> None:
    items[index] = value


_METHODS = {
    "append": _append,
    "appendleft": _append_left,
    "extend": _extend,
    "extendleft": _extend_left,
    "pop": _pop,
    "popleft": _pop_left,
    "__getitem__": _read,
    "__setitem__": _store,
}
