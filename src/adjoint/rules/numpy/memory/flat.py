"""``x.flat``: reads, writes and iteration of the elements of an array in order.

A subscript moves the iterator, so the rules repeat the subscript on it. Cotangents of elements of
an unwritten array go through the shadow of the flat iterator.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from adjoint.cotangents.accumulate import accumulate, finish
from adjoint.primal.flat_iterators import flattening, places_of
from adjoint.primal.value_kinds import is_objects
from adjoint.rulekit.projection import projector
from adjoint.rulekit.registry import non_differentiable, primitive, structural, substitute
from adjoint.rules.numpy.memory.array_writes import as_written
from adjoint.runtime.arrays.reads import read_array
from adjoint.runtime.arrays.writes import demand_order
from adjoint.runtime.memory.active_iterator import ActiveIterator
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.shadow_owners import slot_owner
from adjoint.runtime.python.method_call import method


@structural((np.ndarray, "flat"))
def _(memory: Memory, a: Any) -> Any:
    y = a.flat

    def flat_back(_: Any) -> tuple[Any, ...]:
        bar, poison = _collected(memory, y)
        if poison is not None and memory.is_written(a):
            memory.add_array(a, poison)
            return None, bar
        return None, bar if poison is None else poison

    return y, flat_back


@structural((np.generic, "flat"))
def _(memory: Memory, a: Any) -> Any:
    """Make the flat iterator of a NumPy scalar, over a new array with one element."""
    y, to_a = a.flat, projector(a)

    def flat_back(_: Any) -> tuple[Any, ...]:
        bar, poison = _collected(memory, y)
        if poison is not None or bar is None:
            return None, poison
        return None, to_a(finish(bar))

    return y, flat_back


def _collected(memory: Memory, flat: Any) -> tuple[Any, Any]:
    """Take the cotangent of the array of a flat iterator, from reads and from ``base``, and its
    poison."""
    bar = accumulate(
        memory.take_entry(flat, "array"), memory.take_entry(slot_owner(memory, flat), "base")
    )
    return bar, memory.take_entry(flat, "*")


def _read(memory: Memory, flat: Any, places: Any) -> tuple[Any, Any]:
    """Return elements and the function that takes their cotangents."""
    inner: list[Any] = [memory, None]
    y = read_array(inner, 1, flat.base, places)
    back = inner[1]

    def read_back(y_bar: Any) -> None:
        if back is not None:
            memory.add_entry(flat, "array", back(y_bar)[1])

    return y, read_back


@structural((np.flatiter, "__getitem__"))
def _(memory: Memory, flat: Any, index: Any) -> Any:
    if not flat.base.ndim and not isinstance(index, int | np.integer):
        return NotImplemented
    places = places_of(flat, index)
    np.flatiter.__getitem__(flat, index)
    y, read_back = _read(memory, flat, places)

    def item_back(y_bar: Any) -> tuple[None, ...]:
        read_back(y_bar)
        return None, None, None

    return y, item_back


@substitute((np.flatiter, "__setitem__"))
def _(flat, index, value):
    """Assign elements; too few values are repeated."""
    a, places = _owner(flat), places_of(flat, index)
    n = _count(places)
    demand_order(a, lambda target: operator.setitem(target.flat, index, value), value)
    a = np.ndarray.view(a, np.ndarray)  # no call of a subclass
    if n is None:
        a[places] = value
    elif n:
        value = value if is_objects(a) else as_written(a, value)
        a[places] = np.ravel(value)[np.arange(n) % np.size(value)]
    _move(flat, index)


def _move(flat: Any, index: Any) -> None:
    """Move the iterator as a write does; the elements are already written."""
    flat[index] = flat[index]


@substitute((np.flatiter, "copy"))
def _(flat):
    return flat[:]


@structural((np.flatiter, "__array__"))
def _(memory: Memory, flat: Any) -> Any:
    """Return the elements as an array, an alias if the memory has the same order."""
    inner: list[Any] = [memory, None]
    y = method(inner, 1, flat.base, flattening(flat))
    back = inner[1]

    def array_back(y_bar: Any) -> tuple[None, ...]:
        if back is not None:
            memory.add_entry(flat, "array", back(y_bar)[1])
        return None, None

    return y, array_back


def _owner(flat: Any) -> Any:
    return flat.base


def _count(places: Any) -> int | None:
    return np.size(places[0]) if places and np.ndim(places[0]) else None


non_differentiable(_owner, places_of, _count, _move, (np.flatiter, "__len__"))
non_differentiable((np.flatiter, "index"), (np.flatiter, "coords"))


class FlatIterator(ActiveIterator):
    """An iterator over the rest of a flat iterator, which keeps the position."""

    stands_for: type = np.flatiter

    def __init__(self, memory: Memory, flat: Any) -> None:
        super().__init__(memory)
        self.flat = flat

    def step(self, record: list[Any], slot: int) -> Any:
        flat = self.flat
        place = flat.index
        np.flatiter.__next__(flat)
        y, record[slot] = _read(self.memory, flat, places_of(flat, place))
        return y


@primitive((np.flatiter, "__iter__"))
def _(record: list[Any], slot: int, flat: Any) -> Any:
    return FlatIterator(record[0], flat)


@substitute((np.ndarray, "__setattr__"))
def _(a, name, value, /):
    """Assign ``flat``, ``real`` or ``imag``, which writes elements."""
    if name == "flat":
        a.flat[...] = value
    elif name == "real":
        np.ndarray.view(a.real, np.ndarray)[...] = value
    elif name == "imag":
        np.ndarray.view(a.imag, np.ndarray)[...] = value
    else:
        raise AttributeError(f"'{name}' of an array cannot be assigned in differentiated code")
