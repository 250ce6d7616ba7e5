"""Functions of NumPy that write to an array, in terms of writes to its elements: definitions that
programs inline."""

from __future__ import annotations

import numpy as np

from adjoint.fast.evaluate.callees.numpy_definitions import definition


@definition(np.ndarray.sort)
def _sort(a, axis=-1, kind=None):
    a[...] = np.sort(np.copy(a), axis)


@definition(np.ndarray.partition)
def _partition(a, kth, axis=-1):
    a[...] = np.partition(np.copy(a), kth, axis)


@definition(np.ndarray.fill)
def _fill(a, value):
    a[...] = value


@definition(np.copyto)
def _copyto(dst, src, *, where=None):
    if where is None:
        dst[...] = src
    else:
        chosen = np.broadcast_to(where, dst.shape)
        dst[chosen] = np.broadcast_to(src, dst.shape)[chosen]


@definition(np.fill_diagonal)
def _fill_diagonal(a, val, wrap=False):
    if wrap:
        raise ValueError("a diagonal of several rounds")
    places = np.arange(min(a.shape))
    a[places, places] = val


@definition(np.put_along_axis)
def _put_along_axis(arr, indices, values, axis):
    if arr.ndim == 1:
        arr[indices] = values
    elif arr.ndim == 2 and axis in (1, -1):
        arr[np.arange(arr.shape[0])[:, None], indices] = values
    else:
        if axis not in (0, -2) or arr.ndim != 2:
            raise ValueError("another axis")
        arr[indices, np.arange(arr.shape[1])] = values


@definition(np.put, np.ndarray.put)
def _put(a, ind, v, mode="raise"):
    if mode != "raise":
        raise ValueError("places beyond the ends")
    places = np.ravel(ind)
    if places.dtype.kind == "b":
        raise TypeError("truth values as places")
    if np.ndim(v):
        if len(np.ravel(v)) != len(places):
            raise ValueError("values that are repeated")
        np.reshape(a, -1)[places] = np.ravel(v)
    else:
        np.reshape(a, -1)[places] = v


@definition(np.putmask)
def _putmask(a, /, mask, values):
    chosen = np.asarray(mask) != 0
    if chosen.shape != a.shape:
        raise ValueError("mask and data must be the same size")
    if a.dtype != np.float64:
        raise TypeError("an array of another precision")
    if a.ndim == 0:
        if np.ndim(values):
            raise ValueError("values of another shape")
        a[...] = np.where(chosen, values, a)
    elif np.ndim(values) == 0:
        a[chosen] = values
    else:
        if np.shape(values) != a.shape:
            raise ValueError("values of another shape")
        a[chosen] = values[chosen]


@definition(np.place)
def _place(arr, mask, vals):
    chosen = np.asarray(mask) != 0
    if chosen.shape != arr.shape:
        raise ValueError("mask of another shape")
    if arr.ndim == 0:
        arr, chosen = np.reshape(arr, 1), np.reshape(chosen, 1)
    if arr.dtype != np.float64:
        raise TypeError("an array of another precision")
    if np.ndim(vals) == 0:
        arr[chosen] = vals
    else:
        count = np.count_nonzero(chosen)
        flat = np.ravel(vals)
        if len(flat) < count:
            arr[chosen] = flat[np.arange(count) % len(flat)]
        else:
            arr[chosen] = flat[:count]
