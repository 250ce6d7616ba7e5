"""Primitives of functions that move elements of arrays of objects."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Container, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from adjoint.primal.array_memory import root_of
from adjoint.primal.object_array_places import elements_in, first_place, is_container, places_of
from adjoint.primal.value_kinds import is_objects
from adjoint.runtime.arrays.object_elements import moved_elements_back
from adjoint.runtime.memory.memory import Memory


def moving(f: Any, places: tuple[int, ...] = (0,)) -> Callable[..., Any]:
    """Return a primitive of `f`, which moves elements of arrays of objects or returns views.

    `f` also runs on numbers of the elements, which tell the origin of each element of the result.
    The arrays are the arguments at `places`, or lists of arrays.
    """

    def move(record: list[Any], slot: int, *args: Any, **kwargs: Any) -> Any:
        memory: Memory = record[0]
        moved_ones = [*objects_in([x for i, x in enumerate(args) if i in places])]
        others = [x for i, x in enumerate(args) if i not in places]
        if not moved_ones or any(True for _ in objects_in((*others, *kwargs.values()))):
            return NotImplemented
        if not all(type(x) is np.ndarray and is_container(x) for x in moved_ones):
            return NotImplemented
        y = f(*args, **kwargs)
        if isinstance(y, np.ndarray) and any(root_of(y) is root_of(x) for x in moved_ones):
            return y
        if memory.level is not None:
            for x in moved_ones:
                memory.level.hide_row(x, ..., y)
            return y
        origins = [(root_of(x), *element) for x in moved_ones for element in elements_in(x)]
        numbers = f(*_numbered(args, places, itertools.count()), **kwargs)
        n = len(args) + len(kwargs)
        if not isinstance(numbers, np.ndarray):
            root, place, item = origins[numbers]
            if item is not y:
                return NotImplemented
            record[slot] = partial(_element_back, memory, root, place, n)
            return y
        found = [origins[i] for i in numbers.ravel().tolist()]
        if not is_objects(y) or any(x is not item for x, (*_, item) in _pairs(y, found)):
            return NotImplemented
        record[slot] = moved_elements_back(
            memory, y, [(root, place) for root, place, _ in found], n
        )
        return y

    return move


def _element_back(memory: Memory, root: Any, place: int, n: int, y_bar: Any) -> tuple[None, ...]:
    memory.add_entry(root, place, y_bar)
    return (None,) * (n + 1)


def _pairs(y: Any, found: list[Any]) -> Iterator[tuple[Any, Any]]:
    return zip(y.flat, found, strict=True)


def objects_in(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the arrays of objects among some values and in lists of them."""
    for value in values:
        if is_objects(value):
            yield value
        elif type(value) is list or type(value) is tuple:
            yield from objects_in(value)


def _numbered(args: tuple[Any, ...], places: Container[int], count: Iterator[int]) -> list[Any]:
    """Replace elements in arguments by numbers, in the same layout, which may affect the result."""
    return [_with_numbers(x, count) if i in places else x for i, x in enumerate(args)]


def _with_numbers(value: Any, count: Iterator[int]) -> Any:
    if type(value) is list or type(value) is tuple:
        return type(value)(_with_numbers(part, count) for part in value)
    listed = [*itertools.islice(count, value.size)]
    numbers = np.reshape(np.array(listed, np.intp), value.shape)
    return _stored_as(value, numbers) if value.size else numbers


def _stored_as(value: Any, numbers: Any) -> Any:
    """Return an array of `numbers` in the memory layout of `value`."""
    places: Any = places_of(value)
    first = int(places.min())
    memory = bytearray(int(places.max()) - first + numbers.itemsize)
    start = first_place(value) - first
    made = np.ndarray(value.shape, numbers.dtype, memory, start, value.strides)
    made[...] = numbers
    return made
