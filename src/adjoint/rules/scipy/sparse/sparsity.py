"""Rows and columns of the stored entries of a sparse array, in the order of its data."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import _sparsetools as tools


def leaf(name: str) -> Any:
    """Return a compiled function, or ``None`` in versions of SciPy without it."""
    return getattr(tools, name, None)


def major_of(pointers: Any) -> Any:
    """Return the row of each entry of an array with compressed rows (or column, with columns)."""
    return np.repeat(np.arange(len(pointers) - 1), np.diff(pointers))


class Entries:
    """Rows and columns of stored entries.

    Attributes
    ----------
    rows, columns
        Those of the entries, in the order of the raveled data.
    chosen
        Mask of the data that are entries; ``None`` for all.
    """

    chosen: Any
    columns: Any
    rows: Any

    def __init__(self, rows: Any, columns: Any, chosen: Any = None) -> None:
        self.rows, self.columns, self.chosen = rows, columns, chosen

    def values(self, data: Any) -> Any:
        """Return the elements of the data that are entries."""
        flat = np.ravel(data)
        return flat if self.chosen is None else flat[self.chosen]

    def spread(self, values: Any, shape: Any) -> Any:
        """Return data with these entries and zeros elsewhere: the transpose of `values`."""
        if self.chosen is None:
            return np.reshape(values, shape)
        flat = np.zeros(self.chosen.shape, values.dtype)
        flat[self.chosen] = values
        return flat.reshape(shape)

    def matrix(self, data: Any, shape: Any) -> Any:
        """Return a sparse array with this pattern and other data."""
        return sparse.csr_array((self.values(data), (self.rows, self.columns)), shape=shape)


def of_compressed(pointers: Any, indices: Any) -> tuple[Any, Any, Any]:
    """Return rows, columns (or columns, rows) and a mask of the data of a compressed array. The
    mask is ``None`` if all data are entries; the array may have unused space."""
    stored = int(pointers[-1])
    if stored == len(indices):
        return major_of(pointers), indices, None
    return major_of(pointers), indices[:stored], np.arange(len(indices)) < stored


def of_blocks(pointers: Any, indices: Any, height: int, width: int) -> Entries:
    """Return the entries of data in dense blocks."""
    rows = major_of(pointers)[:, None, None] * height + np.arange(height)[:, None]
    columns = np.asarray(indices)[:, None, None] * width + np.arange(width)
    rows, columns = np.broadcast_arrays(rows, columns)
    return Entries(rows.ravel(), columns.ravel())


def of_diagonals(height: int, width: int, offsets: Any, length: int) -> Entries:
    """Return the entries of data in diagonals, some of which lie outside the matrix."""
    columns = np.arange(length) + np.zeros((len(offsets), 1), int)
    rows = columns - np.asarray(offsets)[:, None]
    chosen = (rows >= 0) & (rows < height) & (columns < width)
    return Entries(rows[chosen], columns[chosen], chosen.ravel())


def entries_of(a: Any) -> Any:
    """Return the entries of a two-dimensional sparse array; ``None`` for formats without `data`."""
    match a.format if a.ndim == 2 else "":
        case "csr":
            major, indices, chosen = of_compressed(a.indptr, a.indices)
            return Entries(major, indices, chosen)
        case "csc":
            major, indices, chosen = of_compressed(a.indptr, a.indices)
            return Entries(indices, major, chosen)
        case "coo":
            return Entries(a.row, a.col)
        case "bsr":
            return of_blocks(a.indptr, a.indices, *a.blocksize)
        case "dia":
            return of_diagonals(a.shape[0], a.shape[1], a.offsets, a.data.shape[1])
    return None
