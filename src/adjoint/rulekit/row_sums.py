"""Ways round NumPy's slowness with matrices of short rows, which it takes one by one."""

from __future__ import annotations

from typing import Any

import numpy as np


def by_class(x: Any) -> Any:
    """`x`; a matrix with few columns as one in which each stands side by side in memory.

    The sums along its rows are the same to the last bit.
    """
    if type(x) is np.ndarray and x.ndim == 2 and x.shape[1] < _FEW and x.dtype.char in "fd":
        return np.asfortranarray(x)
    return x


def by_sample(x: Any) -> Any:
    """The same in the order in which arrays are made."""
    return np.ascontiguousarray(x) if type(x) is np.ndarray and x.ndim == 2 else x


_FEW = 8
"""NumPy adds so many elements or more in another order where they stand side by side, and in half
precision any of them."""


def column_sums(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """``x.sum(axis=0)`` of a matrix: as a product, which takes a third of the time or less, for
    NumPy adds short rows one by one."""
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
"""By dtype and length: at most so many, which are made once."""
