"""Mirrors: for the memory of an array, a memory of the same layout that holds derivatives.

Each view of the array corresponds to a view of its mirror. The mirror of integers and bools holds
double-precision floats, so byte offsets are scaled by `_scale`.
"""

from __future__ import annotations

from typing import Any
from weakref import ref as weakref

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.refusals import missing
from adjoint.primal.array_memory import (
    address_of,
    bounds_of,
    is_integer_field,
    is_seen_as_stored,
    root_of,
    shadow_view,
)
from adjoint.primal.exposed_arrays import owner_among

_FLOAT64 = np.dtype(float)


class Mirror:
    """The mirror of the memory of one array, initially zero.

    Attributes
    ----------
    poison
        The poison if the contents are unknown.
    is_empty
        Whether nothing was added since everything was taken.
    seeded
        The parts that arguments have set, if nothing else was written.
    """

    __slots__ = ("_flat", "_low", "_scale", "_whole", "is_empty", "owner", "poison", "seeded")

    def __init__(self, root: Any, owner: Any) -> None:
        self.owner: Any = owner
        self.poison: Poison | None = None
        self.is_empty: bool = False
        self.seeded: list[Any] = []
        low, high = bounds_of(root)
        self._low = low
        dtype = _FLOAT64 if root.dtype.kind in "iub" else root.dtype
        self._scale = dtype.itemsize // root.itemsize if dtype.itemsize else 1
        self._flat = np.zeros(-(-(high - low) // root.itemsize), dtype)
        self._whole = self._part_at(root)

    def _part_at(self, x: Any) -> Any:
        """Return the part that corresponds to `x`."""
        return shadow_view(x, self._flat, address_of(x) - self._low)

    def of(self, x: Any, root: Any) -> Any:
        """Return the part for a view; ``None`` for a view as objects or fields."""
        if is_integer_field(x, root):
            return None
        if self.poison is not None:
            return self.poison
        kind = x.dtype.kind
        if x is root and kind in "fciubOV":
            if x.shape != self._whole.shape:  # the shape was assigned
                self._whole = self._part_at(x)
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
        return self._part_at(x)

    def covered(self, part: Any) -> Any:
        """Return which bytes of this mirror a part covers, as a bool array."""
        marks = np.zeros(self._flat.nbytes, np.uint8)
        offset = address_of(part) - address_of(self._flat) if part.size else 0
        shape, strides = (*part.shape, part.itemsize), (*part.strides, 1)
        np.ndarray(shape, np.uint8, marks, offset, strides)[...] = 1
        return marks.astype(bool)

    def given(self) -> Any:
        """Return which bytes arguments have set, as a bool array."""
        return np.any([self.covered(part) for part in self.seeded], 0)

    def contents(self) -> Any:
        """Return the mirror's bytes."""
        return self._flat.view(np.uint8)


def flat_of(part: Any) -> Any:
    """Return the whole memory of a part of a mirror, as a flat array of its type."""
    return part.base.view(part.dtype)


class Same:
    """Arrays that are aliases of one memory."""

    __slots__ = ("_of", "_outside")

    def __init__(self, outside: dict[int, Any]) -> None:
        self._of: dict[int, tuple[Any, Any]] = {}
        self._outside = outside

    def join(self, new: Any, old: Any) -> None:
        """Make `new` share what is known of `old`; both own their memory."""
        new, old = self.of(new), self.of(old)
        if new is not old:
            of, key = self._of, id(new)
            of[key] = weakref(new, lambda _: of.pop(key, None)), old

    def of(self, root: Any) -> Any:
        """Return the array whose identity is the key of the memory of `root`."""
        if root.base is not None and self._outside:
            root = owner_among(root, self._outside.values())
        while self._of and (found := self._of.get(id(root))) is not None:
            root = found[1]
        return root


class Mirrors:
    """The mirrors of some arrays; a mirror lives as long as its array."""

    __slots__ = ("_by_root", "_same")

    def __init__(self, same: Same) -> None:
        self._by_root: dict[int, Mirror] = {}
        self._same = same

    def of(self, x: Any) -> Any:
        """Return the part of a mirror for `x`; ``None`` without a mirror."""
        if not self._by_root:
            return None
        root = self._same.of(x if x.base is None else root_of(x))
        mirror = self._by_root.get(id(root))
        return None if mirror is None else mirror.of(x, root)

    def find(self, root: Any) -> Mirror | None:
        """Return the mirror of an array that owns its memory, or ``None``."""
        return self._by_root.get(id(self._same.of(root)))

    def make(self, root: Any) -> Mirror:
        """Make a mirror of zeros."""
        root = self._same.of(root)
        by_root, key = self._by_root, id(root)
        mirror = by_root[key] = Mirror(root, weakref(root, lambda _: by_root.pop(key, None)))
        return mirror

    def mirror(self, x: Any) -> Mirror:
        """Return the mirror of the memory of `x`; make one if there is none."""
        root = self._same.of(root_of(x))
        return self._by_root.get(id(root)) or self.make(root)

    def made(self, x: Any) -> Any:
        """Return the part of a mirror for `x`; make the mirror if there is none."""
        return self.mirror(x).of(x, self._same.of(root_of(x)))
