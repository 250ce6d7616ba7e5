"""Rules of compiled functions that combine two sparse arrays element by element.

SciPy stores no entry where a result happens to be zero. The contribution of such an entry to a
derivative is lost, and may be nonzero, so a derivative that needs it is an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import _sparsetools as tools

from adjoint.cotangents.poison import Poison
from adjoint.rulekit.elementwise_forward import like_result
from adjoint.rulekit.projection import project
from adjoint.rulekit.refusal import (
    NoDerivative,
    added,
    may_be_nonzero,
    refusal,
    refused_dot,
    refused_entry,
)
from adjoint.rulekit.registry import frule, non_differentiable, rrule, substitute
from adjoint.rules.numpy.operands import cotangent_dtype
from adjoint.rules.scipy.sparse.sparsity import leaf, major_of
from adjoint.rules.scipy.sparse.zeros import LEFT_OUT, with_zeros

# ---- element by element --------------------------------------------------------------------------


def _larger(a: Any, b: Any) -> Any:
    """Return the share of `a` in the larger of both: 0, 1, or 0.5 for equal ones."""
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
    """Return the data of the sparse array that a compiled function makes of two.

    Parameters
    ----------
    head
        The arguments before the data of the first: rows and columns, the shape of blocks if any,
        pointers and indices.
    dtype
        The dtype of the result.
    """
    return _combined(f, head, a, b_pattern, b, dtype)[2]


def _combined(f: Any, head: Any, a: Any, b_pattern: Any, b: Any, dtype: Any) -> Any:
    make = lambda a, b: _made(f, head, a, b_pattern, b, dtype)
    return with_zeros(make, a, b, head[1]) if f.__name__ in _SUMS else make(a, b)


_SUMS = ("csr_plus_csr", "bsr_plus_bsr")


def _made(f: Any, head: Any, a: Any, b_pattern: Any, b: Any, dtype: Any) -> Any:
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
        Mask of places without an entry in the result.
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
        """Return the sum of the entries (or blocks) at each place."""
        blocks = np.reshape(data, (len(of), -1) if len(of) else (0, 1))
        total = np.zeros((len(self.lost), blocks.shape[1]), cotangent_dtype(blocks))
        np.add.at(total, of, blocks)
        return total


def _slopes(f: Any, union: _Union, a: Any, b: Any) -> tuple[Any, Any]:
    operation = f.__name__.split("_")[1]
    with np.errstate(all="ignore"):
        return PARTIALS[operation](union.total(a, union.of_a), union.total(b, union.of_b))


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
            with np.errstate(all="ignore"):
                terms = np.where(y_bars == 0, 0, y_bars * np.conj(slope))
            if np.any(union.lost):
                terms[union.lost & np.any(slope != 0, axis=1)] = refused_entry(f, LEFT_OUT)
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
            moved = union.total(dot, of)
            with np.errstate(all="ignore"):
                term = np.where(moved == 0, 0, slope * moved)
            asked = refused_dot(f, LEFT_OUT, term[union.lost], np.ravel(y))
            term = added(term[union.of_result], asked)
            y_dot = term if y_dot is None else y_dot + term
    if y_dot is None or type(y_dot) is Poison:
        return y, y_dot
    return y, like_result(np.reshape(y_dot, np.shape(y)), y)


def _pattern(f: Any, args: Any, before: int) -> Any:
    """Return pointers and indices of the result, and its data, used for truth values."""
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

# ---- by columns ----------------------------------------------------------------------------------


def _by_columns(f: Any, by_rows: Any) -> None:
    """Register a function for compressed columns, as SciPy before 1.14 has it. It equals the
    function for compressed rows of the transposes."""

    @substitute(f)
    def write(rows, columns, *others):
        return by_rows(columns, rows, *others)


for _name in (*PARTIALS, "ne", "lt", "gt", "le", "ge"):
    if (_of_columns := leaf(f"csc_{_name}_csc")) is not None:
        _by_columns(_of_columns, leaf(f"csr_{_name}_csr"))
if (_csc_tocsr := leaf("csc_tocsr")) is not None:
    _by_columns(_csc_tocsr, tools.csr_tocsc)

if (_csc_matmat := leaf("csc_matmat")) is not None:

    @substitute(_csc_matmat)
    def _(rows, columns, a_pointers, a_indices, a, b_pointers, b_indices, b, *result):
        """Multiply the transposes in reverse order."""
        b_first = b_pointers, b_indices, b, a_pointers, a_indices, a
        tools.csr_matmat(columns, rows, *b_first, *result)

    non_differentiable(leaf("csc_matmat_maxnnz"))

if (_csc_diagonal := leaf("csc_diagonal")) is not None:

    @substitute(_csc_diagonal)
    def _(k, rows, columns, *others):
        tools.csr_diagonal(-k, columns, rows, *others)


# ---- refused -------------------------------------------------------------------------------------


def unruled(f: Any, args: Any) -> Any:
    """Return what a compiled function without a rule makes of its last argument."""
    result = np.array(args[-1])
    f(*args[:-1], result)
    return result


WITHOUT_RULE = NoDerivative("an array of more than two axes", "has no rule")


@rrule.register(unruled)
def _(f, args):
    def unruled_back(y_bar):
        bar = Poison(refusal(f, WITHOUT_RULE)) if may_be_nonzero(y_bar) else None
        return None, None, tuple([bar if _is_float(x) else None for x in args])

    return unruled(f, args), unruled_back


@frule.register(unruled)
def _(dots, f, args):
    for dot, x in zip(dots[1] or (), args, strict=False):
        if _is_float(x) and may_be_nonzero(dot):
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

non_differentiable(_combined, _pattern)
