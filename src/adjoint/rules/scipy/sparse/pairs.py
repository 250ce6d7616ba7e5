"""Rules of the compiled functions that make one sparse array of two, and of those that leave out
entries which are zero.

SciPy stores no entry where a sum or a product happens to be zero. What such an entry would have
contributed to a derivative is lost then, and it is not known whether that is zero: needing it is an
error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import _sparsetools as tools

from adjoint.rules.numpy.operands import cotangent_dtype
from adjoint.rules.projection import project
from adjoint.rules.refusal import NoDerivative, moves, refusal
from adjoint.rules.registry import frule, non_differentiable, rrule, substitute
from adjoint.rules.scipy.sparse.leaves import leaf
from adjoint.rules.scipy.sparse.patterns import Entries, major_of, of_blocks, of_diagonals
from adjoint.rules.tangents import like_result
from adjoint.run.accumulate import Poison

__all__ = ["combined", "diagonal_product", "kept", "multiplied", "sample", "unruled"]

LEFT_OUT = NoDerivative("entries", "are zero here and are not stored in the result")

# ---- element by element --------------------------------------------------------------------------


def _larger(a: Any, b: Any) -> Any:
    """The share of `a` in the larger of both: equal ones share."""
    return np.where(a == b, 0.5, a > b)


PARTIALS: dict[str, Callable[[Any, Any], tuple[Any, Any]]] = {
    "plus": lambda a, b: (np.ones_like(a), np.ones_like(b)),
    "minus": lambda a, b: (np.ones_like(a), -np.ones_like(b)),
    "elmul": lambda a, b: (b, a),
    "eldiv": lambda a, b: (1 / b, -a / (b * b)),
    "maximum": lambda a, b: (_larger(a, b), _larger(b, a)),
    "minimum": lambda a, b: (_larger(-a, -b), _larger(-b, -a)),
}


def combined(f: Any, head: Any, a: Any, b_pattern: Any, b: Any, dtype: Any) -> Any:
    """The data of the sparse array that a compiled function makes of two.

    Parameters
    ----------
    head
        What comes before the data of the first: rows and columns, the shape of the blocks if there
        are some, pointers and indices.
    dtype
        That of the result.
    """
    return _combined(f, head, a, b_pattern, b, dtype)[2]


def _combined(f: Any, head: Any, a: Any, b_pattern: Any, b: Any, dtype: Any) -> Any:
    pointers, indices = head[-2:]
    width = int(np.prod(head[2:-2]))
    size = len(indices) + len(b_pattern[1])
    found, where = np.empty_like(pointers), np.empty(size, indices.dtype)
    data = np.empty(size * width, dtype)
    f(*head, a, *b_pattern, b, found, where, data)
    stored = int(found[-1])
    return found, where[:stored], data[: stored * width]


class _Union:
    """The places where at least one of two sparse arrays has an entry.

    Attributes
    ----------
    of_a, of_b, of_result
        The number of the place of each stored entry.
    lost
        Which places the result has no entry for.
    """

    def __init__(self, head: Any, b_pattern: Any, result: Any) -> None:
        keys = [
            major_of(pointers) * head[1] + indices[: pointers[-1]]
            for pointers, indices in (head[-2:], b_pattern, result)
        ]
        places, inverse = np.unique(np.concatenate(keys[:2]), return_inverse=True)
        self.of_a, self.of_b = np.split(inverse, [len(keys[0])])
        self.of_result = np.searchsorted(places, keys[2])
        self.lost = np.ones(len(places), bool)
        self.lost[self.of_result] = False

    def total(self, data: Any, of: Any) -> Any:
        """The sum of the entries at each place, which may be blocks."""
        blocks = np.reshape(data, (len(of), -1) if len(of) else (0, 1))
        total = np.zeros((len(self.lost), blocks.shape[1]), cotangent_dtype(blocks))
        np.add.at(total, of, blocks)
        return total


def _slopes(f: Any, union: _Union, a: Any, b: Any) -> tuple[Any, Any]:
    operation = f.__name__.split("_")[1]
    with np.errstate(all="ignore"):
        return PARTIALS[operation](union.total(a, union.of_a), union.total(b, union.of_b))


def _loses(union: _Union, slope: Any, of: Any) -> bool:
    """Whether an entry of an operand would have moved an entry that the result does not have."""
    own = np.zeros(len(union.lost), bool)
    own[of] = True
    return bool(np.any(slope[union.lost & own]))


@rrule.register(combined)
def _(f, head, a, b_pattern, b, dtype):
    found, where, y = _combined(f, head, a, b_pattern, b, dtype)

    def combined_back(y_bar):
        union = _Union(head, b_pattern, (found, where))
        y_bars = union.total(y_bar, union.of_result)
        bars = []
        for x, of, slope in zip(
            (a, b), (union.of_a, union.of_b), _slopes(f, union, a, b), strict=True
        ):
            if _loses(union, slope, of):
                bars.append(Poison(refusal(f, LEFT_OUT)))
                continue
            with np.errstate(all="ignore"):
                terms = np.where(y_bars == 0, 0, y_bars * np.conj(slope))
            bars.append(project(np.reshape(terms[of], np.shape(x)), x))
        return None, None, None, bars[0], None, bars[1], None

    return y, combined_back


@frule.register(combined)
def _(dots, f, head, a, b_pattern, b, dtype):
    found, where, y = _combined(f, head, a, b_pattern, b, dtype)
    union = _Union(head, b_pattern, (found, where))
    slope_a, slope_b = _slopes(f, union, a, b)
    y_dot = None
    for dot, of, slope in ((dots[2], union.of_a, slope_a), (dots[4], union.of_b, slope_b)):
        if dot is not None:
            if moves(dot) and _loses(union, slope, of):
                raise refusal(f, LEFT_OUT)
            term = (slope * union.total(dot, of))[union.of_result]
            y_dot = term if y_dot is None else y_dot + term
    return y, y_dot if y_dot is None else like_result(np.reshape(y_dot, np.shape(y)), y)


def _pattern(f: Any, args: Any, before: int) -> Any:
    """Pointers and indices of the result, and its data where they are truths."""
    head, a, (b_pointers, b_indices, b), dtype = (
        args[:before],
        args[before],
        args[before + 1 : before + 4],
        args[-1].dtype,
    )
    return _combined(f, head, a, (b_pointers, b_indices), b, dtype)


def _substitute_pair(f: Any, before: int, has_derivative: bool) -> None:
    @substitute(f)
    def write(*args):
        head, b_pattern = args[:before], args[before + 1 : before + 3]
        pointers, indices, data = args[before + 4 :]
        found, where, values = _pattern(f, args, before)
        pointers[...] = found
        indices[: len(where)] = where
        if has_derivative:
            a, b = args[before], args[before + 3]
            values = combined(f, head, a, b_pattern, b, data.dtype)
        data[: len(values)] = values


for _kind, _before in (("csr", 4), ("bsr", 6)):
    for _name in (*PARTIALS, "ne", "lt", "gt", "le", "ge"):
        _substitute_pair(leaf(f"{_kind}_{_name}_{_kind}"), _before, _name in PARTIALS)

# ---- products ------------------------------------------------------------------------------------


def multiplied(f: Any, head: Any, a_pattern: Any, a: Any, b_pattern: Any, b: Any, out: Any) -> Any:
    """The data of the product of two sparse arrays.

    Parameters
    ----------
    out
        How many entries and values there is room for, and the dtype.
    """
    return _multiplied(f, head, a_pattern, a, b_pattern, b, out)[2]


def _multiplied(f: Any, head: Any, a_pattern: Any, a: Any, b_pattern: Any, b: Any, out: Any) -> Any:
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
    """The elements of a sparse array at the places of other entries."""
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


def _substitute_product(f: Any, before: int) -> None:
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


_substitute_product(tools.csr_matmat, 2)
_substitute_product(tools.bsr_matmat, 6)


def diagonal_product(head: Any, a: Any, b_head: Any, b: Any) -> Any:
    """The data of the product of two arrays of diagonals."""
    return _diagonal_product(head, a, b_head, b)[1]


def _diagonal_product(head: Any, a: Any, b_head: Any, b: Any) -> Any:
    offsets, data = tools.dia_matmat(*head, a, *b_head, b)
    return offsets, data


def _diagonal_patterns(head: Any, b_head: Any, offsets: Any, size: int) -> Any:
    """Entries and shapes of both factors and of the product."""
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
    """The offsets do not depend on the values."""
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


# ---- without zeros -------------------------------------------------------------------------------


def kept(data: Any, source: Any, lost: Any) -> Any:
    """The elements of an array at some positions; those at others are left out, being zero."""
    return np.ravel(data)[source]


@rrule.register(kept)
def _(data, source, lost):
    shape = np.shape(data)

    def kept_back(y_bar):
        if len(lost):
            return None, Poison(refusal(kept, LEFT_OUT)), None, None
        bar = np.zeros(shape, cotangent_dtype(y_bar)).ravel()
        bar[source] = y_bar
        return None, bar.reshape(shape), None, None

    return kept(data, source, lost), kept_back


@frule.register(kept)
def _(dots, data, source, lost):
    if dots[0] is not None and moves(np.ravel(dots[0])[lost]):
        raise refusal(kept, LEFT_OUT)
    return kept(data, source, lost), None if dots[0] is None else kept(dots[0], source, lost)


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


# ---- refused -------------------------------------------------------------------------------------


def unruled(f: Any, args: Any) -> Any:
    """What a compiled function without a rule makes of its last argument."""
    result = np.array(args[-1])
    f(*args[:-1], result)
    return result


WITHOUT_RULE = NoDerivative("an array of more than two axes", "has no rule")


@rrule.register(unruled)
def _(f, args):
    def unruled_back(y_bar):
        bar = Poison(refusal(f, WITHOUT_RULE)) if moves(y_bar) else None
        return None, None, tuple([bar if _is_float(x) else None for x in args])

    return unruled(f, args), unruled_back


@frule.register(unruled)
def _(dots, f, args):
    for dot, x in zip(dots[1] or (), args, strict=False):
        if _is_float(x) and moves(dot):
            raise refusal(f, WITHOUT_RULE)
    return unruled(f, args), None


def _is_float(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.kind in "fc"


def _substitute_unruled(f: Any) -> None:
    @substitute(f)
    def write(*args):
        args[-1][...] = unruled(f, args)


for _name in ("coo_matvec_nd", "coo_matmat_dense_nd", "bsr_scale_rows", "bsr_scale_columns"):
    if leaf(_name) is not None:
        _substitute_unruled(leaf(_name))

non_differentiable(_multiplied, _combined, _pattern, _nonzero, _diagonal_order, _diagonal_product)
