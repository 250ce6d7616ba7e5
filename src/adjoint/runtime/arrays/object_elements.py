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
from adjoint.rulekit.projection import SEQUENCES
from adjoint.runtime.arrays.object_conversion import boxed, follows, of_parts
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.memory.log_entries import swap_objects
from adjoint.runtime.memory.memory import Memory

NONE3 = (None, None, None, None)


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


def read_objects(record: list[Any], slot: int, x: Objects, index: Any) -> Any:
    """``x[index]``"""
    memory: Memory = record[0]
    y = x[index]
    one = _as_element(x, index)
    root = root_of(x)
    if one is not None:
        record[slot] = partial(_element_back, memory, root, _place_of(x, one))
    elif root_of(y) is not root:
        places = places_of(x)[index].ravel().tolist()
        record[slot] = moved_elements_back(memory, y, [(root, place) for place in places], 2)
    return y


def _element_back(memory: Memory, root: Objects, place: int, y_bar: Any) -> tuple[Any, ...]:
    memory.add_entry(root, place, y_bar)
    return None, None, None


def moved_elements_back(
    memory: Memory, y: Objects, origins: list[tuple[Objects, int]], n: int
) -> Any:
    """Return the pullback of `n` operands of a new array `y`, whose elements come from `origins`:
    pairs of an owner of memory and a place in it."""

    def moved_back(_: Any) -> tuple[None, ...]:
        shadow = memory.shadows.get(id(root_of(y)))
        if shadow is not None:
            for place, (root, origin) in zip(places_of(y).flat, origins, strict=True):
                memory.add_entry(root, origin, shadow.pop(int(place), None))
        return (None,) * (n + 1)

    return moved_back


# ---- writing -------------------------------------------------------------------------------------


def write_objects(record: list[Any], slot: int, x: Objects, index: Any, value: Any) -> None:
    """``x[index] = value``"""
    one = _as_element(x, index)
    if one is not None:
        _write_element(record, slot, x, one, value)
        return
    if issubclass(type(value), np.ndarray) and not is_objects(value):
        _write_made(record, slot, x, index, value, boxed, (value,))
    elif isinstance(value, SEQUENCES):
        plain = np.empty(_shape_of(value, x[index].ndim), object)
        plain[...] = value  # NumPy's own conversion, or its error
        if not follows(value, plain):
            raise _stored_differently(value)
        _write_made(record, slot, x, index, value, of_parts, (value, plain))
    else:
        _write_part(record, slot, x, index, value)


def _shape_of(value: Any, most: int) -> tuple[int, ...]:
    """Return the shape that NumPy gives a list, of at most `most` axes."""
    shape: list[int] = []
    while isinstance(value, SEQUENCES) and len(shape) < most:
        shape.append(len(value))
        value = value[0] if value else None
    if isinstance(value, np.ndarray):
        shape += value.shape
    return tuple(shape[:most])


def _write_made(
    record: list[Any],
    slot: int,
    x: Objects,
    index: Any,
    value: Any,
    make: Any,
    operands: tuple[Any, ...],
) -> None:
    """Write ``make(*operands)``, the elements that NumPy makes of `value`."""
    inner: list[Any] = [record[0], None, None]
    plain = x[index].copy()
    plain[...] = value

    def made_back(_: Any) -> tuple[Any, ...]:
        if inner[2] is not None:
            inner[2](None)
        return None, None, None, None if inner[1] is None else inner[1](None)[1]

    record[slot] = made_back
    made = call_function(inner, 1, make, operands, {})
    expected = np.broadcast_to(_without_leading_axes(made, plain.ndim), plain.shape)
    if not all(map(_is_stored_as, expected.flat, plain.flat)):
        raise _stored_differently(value)
    _write_part(inner, 2, x, index, made)


def _is_stored_as(value: Any, found: Any) -> bool:
    """Return whether NumPy stores `value` as `found`: the same object, or an equal number."""
    if value is found or type(value) is not type(found) or type(value) not in NUMBERS:
        return value is found
    return bool(value == found or value != value)


def _write_element(record: list[Any], slot: int, x: Any, index: Any, value: Any) -> None:
    memory: Memory = record[0]
    if not x.ndim:
        part = x
    else:
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
    if memory.level is not None:
        return
    root, place = root_of(x), _place_of(x, index)
    position = memory.note(swap_objects, part, ..., saved)

    def write_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        return None, None, None, memory.take_entry(root, place)

    record[slot] = write_back


def _write_part(record: list[Any], slot: int, x: Objects, index: Any, value: Any) -> None:
    """Write an array of objects into a part of another one, or one object into each element."""
    memory: Memory = record[0]
    part = x[index]
    refuse_names_twice(x, part)
    saved = part.copy()
    is_array = is_objects(value)
    given = value.copy() if is_array else value
    x[index] = given
    stored = x[index]
    expected = (
        np.broadcast_to(_without_leading_axes(given, stored.ndim), stored.shape)
        if is_array
        else None
    )
    places = places_of(x)[index]
    origin = dict(zip(places.ravel().tolist(), range(places.size), strict=True))  # the last write
    for i in origin.values():
        if stored.flat[i] is not (value if expected is None else expected.flat[i]):
            x[index] = saved
            raise _stored_differently(value)
    if memory.level is not None:
        return
    position = memory.note(swap_objects, x, index, saved)
    root = root_of(x)
    sources: Any = None
    if is_array:
        sources = np.broadcast_to(
            _without_leading_axes(places_of(value), stored.ndim), stored.shape
        )
    source_root = root_of(value) if is_array else None

    def write_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        taken = [(i, memory.take_entry(root, place)) for place, i in origin.items()]
        if is_array:
            for i, bar in taken:
                memory.add_entry(source_root, int(sources.flat[i]), bar)
            return NONE3
        value_bar = None
        for _, bar in taken:
            value_bar = accumulate(value_bar, bar)
        return None, None, None, value_bar

    record[slot] = write_back


def _without_leading_axes(a: Any, ndim: int) -> Any:
    """Return `a` without excess leading axes, which have length 1."""
    return a.reshape(a.shape[a.ndim - ndim :]) if a.ndim > ndim else a


def _stored_differently(value: Any) -> Exception:
    return refused(
        f"NumPy stores something else than the {type(value).__name__} that is written into an array"
        " of objects",
        "write it to one element: x[i] = value",
    )
