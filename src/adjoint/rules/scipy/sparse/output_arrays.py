"""Rules of compiled functions of sparse arrays that write into arrays of the caller.

A sparse array is an object whose values are an ordinary array, `data`; SciPy's Python code around
these functions is differentiated like any code. Each compiled function is replaced by Python that
writes the result of a pure function with a rule. The pure function calls the compiled one, so the
values are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import _sparsetools as tools

from adjoint.rulekit.elementwise_forward import like_result
from adjoint.rulekit.projection import project
from adjoint.rulekit.registry import frule, non_differentiable, rrule, substitute
from adjoint.rules.numpy.operands import cotangent_dtype
from adjoint.rules.scipy.sparse.sparsity import leaf, major_of, of_blocks, of_compressed

# ---- entries that are added or placed ------------------------------------------------------------


def gathered(f: Any, head: Any, data: Any, middle: Any, y: Any, tail: Any) -> Any:
    """Return what a compiled function makes of `y`, whose elements become sums of entries."""
    result = np.array(y)
    f(*head, data, *middle, result, *tail)
    return result


def _into_dense(head: Any, middle: Any, tail: Any) -> Any:
    _, columns, pointers, indices = head
    return None, major_of(pointers) * columns + indices


def _from_coordinates(head: Any, middle: Any, tail: Any) -> Any:
    height, width, _, rows, columns = head
    return None, rows + height * columns if tail[0] else rows * width + columns


def _from_many_coordinates(head: Any, middle: Any, tail: Any) -> Any:
    strides, count, axes, coordinates = head
    return None, np.asarray(strides) @ np.reshape(coordinates, (axes, count))


def _from_diagonal(head: Any, middle: Any, tail: Any) -> Any:
    k, _, _, *pattern = head
    if len(pattern) > 2:
        height, width, pointers, indices = pattern
        found = of_blocks(pointers, indices, height, width)
        rows, columns = found.rows, found.columns
    else:
        rows, columns, _ = of_compressed(*pattern)
    source = np.flatnonzero(columns - rows == k)
    return source, rows[source] + min(k, 0)


def _at_samples(head: Any, middle: Any, tail: Any) -> Any:
    rows, columns, pointers, indices = head
    count, i, j = middle
    keys = major_of(pointers) * columns + indices
    order = np.argsort(keys, kind="stable")
    wanted = np.where(i < 0, i + rows, i) * columns + np.where(j < 0, j + columns, j)
    first = np.searchsorted(keys[order], wanted[:count], "left")
    sizes = np.searchsorted(keys[order], wanted[:count], "right") - first
    ends = np.cumsum(sizes)
    places = np.arange(sizes.sum()) + np.repeat(first - (ends - sizes), sizes)
    return order[places], np.repeat(np.arange(count), sizes)


GATHERED: dict[str, tuple[int, int, int, bool, Callable[..., Any]]] = {
    "csr_todense": (4, 0, 0, True, _into_dense),
    "coo_todense": (5, 0, 1, True, _from_coordinates),
    "coo_todense_nd": (4, 0, 1, True, _from_many_coordinates),
    "csr_diagonal": (5, 0, 0, False, _from_diagonal),
    "bsr_diagonal": (7, 0, 0, True, _from_diagonal),
    "csr_sample_values": (4, 3, 0, False, _at_samples),
}
"""Plan of each function: argument counts, a flag and a function. The counts are those before the
data, between data and result, and after the result. The flag tells whether the function adds to the
result. The function returns sources and targets of the data (``None``: all of them)."""

_gathered = {leaf(name): plan for name, plan in GATHERED.items() if leaf(name) is not None}


@rrule.register(gathered)
def _(f, head, data, middle, y, tail):
    result = gathered(f, head, data, middle, y, tail)
    *_, adds, pairs = _gathered[f]

    def gathered_back(y_bar):
        source, target = pairs(head, middle, tail)
        bars = np.ravel(y_bar)[target]
        if source is not None:
            spread = np.zeros(np.size(data), bars.dtype)
            np.add.at(spread, source, bars)
            bars = spread
        data_bar = project(np.reshape(bars, np.shape(data)), data)
        return None, None, None, data_bar, None, project(y_bar, y) if adds else None, None

    return result, gathered_back


@frule.register(gathered)
def _(dots, f, head, data, middle, y, tail):
    result = gathered(f, head, data, middle, y, tail)
    adds, data_dot = _gathered[f][3], dots[2]
    y_dot = dots[4] if adds else None
    if data_dot is None:
        return result, y_dot if adds or dots[4] is None else np.zeros(result.shape)
    start = np.zeros(np.shape(y), cotangent_dtype(result)) if y_dot is None else y_dot
    return result, like_result(gathered(f, head, data_dot, middle, start, tail), result)


def _substitute_gathered(f: Any, before: int, between: int) -> None:
    behind = before + 1 + between

    @substitute(f)
    def write(*args):
        y = args[behind]
        head, middle, tail = args[:before], args[before + 1 : behind], args[behind + 1 :]
        y[...] = gathered(f, head, args[before], middle, y, tail)


for _f, _plan in _gathered.items():
    _substitute_gathered(_f, _plan[0], _plan[1])


# ---- entries in another order --------------------------------------------------------------------


def _order(f: Any, head: Any, size: int, outputs: Any) -> Any:
    """Return the integer arrays that a compiled function writes, and the source of each value. A
    source is an index into the data; -1 means that no value is written."""
    pattern, data = outputs[:-1], outputs[-1]
    written = [np.array(array) for array in pattern]
    order = np.full(np.shape(data), -1, np.int64)
    f(*head, np.arange(size, dtype=np.int64), *written, order)
    return (*written, order)


MOVED = {
    "csr_tocsc": 4,
    "coo_tocsr": 5,
    "csr_row_index": 4,
    "csr_row_slice": 5,
    "csr_column_index2": 4,
    "csr_hstack": 5,
    "bsr_transpose": 6,
    "bsr_tocsr": 6,
}
"""Number of arguments before the data; the arrays for the result follow, its data last."""


def _substitute_moved(f: Any, before: int) -> None:
    @substitute(f)
    def write(*args):
        data, outputs = args[before], args[before + 1 :]
        *pattern, order = _order(f, args[:before], data.size, outputs)
        for array, values in zip(outputs, pattern, strict=False):
            array[...] = values
        result = outputs[-1]
        there = order >= 0
        if there.all():
            result[...] = data.ravel()[order]
        else:
            result[there] = data.ravel()[order[there]]


for _name, _before in MOVED.items():
    if leaf(_name) is not None:
        _substitute_moved(leaf(_name), _before)


def _sorted_order(f: Any, head: Any, indices: Any, shape: Any) -> tuple[Any, Any]:
    """Return the sorted indices, and the sources of their data."""
    moved, order = np.array(indices), np.arange(np.prod(shape), dtype=np.int64).reshape(shape)
    f(*head, moved, order)
    return moved, order


def _substitute_sort(f: Any) -> None:
    @substitute(f)
    def write(*args):
        *head, indices, data = args
        moved, order = _sorted_order(f, head, indices, data.shape)
        indices[...] = moved
        data[...] = data[order]


for _name in ("csr_sort_indices", "bsr_sort_indices"):
    _substitute_sort(leaf(_name))


def _submatrix(*args: Any) -> Any:
    *head, size, row, row_end, column, column_end = args
    return tools.get_csr_submatrix(
        *head, np.arange(size, dtype=np.int64), row, row_end, column, column_end
    )


@substitute(tools.get_csr_submatrix)
def _(rows, columns, pointers, indices, data, *window):
    pointers, indices, order = _submatrix(rows, columns, pointers, indices, data.size, *window)
    return pointers, indices, data[order]


def _blocked(head: Any, size: int, pointers: Any, indices: Any, shape: Any) -> Any:
    """Return pattern and sources of dense blocks, and whether each source occurs once."""
    pointers, indices = np.array(pointers), np.array(indices)
    order = np.zeros(shape, np.int64)
    tools.csr_tobsr(*head, np.arange(1, size + 1, dtype=np.int64), pointers, indices, order)
    return pointers, indices, order - 1, np.count_nonzero(order) == size


@substitute(tools.csr_tobsr)
def _(rows, columns, height, width, pointers, indices, data, b_pointers, b_indices, blocks):
    head = (rows, columns, height, width, pointers, indices)
    found, where, order, once = _blocked(head, data.size, b_pointers, b_indices, blocks.shape)
    if not once:
        raise NotImplementedError("entries that occur twice, as dense blocks")
    b_pointers[...] = found
    b_indices[...] = where
    blocks[...] = np.where(order < 0, 0, data[order])


@substitute(tools.csr_scale_rows)
def _(rows, columns, pointers, indices, data, x):
    data[...] = data * x[major_of(pointers)]


@substitute(tools.csr_scale_columns)
def _(rows, columns, pointers, indices, data, x):
    data[...] = data * x[indices]


# ---- entries at the same place -------------------------------------------------------------------


def summed(head: Any, data: Any) -> Any:
    """Return the data after adjacent entries at the same place were added. Data after the last sum
    stay unchanged."""
    rows, columns, pointers, indices = head
    result = np.array(data)
    tools.csr_sum_duplicates(rows, columns, np.array(pointers), np.array(indices), result)
    return result


def _sums(head: Any) -> Any:
    """Return the sum to which each entry belongs, and the pattern of the sums."""
    rows, columns, pointers, indices = head
    found, where = np.array(pointers), np.array(indices)
    tools.csr_sum_duplicates(rows, columns, found, where, np.zeros(len(indices)))
    major = major_of(pointers)
    first = np.ones(len(major), bool)
    first[1:] = (major[1:] != major[:-1]) | (indices[1 : len(major)] != indices[: len(major) - 1])
    return np.cumsum(first) - 1, found, where


@rrule.register(summed)
def _(head, data):
    def summed_back(y_bar):
        into, found, _ = _sums(head)
        data_bar = np.array(y_bar)
        data_bar[: found[-1]] = 0
        data_bar[: len(into)] += y_bar[into]
        return None, None, data_bar

    return summed(head, data), summed_back


@frule.register(summed)
def _(dots, head, data):
    y_dot = None if dots[1] is None else summed(head, dots[1])
    return summed(head, data), y_dot


@substitute(tools.csr_sum_duplicates)
def _(rows, columns, pointers, indices, data):
    head = (rows, columns, pointers, indices)
    _, found, where = _sums(head)
    data[...] = summed((rows, columns, pointers.copy(), indices.copy()), data)
    pointers[...] = found
    indices[...] = where


# ---- patterns ------------------------------------------------------------------------------------


def _written(f: Any, args: Any, last: int) -> Any:
    """Return the result of a function, and the integer arrays that it writes to."""
    arrays = [np.array(array) for array in args[-last:]]
    return f(*args[:-last], *arrays), arrays


def _substitute_pattern(f: Any, last: int) -> None:
    @substitute(f)
    def write(*args):
        y, arrays = _written(f, args, last)
        for array, values in zip(args[-last:], arrays, strict=True):
            array[...] = values
        return y


for _name, _last in {"expandptr": 1, "csr_column_index1": 2, "csr_sample_offsets": 1}.items():
    _substitute_pattern(leaf(_name), _last)

non_differentiable(_order, _sorted_order, _submatrix, _blocked, _sums, _written, major_of)
non_differentiable(
    tools.csr_has_canonical_format,
    tools.csr_has_sorted_indices,
    tools.csr_matmat_maxnnz,
    tools.csr_count_blocks,
)
