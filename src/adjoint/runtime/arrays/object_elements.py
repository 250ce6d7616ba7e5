"""Reading and writing elements and parts of arrays of objects
(`adjoint.primal.object_array_places`)."""

from __future__ import annotations

import operator
from functools import partial
from typing import Any

import numpy as np

from adjoint.cotangents.accumulate import accumulate
from adjoint.diagnostics.refusals import refuse_names_twice, refused
from adjoint.primal.array_memory import root_of
from adjoint.primal.object_array_places import Objects, first_place, places_of
from adjoint.primal.value_kinds import NUMBERS, is_objects
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.memory.log_entries import swap_objects
from adjoint.runtime.memory.memory import Memory


def _as_element(x: Objects, index: Any) -> tuple[int, ...] | None:
    """Return `index` as a tuple of integers, or ``None`` if it selects an array."""
    parts = index if type(index) is tuple else (index,)
    if len(parts) != x.ndim:
        return None
    found = []
    for part in parts:
        if type(part) is not int:
            whole = isinstance(part, np.integer) or (
                isinstance(part, np.ndarray) and part.ndim == 0 and part.dtype.kind in "iu"
            )
            if not whole:
                return None
        found.append(operator.index(part))
    return tuple(found)


def _place_of(x: Objects, index: tuple[int, ...]) -> int:
    place = first_place(x)
    for i, n, step in zip(index, x.shape, x.strides, strict=True):
        place += (i if i >= 0 else i + n) * step
    return place


# ---- reading -------------------------------------------------------------------------------------


def read_objects(record: list[Any], slot: int, x: Objects, index: Any, y: Any) -> Any:
    """Record ``y = x[index]``: an element, a view or a copy."""
    memory: Memory = record[0]
    one, root = _as_element(x, index), root_of(x)
    if one is not None:
        record[slot] = partial(_element_back, memory, root, _place_of(x, one))
    elif root_of(y) is not root:
        record[slot] = partial(_copy_back, memory, y, root, _places_in(x, index))
    return y


def _element_back(memory: Memory, root: Objects, place: int, y_bar: Any) -> tuple[Any, ...]:
    memory.add_entry(root, place, y_bar)
    return None, None, None


def _copy_back(
    memory: Memory, y: Objects, root: Objects, origins: list[int], _: Any
) -> tuple[Any, ...]:
    for place, origin in zip(_places_in(y, ...), origins, strict=True):
        memory.add_entry(root, origin, memory.take_entry(root_of(y), place))
    return None, None, None


def _places_in(x: Objects, index: Any) -> list[int]:
    return places_of(x)[index].ravel().tolist()  # type: ignore[no-any-return]


# ---- writing -------------------------------------------------------------------------------------


def write_objects(record: list[Any], slot: int, x: Objects, index: Any, value: Any) -> None:
    """``x[index] = value``"""
    one = _as_element(x, index)
    if one is not None:
        _write_element(record, slot, x, one, value)
        return
    part = x[index]
    refuse_names_twice(x, part)
    stored = part.copy()
    stored[...] = value  # NumPy's own conversion, or its error
    items = [*stored.flat]
    if is_objects(value):
        places = places_of(value)
        places = places.reshape(places.shape[max(places.ndim - stored.ndim, 0) :])
        sources = np.broadcast_to(places, stored.shape).ravel().tolist()
        root = root_of(value)

        def give(memory: Memory, i: int, bar: Any) -> None:
            memory.add_entry(root, sources[i], bar)

        _write_part(record, slot, x, index, stored, give)
    elif type(value) in (list, tuple) and [*map(id, value)] == [*map(id, items)]:
        _write_part(record, slot, x, index, stored, lambda memory, *of: memory.add_item(value, *of))
    elif all(item is value for item in items):
        _write_part(record, slot, x, index, stored, None)
    else:
        _write_made(record, slot, x, index, value, stored)


def _write_made(
    record: list[Any], slot: int, x: Objects, index: Any, value: Any, stored: Objects
) -> None:
    """Write the array of objects that NumPy makes of `value`."""
    inner: list[Any] = [record[0], None, None]

    def made_back(_: Any) -> tuple[Any, ...]:
        if inner[2] is not None:
            inner[2](None)
        return None, None, None, None if inner[1] is None else inner[1](None)[1]

    record[slot] = made_back
    made = call_keywords(inner, 1, np.asarray, (value, object), {})
    copy = stored.copy()
    try:
        copy[...] = made
    except ValueError:
        raise _stored_differently(value) from None
    if not is_objects(made) or not all(map(_are_alike, copy.flat, stored.flat)):
        raise _stored_differently(value)
    write_objects(inner, 2, x, index, made)


def _are_alike(a: Any, b: Any) -> bool:
    """Return whether two elements are one object, or equal numbers."""
    if a is b or type(a) is not type(b) or type(a) not in NUMBERS:
        return a is b
    return bool(a == b or a != a)


def _write_element(record: list[Any], slot: int, x: Any, index: Any, value: Any) -> None:
    try:
        part = x[(*index, ...)]
    except IndexError:
        x[index] = value  # NumPy's own message
        raise
    saved = part.copy()
    x[index] = value
    if part[()] is not value:
        part[...] = saved
        raise _stored_differently(value)
    stored = part.copy()
    part[...] = saved
    _write_part(record, slot, x, (*index, ...), stored, None)


def _write_part(
    record: list[Any], slot: int, x: Any, index: Any, stored: Objects, give: Any
) -> None:
    """Write references; ``give(memory, i, bar)`` gives the cotangent of one to its origin, without
    `give` their sum belongs to the value that is written."""
    memory: Memory = record[0]
    saved = x[index].copy()
    x[index] = stored
    if memory.level is not None:
        return
    position = memory.note(swap_objects, x, index, saved)
    root, places = root_of(x), _places_in(x, index)
    origin = dict(zip(places, range(len(places)), strict=True))  # the last write to each place

    def write_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        value_bar = None
        taken = [(i, memory.take_entry(root, place)) for place, i in origin.items()]
        for i, bar in taken:
            if give is None:
                value_bar = accumulate(value_bar, bar)
            else:
                give(memory, i, bar)
        return None, None, None, value_bar

    record[slot] = write_back


def _stored_differently(value: Any) -> Exception:
    return refused(
        f"NumPy stores something else than the {type(value).__name__} that is written into an array"
        " of objects",
        "write it to one element: x[i] = value",
    )
