"""How arrays of objects stand in memory, and in which order NumPy goes through them."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np

from adjoint.primal.object_array_places import places_of
from adjoint.rulekit.registry import non_differentiable


def indices(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Those of all elements, in order."""
    return [*np.ndindex(*shape)]


def laid_out(made: Any, plain: Any) -> Any:
    """An array in the order of memory of another one: which reshapes are views depends on it."""
    if made.flags.c_contiguous and plain.flags.c_contiguous:
        return made
    y = np.empty_like(plain, made.dtype)
    y[...] = made
    return y


def stored_alike(a: Any) -> Any:
    """A new array of objects, which stand in memory as the elements of another one do."""
    if a.flags.forc or not a.size or any(step % a.itemsize for step in a.strides):
        return np.empty_like(a)
    places: Any = places_of(a)
    low, n = int(places.min()), int(places.max() - places.min()) // a.itemsize + 1
    first = (int(places.ravel()[0]) - low) // a.itemsize
    return np.lib.stride_tricks.as_strided(np.empty(n, object)[first:], a.shape, a.strides)


# ---- the order of loops --------------------------------------------------------------------------


def visits(*operands: Any, out: Any = None, where: Any = True) -> Any:
    """When NumPy comes to each element in a loop over arrays and other operands: an array that is
    laid out as its results are. What is left out, where there is an output, has -1."""
    count = itertools.count()
    arrays = [x if isinstance(x, np.ndarray) else np.empty((), object) for x in operands]
    loop: Any = np.frompyfunc(lambda *_: next(count), len(arrays), 1)
    if out is None:
        when = loop(*arrays)
    else:
        when = stored_alike(out)
        when[...] = -1
        loop(*arrays, out=when, where=where)
    return np.asarray(np.asarray(when).astype(np.intp))


def in_order(when: Any) -> list[tuple[int, ...]]:
    """The indices of all elements that are visited, as they are."""
    if not when.ndim:
        return [()] if when >= 0 else []
    order = np.argsort(when, axis=None)[np.count_nonzero(when < 0) :]
    return [*zip(*[part.tolist() for part in np.unravel_index(order, when.shape)], strict=True)]


def is_buffered(arrays: Iterable[Any], out: Any) -> bool:
    """Whether NumPy holds back results that are to be written to `out`: none of them are there if
    the next one raises."""
    arrays = [*arrays]
    if out.ndim < 2 or all((a.dtype, steps(a)) == (out.dtype, steps(out)) for a in arrays):
        return False
    made, count = stored_alike(out), itertools.count(1)

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
    """From element to element of an array, along the axes on which there is a next one."""
    return [step for step, n in zip(a.strides, a.shape, strict=True) if n > 1]


class _Last(Exception):
    """The last element is reached."""


non_differentiable(indices, visits, in_order)
