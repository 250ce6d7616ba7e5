"""Rules of functions that leave out zero entries.

SciPy stores no entry where a result happens to be zero. The contribution of such an entry to a
derivative is lost, and may be nonzero, so a derivative that needs it is an error.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import _sparsetools as tools

from adjoint.rulekit.refusal import NoDerivative, added, refused_dot, refused_entry
from adjoint.rulekit.registry import frule, non_differentiable, rrule, substitute
from adjoint.rules.numpy.operands import cotangent_dtype
from adjoint.rules.scipy.sparse.sparsity import leaf, major_of, of_diagonals

LEFT_OUT = NoDerivative("entries", "are zero here and are not stored in the result")


def nonzero_entries(data: Any, source: Any, lost: Any) -> Any:
    """Return elements of an array at positions `source`; drop zeros at positions `lost`."""
    return np.ravel(data)[source]


@rrule.register(nonzero_entries)
def _(data, source, lost):
    shape = np.shape(data)

    def kept_back(y_bar):
        bar = np.zeros(shape, cotangent_dtype(y_bar)).ravel()
        if len(lost):
            bar[lost] = refused_entry(nonzero_entries, LEFT_OUT)
        bar[source] = y_bar
        return None, bar.reshape(shape), None, None

    return nonzero_entries(data, source, lost), kept_back


@frule.register(nonzero_entries)
def _(dots, data, source, lost):
    y, dot = nonzero_entries(data, source, lost), dots[0]
    if dot is None:
        return y, None
    asked = refused_dot(nonzero_entries, LEFT_OUT, np.ravel(dot)[lost], y)
    return y, added(nonzero_entries(dot, source, lost), asked)


def with_zeros(make: Any, a: Any, b: Any, columns: int) -> Any:
    """Return ``make(a, b)`` with the entries that are zero because stored entries are zero. Lists
    of lists have such zeros. If entries cancel, the result is SciPy's."""
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
    """Return the pattern without zero entries, and the positions of the others and of zeros."""
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
    data[: len(source)] = nonzero_entries(data, source, lost)


def _diagonal_order(head: Any, data: Any, order: Any, pattern: Any) -> Any:
    """Return what `dia_tocsr` returns and writes, the sources of the data, and the lost zeros."""
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
        values[:stored] = nonzero_entries(data, source, lost)
        return stored


non_differentiable(_nonzero, _diagonal_order)
