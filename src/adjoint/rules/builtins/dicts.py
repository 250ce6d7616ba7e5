"""Dicts: the shadow of a dict is a dict with the same keys."""

from __future__ import annotations

import collections
import types
from collections import defaultdict
from typing import Any

from adjoint.rules.registry import non_differentiable, structural, substitute
from adjoint.run.memory import ABSENT, Memory, swap_item

non_differentiable(
    (dict, "keys"),
    (dict, "values"),
    (dict, "items"),
    (dict, "__contains__"),
    (dict, "__len__"),
    (dict, "__eq__"),
    (dict, "__ne__"),
    (dict, "__repr__"),
)

_count_elements: Any = collections._count_elements  # type: ignore[attr-defined]


def remove(memory: Memory, d: dict[Any, Any], key: Any) -> Any:
    """Delete one key; returns the undoing function."""
    if memory.place(d, key) is not key:
        # An equal key was given: the dict's own is put back.
        key = next(held for held in dict.__iter__(d) if held == key)
    position = memory.note(swap_item, d, key, dict.__getitem__(d, key))
    dict.__delitem__(d, key)
    return lambda: memory.rewind(position)


@structural((dict, "__getitem__"))
def _(memory: Memory, d: Any, key: Any) -> Any:
    if not dict.__contains__(d, key):
        if hasattr(type(d), "__missing__"):
            return NotImplemented
        return dict.__getitem__(d, key), None  # Python's own message
    place = memory.place(d, key)

    def entry_back(y_bar: Any) -> tuple[None, ...]:
        memory.add_entry(d, place, y_bar)
        return None, None, None

    return dict.__getitem__(d, key), entry_back


@substitute((dict, "__getitem__"))
def _(d: Any, key: Any) -> Any:
    return d.__missing__(key)


@substitute((defaultdict, "__missing__"))
def _(d: Any, key: Any) -> Any:
    if d.default_factory is None:
        raise KeyError(key)
    value = d.default_factory()
    d[key] = value  # C asks the subclass too
    return value


@structural((dict, "__setitem__"))
def _(memory: Memory, d: Any, key: Any, value: Any) -> Any:
    position = memory.note(swap_item, d, key, dict.get(d, key, ABSENT))
    dict.__setitem__(d, key, value)
    place = memory.place(d, key)

    def set_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        return None, None, None, memory.take_entry(d, place)

    return None, set_back


@structural((dict, "__delitem__"))
def _(memory: Memory, d: Any, key: Any) -> Any:
    if not dict.__contains__(d, key):
        dict.__delitem__(d, key)  # Python's own message
    undo = remove(memory, d, key)

    def delete_back(_: Any) -> tuple[None, ...]:
        undo()
        return None, None, None

    return None, delete_back


@structural((dict, "get"))
def _(memory: Memory, d: Any, key: Any, default: Any = None) -> Any:
    if dict.__contains__(d, key):
        place = memory.place(d, key)

        def get_back(y_bar: Any) -> tuple[Any, ...]:
            memory.add_entry(d, place, y_bar)
            return None, None, None, None

        return dict.__getitem__(d, key), get_back
    return default, lambda y_bar: (None, None, None, y_bar)


@structural((dict, "pop"))
def _(memory: Memory, d: Any, key: Any, *default: Any) -> Any:
    n = 3 + len(default)
    if not dict.__contains__(d, key):
        value = dict.pop(d, key, *default)
        return value, lambda y_bar: (None, None, None, y_bar)
    value = dict.__getitem__(d, key)
    undo = remove(memory, d, key)
    place = memory.place(d, key)

    def pop_back(y_bar: Any) -> tuple[Any, ...]:
        undo()
        memory.add_entry(d, place, y_bar)
        return (None,) * n

    return value, pop_back


@substitute((dict, "setdefault"))
def setdefault(d: Any, key: Any, default: Any = None) -> Any:
    if not dict.__contains__(d, key):
        dict.__setitem__(d, key, default)
    return dict.__getitem__(d, key)


def _is_plain(other: Any) -> bool:
    """Whether C reads a mapping without asking its methods: a dict iterated as dicts are."""
    return isinstance(other, dict) and type(other).__iter__ is dict.__iter__


