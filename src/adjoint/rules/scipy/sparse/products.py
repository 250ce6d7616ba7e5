"""Rules of compiled functions that multiply a sparse array by a dense or a sparse one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import _sparsetools as tools

from adjoint.cotangents.poison import Poison
from adjoint.rulekit.elementwise_forward import like_result
from adjoint.rulekit.projection import project
from adjoint.rulekit.refusal import refusal
from adjoint.rulekit.registry import frule, non_differentiable, rrule, substitute
from adjoint.rules.numpy.operands import conj, cotangent_dtype
from adjoint.rules.scipy.sparse.sparsity import (
    Entries,
    leaf,
    major_of,
    of_blocks,
    of_compressed,
    of_diagonals,
)
from adjoint.rules.scipy.sparse.zeros import LEFT_OUT, with_zeros

# ---- products with dense arrays ------------------------------------------------------------------


def added_product(f: Any, head: Any, data: Any, x: Any, y: Any) -> Any:
    """Return `y` plus the product of a sparse array and a dense one."""
    result = np.array(y)
    f(*head, data, x, result)
    return result


def _of_rows(rows: int, columns: int, *rest: Any) -> tuple[Entries, int, int]:
    major, indices, chosen = of_compressed(*rest[-2:])
    return Entries(major, indices, chosen), rows, columns


def _of_columns(rows: int, columns: int, *rest: Any) -> tuple[Entries, int, int]:
    major, indices, chosen = of_compressed(*rest[-2:])
    return Entries(indices, major, chosen), rows, columns


def _of_coordinates(*rest: Any) -> tuple[Entries, int, int]:
    *_, rows, columns = rest
    return Entries(rows, columns), -1, -1


def _of_blocks(rows: int, columns: int, *rest: Any) -> tuple[Entries, int, int]:
    *_, height, width, pointers, indices = rest
    found = of_blocks(pointers, indices, height, width)
    return found, rows * height, columns * width


def _of_diagonals(rows: int, columns: int, _: int, length: int, offsets: Any) -> Any:
    return of_diagonals(rows, columns, offsets, length), rows, columns


PRODUCTS: dict[str, Callable[..., tuple[Entries, int, int]]] = {
    "csr_matvec": _of_rows,
    "csr_matvecs": _of_rows,
    "csc_matvec": _of_columns,
    "csc_matvecs": _of_columns,
    "coo_matvec": _of_coordinates,
    "coo_matmat_dense": _of_coordinates,
    "bsr_matvec": _of_blocks,
    "bsr_matvecs": _of_blocks,
    "dia_matvec": _of_diagonals,
}
"""Pattern of each function: entries and numbers of rows and columns, from its leading arguments.
The arguments of a function are these, the data, the dense operand, and the array that is added to.
A number of -1 means that the dense arrays have it."""

_patterns: dict[Any, Callable[..., tuple[Entries, int, int]]] = {
    leaf(name): pattern for name, pattern in PRODUCTS.items() if leaf(name) is not None
}


@rrule.register(added_product)
def _(f, head, data, x, y):
    result = added_product(f, head, data, x, y)

    def product_back(y_bar):
        entries, rows, columns = _patterns[f](*head)
        # several vectors may be stored one after the other
        vectors = _vectors(f, head)
        bar = np.reshape(y_bar, (-1, vectors) if vectors else (-1,))
        dense = np.reshape(x, (-1, vectors) if vectors else (-1,))
        shape = (len(bar) if rows < 0 else rows, len(dense) if columns < 0 else columns)
        parts = bar[entries.rows] * conj(dense[entries.columns])
        data_bar = entries.spread(np.sum(parts, -1) if vectors else parts, np.shape(data))
        x_bar = _times_adjoint(f, head, data, bar, entries, shape)
        return (
            None,
            None,
            None,
            project(data_bar, data),
            project(np.reshape(x_bar, np.shape(x)), x),
            project(y_bar, y),
        )

    return result, product_back


def _times_adjoint(f: Any, head: Any, data: Any, bar: Any, entries: Entries, shape: Any) -> Any:
    """Return Aᴴ ȳ."""
    kind = {"csr": sparse.csc_array, "csc": sparse.csr_array}.get(f.__name__[:3])
    if kind is None:
        return entries.matrix(conj(data), shape).T @ bar
    pointers, indices = head[-2:]
    stored = int(pointers[-1])
    return kind((conj(data[:stored]), indices[:stored], pointers), shape=shape[::-1]) @ bar


def _vectors(f: Any, head: Any) -> int:
    """Return how many vectors are multiplied at once; 0 for a single vector of one axis."""
    match f.__name__:
        case "csr_matvecs" | "csc_matvecs" | "bsr_matvecs":
            return int(head[2])
        case "coo_matmat_dense":
            return int(head[1])
    return 0


@frule.register(added_product)
def _(dots, f, head, data, x, y):
    _, _, data_dot, x_dot, y_dot = dots
    result = added_product(f, head, data, x, y)
    moved = np.zeros(np.shape(y), cotangent_dtype(result)) if y_dot is None else y_dot
    if data_dot is not None:
        moved = added_product(f, head, data_dot, x, moved)
    if x_dot is not None:
        moved = added_product(f, head, data, x_dot, moved)
    return result, like_result(moved, result)


def _substitute_product(f: Any) -> None:
    @substitute(f)
    def write(*args):
        *head, data, x, y = args
        y[...] = added_product(f, tuple(head), data, x, y)


for _f in _patterns:
    _substitute_product(_f)


if (_dia_matvecs := leaf("dia_matvecs")) is not None:

    @substitute(_dia_matvecs)
    def _(rows, columns, diagonals, length, offsets, data, vectors, x, y):
        """Multiply each vector separately."""
        for i in range(vectors):
            head = (rows, columns, diagonals, length, offsets)
            y[:, i] = added_product(tools.dia_matvec, head, data, x[:, i].copy(), y[:, i])


# ---- products of two sparse arrays ---------------------------------------------------------------


def multiplied(f: Any, head: Any, a_pattern: Any, a: Any, b_pattern: Any, b: Any, out: Any) -> Any:
    """Return the data of the product of two sparse arrays.

    Parameters
    ----------
    out
        The capacity in entries and in values, and the dtype.
    """
    return _multiplied(f, head, a_pattern, a, b_pattern, b, out)[2]


def _multiplied(f: Any, head: Any, a_pattern: Any, a: Any, b_pattern: Any, b: Any, out: Any) -> Any:
    make = lambda a, b: _made(f, head, a_pattern, a, b_pattern, b, out)
    return with_zeros(make, a, b, head[1])


def _made(f: Any, head: Any, a_pattern: Any, a: Any, b_pattern: Any, b: Any, out: Any) -> Any:
    entries, values, dtype = out
    found, where = np.empty_like(a_pattern[0]), np.empty(entries, a_pattern[1].dtype)
    data = np.empty(values, dtype)
    f(*head, *a_pattern, a, *b_pattern, b, found, where, data)
    stored = int(found[-1])
    return found, where[:stored], data[: stored * (values // entries) if entries else 0]


class _Product:
    """The patterns of two sparse arrays and of their product."""

    def __init__(self, head: Any, a_pattern: Any, b_pattern: Any, result: Any) -> None:
        rows, columns, height, width, inner = head[1:] if len(head) > 2 else (*head, 1, 1, 1)
        between = (len(b_pattern[0]) - 1) * inner
        self.a = of_blocks(a_pattern[0], a_pattern[1], height, inner)
        self.b = of_blocks(b_pattern[0], b_pattern[1], inner, width)
        self.result = of_blocks(result[0], result[1], height, width)
        self.of_a, self.of_b = (rows * height, between), (between, columns * width)
        self.of_result = (rows * height, columns * width)
        most = tools.csr_matmat_maxnnz(rows, columns, *a_pattern, *b_pattern)
        self.lost = most > len(result[1])


def sample(matrix: Any, entries: Entries) -> Any:
    """Return the elements of a sparse array at the places of other entries."""
    matrix = sparse.csr_array(matrix)
    matrix.sum_duplicates()
    if not matrix.nnz:
        return np.zeros(len(entries.rows), matrix.dtype)
    columns = matrix.shape[1]
    keys = major_of(matrix.indptr).astype(np.int64) * columns + matrix.indices
    wanted = entries.rows.astype(np.int64) * columns + entries.columns
    place = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[place] == wanted, matrix.data[place], 0)


@rrule.register(multiplied)
def _(f, head, a_pattern, a, b_pattern, b, out):
    found, where, y = _multiplied(f, head, a_pattern, a, b_pattern, b, out)

    def multiplied_back(y_bar):
        product = _Product(head, a_pattern, b_pattern, (found, where))
        if product.lost:
            bar = Poison(refusal(f, LEFT_OUT))
            return None, None, None, None, bar, None, bar, None
        y_matrix = product.result.matrix(y_bar, product.of_result)
        a_h = product.a.matrix(np.conj(a), product.of_a).T
        b_h = product.b.matrix(np.conj(b), product.of_b).T
        a_bar, b_bar = sample(y_matrix @ b_h, product.a), sample(a_h @ y_matrix, product.b)
        a_bar = project(np.reshape(a_bar, np.shape(a)), a)
        b_bar = project(np.reshape(b_bar, np.shape(b)), b)
        return None, None, None, None, a_bar, None, b_bar, None

    return y, multiplied_back


@frule.register(multiplied)
def _(dots, f, head, a_pattern, a, b_pattern, b, out):
    found, where, y = _multiplied(f, head, a_pattern, a, b_pattern, b, out)
    product = _Product(head, a_pattern, b_pattern, (found, where))
    y_dot = None
    for left, right, dot in ((dots[3], b, dots[3]), (a, dots[5], dots[5])):
        if dot is None:
            continue
        if product.lost:
            raise refusal(f, LEFT_OUT)
        term = product.a.matrix(left, product.of_a) @ product.b.matrix(right, product.of_b)
        term = sample(term, product.result)
        y_dot = term if y_dot is None else y_dot + term
    return y, y_dot if y_dot is None else like_result(y_dot, y)


def _substitute_matmat(f: Any, before: int) -> None:
    @substitute(f)
    def write(*args):
        head, rest = args[:before], args[before:]
        a_pattern, a, b_pattern, b = rest[:2], rest[2], rest[3:5], rest[5]
        pointers, indices, data = rest[6:]
        out = (len(indices), len(data), data.dtype)
        found, where, values = _multiplied(f, head, a_pattern, a, b_pattern, b, out)
        pointers[...] = found
        indices[: len(where)] = where
        data[: len(values)] = multiplied(f, head, a_pattern, a, b_pattern, b, out)


_substitute_matmat(tools.csr_matmat, 2)
_substitute_matmat(tools.bsr_matmat, 6)


def diagonal_product(head: Any, a: Any, b_head: Any, b: Any) -> Any:
    """Return the data of the product of two diagonal arrays."""
    return _diagonal_product(head, a, b_head, b)[1]


def _diagonal_product(head: Any, a: Any, b_head: Any, b: Any) -> Any:
    offsets, data = tools.dia_matmat(*head, a, *b_head, b)
    return offsets, data


def _diagonal_patterns(head: Any, b_head: Any, offsets: Any, size: int) -> Any:
    """Return entries and shapes of both factors and of the product."""
    (rows, inner, _, a_length, a_offsets), (columns, _, b_length, b_offsets) = head, b_head
    shapes = (rows, inner), (inner, columns), (rows, columns)
    lengths = a_length, b_length, size // max(len(offsets), 1)
    return [
        (of_diagonals(*shape, places, length), shape)
        for shape, places, length in zip(
            shapes, (a_offsets, b_offsets, offsets), lengths, strict=True
        )
    ]


@rrule.register(diagonal_product)
def _(head, a, b_head, b):
    offsets, y = _diagonal_product(head, a, b_head, b)

    def product_back(y_bar):
        (of_a, a_shape), (of_b, b_shape), (of_y, y_shape) = _diagonal_patterns(
            head, b_head, offsets, y.size
        )
        y_matrix = of_y.matrix(y_bar, y_shape)
        a_h, b_h = of_a.matrix(np.conj(a), a_shape).T, of_b.matrix(np.conj(b), b_shape).T
        a_bar = of_a.spread(sample(y_matrix @ b_h, of_a), np.shape(a))
        b_bar = of_b.spread(sample(a_h @ y_matrix, of_b), np.shape(b))
        return None, None, project(a_bar, a), None, project(b_bar, b)

    return y, product_back


@frule.register(diagonal_product)
def _(dots, head, a, b_head, b):
    """Push tangents forward; the offsets of the result do not depend on the values."""
    y = diagonal_product(head, a, b_head, b)
    terms = [
        diagonal_product(head, left, b_head, right)
        for left, right, dot in ((dots[1], b, dots[1]), (a, dots[3], dots[3]))
        if dot is not None
    ]
    return y, like_result(sum(terms[1:], terms[0]), y) if terms else None


if (_dia_matmat := leaf("dia_matmat")) is not None:

    @substitute(_dia_matmat)
    def _(rows, inner, diagonals, length, offsets, a, columns, b_diagonals, b_length, others, b):
        head = (rows, inner, diagonals, length, offsets)
        b_head = (columns, b_diagonals, b_length, others)
        places, _ = _diagonal_product(head, a, b_head, b)
        return places, diagonal_product(head, a, b_head, b)


non_differentiable(_multiplied, _diagonal_product)
