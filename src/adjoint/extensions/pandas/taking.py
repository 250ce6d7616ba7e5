"""Elements by their places, where -1 stands for a value that is given."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from adjoint.rulekit.registry import non_differentiable, primitive
from adjoint.runtime.dispatch.source_call import call_function


def register(take: Any) -> None:
    """Register the rules of a module of pandas."""
    along, across = take._take_nd_ndarray, take.take_2d_multi
    primitive(along)(partial(_by_places, along, _along(along)))
    primitive(across)(partial(_by_places, across, _across(across)))


def _by_places(
    f: Any, by_source: Any, record: list[Any], slot: int, *args: Any, **kwargs: Any
) -> Any:
    arr = args[0] if args else kwargs["arr"]
    if type(arr) is not np.ndarray:
        return NotImplemented
    if arr.dtype.kind not in "fcO" and not any(map(_is_real, (*args, *kwargs.values()))):
        return f(*args, **kwargs)
    return call_function(record, slot, by_source, args, kwargs)


def _along(take_along: Any) -> Any:
    """The function in Python that takes along an axis."""

    @non_differentiable
    def as_it_is(*args: Any) -> Any:
        return take_along(*args)

    def taken_along(arr, indexer, axis, fill_value, allow_fill):
        plain = as_it_is(arr, indexer, axis, fill_value, allow_fill)
        holes = _holes(indexer, axis, plain.shape) if allow_fill else None
        if holes is not None and not arr.shape[axis]:
            made = np.empty_like(plain)  # nothing is there to be taken
        elif indexer is None:
            made = arr.copy()
        else:
            made = arr[(slice(None),) * axis + (indexer,)].astype(plain.dtype)
        if holes is not None:
            made[holes] = fill_value
        return made

    return taken_along


def _across(take_across: Any) -> Any:
    """The function in Python that takes along both axes."""

    @non_differentiable
    def as_it_is(*args: Any) -> Any:
        return take_across(*args)

    def taken_across(arr, indexer, fill_value=np.nan):
        plain, (rows, columns) = as_it_is(arr, indexer, fill_value), indexer
        if arr.size:
            made = arr[np.ix_(rows, columns)].astype(plain.dtype)
        else:
            made = np.empty_like(plain)
        made[rows == -1] = fill_value
        made[:, columns == -1] = fill_value
        return made

    return taken_across


def _is_real(fill: Any) -> bool:
    return isinstance(fill, float | complex | np.inexact)


@non_differentiable
def _holes(indexer: Any, axis: int, shape: tuple[int, ...]) -> Any:
    """Where nothing is taken; ``None`` for nowhere."""
    empty = np.asarray(indexer) == -1
    if not empty.any():
        return None
    others = tuple([i for i in range(len(shape)) if i != axis])
    return np.broadcast_to(np.expand_dims(empty, others), shape)