@substitute((dict, "update"), (dict, "__init__"))
def update(d: Any, other: Any = (), /, **named: Any) -> None:
    """A subclass's own methods are not asked, as in C."""
    if _is_plain(other):
        for key in dict.keys(other):
            dict.__setitem__(d, key, dict.__getitem__(other, key))
    elif hasattr(other, "keys"):
        for key in other.keys():
            dict.__setitem__(d, key, other[key])
    else:
        for key, value in other:
            dict.__setitem__(d, key, value)
    for key, value in named.items():
        dict.__setitem__(d, key, value)


@structural((dict, "popitem"))
def _(memory: Memory, d: Any) -> Any:
    if not dict.__len__(d):
        dict.popitem(d)  # Python's own message
    key = next(dict.__reversed__(d))
    item = key, dict.__getitem__(d, key)
    undo = remove(memory, d, key)
    place = memory.place(d, key)

    def popitem_back(_: Any) -> tuple[None, ...]:
        undo()
        key_bar, value_bar = memory.take_items(item, 2)
        memory.add_key(d, key, key_bar)
        memory.add_entry(d, place, value_bar)
        return None, None

    return item, popitem_back


@substitute((dict, "clear"))
def clear(d: Any) -> None:
    for key in list(dict.keys(d)):
        dict.__delitem__(d, key)


@substitute((dict, "copy"), (dict, "__copy__"))
def copy(d: Any) -> Any:
    made: dict[Any, Any] = {}
    dict.update(made, d)
    return made


@substitute((dict, "__or__"))
def _(a: Any, b: Any) -> Any:
    if not isinstance(b, dict):
        return NotImplemented
    made: dict[Any, Any] = {}
    dict.update(made, a)
    dict.update(made, b)
    return made


@substitute((dict, "__ror__"))
def _(a: Any, b: Any) -> Any:
    if not isinstance(b, dict):
        return NotImplemented
    made: dict[Any, Any] = {}
    dict.update(made, b)
    dict.update(made, a)
    return made


@substitute((dict, "__ior__"))
def _(a: Any, b: Any) -> Any:
    dict.update(a, b)
    return a


@substitute((dict, "fromkeys"))
def fromkeys(keys: Any, value: Any = None, /) -> Any:
    return {key: value for key in keys}


def fromkeys_of(kind: Any, keys: Any, value: Any = None, /) -> Any:
    """``fromkeys`` of a subclass, by its own methods as in C."""
    made = kind()
    for key in keys:
        made[key] = value
    return made


_nothing: dict[Any, Any] = {}
for _view in (_nothing.keys(), _nothing.values(), _nothing.items()):

    @substitute((type(_view), "__reversed__"))
    def _(view: Any) -> Any:
        return iter([item for item in view][::-1])


# ---- defaultdict ---------------------------------------------------------------------------------


@substitute(defaultdict)
def _(default_factory: Any = None, /, *args: Any, **named: Any) -> Any:
    made = _empty(default_factory)
    if args or named:
        dict.update(made, *args, **named)
    return made


def _empty(factory: Any) -> Any:
    return defaultdict(factory)


@substitute((defaultdict, "__init__"))
def _(d: Any, default_factory: Any = None, /, *args: Any, **named: Any) -> None:
    d.default_factory = default_factory
    dict.update(d, *args, **named)


@substitute((defaultdict, "copy"), (defaultdict, "__copy__"))
def _(d: Any) -> Any:
    return type(d)(d.default_factory, d)


@substitute((defaultdict, "__or__"))
def _(a: Any, b: Any) -> Any:
    if not isinstance(b, dict):
        return NotImplemented
    made = defaultdict.copy(a)
    dict.update(made, b)
    return made


@substitute((defaultdict, "__ror__"))
def _(a: Any, b: Any) -> Any:
    if not isinstance(b, dict):
        return NotImplemented
    made = type(a)(a.default_factory)
    dict.update(made, b)
    dict.update(made, a)
    return made


# ---- Counter -------------------------------------------------------------------------------------


@substitute(_count_elements)
def _(counts: Any, elements: Any) -> None:
    for element in elements:
        counts[element] = counts.get(element, 0) + 1


# ---- SimpleNamespace -----------------------------------------------------------------------------


@substitute(types.SimpleNamespace)
def _(*args: Any, **named: Any) -> Any:
    made = _namespace()
    for key, value in dict(*args, **named).items():
        made.__dict__[key] = value
    return made


def _namespace() -> Any:
    return types.SimpleNamespace()


non_differentiable(_empty, _namespace, _is_plain)
