"""Sparse arrays that are made entry by entry: lists of lists, and dictionaries of keys.

A list of lists is an object array with a list of columns and a list of values for each row. Python
substitutes replace the compiled module that works on it. SciPy stores no zero entry; the
substitutes store every assigned entry, because a zero may have a derivative.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import _csparsetools as tools

from adjoint.rulekit.registry import non_differentiable, substitute

_ABSENT = 0
"""Marker of an entry that is not stored; only its identity tells it from a stored zero."""


# ---- lists of lists ------------------------------------------------------------------------------


@substitute(tools.lil_flatten_to_array)
def _flattened(lists, result):
    result[...] = [x for row in lists for x in row]


@substitute(tools.lil_get_lengths)
def _lengths(lists, result):
    result[...] = [len(row) for row in lists]


@non_differentiable
def _within(i: Any, size: int, what: str) -> int:
    """Return an index counted from the front."""
    if not -size <= i < size:
        raise IndexError(f"{what} index ({i}) out of bounds")
    return int(i) % size


@substitute(tools.lil_get1)
def _entry(height, width, rows, data, i, j):
    i, j = _within(i, height, "row"), _within(j, width, "column")
    columns = rows[i]
    place = bisect_left(columns, j)
    return data[i][place] if place < len(columns) and columns[place] == j else _ABSENT


@substitute(tools.lil_insert)
def _insert(height, width, rows, data, i, j, x):
    i, j = _within(i, height, "row"), _within(j, width, "column")
    columns, values = rows[i], data[i]
    place = bisect_left(columns, j)
    if place < len(columns) and columns[place] == j:
        values[place] = x
    else:
        columns.insert(place, j)
        values.insert(place, x)


@substitute(tools.lil_fancy_set)
def _insert_many(height, width, rows, data, i, j, values):
    for place in np.ndindex(i.shape):
        _insert(height, width, rows, data, i[place], j[place], values[place].item())


@substitute(tools.lil_fancy_get)
def _entries(height, width, rows, data, new_rows, new_data, i, j):
    for x in range(i.shape[0]):
        found = [_entry(height, width, rows, data, i[x, y], j[x, y]) for y in range(i.shape[1])]
        there = [y for y, value in enumerate(found) if value is not _ABSENT]
        new_rows[x] = there
        new_data[x] = [found[y] for y in there]


@substitute(tools.lil_get_row_ranges)
def _row_ranges(height, width, rows, data, new_rows, new_data, chosen, start, stop, stride, count):
    for k, i in enumerate(chosen):
        if not -height <= i < height:
            raise ValueError(f"row index {i} out of bounds")
        columns, values = rows[i], data[i]
        order = range(start, stop, stride)
        there = [place for place, column in enumerate(columns) if column in order]
        if stride < 0:
            there.reverse()
        new_rows[k] = [order.index(columns[place]) for place in there]
        new_data[k] = [values[place] for place in there]


@substitute(sparse.lil_array._mul_scalar)
def _times(self, other):
    new = self.astype((np.zeros(1, self.dtype) * other).dtype)
    for i, values in enumerate(new.data):
        new.data[i] = [value * other for value in values]
    return new


# ---- dictionaries of keys ------------------------------------------------------------------------


def _put(self, key, x):
    self._dict[key] = x


@substitute(sparse.dok_array._set_intXint)
def _put_one(self, row, column, x):
    _put(self, (row, column), x)


@substitute(sparse.dok_array._set_arrayXarray)
def _put_many(self, rows, columns, x):
    keys = zip(map(int, rows.ravel()), map(int, columns.ravel()), strict=False)
    for key, value in zip(keys, x.ravel(), strict=False):
        _put(self, key, value)


if hasattr(sparse.dok_array, "_set_int"):  # one dimension
    substitute(sparse.dok_array._set_int)(_put)
