"""Subscripts, displays and unpacking."""

from __future__ import annotations

import operator
from functools import partial
from types import FunctionType, MappingProxyType
from typing import Any

import numpy as np

from adjoint.ir import primitives
from adjoint.rules.registry import lookup
from adjoint.run.array_writes import write_array
from adjoint.run.arrays import read_array
from adjoint.run.attribute_writes import set_attribute
from adjoint.run.by_rules import DECLINED, run_rules
from adjoint.run.contents import ABSENT
from adjoint.run.conversion import is_odd
from adjoint.run.dispatch import call_keywords, linked
from adjoint.run.functions import bare
from adjoint.run.iteration import first_elements
from adjoint.run.kinds import mapping_behind
from adjoint.run.memory import Memory
from adjoint.run.native import watched
from adjoint.run.packages import LEFT_ALONE, package
from adjoint.run.reach import HASHED
from adjoint.run.refused import refused
from adjoint.run.snapshot import LEAVES
from adjoint.run.specials import C_METHODS, class_attribute, method_rules, special_of
from adjoint.run.swaps import swap_item, swap_slice
from adjoint.run.unknown import is_opaque, run_unknown

ndarray = np.ndarray
NONE2 = (None, None, None)


# ---- subscripts ----------------------------------------------------------------------------------


def item(record: list[Any], slot: int, xs: Any, i: Any) -> Any:
    """``xs[i]``"""
    kind = type(xs)
    memory: Memory = record[0]
    if kind is ndarray:
        return read_array(record, slot, xs, i)
    if kind is list or kind is tuple:
        if type(i) is int or type(i) in LEAVES:
            value = xs[i]
            place = i if type(i) is int else operator.index(i)
            if place < 0:
                place += len(xs)
            record[slot] = partial(_element_back, memory, xs, place)
            return value
    elif kind is dict:
        if type(i) is not str and type(i) not in LEAVES and HASHED(i):
            return _special_item(record, slot, xs, i)
        if i in xs:
            value = xs[i]
            key = i if type(i) is str and id(xs) in memory.plain else memory.place(xs, i)
            record[slot] = partial(_entry_back, memory, xs, key)
            return value
    elif (kind is str or kind is range) and not is_odd(i):
        return xs[i]
    elif kind is bytes and type(i) is int:
        return xs[i]
    return _special_item(record, slot, xs, i)


def _element_back(memory: Memory, xs: Any, place: int, y_bar: Any) -> tuple[Any, ...]:
    memory.add_item(xs, place, y_bar)
    return NONE2


def _entry_back(memory: Memory, xs: Any, key: Any, y_bar: Any) -> tuple[Any, ...]:
    memory.add_entry(xs, key, y_bar)
    return NONE2


def _special_item(record: list[Any], slot: int, xs: Any, i: Any) -> Any:
    kind = type(xs)
    if issubclass(kind, type) and class_attribute(kind, "__getitem__") is None:
        return _class_item(record, slot, xs, i)
    f = special_of(kind, "__getitem__")
    if type(f) is FunctionType:
        return call_keywords(record, slot, f, (xs, i), {})
    if issubclass(kind, ndarray):
        return read_array(record, slot, xs, i)
    if kind is MappingProxyType:
        return item(record, slot, mapping_behind(xs), i)
    rules = method_rules(kind, "__getitem__") or lookup((kind, "__getitem__"))
    if rules is not None:
        y = run_rules(record, slot, f, rules, (xs, i), {})
        if y is not DECLINED:
            return y
    operands, why = (xs, i), "has neither a rule nor Python source"
    if isinstance(xs, np.void):
        why = "reads a row of an array with named fields"
    return run_unknown(record[0], record, slot, operator.getitem, operands, {}, why)


def _class_item(record: list[Any], slot: int, cls: Any, i: Any) -> Any:
    """``list[int]``, or what a class makes of a subscript by ``__class_getitem__``."""
    static = class_attribute(cls, "__class_getitem__")
    f = getattr(static, "__func__", None)
    if type(f) is FunctionType and package(f.__module__) not in LEFT_ALONE:
        return call_keywords(record, slot, f, (cls, i), {})
    if static is None or type(static) in C_METHODS or type(f) in (FunctionType, type):
        return cls[i]
    getter = getattr(cls, "__class_getitem__")  # noqa: B009  anything that is called
    return linked(record, slot, _of_the_key, call_keywords, getter, (i,), {})


def _of_the_key(bars: tuple[Any, ...]) -> tuple[Any, ...]:
    return None, None, bars[1]


_FLAGS = type(np.empty(0).flags)


