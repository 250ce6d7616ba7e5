"""Rules of functions of whole sparse arrays: blocks, NumPy's functions, conversions from dense."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from adjoint.cotangents.poison import Poison
from adjoint.rulekit.refusal import NoDerivative, may_be_nonzero, refusal
from adjoint.rulekit.registry import frule, non_differentiable, primitive, rrule, substitute
from adjoint.rules.scipy.sparse.sparsity import entries_of, leaf
from adjoint.rules.scipy.sparse.zeros import nonzero_entries
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.dispatch.linked import NO_KEYWORDS
from adjoint.runtime.dispatch.source_call import call_function

WITH_DATA = ("csr", "csc", "coo", "dia", "bsr")
"""Formats whose values are one array, `data`."""


# ---- blocks --------------------------------------------------------------------------------------

UNSEEN = NoDerivative("the blocks", "cannot be seen: some entries are added up or left out")


def _joined(f: Any, blocks: Any, named: Any) -> tuple[Any, Any]:
    """Return the array made of blocks, and the source of each element of its raveled data.

    The array is built a second time from blocks that hold the numbers of their entries, counted
    through all blocks from 1 on. A source is such a number, or 0 for none. The sources are ``None``
    if some entries were added or left out.
    """
    y, count = f(blocks, **named), 0
    expected: list[Any] = []

    def numbered(block: Any) -> Any:
        nonlocal count
        block = block.copy() if sparse.issparse(block) else sparse.coo_array(block)
        numbers = np.arange(block.data.size) + count + 1
        count += block.data.size
        expected.append(numbers if block.ndim == 1 else entries_of(block).values(numbers))
        block.data = numbers.reshape(block.data.shape)
        return block

    positions = f(_map_blocks(numbered, blocks), **named | {"dtype": np.int64})
    if not sparse.issparse(y) or np.shape(positions.data) != np.shape(y.data):
        return y, None
    found = np.ravel(positions.data)
    whole = np.array_equal(np.sort(found[found > 0]), np.sort(np.concatenate(expected)))
    return y, found if whole else None


def _map_blocks(f: Callable[[Any], Any], blocks: Any) -> Any:
    """Return nested lists with `f` applied to each block."""
    if isinstance(blocks, list | tuple):
        return [_map_blocks(f, block) for block in blocks]
    return None if blocks is None else f(blocks)


def _leaves_of(blocks):
    if isinstance(blocks, list | tuple):
        return [leaf for part in blocks for leaf in _leaves_of(part)]
    return [] if blocks is None else [blocks]


def _are_blocks(blocks: Any, depth: int) -> bool:
    """Return whether blocks are nested to this depth and have known formats."""
    if depth:
        return isinstance(blocks, list | tuple) and all(_are_blocks(b, depth - 1) for b in blocks)
    if sparse.issparse(blocks):
        return blocks.format in WITH_DATA
    return blocks is None or type(blocks) is np.ndarray


def untraceable(values: Any, data: Any) -> Any:
    """Return `values`, whose derivatives in `data` are refused."""
    return values


@rrule.register(untraceable, alias=True)
def _(values, data):
    def unseen_back(y_bar):
        return None, y_bar, Poison(refusal(untraceable, UNSEEN)) if may_be_nonzero(y_bar) else None

    return values, unseen_back


@frule.register(untraceable, alias=True)
def _(dots, values, data):
    if may_be_nonzero(dots[1]):
        raise refusal(untraceable, UNSEEN)
    return values, dots[0]


def _of_blocks(f: Any, depth: int) -> None:
    def join(blocks, format=None, dtype=None):
        y, source = _joined(f, blocks, {"format": format, "dtype": dtype})
        data = [
            block.data.ravel()
            if sparse.issparse(block)
            else nonzero_entries(block, *_zeros_of(block))
            for block in _leaves_of(blocks)
        ]
        values = np.concatenate([np.zeros(1), *data])
        if source is None:
            y.data = untraceable(y.data, values)
        else:
            y.data = values[source].reshape(y.data.shape).astype(y.dtype)
        return y

    @primitive(f)
    def run(record: list[Any], slot: int, /, blocks: Any, *args: Any, **kwargs: Any) -> Any:
        if not _are_blocks(blocks, depth):
            return NotImplemented
        return call_function(record, slot, join, (blocks, *args), kwargs)


for _name, _depth in {"hstack": 1, "vstack": 1, "bmat": 2, "block_array": 2}.items():
    if hasattr(sparse, _name):
        _of_blocks(getattr(sparse, _name), _depth)

# ---- NumPy's functions ---------------------------------------------------------------------------

METHODS: dict[Any, Any] = {
    np.absolute: "__abs__",
    np.negative: "__neg__",
    np.conjugate: "conjugate",
} | {
    getattr(np, name): name
    for name in (
        "arcsin arcsinh arctan arctanh ceil deg2rad expm1 floor log1p rad2deg rint sign sin sinh"
        " sqrt tan tanh trunc"
    ).split()
}


def _by_method(f: Any, name: str) -> None:
    @primitive(f)
    def run(record: list[Any], slot: int, x: Any, *others: Any) -> Any:
        """Call the method that NumPy calls for objects that are not arrays."""
        method = getattr(type(x), name, None)
        if others or not sparse.issparse(x) or method is None:
            return NotImplemented
        return call_keywords(record, slot, method, (x,), NO_KEYWORDS)


for _f, _name in METHODS.items():
    _by_method(_f, _name)

# ---- sparse arrays from dense ones ---------------------------------------------------------------


def _zeros_of(dense: Any) -> Any:
    """Return the positions of the nonzero elements of a dense array, and of the zeros."""
    there = np.ravel(dense) != 0
    return np.flatnonzero(there), np.flatnonzero(~there)


def _from_dense(kind, dense, shape, dtype):
    """Make a sparse array, which does not store zeros; their derivatives are lost."""
    places = _places_of(kind, dense, shape)
    source, lost = _zeros_of(dense)
    made = kind((nonzero_entries(dense, source, lost), places), shape=dense.shape, dtype=dtype)
    made.has_canonical_format = True
    return made


def _places_of(kind: Any, dense: Any, shape: Any) -> Any:
    """Return the positions of the nonzero elements as SciPy stores them."""
    return kind(dense, shape=shape).nonzero()


def _of_dense(kind: Any) -> None:
    """Register the conversion of a dense array to coordinates, which all other formats use."""
    rank = 2 if issubclass(kind, sparse.spmatrix) else None

    def make(x, shape=None, dtype=None, copy=False, **named):
        dense = np.asarray(x)
        if rank is not None:
            dense = np.atleast_2d(dense)
        return _from_dense(kind, dense, shape, dtype)

    @primitive(kind)
    def run(record: list[Any], slot: int, /, x: Any, *others: Any, **named: Any) -> Any:
        if isinstance(x, tuple) or sparse.issparse(x) or not _has_slopes(x, rank):
            return NotImplemented
        return call_function(record, slot, make, (x, *others), named)


def _has_slopes(x: Any, rank: int | None) -> bool:
    dense = np.asarray(x)
    return dense.dtype.kind in "fc" and dense.ndim > 0 and (rank is None or dense.ndim <= rank)


for _kind in (sparse.coo_array, sparse.coo_matrix):
    _of_dense(_kind)

# ---- diagonals -----------------------------------------------------------------------------------


def _pattern(a: Any) -> Any:
    """Return rows and columns of the entries of a diagonal array, and the mask of its data."""
    found = entries_of(a)
    return found.rows, found.columns, found.chosen


@substitute(sparse.dia_array.toarray)
def _toarray(self, order=None, out=None):
    """Make diagonals dense with their zero entries, which other formats do not store."""
    if self.format != "dia":
        return self.tocoo(copy=False).toarray(order=order, out=out)
    dense = self._process_toarray_args(order, out)
    rows, columns, chosen = _pattern(self)
    dense[rows, columns] += self.data.ravel()[chosen]
    return dense


@substitute(sparse.find)
def _find(A):
    a = sparse.coo_array(A, copy=True)
    a.sum_duplicates()
    source, lost = _zeros_of(a.data)
    return a.row[source], a.col[source], nonzero_entries(a.data, source, lost)


def _stored_diagonals(a: Any) -> Any:
    """Return rows and columns of the nonzero entries, and the positions in the data. The positions
    are those of the nonzero entries, and of the others."""
    found, values = entries_of(a), np.ravel(a.data)
    there = found.values(values) != 0
    places = np.flatnonzero(found.chosen)
    return (found.rows[there], found.columns[there]), places[there], places[~there]


if leaf("dia_tocsr") is None:

    @substitute(sparse.dia_array.tocoo)
    def _tocoo(self, copy=False):
        places, source, lost = _stored_diagonals(self)
        data = nonzero_entries(self.data, source, lost)
        return self._coo_container((data, places), shape=self.shape, dtype=self.dtype)


non_differentiable(_joined, _pattern, _zeros_of, _stored_diagonals, _places_of)
