"""Dicts and ordered dicts: the shadow of a dict is a dict with the same keys.

Numbers that are keys have their cotangents in a second shadow: the pullback of an operation that
inserts a key takes its cotangent, that of one that returns keys adds to it. Of equal keys a dict
keeps the first.

Rules call the methods of the builtin type, as C does, whatever a subclass overrides.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

from adjoint.ir.primitives import is_iterable
from adjoint.primal.container_contents import ABSENT, base_of, entries_of
from adjoint.rulekit.registry import non_differentiable, structural, substitute
from adjoint.runtime.cache.units import namespaces_without_builtins
from adjoint.runtime.memory.log_entries import swap_item
from adjoint.runtime.memory.memory import Memory

for _name in ("keys", "values", "items", "__contains__", "__len__", "__eq__", "__ne__", "__repr__"):
    for _kind in (dict, OrderedDict):
        non_differentiable((_kind, _name))

# ---- one entry -----------------------------------------------------------------------------------


def _insert(memory: Memory, d: Any, key: Any, value: Any) -> Callable[[], tuple[Any, Any]]:
    """Run ``d[key] = value``; return a function that undoes it and takes both cotangents."""
    if (
        dict.__contains__(d, "__builtins__") or id(d) in namespaces_without_builtins
    ):  # globals: reads must check
        memory.globals_written[id(d), key] = d
    old = dict.get(d, key, ABSENT)
    base_of(d).__setitem__(d, key, value)
    position = memory.note(swap_item, d, key, old)
    place = memory.shadow_key(d, key)

    def undo() -> tuple[Any, Any]:
        memory.rewind(position)
        key_bar = memory.take_key(d, key) if old is ABSENT else None
        return key_bar, memory.take_entry(d, place)

    return undo


def _remove(memory: Memory, d: Any, key: Any) -> Callable[[Any, Any], None]:
    """Run ``del d[key]``; return a function that undoes it and adds cotangents of key and value."""
    key = memory.key_object(d, key)  # `key` may only be equal to the stored one
    value = dict.__getitem__(d, key)
    base_of(d).__delitem__(d, key)
    return _removed(memory, d, key, value)


def _removed(memory: Memory, d: Any, key: Any, value: Any) -> Callable[[Any, Any], None]:
    position = memory.note(swap_item, d, key, value)
    place = memory.shadow_key(d, key)

    def undo(key_bar: Any, value_bar: Any) -> None:
        memory.rewind(position)
        memory.add_key(d, key, key_bar)
        memory.add_entry(d, place, value_bar)

    return undo


@structural((dict, "__getitem__"))
def _(memory: Memory, d: Any, key: Any) -> Any:
    if not dict.__contains__(d, key):
        if hasattr(type(d), "__missing__"):
            return NotImplemented
        return dict.__getitem__(d, key), None  # Python's own message
    return _read(memory, d, key, 2)


def _read(memory: Memory, d: Any, key: Any, n: int) -> Any:
    """Read ``d[key]``; return the value and the pullback of a method of `n` operands."""
    place = memory.shadow_key(d, key)

    def entry_back(y_bar: Any) -> tuple[None, ...]:
        memory.add_entry(d, place, y_bar)
        return (None,) * (n + 1)

    return dict.__getitem__(d, key), entry_back


@substitute((dict, "__getitem__"))
def _(d: Any, key: Any) -> Any:
    return d.__missing__(key)


@structural((dict, "get"))
def _(memory: Memory, d: Any, key: Any, default: Any = None) -> Any:
    if dict.__contains__(d, key):
        return _read(memory, d, key, 3)
    return default, lambda y_bar: (None, None, None, y_bar)


@structural((dict, "__setitem__"), (OrderedDict, "__setitem__"))
def _(memory: Memory, d: Any, key: Any, value: Any) -> Any:
    undo = _insert(memory, d, key, value)
    return None, lambda _: (None, None, *undo())


@structural((dict, "__delitem__"), (OrderedDict, "__delitem__"))
def _(memory: Memory, d: Any, key: Any) -> Any:
    if not dict.__contains__(d, key):
        base_of(d).__delitem__(d, key)  # Python's own message
    undo = _remove(memory, d, key)

    def delete_back(_: Any) -> tuple[None, ...]:
        undo(None, None)
        return None, None, None

    return None, delete_back


@structural((dict, "pop"), (OrderedDict, "pop"))
def _(memory: Memory, d: Any, key: Any, default: Any = ABSENT) -> Any:
    # An empty dict does not hash the key.
    if not dict.__len__(d) or not dict.__contains__(d, key):
        if default is ABSENT:
            base_of(d).pop(d, key)  # Python's own message
        return default, lambda y_bar: (None, None, None, y_bar)
    value = dict.__getitem__(d, key)
    undo = _remove(memory, d, key)

    def pop_back(y_bar: Any) -> tuple[None, ...]:
        undo(None, y_bar)
        return None, None, None, None

    return value, pop_back


@structural((dict, "popitem"), (OrderedDict, "popitem"))
def _(memory: Memory, d: Any, /, *last: Any, **named: Any) -> Any:
    item = base_of(d).popitem(d, *last, **named)
    undo = _removed(memory, d, *item)

    def popitem_back(_: Any) -> tuple[None, ...]:
        undo(*memory.take_items(item, 2))
        return None, None

    return item, popitem_back


@substitute((dict, "setdefault"))
def _(d: Any, key: Any, default: Any = None) -> Any:
    if not dict.__contains__(d, key):
        dict.__setitem__(d, key, default)
    return dict.__getitem__(d, key)


# ---- many entries --------------------------------------------------------------------------------


def _merge(memory: Memory, d: Any, other: Any) -> Callable[[], None]:
    """Insert the entries of another dict; return a function that undoes it."""
    inserted = [
        (key, memory.shadow_key(other, key), _insert(memory, d, key, value))
        for key, value in [*entries_of(other)]
    ]

    def undo() -> None:
        for key, place, undo_one in reversed(inserted):
            key_bar, value_bar = undo_one()
            memory.add_key(other, key, key_bar)
            memory.add_entry(other, place, value_bar)

    return undo


def is_plain(other: Any) -> bool:
    """Return whether C reads `other` without calling its methods: a dict with ``dict.__iter__``."""
    return isinstance(other, dict) and type(other).__iter__ is dict.__iter__


@structural((dict, "update"), (dict, "__init__"))
def _(memory: Memory, d: Any, /, *others: Any, **named: Any) -> Any:
    if len(others) > 1 or not all(map(is_plain, others)):
        return NotImplemented
    merged = [_merge(memory, d, other) for other in (*others, named)]

    def update_back(_: Any) -> tuple[Any, ...]:
        for undo in reversed(merged):
            undo()
        bars = [memory.take_entry(named, name) for name in named]
        return (*(None,) * (2 + len(others)), *bars)

    return None, update_back


@substitute((dict, "update"), (dict, "__init__"))
def _(d: Any, other: Any = (), /, **named: Any) -> None:
    if hasattr(other, "keys"):
        for key in other.keys():
            dict.__setitem__(d, key, other[key])
    else:
        for i, pair in enumerate(other):
            _check_pair(i, pair)
            key, value = pair
            dict.__setitem__(d, key, value)
    dict.update(d, named)


def _check_pair(i: int, pair: Any) -> None:
    if not is_iterable(pair) or (isinstance(pair, list | tuple) and len(pair) != 2):
        dict([((), ())] * i + [pair])  # Python's own message


non_differentiable(_check_pair)


@structural((dict, "clear"), (OrderedDict, "clear"))
def _(memory: Memory, d: Any) -> Any:
    undoing = [_remove(memory, d, key) for key in [*base_of(d).__reversed__(d)]]

    def clear_back(_: Any) -> tuple[None, ...]:
        for undo in reversed(undoing):
            undo(None, None)
        return None, None

    return None, clear_back


# ---- new dicts -----------------------------------------------------------------------------------


@substitute(dict)
def _(source: Any = (), /, **named: Any) -> Any:
    made: dict[Any, Any] = {}
    dict.update(made, source, **named)
    return made


@substitute((dict, "copy"))
def _(d: Any) -> Any:
    return _united(d, {})


def _united(a: Any, b: Any) -> Any:
    made: dict[Any, Any] = {}
    dict.update(made, a)
    dict.update(made, b)
    return made


@substitute((dict, "__or__"))
def _(a: Any, b: Any) -> Any:
    return _united(a, b) if isinstance(b, dict) else NotImplemented


@substitute((dict, "__ror__"))
def _(a: Any, b: Any) -> Any:
    return _united(b, a) if isinstance(b, dict) else NotImplemented


@substitute((dict, "__ior__"))
def _(a: Any, b: Any) -> Any:
    dict.update(a, b)
    return a


@substitute((dict, "fromkeys"))
def _(keys: Any, value: Any = None, /) -> Any:
    return {key: value for key in keys}


non_differentiable(is_plain)
