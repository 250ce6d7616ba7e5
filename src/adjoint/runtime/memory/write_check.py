"""Check before a sweep that the places which the forward sweep wrote are unchanged.

A sweep undoes the writes of the forward sweep one by one. If other code has written to the same
places since, such as a second call of a function with state, the derivative would be wrong.
"""

from __future__ import annotations

import operator
import weakref
import zlib
from types import BuiltinMethodType
from typing import Any

import numpy as np

from adjoint.cotangents.accumulate import is_fancy
from adjoint.diagnostics.refusals import changed_since
from adjoint.primal.container_contents import ABSENT, place_of_held, size_of
from adjoint.runtime.memory.log_entries import (
    swap_array,
    swap_contents,
    swap_end,
    swap_item,
    swap_objects,
    swap_slice,
)
from adjoint.runtime.memory.memory import Memory


class WriteMarks:
    """Marks of the written places at the end of the forward sweep: checksums, sizes and keys."""

    __slots__ = ("_arrays", "_keys", "_memory", "_objects", "_parts", "_sizes")

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._sizes: dict[int, tuple[Any, int, bool]] = {}
        self._keys: dict[Any, tuple[Any, Any, bool]] = {}
        written: dict[int, tuple[np.ndarray[Any, Any], list[list[Any]]]] = {}
        sizes = self._sizes
        self._objects: list[tuple[np.ndarray[Any, Any], Any, list[Any]]] = []
        for entry in memory.entries():
            swap = entry[0]
            if swap not in _KNOWN:
                continue
            owner = entry[1]
            if swap is swap_objects:
                array, index = entry[1:3]
                self._objects.append((array, index, [*array[index].flat]))
            elif swap is swap_array or swap is swap_contents:
                known = written.get(id(owner))
                if known is None:
                    known = written[id(owner)] = owner, []
                known[1].append(entry)
            elif swap is swap_slice:
                sizes[id(owner)] = owner, size_of(owner), False
            elif swap is swap_end:
                owner = owner.__self__ if type(owner) is BuiltinMethodType else owner.args[0]
                if id(owner) not in sizes:
                    sizes[id(owner)] = owner, size_of(owner), type(owner) is list
            elif swap is swap_item:
                key = entry[2]
                if type(key) is str or place_of_held(key) is key:  # else the hash is user code
                    now = dict.get(owner, key, ABSENT)
                    if not isinstance(now, weakref.ref):  # removed when its referent is freed
                        self._keys[id(owner), id(key)] = owner, key, now is ABSENT
        self._arrays: list[tuple[np.ndarray[Any, Any], int]] = []
        self._parts: list[tuple[np.ndarray[Any, Any], Any, int]] = []
        for array, entries in written.values():
            self._mark(array, entries)

    def _mark(self, array: np.ndarray[Any, Any], entries: list[list[Any]]) -> None:
        """Mark the whole array, or only the written parts where they are smaller."""
        parts = [entry[2] for entry in entries if entry[0] is swap_array]
        sizes = [np.size(entry[3]) for entry in entries if entry[0] is swap_array]
        # An index array may have been written since, or the array reshaped.
        whole = len(parts) < len(entries) or sum(sizes) >= array.size or any(map(is_fancy, parts))
        try:
            sums = [] if whole else [(array, index, _sum_of(array[index])) for index in parts]
        except IndexError:
            whole, sums = True, []
        if whole:
            self._arrays.append((array, _sum_of(array)))
        self._parts += sums

    def check(self) -> None:
        """Raise `MutationError` if a marked place has changed."""
        for array, before in self._arrays:
            if _sum_of(array) != before:
                raise changed_since(array)
        for array, index, before in self._parts:
            if _sum_of(array[index]) != before:
                raise changed_since(array)
        for array, index, held in self._objects:
            if not all(map(operator.is_, array[index].flat, held)):
                raise changed_since(array)
        self._memory.appended_lists = set()
        for owner, size, appended in self._sizes.values():
            if appended and size_of(owner) > size:
                # A longer history list does no harm; the sweep raises if it needs the list.
                self._memory.appended_lists.add(id(owner))
            elif size_of(owner) != size:
                raise changed_since(owner)
        for mapping, key, absent in self._keys.values():
            if (dict.get(mapping, key, ABSENT) is ABSENT) is not absent:
                raise changed_since(mapping)


_KNOWN = frozenset({swap_array, swap_contents, swap_end, swap_item, swap_objects, swap_slice})
"""Swap functions of writes that can be checked."""


def _sum_of(part: Any) -> int:
    """Return a checksum of an array or of one of its elements."""
    dtype = part.dtype
    if dtype.names is not None:  # a copy has other bytes between the fields
        array = np.asarray(part)
        return hash(tuple(_sum_of(array[name]) for name in dtype.names))
    if dtype.char in "gG":
        part = _without_padding(part)
    if isinstance(part, np.ndarray) and part.flags.c_contiguous and not part.dtype.hasobject:
        if part.dtype.kind in "mM":
            part = part.view(np.int64)  # dates have no buffer
        return zlib.crc32(part.data) if part.size else 0
    return zlib.crc32(part.tobytes())


def _without_padding(part: Any) -> np.ndarray[Any, Any]:
    """Return the bytes of `longdouble` numbers without padding, which copies do not preserve."""
    native = np.asarray(part, part.dtype.newbyteorder("="))
    numbers = np.ravel(native).view(np.longdouble)
    size = 10 if np.finfo(np.longdouble).nmant == 63 else numbers.itemsize
    return np.reshape(numbers.view(np.uint8), (-1, numbers.itemsize))[:, :size]
