"""Outer products that are added to an array, alone or many at once."""

from __future__ import annotations

from typing import Any

import numpy as np

ROWS_SIZE = 65536
"""Number of elements of an outer product that are computed at once."""
MOST_PRODUCTS = 64
"""Number of outer products that an `OuterSum` adds at once."""


def add_outer(f: Any, x_bar: Any, index: Any, a: Any, b: Any) -> None:
    """``x_bar[index] += outer(a, b)``, or ``-=``, by blocks of rows that stay in the cache."""
    part = x_bar[index]
    is_view = np.may_share_memory(part, x_bar)
    if is_view and part.shape == (*a.shape, *b.shape):
        if not (np.may_share_memory(part, a) or np.may_share_memory(part, b)):
            size = max(ROWS_SIZE // max(len(b), 1), 1)
            for start in range(0, len(a), size):
                rows = part[start : start + size]
                f(rows, np.multiply(a[start : start + size, None], b), out=rows)
            return
    f(part, np.outer(a, b), out=part)
    if not is_view:
        x_bar[index] = part


class OuterSum:
    """Outer products that are to be added to parts of a matrix: many are one product of matrices,
    in which the vectors are padded with zeros."""

    __slots__ = ("count", "left", "right", "x_bar")

    def __init__(self, x_bar: Any) -> None:
        n, m = x_bar.shape
        self.x_bar, self.count = x_bar, 0
        self.left = np.zeros((MOST_PRODUCTS, n), x_bar.dtype)
        self.right = np.zeros((MOST_PRODUCTS, m), x_bar.dtype)

    def note(self, f: Any, index: Any, a: Any, b: Any) -> None:
        """Add ``outer(a, b)`` to, or subtract it from, ``x_bar[index]``, now or later."""
        found = _rows_and_columns(index)
        if found is None:
            add_outer(f, self.x_bar, index, a, b)
            return
        if self.count == MOST_PRODUCTS:
            self.finish()
        rows, columns = found
        self.left[self.count, rows] = a if f is np.add else np.negative(a)
        self.right[self.count, columns] = b
        self.count += 1

    def finish(self) -> None:
        """Add what has been noted."""
        left, right = self.left[: self.count], self.right[: self.count]
        size = max(ROWS_SIZE // max(right.shape[1], 1), 1)
        for start in range(0, left.shape[1] if self.count else 0, size):
            self.x_bar[start : start + size] += left[:, start : start + size].T @ right
        left[...], right[...], self.count = 0, 0, 0


def _rows_and_columns(index: Any) -> tuple[slice, slice] | None:
    """Return a basic index of a part of a matrix as two slices; ``None`` for any other index."""
    if index is Ellipsis:
        return slice(None), slice(None)
    if type(index) is slice:
        return index, slice(None)
    if type(index) is tuple and len(index) == 2 and all(type(x) is slice for x in index):
        return index
    return None


def outer_sum(x_bar: Any) -> OuterSum:
    """Return an empty sum of outer products for `x_bar`."""
    return OuterSum(x_bar)


def note_outer(found: OuterSum, f: Any, index: Any, a: Any, b: Any) -> None:
    found.note(f, index, a, b)


def add_sum(x_bar: Any, found: OuterSum) -> None:
    """Add to `x_bar` what its sum has noted."""
    found.finish()
