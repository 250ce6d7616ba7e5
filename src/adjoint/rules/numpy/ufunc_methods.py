"""Rules of the methods of ufuncs: `reduce`, `accumulate`, `outer`, `reduceat`.

``np.add.reduce`` is a sum, ``np.multiply.accumulate`` a running product: they have the rules of
these. `outer` is the
ufunc itself on operands that broadcast, so it has the ufunc's own rule. Others are declined.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rules.numpy.operands import array_rule, cotangent_dtype, scatter
from adjoint.rules.numpy.reductions import NONE, restore
from adjoint.rules.projection import as_numeric, projector
from adjoint.rules.registry import rrule

REDUCTIONS = {np.add: np.sum, np.multiply: np.prod, np.maximum: np.max, np.minimum: np.min}
RUNNING = {np.add: np.cumsum, np.multiply: np.cumprod}
IDENTITY = {np.add: 0, np.multiply: 1}


@array_rule((np.ufunc, "reduce"), operands="self array initial", nested=False)
def _(self, array, /, axis=0, dtype=None, out=None, keepdims=False, initial=NONE, where=True):
    if out is not None or initial is None:
        return NotImplemented
    if self is np.logaddexp and dtype is None and initial is NONE and where is True:
        return _logsumexp(array, axis, keepdims)
    if self not in REDUCTIONS:
        return NotImplemented
    leading = (axis, dtype, None, keepdims) if self in IDENTITY else (axis, None, keepdims)
    if self not in IDENTITY and dtype is not None:
        return NotImplemented
    first = IDENTITY.get(self, NONE) if initial is NONE else initial
    applied = rrule(REDUCTIONS[self], array, *leading, first, where)
    if applied is None:
        return NotImplemented
    y, back = applied

    def reduce_back(y_bar):
        bars = back(y_bar)
        return None, None, bars[1], bars[len(leading) + 2]

    return y, reduce_back


_logaddexp_reduce: Any = np.logaddexp.reduce


def _logsumexp(array: Any, axis: Any, keepdims: bool) -> Any:
    a = as_numeric(array)
    if a is None:
        return NotImplemented
    y = _logaddexp_reduce(a, axis, keepdims=keepdims)
    to_bar = projector(array)

    def logsumexp_back(y_bar):
        shares = np.exp(a - restore(y, axis, keepdims, np.ndim(a)))
        return None, None, to_bar(restore(y_bar, axis, keepdims, np.ndim(a)) * shares)

    return y, logsumexp_back


@array_rule((np.ufunc, "accumulate"), operands="self array", nested=False)
def _(self, array, /, axis=0, dtype=None, out=None):
    if out is not None:
        return NotImplemented
    if self in RUNNING:
        applied = rrule(RUNNING[self], array, axis, dtype)
        if applied is None:
            return NotImplemented
        y, back = applied
        return y, lambda y_bar: (None, None, back(y_bar)[1])
    a = as_numeric(array)
    if a is None or dtype is not None or self not in (np.maximum, np.minimum):
        return NotImplemented
    y = self.accumulate(a, axis)
    return y, _running_extremum_back(self, a, y, axis, projector(array))


def _running_extremum_back(f: np.ufunc, a: Any, y: Any, axis: int, to_bar: Any) -> Any:
    """Each running maximum or minimum is an element of the array: the first of those that are
    equal.
    """

    def running_back(y_bar):
        rows, values = np.moveaxis(a, axis, 0), np.moveaxis(y, axis, 0)
        index = np.arange(len(rows)).reshape(-1, *(1,) * (rows.ndim - 1))
        fresh = np.ones(rows.shape, bool)
        fresh[1:] = values[1:] != values[:-1]
        source = np.maximum.accumulate(np.where(fresh, index, 0), 0)
        positions = np.moveaxis(np.arange(a.size).reshape(a.shape), axis, 0)
        where = np.moveaxis(np.take_along_axis(positions, source, 0), 0, axis)
        return None, None, to_bar(scatter(where, y_bar, a))

    return running_back


@array_rule((np.ufunc, "outer"), operands="self A B", nested=False)
def _(self, A, B, /):
    a, b = as_numeric(A), as_numeric(B)
    if a is None or b is None:
        return NotImplemented
    column = np.reshape(a, np.shape(a) + (1,) * np.ndim(b))
    applied = rrule(self, column if np.ndim(column) else a, b)
    if applied is None:
        return NotImplemented
    y, back = applied
    shape, to_a, to_b = np.shape(a), projector(A), projector(B)

    def outer_back(y_bar):
        _, a_bar, b_bar = back(y_bar)
        return (
            None,
            None,
            None if a_bar is None else to_a(np.reshape(a_bar, shape)),
            None if b_bar is None else to_b(b_bar),
        )

    return y, outer_back


@array_rule((np.ufunc, "reduceat"), operands="self array", nested=False)
def _(self, array, indices, /, axis=0, dtype=None, out=None):
    a = as_numeric(array)
    if self is not np.add or a is None or dtype is not None or out is not None:
        return NotImplemented
    y = np.add.reduceat(a, indices, axis)
    n, to_bar = np.shape(a)[axis], projector(array)
    starts = np.asarray(indices)
    stops = np.append(starts[1:], n)

    def reduceat_back(y_bar):
        """A segment that would end before it begins is its first element alone."""
        bar = np.zeros(np.shape(a), cotangent_dtype(y_bar))
        rows, parts = np.moveaxis(bar, axis, 0), np.moveaxis(y_bar, axis, 0)
        for start, stop, part in zip(starts.tolist(), stops.tolist(), parts, strict=True):
            rows[start : max(stop, start + 1)] += part
        return None, None, to_bar(bar)

    return y, reduceat_back
