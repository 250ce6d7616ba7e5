"""Places of elements in arrays of objects.

Such an array is a container, like a list. The cotangents of its elements are in the shadow of the
array that owns the memory, under the byte offset of the element, so all views agree on the key.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.primal.array_memory import address_of, bounds_of, owner_of, root_of
from adjoint.primal.value_kinds import is_objects

Objects = np.ndarray[Any, Any]


def is_container(x: Any) -> bool:
    """Return whether `x` is an array of objects in memory of an array of objects: no field of a
    structured array, and no memory of another owner."""
    if not is_objects(x):
        return False
    root = root_of(x)
    return (root is x or is_objects(root)) and (root.base is None or owner_of(x) is None)


def first_place(x: Objects) -> int:
    """Return the byte offset of the first element in the memory of the owner."""
    root = root_of(x)
    if root is x and x.flags.c_contiguous:
        return 0
    return address_of(x) - bounds_of(root)[0]


def places_of(x: Objects) -> np.ndarray[Any, np.dtype[np.intp]]:
    """Return the byte offset of each element."""
    places = np.full((), first_place(x), np.intp)
    for n, step in zip(x.shape, x.strides, strict=True):
        places = places[..., None] + np.arange(n) * step
    return places


def elements_in(x: Objects) -> list[tuple[int, Any]]:
    """Return the byte offset and the value of each element."""
    return list(
        zip(places_of(x).ravel().tolist(), np.ndarray.view(x, np.ndarray).flat, strict=True)
    )


def as_objects(shape: tuple[int, ...], parts: list[Any]) -> Any:
    """Return `parts` as an array of objects of the given shape."""
    found = np.empty(len(parts), object)
    for i, part in enumerate(parts):
        found[i] = part
    return found.reshape(shape)


def elements_of(value: Any) -> list[Any]:
    """Return the elements of an array of objects."""
    return [*np.ndarray.view(value, np.ndarray).flat]
