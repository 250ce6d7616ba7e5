"""Elements of ``x.flat``."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np


def places_of(flat: Any, index: Any) -> Any:
    """Return the subscript of the array that selects the same elements as ``flat[index]``."""
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
    """Convert a flat iterator to an array as NumPy's functions do."""
    return flat.__array__()


def flattening(flat: Any) -> str:
    """Return the name of the array method that gives the elements in one row."""
    return "ravel" if flat.base.flags.c_contiguous else "flatten"
