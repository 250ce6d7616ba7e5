"""Faster sums for matrices of short rows, which NumPy handles one row at a time."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np


def by_class(x: Any) -> Any:
    """Return `x`, a matrix with few columns in column-major order, in which sums along rows are
    faster.

    These sums are the same to the last bit.
    """
    if type(x) is np.ndarray and x.ndim == 2 and x.shape[1] < _FEW and x.dtype.char in "fd":
        return np.asfortranarray(x)
    return x


def by_sample(x: Any) -> Any:
    """Return a matrix in row-major order, the usual one, and anything else as it is."""
    return np.ascontiguousarray(x) if type(x) is np.ndarray and x.ndim == 2 else x


_FEW = 8
"""From this many contiguous elements on, NumPy sums in another order; in half precision, always."""


def has_short_rows(shape: Sequence[int]) -> bool:
    """Return whether `row_sums` is faster than `numpy.sum` for arrays of a shape."""
    n = shape[-1]
    return 1 < n < _FEW and prod(shape) > MANY_ROWS * n


def row_sums(x: np.ndarray[Any, Any], keepdims: bool = False) -> np.ndarray[Any, Any]:
    """Return ``x.sum(axis=-1, keepdims=keepdims)`` of an array of two or more axes, the same to the
    last bit; if many rows are short, up to a hundred times faster."""
    if not has_short_rows(x.shape) or x.dtype.char not in "fd":
        return x.sum(axis=-1, keepdims=keepdims)  # type: ignore[no-any-return]
    total: np.ndarray[Any, Any] = x[..., 0] + x[..., 1]
    for i in range(2, x.shape[-1]):
        total += x[..., i]
    total += 0.0  # NumPy adds to zero, which makes it of negative zeros
    return total[..., None] if keepdims else total


MANY_ROWS = 128
"""Up to this many rows, NumPy is as fast."""


def column_sums(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return ``x.sum(axis=0)`` of a matrix as a product, up to three times faster."""
    n = len(x)
    if n > _MOST_ONES or x.dtype not in _ones:
        total: np.ndarray[Any, Any] = x.sum(axis=0)
        return total
    ones = _ones[x.dtype].get(n)
    if ones is None:
        ones = np.ones(n, x.dtype)
        ones.flags.writeable = False
        if len(_ones[x.dtype]) < _MOST_LENGTHS:
            _ones[x.dtype][n] = ones
    total = ones @ x
    return total


_MOST_ONES, _MOST_LENGTHS = 1 << 17, 32
_ones: dict[Any, dict[int, np.ndarray[Any, Any]]] = {
    np.dtype(np.float64): {},
    np.dtype(np.float32): {},
}
"""Cached vectors of ones, by dtype and length."""
