"""Methods of NumPy's ufuncs in terms of its functions: the definitions that programs inline."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.fast.evaluate.callees.numpy_definitions import definition
from adjoint.rules.numpy.aggregates.logarithmic_sums import log_sum
from adjoint.rules.numpy.chains import running_places, segment_sums, shares_of_extrema


def _reduced(f: Any, reduction: Any) -> None:
    @definition(f.reduce)
    def reduce(array, axis=0, dtype=None, out=None, keepdims=False):
        if dtype is not None or out is not None:
            raise ValueError("other options")
        return reduction(np.asarray(array), axis=axis, keepdims=keepdims)


for _f, _reduction in (
    (np.add, np.sum),
    (np.multiply, np.prod),
    (np.maximum, np.max),
    (np.minimum, np.min),
    (np.logaddexp, log_sum),
):
    _reduced(_f, _reduction)


def _folded(f: Any) -> None:
    @definition(f.reduce)
    def reduce(array, axis=0, dtype=None, out=None, keepdims=False):
        if dtype is not None or out is not None or keepdims or type(axis) is not int:
            raise ValueError("other options")
        a = np.asarray(array) if axis == 0 else np.moveaxis(array, axis, 0)
        y = a[0]
        for x in a[1:]:
            y = f(y, x)
        return y


for _h in (np.hypot, np.subtract):
    _folded(_h)


def _outer(f: Any) -> None:
    @definition(f.outer)
    def outer(A, B):
        a, b = np.asarray(A), np.asarray(B)
        return f(np.reshape(a, np.shape(a) + (1,) * np.ndim(b)), b)


for _g in (
    np.add, np.subtract, np.multiply, np.divide, np.power, np.maximum, np.minimum, np.hypot,
    np.arctan2, np.logaddexp,
):  # fmt: skip
    _outer(_g)


def _running(f: Any, running: Any) -> None:
    @definition(f.accumulate)
    def accumulate(array, axis=0, dtype=None, out=None):
        if dtype is not None or out is not None:
            raise ValueError("other options")
        return running(np.asarray(array), axis)


_running(np.add, np.cumsum)
_running(np.multiply, np.cumprod)


def _running_extremum(f: Any) -> None:
    @definition(f.accumulate)
    def accumulate(array, axis=0, dtype=None, out=None):
        if dtype is not None or out is not None:
            raise ValueError("other options")
        a = np.asarray(array)
        if a.dtype.kind != "f":
            raise TypeError("numbers of another kind")
        places = running_places(f, a, axis)
        return a[places] if a.ndim == 1 else np.take_along_axis(a, places, axis)


_running_extremum(np.maximum)
_running_extremum(np.minimum)


@definition(np.add.reduceat)
def _reduceat(array, indices, axis=0, dtype=None, out=None):
    if dtype is not None or out is not None:
        raise ValueError("other options")
    a, starts = np.asarray(array), np.asarray(indices)
    if a.dtype.kind != "f" or starts.ndim != 1 or len(starts) == 0 or starts[0] < 0:
        raise TypeError("numbers of another kind, or no segments")
    if not np.all(starts[1:] > starts[:-1]):
        raise ValueError("segments that are not in order")
    if axis in (-1, a.ndim - 1):
        return segment_sums(a, starts)
    return np.moveaxis(segment_sums(np.moveaxis(a, axis, -1), starts), -1, axis)


def _extremum_at(f: Any) -> None:
    @definition(f.at)
    def at(a, indices, b):
        if a.dtype != np.float64:
            raise TypeError("numbers of another kind")
        n = a.size
        at = np.arange(n).reshape(a.shape)[indices]
        values = np.concatenate((np.ravel(a), np.ravel(np.broadcast_to(b, np.shape(at)))))
        places = np.concatenate((np.arange(n), np.ravel(at)))
        shares = shares_of_extrema(f, values, places, n)
        chosen = np.flatnonzero(shares)
        y = np.full(n, -0.0)
        np.add.at(y, places[chosen], values[chosen] * shares[chosen])
        a[...] = y.reshape(a.shape)


_extremum_at(np.maximum)
_extremum_at(np.minimum)
