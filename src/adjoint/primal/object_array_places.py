"""Where the elements of an array of objects stand.

Such an array is a container, whose elements are references as those of a list are. Their cotangents
are in the shadow of the array that owns the memory, under the place of the element in bytes: so
views of all kinds name the same element alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.primal.array_memory import address_of, bounds_of, owner_of, root_of
from adjoint.primal.value_kinds import is_objects

Objects = np.ndarray[Any, Any]


def is_container(x: Any) -> bool:
    """Whether `x` is an array of objects in memory of its own kind: no field of records, and none
    that belongs to somebody else."""
    if not is_objects(x):
        return False
    root = root_of(x)
    return (root is x or is_objects(root)) and (root.base is None or owner_of(x) is None)


def first_place(x: Objects) -> int:
    """Where the first element of `x` stands in the memory of its owner."""
    root = root_of(x)
    if root is x and x.flags.c_contiguous:
        return 0
    return address_of(x) - bounds_of(root)[0]


def places_of(x: Objects) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Where each element stands."""
    places = np.full((), first_place(x), np.intp)
    for n, step in zip(x.shape, x.strides, strict=True):
        places = places[..., None] + np.arange(n) * step
    return places


def elements_in(x: Objects) -> list[tuple[int, Any]]:
    """The place and the value of each element."""
    return list(
        zip(places_of(x).ravel().tolist(), np.ndarray.view(x, np.ndarray).flat, strict=True)
    )
