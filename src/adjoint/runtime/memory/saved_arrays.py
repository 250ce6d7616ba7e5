"""Saved states of arrays: of numbers, with named fields, of objects; and of `array.array`."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import numpy as np

from adjoint.diagnostics.refusals import refused
from adjoint.primal.array_memory import root_of
from adjoint.primal.container_contents import ABSENT
from adjoint.primal.object_array_places import elements_in, is_container
from adjoint.runtime.memory.log_entries import swap_contents, swap_objects
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.saved import Saved, same_items


def save_array(value: Any) -> list[Saved]:
    """Save the array that owns the memory of `value`, if it can carry a derivative."""
    root = root_of(value)
    if root.base is None and not root.flags.owndata:
        return []  # memory that C lends for one call may be freed after it
    if is_container(root):
        return [SavedObjects(root, np.array(root))]
    if root.dtype.names is not None:
        return [SavedStructuredArray(root, np.array(root))]
    return [SavedArray(root, np.array(root))] if root.dtype.kind in "fc" else []


class SavedArray(Saved):
    """The saved state of an array of numbers that owns its memory."""

    __slots__ = ("changed", "filled")

    filled: bool

    def __init__(self, owner: Any, saved: Any) -> None:
        super().__init__(owner, saved)
        self.filled = False

    def is_of_contents(self) -> bool:
        return True

    def has_changed(self) -> bool:
        x, saved = np.asarray(self.owner), self.saved  # without methods of a subclass
        return x.shape != saved.shape or not np.array_equal(x, saved, equal_nan=True)

    def differs(self) -> bool:
        return self.filled or self.has_changed()

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        yield self.saved, self.owner

    def log(self, memory: Memory) -> None:
        x, saved = np.asarray(self.owner), self.saved
        if x.shape != saved.shape:
            raise _of_another_shape()
        self.changed: list[Any] = [*self._changes()]
        for part, changed in zip(_numbers_in(x), self.changed, strict=True):
            if np.any(changed):
                memory.mark_written(part)
        self.position: int = memory.note(swap_contents, x, saved.copy())

    def _changes(self) -> Iterator[Any]:
        """Yield, for each part in `_numbers_in`, a mask of the numbers that count as changed."""
        return (self.filled | differing for differing in self._differences())

    def _differences(self) -> Iterator[Any]:
        parts = zip(_numbers_in(np.asarray(self.owner)), _numbers_in(self.saved), strict=True)
        for x, y in parts:
            alike = x.shape == y.shape
            yield (x != y) & ~((x != x) & (y != y)) if alike else np.True_

    def collect(self, memory: Memory) -> Iterator[tuple[Any, Any]]:
        memory.rewind(self.position)
        yield self.owner, memory.shadows.get(("poison", id(self.owner)))
        if id(self.owner) in memory.buffers:
            shadows = _numbers_in(memory.array_shadow(self.owner))
            for shadow, changed in zip(shadows, self.changed, strict=True):
                yield self.owner, shadow[changed]
                shadow[changed] = 0

    def take_whole(self, memory: Memory) -> Any:
        """Take the cotangent of the whole array out of its shadow without undoing the change."""
        bad = memory.shadows.get(("poison", id(self.owner)))
        if bad is not None or id(self.owner) not in memory.buffers:
            return bad
        shadow = memory.array_shadow(self.owner)
        bar = shadow.copy()
        shadow[...] = 0
        return bar


class SavedStructuredArray(SavedArray):
    """The saved state of a structured array that owns its memory."""

    __slots__ = ()

    def has_changed(self) -> bool:
        return any(map(np.any, self._differences()))

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        now = _numbers_in(np.asarray(self.owner))
        for old, new, changed in zip(_numbers_in(self.saved), now, self._changes(), strict=True):
            if np.any(changed):
                yield old, new


def _numbers_in(x: Any) -> Iterator[Any]:
    """Yield an array of floats itself, or those of a structured array's fields that hold floats,
    nested fields included."""
    if x.dtype.kind in "fc":
        yield x
    for name in x.dtype.names or ():
        yield from _numbers_in(x[name])


class SavedObjects(Saved):
    """The saved state of an array of objects that owns its memory."""

    __slots__ = ("now",)

    def differs(self) -> bool:
        x = np.ndarray.view(self.owner, np.ndarray)
        return x.shape != self.saved.shape or not same_items([*x.flat], [*self.saved.flat])

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        now = np.ndarray.view(self.owner, np.ndarray).flat
        for old, new in zip_longest(self.saved.flat, now, fillvalue=ABSENT):
            if old is not new:
                yield old, new

    def log(self, memory: Memory) -> None:
        x = np.ndarray.view(self.owner, np.ndarray)
        if x.shape != self.saved.shape:
            raise _of_another_shape()
        places = [place for place, _ in elements_in(x)]
        changes = zip(places, self.saved.flat, x.flat, strict=True)
        self.now: list[tuple[int, Any]] = [
            (place, new) for place, old, new in changes if old is not new
        ]
        self.position: int = memory.note(swap_objects, x, ..., self.saved.copy())

    def collect(self, memory: Memory) -> Iterator[tuple[Any, Any]]:
        memory.rewind(self.position)
        for place, value in self.now:
            yield value, memory.take_entry(root_of(self.owner), place)


def _of_another_shape() -> Exception:
    return refused(
        "an array was given another shape by code that is not differentiated",
        "make a new array: x.reshape(...)",
    )


class SavedBuffer(Saved):
    """The saved state of an `array.array`; a change is refused."""

    __slots__ = ()

    def differs(self) -> bool:
        return bool(self.owner != self.saved)

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        yield self.saved, self.owner

    def log(self, memory: Memory) -> None:
        raise refused(
            f"the {type(self.owner).__name__} is changed by code that is not differentiated",
            "use a list or an array of NumPy",
        )
