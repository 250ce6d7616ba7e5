"""Sums of cotangents.

A slot for a cotangent holds ``None`` (zero), a number or an array, a `Scattered` sum of parts of
one array, or a `Poison`. Only a `Scattered`, which one slot owns, is changed in place.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy import ndarray

from adjoint.cotangents.poison import Poison
from adjoint.primal.value_kinds import by_value


def accumulate(a: Any, b: Any) -> Any:
    """Return the sum of two cotangents of the same value."""
    kind = type(a)
    if kind is type(b) and (kind is float or kind is ndarray):
        return a + b
    if a is None:
        return b
    if b is None:
        return a
    if kind is Poison:
        return a
    if type(b) is Poison:
        return b
    if kind is Scattered:
        return a.add(b)
    if type(b) is Scattered:
        return b.add(a)
    return a + b


def finish(bar: Any) -> Any:
    """Return a cotangent in the form that rules and users see: dense."""
    return bar.finish() if type(bar) is Scattered else bar


_FEW = 4096
"""The most entries that are never worth a dense array."""
_MANY = 16
"""The most entries of single elements that are not worth a call of `np.add.at`."""


class Scattered:
    """A sum of cotangents of parts ``x[index]`` of one array, as reading elements in a loop gives.

    Entries are collected until they outnumber the elements, then written into a dense array. So
    reading every element of an array of n costs O(n) in all.
    """

    __slots__ = ("_dense", "_entries", "_size", "dtype", "shape")

    dtype: np.dtype[Any]
    shape: tuple[int, ...]

    def __init__(
        self, shape: tuple[int, ...], dtype: np.dtype[Any], index: Any, part: Any, size: int
    ) -> None:
        self.shape, self.dtype = shape, dtype
        self._entries = [(index, part)]
        self._size = size
        self._dense: np.ndarray[Any, Any] | None = None

    def add(self, other: Any) -> Any:
        """Add a cotangent of the whole array; the smaller sum is added to the larger."""
        if type(other) is Scattered:
            if other._dense is not None and self._dense is None:
                self, other = other, self
            if other._dense is not None:
                assert self._dense is not None
                self._dense += other.finish()
                return self
            if self._dense is None and len(other._entries) > len(self._entries):
                self, other = other, self
            self._entries += other._entries
            self._size += other._size
            if self._size > _FEW and self._size > _FEW + math.prod(self.shape):
                self._flush()
            return self
        if self._dense is None:
            self._flush()
        assert self._dense is not None
        if type(other) is np.ndarray and other.dtype != self.dtype:
            other = (
                other.astype(self.dtype)
                if self.dtype.kind == "c" or other.dtype.kind != "c"
                else other.real
            )
        self._dense += other
        return self

    def _flush(self) -> None:
        entries = self._entries
        self._entries, self._size = [], 0
        if self._dense is None:
            index, part = entries[0] if entries else (None, None)
            if type(index) is np.ndarray and self._is_countable(index, part):
                self._dense = np.bincount(index, part, self.shape[0])
                del entries[0]
            else:
                self._dense = np.zeros(self.shape, self.dtype)
                if entries and not is_fancy(index):
                    self._dense[index] = part
                    del entries[0]
            del part
        dense = self._dense
        many = len(entries) > _MANY and len(self.shape) == 1
        plain, parts = [], []
        entries.reverse()
        while entries:  # frees each part once it is added
            index, part = entries.pop()
            if many and type(index) is int:
                plain.append(index)
                parts.append(part)
            elif not is_fancy(index):
                dense[index] += part
            elif type(index) is np.ndarray and self._is_countable(index, part):
                dense += np.bincount(index, part, self.shape[0])
            else:
                np.add.at(dense, index, part)
        if plain:
            np.add.at(dense, np.array(plain), np.array(parts, self.dtype))

    def _is_countable(self, index: np.ndarray[Any, Any], part: Any) -> bool:
        """Return whether `np.bincount` can sum the parts, which is faster than `np.add.at`."""
        return (
            type(part) is np.ndarray
            and len(self.shape) == index.ndim == part.ndim == 1
            and self.dtype.char == part.dtype.char == "d"
            and index.dtype.kind == "i"
            and 2 * index.size > self.shape[0]
            and bool(index.min() >= 0)
        )

    def finish(self) -> np.ndarray[Any, Any]:
        """Return the dense sum; nothing may be added afterwards."""
        if self._entries or self._dense is None:
            self._flush()
        assert self._dense is not None
        return self._dense


def is_fancy(index: Any) -> bool:
    """Return whether an index may name an element twice: it holds an integer array or something
    that counts as one (a list, a range, a tuple in a tuple)."""
    return any(map(_is_array, index)) if type(index) is tuple else _is_array(index)


_BASIC = (int, np.integer, np.bool_, slice, type(None), type(...))


def _is_array(part: Any) -> bool:
    if isinstance(part, np.ndarray):
        return part.ndim > 0 and part.dtype != bool
    return not isinstance(part, _BASIC)


def is_needed(bar: Any) -> bool:
    """Return whether a cotangent is not zero."""
    if bar is None:
        return False
    return type(bar) is Poison or not by_value(bar) or bool(np.any(bar))
