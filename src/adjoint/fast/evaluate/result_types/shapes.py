"""Results with the elements of one array, in another order or shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.fast.evaluate.result_types.lengths import (
    UNKNOWN,
    Derived,
    Length,
    Shape,
    less,
    product,
    total,
)
from adjoint.fast.evaluate.result_types.records import (
    array,
    axes_of,
    axis_of,
    broadcast,
    cast,
    dims,
    dtype_of,
    integer,
    lengths_of,
    made_lengths,
    shape_of,
)
from adjoint.fast.evaluate.result_types.reductions import along
from adjoint.fast.evaluate.types import Array, Symbol
from adjoint.rulekit.row_sums import by_class, by_sample


@shape_of(np.copy, np.ndarray.copy, by_class, by_sample)
def _(a: Any, order: Any = None, subok: Any = False) -> Shape:
    return dims(a)


@shape_of(np.round, np.around, np.ndarray.round)
def _(a: Any, decimals: Any = 0, out: None = None) -> Shape:
    return dims(a)


@shape_of(np.ndarray.astype)
def _(
    a: Any, dtype: Any, order: Any = None, casting: Any = None, subok: Any = True, copy: Any = True
) -> Array:
    return array(cast(dtype_of(a), dtype), dims(a))


@shape_of(np.flip)
def _(m: Any, axis: Any = None) -> Shape:
    if axis is not None:
        axes_of(axis, len(dims(m)))
    return dims(m)


@shape_of(np.roll)
def _(a: Any, shift: Any, axis: Any = None) -> Array:
    if axis is not None:
        for one in axis if isinstance(axis, tuple) else (axis,):
            axis_of(one, len(dims(a)))
    return array(dtype_of(a), dims(a))


@shape_of(np.tril, np.triu)
def _(m: Any, k: Any = 0) -> Shape:
    shape = dims(m)
    return shape * 2 if len(shape) == 1 else shape


# ---- axes ----------------------------------------------------------------------------------------


@shape_of(np.transpose)
def transposed(a: Any, axes: Any = None) -> Shape:
    shape = dims(a)
    if axes is None:
        return shape[::-1]
    order = axes_of(axes, len(shape))
    if len(order) != len(shape):
        raise ValueError("other axes than the array has")
    return tuple(shape[i] for i in order)


@shape_of(np.ndarray.transpose)
def _(a: Any, *axes: Any) -> Shape:
    if not axes:
        return transposed(a)
    return transposed(a, axes if len(axes) > 1 or isinstance(axes[0], int) else axes[0])


@shape_of(np.swapaxes, np.ndarray.swapaxes)
def _(a: Any, axis1: Any, axis2: Any) -> Shape:
    shape = [*dims(a)]
    i, j = axis_of(axis1, len(shape)), axis_of(axis2, len(shape))
    shape[i], shape[j] = shape[j], shape[i]
    return tuple(shape)


@shape_of(np.moveaxis)
def _(a: Any, source: Any, destination: Any) -> Shape:
    shape = dims(a)
    moved, to = axes_of(source, len(shape)), axes_of(destination, len(shape))
    order = [i for i in range(len(shape)) if i not in moved]
    for at, i in sorted(zip(to, moved, strict=True)):
        order.insert(at, i)
    return tuple(shape[i] for i in order)


@shape_of(np.expand_dims)
def _(a: Any, axis: Any) -> Array:
    shape = [*dims(a)]
    many = axis if isinstance(axis, tuple | list) else (axis,)
    for at in sorted(axes_of(many, len(shape) + len(many))):
        shape.insert(at, 1)
    return array(dtype_of(a), tuple(shape))


@shape_of(np.squeeze, np.ndarray.squeeze)
def _(a: Any, axis: Any = None) -> Array | Shape:
    shape = dims(a)
    if not shape:
        return shape
    if axis is None:
        if any(isinstance(n, Symbol) and not n.is_argument for n in shape):
            raise ValueError("axes that may have one element or not")
        return array(dtype_of(a), tuple(n for n in shape if n != 1))
    axes = axes_of(axis, len(shape))
    if any(shape[i] != 1 for i in axes):
        raise ValueError("an axis with another number of elements than one")
    return array(dtype_of(a), tuple(n for i, n in enumerate(shape) if i not in axes))


@shape_of(np.atleast_1d)
def _(a: Any) -> Shape:
    return dims(a) or (1,)


@shape_of(np.atleast_2d)
def _(a: Any) -> Shape:
    return with_two_axes(dims(a))


def with_two_axes(shape: Shape) -> Shape:
    """Return a shape with axes of one element before it, so that it has two at least."""
    return shape if len(shape) > 1 else (1, *(shape or (1,)))


# ---- shapes --------------------------------------------------------------------------------------


@shape_of(np.ravel, np.ndarray.ravel, np.ndarray.flatten)
def _(a: Any, order: Any = "C") -> Shape:
    return along(a, None)


@shape_of(np.reshape)
def reshaped(a: Any, shape: Any = None, order: Any = "C", *, newshape: Any = None) -> Array | Shape:
    to = [*lengths_of(newshape if shape is None else shape)]
    if -1 in to:
        at = to.index(-1)
        to[at] = product(dims(a), to[:at] + to[at + 1 :])
    elif all(isinstance(n, int) for n in (*to, *dims(a))) and product(to) != product(dims(a)):
        raise ValueError("a shape for another number of elements")
    found = made_lengths(to)
    return array(dtype_of(a), found) if dims(a) else found


@shape_of(np.ndarray.reshape)
def _(a: Any, *shape: Any, order: Any = "C") -> Array | Shape:
    return reshaped(a, shape[0] if len(shape) == 1 else shape)


@shape_of(np.broadcast_to)
def _(array: Any, shape: Any, subok: Any = False) -> Array:
    return broadcast_to(array, lengths_of(shape))


def broadcast_to(x: Any, to: Shape) -> Array:
    """Return the type of an array broadcast to a shape."""
    if len(dims(x)) > len(to) or broadcast(dims(x), to) != to:
        raise ValueError("a shape that the array cannot be broadcast to")
    return array(dtype_of(x), to)


# ---- repetition and diagonals --------------------------------------------------------------------


@shape_of(np.repeat, np.ndarray.repeat)
def _(a: Any, repeats: Any, axis: Any = None) -> Array:
    shape = [*dims(a)] if axis is not None else [product(dims(a))]
    at = 0 if axis is None else axis_of(axis, len(shape))
    shape[at] = _repeated(shape[at], repeats)
    return array(dtype_of(a), tuple(shape))


def _repeated(length: Length, repeats: Any) -> Length:
    """Return the length of an axis whose elements are repeated."""
    if dims(repeats) not in ((), (1,), (length,)):
        raise ValueError("other numbers of repetitions than there are elements")
    if isinstance(repeats, Array):
        if repeats.dtype.kind not in "iub":
            raise TypeError("numbers of repetitions that are no integers")
        return UNKNOWN
    many = made_lengths(repeats.tolist() if isinstance(repeats, np.ndarray) else repeats)
    return product([length, *many]) if len(many) == 1 else total(many)


@shape_of(np.tile)
def _(A: Any, reps: Any) -> Array:
    shape, times = dims(A), made_lengths(reps)
    rank = max(len(shape), len(times))
    pairs = zip((1,) * (rank - len(shape)) + shape, (1,) * (rank - len(times)) + times, strict=True)
    return array(dtype_of(A), tuple(map(product, pairs)))


@shape_of(np.diag)
def _(v: Any, k: Any = 0) -> Array:
    return array(dtype_of(v), _diagonal(dims(v), k))


def _diagonal(shape: Shape, k: Any) -> Shape:
    """Return the shape of a diagonal of a matrix, or of a matrix with a given diagonal."""
    if len(shape) not in (1, 2):
        raise ValueError("a diagonal of an array that has not two axes")
    if isinstance(k, Symbol):
        return (UNKNOWN,) * (3 - len(shape))
    at = integer(k)
    if len(shape) == 1:
        return (total([*shape, abs(at)]),) * 2
    m, n = shape
    if m == n:
        return (less(m, abs(at)),)
    if isinstance(m, int) and isinstance(n, int):
        return (max(min(m + min(at, 0), n - max(at, 0)), 0),)
    return (Derived(("diagonal", m, n, at)),)
