"""Displays and unpacking."""

from __future__ import annotations

from functools import partial
from typing import Any

from adjoint.primal.childless_types import CHILDLESS_TYPES
from adjoint.runtime.foreign.native_call import run_monitored
from adjoint.runtime.foreign.user_code_reach import HASHED
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.python.loops import first_elements


def _display(make: Any, name: str) -> Any:
    def build(record: list[Any], slot: int, *items: Any) -> Any:
        xs = make(items)
        memory, n = record[0], len(items)

        def display_back(_: Any) -> tuple[Any, ...]:
            shadow = memory.shadows.pop(id(xs), None)
            return (None, *shadow) if shadow is not None else (None,) * (n + 1)

        if n:
            record[slot] = display_back
        return xs

    build.__name__ = name
    return build


def build_set(record: list[Any], slot: int, *items: Any) -> Any:
    """``{a, b}``"""
    if not CHILDLESS_TYPES.issuperset(map(type, items)) and HASHED(*items):
        make = partial(_set_of, record, slot)
        return run_monitored(record, slot, set, make, items, {})
    return _set_of(record, slot, *items)


def _set_of(record: list[Any], slot: int, *items: Any) -> Any:
    xs = set(items)
    memory: Memory = record[0]

    def set_back(_: Any) -> tuple[Any, ...]:
        shadow = memory.shadows.pop(id(xs), None) or {}
        return (None, *(shadow.pop(value, None) for value in items))

    record[slot] = set_back
    return xs


def build_dict(record: list[Any], slot: int, *pairs: Any) -> Any:
    """``{k: v}``; the last value of a repeated key counts."""
    keys = pairs[::2]
    if not CHILDLESS_TYPES.issuperset(map(type, keys)) and HASHED(*keys):
        make = partial(_dict_of, record, slot)
        return run_monitored(record, slot, dict, make, pairs, {})
    return _dict_of(record, slot, *pairs)


def _dict_of(record: list[Any], slot: int, *pairs: Any) -> Any:
    xs = dict(zip(pairs[::2], pairs[1::2], strict=True))
    memory: Memory = record[0]
    keys = pairs[::2]
    places = [memory.shadow_key(xs, key) for key in keys]

    def dict_back(_: Any) -> tuple[Any, ...]:
        shadow = memory.shadows.pop(id(xs), None) or {}
        bars: list[Any] = [None] * len(pairs)
        # Of equal keys, a dict keeps the first key and the last value.
        bars[::2] = [memory.take_key(xs, key) for key in keys]
        bars[:0:-2] = [shadow.pop(place, None) for place in reversed(places)]
        return (None, *bars)

    record[slot] = dict_back
    return xs


def unpack(record: list[Any], slot: int, xs: Any, n: int) -> Any:
    """Return the elements for ``a, b = xs``; the assignment raises for a wrong number."""
    kind = type(xs)
    memory: Memory = record[0]
    if kind is tuple or kind is list:

        def unpack_back(*bars: Any) -> tuple[None, None]:
            if len(bars) == len(xs):
                for i, bar in enumerate(bars):
                    if bar is not None:
                        memory.add_item(xs, i, bar)
            return None, None

        record[slot] = unpack_back
        return tuple(xs)
    values, back = first_elements(memory, record, slot, xs, n)
    if back is not None:
        record[slot] = back
    return values


def unpack_starred(
    record: list[Any], slot: int, xs: Any, before: int, after: int
) -> tuple[Any, ...]:
    """Return the elements for ``a, *b, c = xs``: before the star, the list, after the star."""
    memory: Memory = record[0]
    inner: list[Any] = [memory, None]
    values = xs if type(xs) in (tuple, list) else None
    if values is None:
        values, back = first_elements(memory, inner, 1, xs, -1, before)
        inner[1] = inner[1] if back is None else back
    if len(values) < before + after:
        raise ValueError(
            f"not enough values to unpack (expected at least {before + after}, got {len(values)})"
        )
    stop = len(values) - after
    middle = list(values[before:stop])

    def starred_back(*bars: Any) -> tuple[Any, ...]:
        middle_bars = memory.take_items(middle, len(middle))
        flat = (*bars[:before], *middle_bars, *bars[before + 1 :])
        if values is not xs:
            return inner[1](*flat) if inner[1] is not None else (None, None)
        for i, bar in enumerate(flat):
            memory.add_item(xs, i, bar)
        return None, None

    record[slot] = starred_back
    return (*values[:before], middle, *values[stop:])
