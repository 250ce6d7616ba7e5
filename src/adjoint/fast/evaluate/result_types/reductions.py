"""Results of reductions and of sums and products along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.fast.evaluate.result_types.lengths import Shape, product
from adjoint.fast.evaluate.result_types.records import (
    array,
    axes_of,
    axis_of,
    common_dtype,
    dims,
    dtype_of,
    shape_of,
)
from adjoint.fast.evaluate.types import Array, Number
from adjoint.rules.numpy.aggregates.logarithmic_sums import log_sum


def reduced(a: Any, axis: Any, keepdims: Any) -> Shape:
    """Return the shape of a reduction of `a` along one axis, several, or all."""
    shape = dims(a)
    if not isinstance(keepdims, int | np.bool_):
        raise TypeError("an option that is not known")
    if not shape and axis in (None, 0, -1, ()):
        return ()
    axes = range(len(shape)) if axis is None else axes_of(axis, len(shape))
    kept = [1 if i in axes else n for i, n in enumerate(shape) if keepdims or i not in axes]
    return tuple(kept)


@shape_of(np.sum, np.prod, np.mean, np.ndarray.sum, np.ndarray.prod, np.ndarray.mean)
@shape_of(np.nansum, np.nanprod, np.nanmean)
def _(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    keepdims: Any = False,
    initial: Any = 0,
    where: Any = True,
) -> Shape:
    return reduced(a, axis, keepdims)


@shape_of(np.var, np.std, np.ndarray.var, np.ndarray.std, np.nanvar, np.nanstd)
def _(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: None = None,
    ddof: Any = 0,
    keepdims: Any = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: Any = None,
) -> Shape:
    return reduced(a, axis, keepdims)


@shape_of(np.any, np.all, np.ndarray.any, np.ndarray.all)
def _(
    a: Any, axis: Any = None, out: None = None, keepdims: Any = False, *, where: Any = True
) -> Shape:
    return reduced(a, axis, keepdims)


@shape_of(log_sum)
def _(a: Any, axis: Any = 0, keepdims: Any = False) -> Shape:
    return reduced(a, axis, keepdims)


@shape_of(np.count_nonzero)
def _(a: Any, axis: Any = None, *, keepdims: Any = False) -> Shape:
    return reduced(a, axis, keepdims)


@shape_of(np.max, np.min, np.amax, np.amin, np.ptp, np.ndarray.max, np.ndarray.min)
@shape_of(np.nanmax, np.nanmin)
@shape_of(np.argmax, np.argmin, np.ndarray.argmax, np.ndarray.argmin)
@shape_of(getattr(np.ndarray, "ptp", np.ptp))  # a method in NumPy 1 only
def _(
    a: Any,
    axis: Any = None,
    out: None = None,
    keepdims: Any = False,
    initial: Any = None,
    where: Any = True,
) -> Shape:
    shape = dims(a)
    axes = range(len(shape)) if axis is None or not shape else axes_of(axis, len(shape))
    if initial is None and any(shape[i] == 0 for i in axes):
        raise ValueError("the largest of no elements")
    return reduced(a, axis, keepdims)


@shape_of(np.median, np.nanmedian)
def _(
    a: Any, axis: Any = None, out: None = None, overwrite_input: Any = False, keepdims: Any = False
) -> Shape:
    return reduced(a, axis, keepdims)


@shape_of(np.average)
def _(
    a: Any, axis: Any = None, weights: Any = None, returned: Any = False, *, keepdims: Any = False
) -> Shape | Array | Number:
    shape = reduced(a, axis, keepdims)
    if returned is not False:
        raise TypeError("several results")
    if weights is None:
        return shape
    whole, of_weights = dims(a), dims(weights)
    if of_weights != whole:
        axes = () if axis is None else axes_of(axis, len(whole))
        if of_weights != tuple(whole[i] for i in axes):
            raise ValueError("weights of another shape")
    dtype = common_dtype(dtype_of(a), dtype_of(weights))
    if dtype_of(a).kind in "iub":
        dtype = common_dtype(dtype, np.float64)
    found = array(dtype, shape)
    return found if shape else Number(frozenset({dtype.type}))


# ---- along an axis -------------------------------------------------------------------------------


def along(a: Any, axis: Any) -> Shape:
    """Return the shape of `a`, flattened if `axis` is ``None``."""
    shape = dims(a)
    if axis is None:
        return (product(shape),)
    axis_of(axis, max(len(shape), 1))
    return shape or (1,)


@shape_of(np.cumsum, np.cumprod, np.ndarray.cumsum, np.ndarray.cumprod)
@shape_of(np.nancumsum)
def _(a: Any, axis: Any = None, dtype: Any = None, out: None = None) -> Shape:
    return along(a, axis)


@shape_of(np.sort)
def _(a: Any, axis: Any = -1, kind: Any = None, order: Any = None, *, stable: Any = None) -> Shape:
    return along(a, axis)


@shape_of(np.trace, np.ndarray.trace)
def _(
    a: Any, offset: Any = 0, axis1: Any = 0, axis2: Any = 1, dtype: Any = None, out: None = None
) -> Shape:
    shape = dims(a)
    axes = axes_of((axis1, axis2), len(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axes)


@shape_of(np.searchsorted, arrays=2)
def _(a: Any, v: Any, side: Any = "left", sorter: Any = None) -> Shape:
    if len(dims(a)) != 1:
        raise ValueError("a search in an array that is not of rank 1")
    return dims(v)
