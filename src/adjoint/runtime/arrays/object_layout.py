"""Memory layout of arrays of objects, and the order in which NumPy loops over them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from adjoint.primal.object_array_places import places_of
from adjoint.rulekit.registry import non_differentiable


def indices(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the indices of all elements, in C order."""
    return [*np.ndindex(*shape)]


def in_memory_order(made: Any, plain: Any) -> Any:
    """Return `made` in the memory order of `plain`, which decides which reshapes are views."""
    if made.flags.c_contiguous and plain.flags.c_contiguous:
        return made
    y = np.empty_like(plain, made.dtype)
    y[...] = made
    return y


def empty_like_layout(a: Any) -> Any:
    """Return a new array of objects with the memory layout of `a`."""
    if a.flags.forc or not a.size or any(step % a.itemsize for step in a.strides):
        return np.empty_like(a)
    places: Any = places_of(a)
    low, n = int(places.min()), int(places.max() - places.min()) // a.itemsize + 1
    first = (int(places.ravel()[0]) - low) // a.itemsize
    return np.lib.stride_tricks.as_strided(np.empty(n, object)[first:], a.shape, a.strides)


# ---- the order of loops --------------------------------------------------------------------------


def visits(*operands: Any, out: Any = None, where: Any = True) -> Any:
    """Return the position of each element in NumPy's loop, in an array laid out like the result;
    -1 for elements of an output that `where` excludes."""
    count = itertools.count()
    arrays = [x if isinstance(x, np.ndarray) else np.empty((), object) for x in operands]
    loop: Any = np.frompyfunc(lambda *_: next(count), len(arrays), 1)
    if out is None:
        when = loop(*arrays)
    else:
        when = empty_like_layout(out)
        when[...] = -1
        loop(*arrays, out=when, where=where)
    return np.asarray(np.asarray(when).astype(np.intp))


def in_order(when: Any) -> list[tuple[int, ...]]:
    """Return the indices of the visited elements, in the order of the visits."""
    if not when.ndim:
        return [()] if when >= 0 else []
    order = np.argsort(when, axis=None)[np.count_nonzero(when < 0) :]
    return [*zip(*[part.tolist() for part in np.unravel_index(order, when.shape)], strict=True)]


def is_buffered(arrays: Iterable[Any], out: Any) -> bool:
    """Return whether NumPy buffers results for `out`, and loses them if a later one raises."""
    arrays = [*arrays]
    if out.ndim < 2 or all((a.dtype, steps(a)) == (out.dtype, steps(out)) for a in arrays):
        return False
    made, count = empty_like_layout(out), itertools.count(1)

    def step(*_: Any) -> bool:
        if next(count) == out.size:
            raise _Last
        return True

    loop: Any = np.frompyfunc(step, len(arrays), 1)
    made[...] = False
    try:
        loop(*arrays, out=made)
    except _Last:
        pass
    return bool(np.count_nonzero(made) < out.size - 1)


def steps(a: Any) -> list[int]:
    """Return the strides along the axes of more than one element."""
    return [step for step, n in zip(a.strides, a.shape, strict=True) if n > 1]


class _Last(Exception):
    """Ends a trial loop at its last element."""


non_differentiable(indices, visits, in_order)
