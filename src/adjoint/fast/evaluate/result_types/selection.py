"""Results of searches, sorts and selections, whose lengths may depend on the elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.fast.evaluate.result_types.lengths import Shape, fresh_length, product
from adjoint.fast.evaluate.result_types.records import (
    Several,
    array,
    axis_of,
    broadcast,
    dims,
    dtype_of,
    integer,
    made_lengths,
    shape_of,
)
from adjoint.fast.evaluate.result_types.reductions import along
from adjoint.fast.evaluate.types import Array, Number

_INDEX = np.dtype(np.intp)


@shape_of(np.argsort, np.ndarray.argsort)
def _(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Shape:
    return along(a, axis)


def _partitioned(a: Any, kth: Any, axis: Any) -> Shape:
    for k in kth if isinstance(kth, tuple | list) else (kth,):
        integer(k)
    return along(a, axis)


@shape_of(np.partition)
def _(a: Any, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> Array:
    return array(dtype_of(a), _partitioned(a, kth, axis))


@shape_of(np.argpartition, np.ndarray.argpartition)
def _(a: Any, kth: Any, axis: Any = -1, kind: Any = None, order: Any = None) -> Array:
    return array(_INDEX, _partitioned(a, kth, axis))


@shape_of(np.take_along_axis)
def _(arr: Any, indices: Any, axis: Any = -1) -> Array:
    shape, chosen = dims(arr), dims(indices)
    at = axis_of(axis, len(shape))
    if len(shape) != len(chosen) or dtype_of(indices).kind not in "iu":
        raise ValueError("indices of another rank")
    whole = broadcast(*((*one[:at], *one[at + 1 :]) for one in (shape, chosen)))
    return array(dtype_of(arr), (*whole[:at], chosen[at], *whole[at:]))


@shape_of(np.take, np.ndarray.take)
def _(a: Any, indices: Any, axis: Any = None, out: None = None, mode: Any = "raise") -> Any:
    shape, chosen = dims(a), dims(indices)
    if dtype_of(indices).kind not in "iub":
        raise TypeError("indices that are no integers")
    if axis is None:
        found = chosen
    else:
        at = axis_of(axis, len(shape))
        found = (*shape[:at], *chosen, *shape[at + 1 :])
    return array(dtype_of(a), found) if found else Number(frozenset({dtype_of(a).type}))


@shape_of(np.nonzero, np.ndarray.nonzero)
def _(a: Any) -> Several:
    count = fresh_length()
    if not dims(a):
        raise ValueError("the elements of a number")
    return Several(tuple(array(_INDEX, (count,)) for _ in dims(a)))


@shape_of(np.flatnonzero)
def _(a: Any) -> Array:
    return array(_INDEX, (fresh_length(),))


@shape_of(np.argwhere)
def _(a: Any) -> Array:
    return array(_INDEX, (fresh_length(), len(dims(a))))


@shape_of(np.extract, np.compress)
def _(condition: Any, arr: Any) -> Array:
    return array(dtype_of(arr), (fresh_length(),))


@shape_of(np.isin)
def _(element: Any, test_elements: Any, assume_unique: Any = False, invert: Any = False) -> Any:
    return array(np.bool_, dims(element))


@shape_of(np.digitize)
def _(x: Any, bins: Any, right: Any = False) -> Any:
    if len(dims(bins)) != 1:
        raise ValueError("bins that are not of rank 1")
    shape = dims(x)
    return array(_INDEX, shape) if shape else Number(frozenset({np.intp}))


@shape_of(np.lexsort)
def _(keys: Any, axis: Any = -1) -> Array:
    return array(_INDEX, dims(keys)[1:])


@shape_of(np.bincount)
def _(x: Any, /, weights: Any = None, minlength: Any = 0) -> Array:
    if weights is None:
        return array(_INDEX, (fresh_length(),))
    return array(np.float64, (fresh_length(),))


@shape_of(np.unique)
def _(
    ar: Any,
    return_index: Any = False,
    return_inverse: Any = False,
    return_counts: Any = False,
    axis: Any = None,
    *,
    equal_nan: Any = True,
) -> Any:
    count = fresh_length()
    shape = dims(ar)
    if axis is not None:
        if integer(return_inverse):
            raise TypeError("the inverse of unique rows")
        at = axis_of(axis, len(shape))
        values = array(dtype_of(ar), (*shape[:at], count, *shape[at + 1 :]))
    else:
        values = array(dtype_of(ar), (count,))
    inverse = shape if _IN_SHAPE else (product(shape),)
    given = (
        (return_index, (count,)),
        (return_inverse, inverse),
        (return_counts, (count,)),
    )
    others = tuple(array(_INDEX, shape) for is_given, shape in given if integer(is_given))
    return Several((values, *others)) if others else values


_IN_SHAPE = np.unique(np.zeros((1, 1)), return_inverse=True)[1].ndim == 2
"""Whether NumPy gives the inverse in the shape of the array."""


@shape_of(np.hanning, np.hamming, np.blackman, np.bartlett)
def _(M: Any) -> Array:
    return array(np.float64, made_lengths(M))


@shape_of(np.tri)
def _(N: Any, M: Any = None, k: Any = 0, dtype: Any = float) -> Array:
    return array(dtype, made_lengths((N, N if M is None else M)))


@shape_of(np.triu_indices, np.tril_indices)
def _(n: Any, k: Any = 0, m: Any = None) -> Several:
    count = fresh_length()
    return Several((array(_INDEX, (count,)),) * 2)


@shape_of(np.triu_indices_from, np.tril_indices_from)
def _(arr: Any, k: Any = 0) -> Several:
    count = fresh_length()
    return Several((array(_INDEX, (count,)),) * 2)


@shape_of(np.diag_indices)
def _(n: Any, ndim: Any = 2) -> Several:
    return Several((array(_INDEX, made_lengths(n)),) * integer(ndim))


@shape_of(np.unravel_index)
def _(indices: Any, shape: Any, order: Any = "C") -> Several:
    given = dims(indices)
    one: Any = array(_INDEX, given) if given else Number(frozenset({np.intp}))
    return Several((one,) * len(made_lengths(shape)))
