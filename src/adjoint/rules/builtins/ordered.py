"""`collections.OrderedDict`: a dict whose order can be changed, kept in a list of its own.

Undoing a write puts a key back at the end. That is enough: rewound memory is read by key only, and
the writes that follow are made again before anyone sees the order.
"""

from __future__ import annotations

import gc
from collections import OrderedDict
from typing import Any

from adjoint.rules.registry import non_differentiable, primitive, structural, substitute
from adjoint.run.iteration import Entries
from adjoint.run.memory import ABSENT, Memory

non_differentiable(
    (OrderedDict, "keys"),
    (OrderedDict, "values"),
    (OrderedDict, "items"),
    (OrderedDict, "__eq__"),
    (OrderedDict, "__ne__"),
    (OrderedDict, "__repr__"),
)


def swap_ordered(entry: list[Any]) -> None:
    """``[swap, mapping, key, saved]``: one key; `ABSENT` for a key that is not there."""
    _, d, key, saved = entry
    entry[3] = dict.get(d, key, ABSENT)
    if saved is ABSENT:
        OrderedDict.__delitem__(d, key)
    else:
        OrderedDict.__setitem__(d, key, saved)


@structural((OrderedDict, "__setitem__"))
def _(memory: Memory, d: Any, key: Any, value: Any) -> Any:
    position = memory.note(swap_ordered, d, key, dict.get(d, key, ABSENT))
    OrderedDict.__setitem__(d, key, value)

    def set_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        return None, None, None, memory.take_entry(d, key)

    return None, set_back


def remove(memory: Memory, d: Any, key: Any) -> Any:
    """Delete one key; returns the undoing function."""
    position = memory.note(swap_ordered, d, key, dict.__getitem__(d, key))
    OrderedDict.__delitem__(d, key)
    return lambda: memory.rewind(position)


@structural((OrderedDict, "__delitem__"))
def _(memory: Memory, d: Any, key: Any) -> Any:
    if not dict.__contains__(d, key):
        OrderedDict.__delitem__(d, key)  # Python's own message
    undo = remove(memory, d, key)

    def delete_back(_: Any) -> tuple[None, ...]:
        undo()
        return None, None, None

    return None, delete_back


@structural((OrderedDict, "pop"))
def _(memory: Memory, d: Any, key: Any, *default: Any) -> Any:
    n = 3 + len(default)
    if not dict.__contains__(d, key):
        value = OrderedDict.pop(d, key, *default)
        return value, lambda y_bar: (None, None, None, y_bar)
    value = dict.__getitem__(d, key)
    undo = remove(memory, d, key)

    def pop_back(y_bar: Any) -> tuple[Any, ...]:
        undo()
        memory.add_entry(d, key, y_bar)
        return (None,) * n

    return value, pop_back


@structural((OrderedDict, "move_to_end"))
def _(memory: Memory, d: Any, key: Any, *args: Any, **named: Any) -> Any:
    OrderedDict.move_to_end(d, key, *args, **named)
    memory.note(_Order(d, key, args, named))
    return None, lambda _: (None,) * (3 + len(args) + len(named))


class _Order:
    """The log's entry of a change of the order: not undone, made again."""

    def __init__(self, d: Any, key: Any, args: Any, named: Any) -> None:
        self.call, self.done = (d, key, args, named), True

    def __call__(self, entry: list[Any]) -> None:
        self.done = not self.done
        if self.done:
            d, key, args, named = self.call
            OrderedDict.move_to_end(d, key, *args, **named)


@substitute((OrderedDict, "popitem"))
def _(d: Any, last: Any = True) -> Any:
    if not dict.__len__(d):
        raise KeyError("dictionary is empty")
    key = _end(d, last)
    return key, OrderedDict.pop(d, key)


def _end(d: Any, last: Any) -> Any:
    return next(OrderedDict.__reversed__(d) if last else OrderedDict.__iter__(d))


@substitute((OrderedDict, "update"), (OrderedDict, "__init__"))
def update(d: Any, other: Any = (), /, **named: Any) -> None:
    """By the methods of a subclass, as in C; so are the operations below that ask ``d[key]``."""
    if hasattr(other, "keys"):
        for key in other.keys():
            d[key] = other[key]
    else:
        for key, value in other:
            d[key] = value
    for key, value in named.items():
        d[key] = value


@substitute((OrderedDict, "setdefault"))
def setdefault(d: Any, key: Any, default: Any = None) -> Any:
    if key in d:
        return d[key]
    d[key] = default
    return default


@substitute((OrderedDict, "clear"))
def clear(d: Any) -> None:
    for key in _keys(d):
        OrderedDict.__delitem__(d, key)


def _keys(d: Any) -> list[Any]:
    return [*OrderedDict.__iter__(d)]


@substitute((OrderedDict, "copy"))
def copy(d: Any) -> Any:
    made = type(d)()
    for key in _keys(d):
        made[key] = d[key]
    return made


@substitute((OrderedDict, "__or__"))
def _(a: Any, b: Any) -> Any:
    if not isinstance(b, dict):
        return NotImplemented
    made = type(a)(a)
    OrderedDict.update(made, b)
    return made


@substitute((OrderedDict, "__ror__"))
def _(a: Any, b: Any) -> Any:
    if not isinstance(b, dict):
        return NotImplemented
    made = type(a)(b)
    OrderedDict.update(made, a)
    return made


@substitute((OrderedDict, "__ior__"))
def _(a: Any, b: Any) -> Any:
    OrderedDict.update(a, b)
    return a


@substitute((OrderedDict, "fromkeys"))
def fromkeys(keys: Any, value: Any = None, /) -> Any:
    return OrderedDict((key, value) for key in keys)


@substitute(OrderedDict)
def _(*args: Any, **named: Any) -> Any:
    made = _empty()
    made.update(*args, **named)
    return made


def _empty() -> Any:
    return OrderedDict()


non_differentiable(_empty, _end, _keys)


# ---- iteration -----------------------------------------------------------------------------------


def _elements(which: str) -> Any:
    def elements(record: list[Any], slot: int, view: Any) -> Any:
        owner = next(item for item in gc.get_referents(view) if isinstance(item, OrderedDict))
        if which == "values":  # its elements are told by key
            view = OrderedDict.items(owner)
        return Entries(record[0], owner, view, which)

    return elements


_views: dict[str, Any] = {
    "keys": type(OrderedDict().keys()),
    "values": type(OrderedDict().values()),
    "items": type(OrderedDict().items()),
}
for _which, _view in _views.items():
    primitive((_view, "__iter__"))(_elements(_which))


@substitute((OrderedDict, "__reversed__"))
def _(d: Any) -> Any:
    return _keys_from_the_end(d)


def _keys_from_the_end(d: Any) -> Any:
    return reversed(list(OrderedDict.keys(d)))


non_differentiable(_keys_from_the_end)


for _view in _views.values():

    @substitute((_view, "__reversed__"))
    def _(view: Any) -> Any:
        return iter([item for item in view][::-1])
