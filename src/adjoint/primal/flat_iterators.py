"""What ``x.flat`` iterates over."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np


def places_of(flat: Any, index: Any) -> Any:
    """The subscript of the array that names the same elements; Python says if there are none."""
    a = flat.base
    if isinstance(index, slice):
        return np.unravel_index(np.arange(*index.indices(a.size)), a.shape)
    if isinstance(index, tuple) and len(index) == 1:
        index = index[0]
    if index is Ellipsis or (isinstance(index, tuple) and not index):
        return np.unravel_index(np.arange(a.size), a.shape)
    if isinstance(index, list | np.ndarray) and np.ndim(index):
        return np.unravel_index(np.arange(a.size)[index], a.shape)
    place = operator.index(index)
    if not -a.size <= place < a.size:
        raise IndexError(f"index {place} is out of bounds for size {a.size}")
    return tuple(int(i) for i in np.unravel_index(place % a.size, a.shape))


def array_of(flat: Any) -> Any:
    """What NumPy's functions make of it."""
    return flat.__array__()


def flattening(flat: Any) -> str:
    """The method of the array by which its elements stand in one row."""
    return "ravel" if flat.base.flags.c_contiguous else "flatten"
