"""Adding to the shadow of a written array."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.cotangents.accumulate import is_fancy
from adjoint.primal.array_memory import Array, address_of, names_twice


def add_to_shadow(shadow: Array, index: Any, bar: Any) -> None:
    """Add a cotangent of ``array[index]``, where `shadow` mirrors the array's view of its owner."""
    if names_twice(shadow):
        flat: Any = shadow.base
        places = flat_indices(shadow)[index]
        np.add.at(flat.view(shadow.dtype), places, np.broadcast_to(bar, np.shape(places)))
    elif is_fancy(index):
        np.add.at(shadow, index, bar)
    else:
        shadow[index] += bar


def flat_indices(shadow: Array) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return the index of each element of a view in its flat base array."""
    first = address_of(shadow) - address_of(shadow.base)  # type: ignore[arg-type]
    places = np.full((), first // shadow.itemsize)
    for n, step in zip(shadow.shape, shadow.strides, strict=True):
        places = places[..., None] + np.arange(n) * (step // shadow.itemsize)
    return places
