"""Rules of what leaves out entries that are zero.

SciPy stores no entry where a sum or a product happens to be zero. What such an entry would have
contributed to a derivative is lost then, and it is not known whether that is zero: needing it is an
error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import _sparsetools as tools

from adjoint.rulekit.refusal import NoDerivative, added, refused_dot, refused_entry
from adjoint.rulekit.registry import frule, non_differentiable, rrule, substitute
from adjoint.rules.numpy.operands import cotangent_dtype
from adjoint.rules.scipy.sparse.patterns import leaf, major_of, of_diagonals

LEFT_OUT = NoDerivative("entries", "are zero here and are not stored in the result")


def kept(data: Any, source: Any, lost: Any) -> Any:
    """The elements of an array at some positions; those at others are left out, being zero."""
    return np.ravel(data)[source]


@rrule.register(kept)
def _(data, source, lost):
    shape = np.shape(data)

    def kept_back(y_bar):
        bar = np.zeros(shape, cotangent_dtype(y_bar)).ravel()
        if len(lost):
            bar[lost] = refused_entry(kept, LEFT_OUT)
        bar[source] = y_bar
        return None, bar.reshape(shape), None, None

    return kept(data, source, lost), kept_back


@frule.register(kept)
def _(dots, data, source, lost):
    y, dot = kept(data, source, lost), dots[0]
    if dot is None:
        return y, None
    asked = refused_dot(kept, LEFT_OUT, np.ravel(dot)[lost], y)
    return y, added(kept(dot, source, lost), asked)


def with_zeros(make: Any, a: Any, b: Any, columns: int) -> Any:
    """Pointers, indices and data of ``make(a, b)``, an array of two others, with the entries that
    are zero because stored entries of these are: lists of lists have such ones. Where entries
    cancel, it is as SciPy has it."""
    found, where, data = make(a, b)
    if np.all(a != 0) and np.all(b != 0):
        return found, where, data
    if len(make(np.abs(a).astype(a.dtype), np.abs(b).astype(b.dtype))[1]) != len(where):
        return found, where, data
    pointers, indices, ones = make(np.ones_like(a), np.ones_like(b))
    wanted, there = (major_of(p) * columns + i for p, i in ((pointers, indices), (found, where)))
    whole = np.zeros((len(indices), len(ones) // max(len(indices), 1)), data.dtype)
    whole[np.isin(wanted, there)] = data.reshape(len(where), whole.shape[1])
    return pointers, indices, whole.ravel()


def _nonzero(pointers: Any, indices: Any, data: Any) -> Any:
    """The pattern without the entries that are zero, which remain and which do not."""
    stored = int(pointers[-1])
    there = np.asarray(data[:stored]) != 0
    major = major_of(pointers)[there]
    found = np.searchsorted(major, np.arange(len(pointers)))
    return found, indices[:stored][there], np.flatnonzero(there), np.flatnonzero(~there)


@substitute(tools.csr_eliminate_zeros)
def _(rows, columns, pointers, indices, data):
    found, where, source, lost = _nonzero(pointers, indices, data)
    pointers[...] = found
    indices[: len(where)] = where
    data[: len(source)] = kept(data, source, lost)


def _diagonal_order(head: Any, data: Any, order: Any, pattern: Any) -> Any:
    """What `dia_tocsr` returns and writes, where the data come from, and where they are zero."""
    rows, columns, _, length, offsets = head
    indices, pointers = (np.array(array) for array in pattern)
    positions = np.arange(1, data.size + 1, dtype=np.int64).reshape(data.shape)
    source = np.zeros(len(indices), np.int64)
    stored = tools.dia_tocsr(
        *head, np.where(data != 0, positions, 0), order, source, indices, pointers
    )
    inside = of_diagonals(rows, columns, offsets, length).chosen
    lost = np.flatnonzero(inside & (np.ravel(data) == 0))
    return stored, source[:stored] - 1, indices, pointers, lost


if (_dia_tocsr := leaf("dia_tocsr")) is not None:

    @substitute(_dia_tocsr)
    def _(rows, columns, diagonals, length, offsets, data, order, values, indices, pointers):
        head = (rows, columns, diagonals, length, offsets)
        stored, source, where, found, lost = _diagonal_order(head, data, order, (indices, pointers))
        indices[...] = where
        pointers[...] = found
        values[:stored] = kept(data, source, lost)
        return stored


non_differentiable(_nonzero, _diagonal_order)
