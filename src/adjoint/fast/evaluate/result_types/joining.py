"""Results of functions that join arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.fast.evaluate.result_types.lengths import Length, Misfit, Shape, product, total
from adjoint.fast.evaluate.result_types.records import (
    array,
    axis_of,
    common_dtype,
    dims,
    dtype_of,
    shape_of,
)
from adjoint.fast.evaluate.result_types.shapes import with_two_axes
from adjoint.fast.evaluate.types import Array

_Parts = list[tuple[Shape, Length]]


def _parts(arrays: Any) -> _Parts:
    """Return the shapes of arrays, each with the number of successive arrays of this shape."""
    if isinstance(arrays, tuple | list):
        return [(dims(x), 1) for x in arrays]
    first, *rest = dims(arrays)
    return [(tuple(rest), first)]


def _joined(parts: _Parts, axis: int) -> Shape:
    """Return the shape of arrays joined along an axis."""
    rest, *others = ((*shape[:axis], *shape[axis + 1 :]) for shape, _ in parts)
    for other in others:
        for m, n in zip(rest, other, strict=True):
            if m != n:
                raise Misfit(m, n)
    length = total(product([shape[axis], n]) for shape, n in parts)
    return (*rest[:axis], length, *rest[axis:])


def _typed(arrays: Any, shape: Shape, dtype: Any) -> Array:
    found = (
        common_dtype(*map(dtype_of, arrays))
        if isinstance(arrays, tuple | list)
        else dtype_of(arrays)
    )
    if dtype is not None and not np.can_cast(found, dtype, "same_kind"):
        raise TypeError("a dtype that the arrays cannot be cast to")
    return array(found if dtype is None else dtype, shape)


@shape_of(np.concatenate)
def _(arrays: Any, axis: Any = 0, out: None = None, *, dtype: Any = None) -> Array:
    parts = _parts(arrays)
    if axis is None:
        parts, axis = [((product(shape),), n) for shape, n in parts], 0
    at = {axis_of(axis, len(shape)) for shape, _ in parts}
    return _typed(arrays, _joined(parts, max(at)), dtype)


@shape_of(np.stack)
def _(arrays: Any, axis: Any = 0, out: None = None, *, dtype: Any = None) -> Array:
    parts = _parts(arrays)
    at = axis_of(axis, len(parts[0][0]) + 1)
    parts = [((*shape[:at], 1, *shape[at:]), n) for shape, n in parts]
    return _typed(arrays, _joined(parts, at), dtype)


@shape_of(np.vstack)
def _(tup: Any, *, dtype: Any = None) -> Array:
    parts = [(with_two_axes(shape), n) for shape, n in _parts(tup)]
    return _typed(tup, _joined(parts, 0), dtype)


@shape_of(np.hstack)
def _(tup: Any, *, dtype: Any = None) -> Array:
    parts = [(shape or (1,), n) for shape, n in _parts(tup)]
    return _typed(tup, _joined(parts, 0 if len(parts[0][0]) == 1 else 1), dtype)


@shape_of(np.column_stack)
def _(tup: Any) -> Array:
    parts = [(shape if len(shape) > 1 else (product(shape), 1), n) for shape, n in _parts(tup)]
    return _typed(tup, _joined(parts, 1), None)
