"""Arrays beside arrays: for the memory of each a memory of the same layout, so that every view of
the one has its view of the other.

Beside integers and truth values stand floats of double precision: what is so many bytes into the
one is `_scale` times as many into the other.
"""

from __future__ import annotations

from typing import Any
from weakref import ref as weakref

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.refusals import missing
from adjoint.primal.array_memory import (
    address_of,
    beside,
    bounds_of,
    is_integer_field,
    is_seen_as_stored,
    root_of,
)
from adjoint.primal.exposed_arrays import owner_among

_FLOAT64 = np.dtype(float)


class Mirror:
    """What stands beside the memory of one array: zeros at first.

    Attributes
    ----------
    poison
        Set where what should stand here is not known.
    is_empty
        Whether nothing was put here since all was taken.
    seeded
        The parts in which arguments were given, if nothing else is in it.
    """

    __slots__ = ("_flat", "_low", "_scale", "_whole", "is_empty", "owner", "poison", "seeded")

    def __init__(self, root: Any, owner: Any) -> None:
        self.owner = owner
        self.poison: Poison | None = None
        self.is_empty = False
        self.seeded: list[Any] = []
        low, high = bounds_of(root)
        self._low = low
        dtype = _FLOAT64 if root.dtype.kind in "iub" else root.dtype
        self._scale = dtype.itemsize // root.itemsize if dtype.itemsize else 1
        self._flat = np.zeros(-(-(high - low) // root.itemsize), dtype)
        self._whole = self._beside(root)

    def _beside(self, x: Any) -> Any:
        """The part that stands where `x` does."""
        return beside(x, self._flat, address_of(x) - self._low)

    def of(self, x: Any, root: Any) -> Any:
        """The part that belongs to a view; ``None`` for one that shows it as objects or fields."""
        if is_integer_field(x, root):
            return None
        if self.poison is not None:
            return self.poison
        kind = x.dtype.kind
        if x is root and kind in "fciubOV":
            if x.shape != self._whole.shape:  # it was assigned
                self._whole = self._beside(x)
            return self._whole
        if kind in "OV":
            return None
        if (
            x.dtype != root.dtype
            if kind in "iub"
            else kind not in "fc" or not is_seen_as_stored(x, root)
        ):
            return Poison(
                missing(
                    f"a derivative of a view of type {x.dtype} is needed, of an array of type"
                    f" {root.dtype}",
                    hint="convert the numbers: x.astype(...)",
                )
            )
        return self._beside(x)

    def covered(self, part: Any) -> Any:
        """Which bytes are in a part of this mirror."""
        marks = np.zeros(self._flat.nbytes, np.uint8)
        offset = address_of(part) - address_of(self._flat) if part.size else 0
        shape, strides = (*part.shape, part.itemsize), (*part.strides, 1)
        np.ndarray(shape, np.uint8, marks, offset, strides)[...] = 1
        return marks.astype(bool)

    def given(self) -> Any:
        """Which bytes arguments have been given for."""
        return np.any([self.covered(part) for part in self.seeded], 0)

    def contents(self) -> Any:
        """The bytes that it holds."""
        return self._flat.view(np.uint8)


def flat_of(part: Any) -> Any:
    """The memory that a part of a mirror is a view of, as numbers of its type in a row."""
    return part.base.view(part.dtype)


class Same:
    """Arrays that are one memory under two names."""

    __slots__ = ("_of", "_outside")

    def __init__(self, outside: dict[int, Any]) -> None:
        self._of: dict[int, tuple[Any, Any]] = {}
        self._outside = outside

    def join(self, new: Any, old: Any) -> None:
        """From now on what is known of `old` is known of `new`, too: both own their memory."""
        new, old = self.of(new), self.of(old)
        if new is not old:
            of, key = self._of, id(new)
            of[key] = weakref(new, lambda _: of.pop(key, None)), old

    def of(self, root: Any) -> Any:
        """The array under whose identity the memory of `root` is known."""
        if root.base is not None and self._outside:
            root = owner_among(root, self._outside.values())
        while self._of and (found := self._of.get(id(root))) is not None:
            root = found[1]
        return root


class Mirrors:
    """The mirrors of some arrays, which live as long as these do."""

    __slots__ = ("_by_root", "_same")

    def __init__(self, same: Same) -> None:
        self._by_root: dict[int, Mirror] = {}
        self._same = same

    def of(self, x: Any) -> Any:
        """What stands beside `x`; ``None`` if nothing does."""
        if not self._by_root:
            return None
        root = self._same.of(x if x.base is None else root_of(x))
        mirror = self._by_root.get(id(root))
        return None if mirror is None else mirror.of(x, root)

    def find(self, root: Any) -> Mirror | None:
        """The mirror of an array that owns its memory."""
        return self._by_root.get(id(self._same.of(root)))

    def make(self, root: Any) -> Mirror:
        """A mirror of zeros."""
        root = self._same.of(root)
        by_root, key = self._by_root, id(root)
        mirror = by_root[key] = Mirror(root, weakref(root, lambda _: by_root.pop(key, None)))
        return mirror

    def mirror(self, x: Any) -> Mirror:
        """The mirror of the memory of `x`, made if need be."""
        root = self._same.of(root_of(x))
        return self._by_root.get(id(root)) or self.make(root)

    def made(self, x: Any) -> Any:
        """What stands beside `x`, made if need be."""
        return self.mirror(x).of(x, self._same.of(root_of(x)))
