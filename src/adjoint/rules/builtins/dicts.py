"""Dicts: the shadow of a dict is a dict with the same keys."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
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
    (OrderedDict, "keys"),
    (OrderedDict, "values"),
    (OrderedDict, "items"),
)


def remove(memory: Memory, d: dict[Any, Any], key: Any) -> Any:
    """Delete one key; returns the undoing function."""
    position = memory.note(swap_item, d, key, d[key])
    dict.__delitem__(d, key)
    return lambda: memory.rewind(position)


@structural((dict, "__getitem__"))
def _(memory: Memory, d: Any, key: Any) -> Any:
    if not dict.__contains__(d, key):
        if (isinstance(d, defaultdict) and d.default_factory is not None) or isinstance(d, Counter):
            return NotImplemented
        return d[key], None

    def entry_back(y_bar: Any) -> tuple[None, ...]:
        memory.add_entry(d, key, y_bar)
        return None, None, None

    return dict.__getitem__(d, key), entry_back


@substitute((dict, "__getitem__"))
def _(d: Any, key: Any) -> Any:
    if not hasattr(d, "default_factory"):
        return 0  # a Counter
    value = d.default_factory()
    d[key] = value
    return value


@structural((dict, "__setitem__"))
def _(memory: Memory, d: Any, key: Any, value: Any) -> Any:
    position = memory.note(swap_item, d, key, dict.get(d, key, ABSENT))
    dict.__setitem__(d, key, value)

    def set_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        return None, None, None, memory.take_entry(d, key)

    return None, set_back


@structural((dict, "__delitem__"))
def _(memory: Memory, d: Any, key: Any) -> Any:
    undo = remove(memory, d, key)

    def delete_back(_: Any) -> tuple[None, ...]:
        undo()
        return None, None, None

    return None, delete_back


@structural((dict, "get"))
def _(memory: Memory, d: Any, key: Any, default: Any = None) -> Any:
    if key in d:

        def get_back(y_bar: Any) -> tuple[Any, ...]:
            memory.add_entry(d, key, y_bar)
            return None, None, None, None

        return d[key], get_back
    return default, lambda y_bar: (None, None, None, y_bar)


@structural((dict, "pop"))
def _(memory: Memory, d: Any, key: Any, *default: Any) -> Any:
    n = 3 + len(default)
    if key not in d:
        value = d.pop(key, *default)
        return value, lambda y_bar: (None, None, None, y_bar)
    value = d[key]
    undo = remove(memory, d, key)

    def pop_back(y_bar: Any) -> tuple[Any, ...]:
        undo()
        memory.add_entry(d, key, y_bar)
        return (None,) * n

    return value, pop_back


@substitute((dict, "setdefault"))
def setdefault(d: Any, key: Any, default: Any = None) -> Any:
    if key not in d:
        d[key] = default
    return d[key]


@substitute((dict, "update"))
def update(d: Any, other: Any = (), /, **named: Any) -> None:
    if hasattr(other, "keys"):
        for key in other.keys():
            d[key] = other[key]
    else:
        for key, value in other:
            d[key] = value
    for key, value in named.items():
        d[key] = value


@substitute((dict, "popitem"))
def popitem(d: Any) -> Any:
    for key in reversed(list(d.keys())):
        return key, d.pop(key)
    raise KeyError("popitem(): dictionary is empty")


@substitute((dict, "clear"))
def clear(d: Any) -> None:
    for key in list(d.keys()):
        del d[key]


@substitute((dict, "copy"), (dict, "__copy__"))
def copy(d: Any) -> Any:
    return {key: d[key] for key in d.keys()}


@substitute((dict, "__or__"))
def _(a: Any, b: Any) -> Any:
    return {**a, **b}


@substitute((dict, "__ior__"))
def _(a: Any, b: Any) -> Any:
    a.update(b)
    return a


@substitute((dict, "fromkeys"))
def fromkeys(cls: Any, keys: Any, value: Any = None) -> Any:
    return dict.fromkeys(keys, value)