def set_item(record: list[Any], slot: int, xs: Any, i: Any, value: Any) -> None:
    """``xs[i] = value``"""
    kind = type(xs)
    memory: Memory = record[0]
    if kind is ndarray:
        write_array(record, slot, xs, i, value)
    elif kind is list and (type(i) is int or type(i) in LEAVES):
        try:
            old = xs[i]
        except IndexError:
            pass
        else:
            place = i if type(i) is int else operator.index(i)
            if place < 0:
                place += len(xs)
            xs[i] = value
            position = memory.note(swap_slice, xs, place, place + 1, [old])

            def set_item_back(_: Any) -> tuple[Any, ...]:
                memory.rewind(position)
                shadow = memory.shadows.get(id(xs))
                if shadow is None:
                    return None, None, None, None
                bar, shadow[place] = shadow[place], None
                return None, None, None, bar

            record[slot] = set_item_back
            return
        xs[i] = value  # Python's own message
    elif kind is dict:
        set_entry(record, slot, xs, i, value)
    elif kind is _FLAGS and i in ("W", "WRITEABLE"):
        set_attribute(record, slot, xs, "writeable", value)
    else:
        _special_write(record, slot, "__setitem__", operator.setitem, xs, i, value)


def set_entry(record: list[Any], slot: int, xs: dict[Any, Any], key: Any, value: Any) -> None:
    """``xs[key] = value`` of a dict."""
    if type(key) is not str and type(key) not in LEAVES and HASHED(key):
        _special_write(record, slot, "__setitem__", operator.setitem, xs, key, value)
        return
    memory: Memory = record[0]
    if "__builtins__" in xs or id(xs) in bare:  # the globals of functions: reading has to look
        memory.globals_written[id(xs), key] = xs
    old = xs.get(key, ABSENT)
    xs[key] = value
    position = memory.note(swap_item, xs, key, old)
    known = type(key) is str and id(xs) in memory.plain
    where = key if known else memory.place(xs, key)

    def set_entry_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        # Of an equal key that was there before, the dict has kept the old one.
        key_bar = memory.take_key(xs, key) if old is ABSENT else None
        return None, None, key_bar, memory.take_entry(xs, where)

    record[slot] = set_entry_back


def delete_item(record: list[Any], slot: int, xs: Any, i: Any) -> None:
    """``del xs[i]``"""
    _special_write(record, slot, "__delitem__", operator.delitem, xs, i)


def _special_write(
    record: list[Any], slot: int, special: str, op: Any, xs: Any, *operands: Any
) -> None:
    kind = type(xs)
    f = special_of(kind, special)
    if type(f) is FunctionType:
        call_keywords(record, slot, f, (xs, *operands), {})
        return
    if issubclass(kind, ndarray) and special == "__setitem__":
        write_array(record, slot, xs, *operands)
        return
    rules = method_rules(kind, special)
    if rules is None or run_rules(record, slot, f, rules, (xs, *operands), {}) is DECLINED:
        if f is not None and (is_opaque(xs) or isinstance(xs, np.void)):
            raise refused(
                f"an element of a '{kind.__name__}' is written inside differentiated code,"
                " whose memory may belong to others",
                "write into an array or a list",
            )
        run_unknown(record[0], record, slot, op, (xs, *operands), {})


# ---- displays ------------------------------------------------------------------------------------


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
    if not LEAVES.issuperset(map(type, items)) and HASHED(*items):
        make = partial(_set_of, record, slot)
        return watched(record, slot, set, make, items, {}, keys=items)
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
    """``{k: v}``; of a key that is given twice the last value counts."""
    keys = pairs[::2]
    if not LEAVES.issuperset(map(type, keys)) and HASHED(*keys):
        make = partial(_dict_of, record, slot)
        return watched(record, slot, dict, make, pairs, {}, keys=keys)
    return _dict_of(record, slot, *pairs)


def _dict_of(record: list[Any], slot: int, *pairs: Any) -> Any:
    xs = dict(zip(pairs[::2], pairs[1::2], strict=True))
    memory: Memory = record[0]
    keys = pairs[::2]
    places = [memory.place(xs, key) for key in keys]

    def dict_back(_: Any) -> tuple[Any, ...]:
        shadow = memory.shadows.pop(id(xs), None) or {}
        bars: list[Any] = [None] * len(pairs)
        # Of equal keys the dict has kept the first, and the last one's value.
        bars[::2] = [memory.take_key(xs, key) for key in keys]
        bars[:0:-2] = [shadow.pop(place, None) for place in reversed(places)]
        return (None, *bars)

    record[slot] = dict_back
    return xs


# ---- unpacking -----------------------------------------------------------------------------------


def unpack(record: list[Any], slot: int, xs: Any, n: int) -> Any:
    """``a, b = xs``: the elements; Python itself then says so if there are too many or too few."""
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
    """``a, *b, c = xs``: the elements before the star, the list, the elements after it."""
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


ITEMS: dict[Any, Any] = {
    operator.getitem: item,
    operator.setitem: set_item,
    operator.delitem: delete_item,
    primitives.build_tuple: _display(tuple, "build_tuple"),
    primitives.build_list: _display(list, "build_list"),
    primitives.build_set: build_set,
    primitives.build_dict: build_dict,
    primitives.dict_insert: set_entry,
}
