"""Construction, conversion and sums of SciPy's sparse arrays in terms of operations of programs:
the definitions that these inline.

The entries of an array of format ``csr`` or ``csc`` stand in the order of their codes, ``major *
count + minor``. Where SciPy leaves out the entries that are zero, a definition raises if there are
any: then the generic tier takes the call.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import _compressed, _construct, _coo, _csc, _csr, _dia

from adjoint.fast.evaluate.callees.numpy_definitions import definition

# ---- arrays of coordinates -----------------------------------------------------------------------


def summed(data, major, minor, m, n):
    """Return entries, indices and pointers of the entries at `major` and `minor`, of which those at
    the same place are added."""
    codes = np.asarray(major).astype(np.int64) * n + minor
    places = np.unique(codes)
    y = np.zeros(len(places), data.dtype)
    np.add.at(y, np.searchsorted(places, codes), data)
    return y, *_by_codes(places, m, n)


def ordered(data, major, minor, m, n):
    """Return entries, indices and pointers of the entries at `major` and `minor`, in the order of
    their codes."""
    codes = np.asarray(major).astype(np.int64) * n + minor
    order = np.argsort(codes, kind="stable")
    return data[order], *_by_codes(codes[order], m, n)


def _by_codes(codes, m, n):
    """Return indices and pointers of entries, given their codes in ascending order."""
    pointers = np.searchsorted(codes, np.arange(m + 1) * n)
    return (codes % n).astype(np.int32), pointers.astype(np.int32)


def majors(a):
    """Return the rows of the entries of an array of format ``csr``, the columns for ``csc``."""
    return np.searchsorted(a.indptr, np.arange(len(a.indices)), "right") - 1


def _demand_floats(a):
    if a.ndim != 2 or a.data.dtype not in (np.float64, np.complex128):
        raise TypeError("numbers of another kind, or another number of axes")


@definition(_coo._coo_base.tocsr)
def _coo_to_csr(self, copy=False):
    _demand_floats(self)
    m, n = self.shape
    rows, columns = self.coords
    return self._csr_container(summed(self.data, rows, columns, m, n), shape=(m, n))


@definition(_coo._coo_base.tocsc)
def _coo_to_csc(self, copy=False):
    _demand_floats(self)
    m, n = self.shape
    rows, columns = self.coords
    return self._csc_container(summed(self.data, columns, rows, n, m), shape=(m, n))


if hasattr(_coo._coo_base, "_coo_to_compressed"):

    @definition(_coo._coo_base._coo_to_compressed)
    def _coo_to_compressed(self, swap, copy=False):
        _demand_floats(self)
        m, n = swap(self.shape)
        major, minor = swap(self.coords)
        data, indices, pointers = summed(self.data, major, minor, m, n)
        return pointers, indices, data, self.shape


@definition(_compressed._cs_matrix.sum_duplicates)
def _sum_duplicates(self):
    """Leave an array as it is that has one entry at each place, in order."""
    _, n = self._swap(self.shape)
    codes = majors(self) * n + self.indices
    if not np.all(codes[1:] > codes[:-1]):
        raise ValueError("entries out of order")


# ---- formats -------------------------------------------------------------------------------------


@definition(_csr._csr_base.tocsc)
def _csr_to_csc(self, copy=False):
    _demand_floats(self)
    m, n = self.shape
    return self._csc_container(ordered(self.data, self.indices, majors(self), n, m), shape=(m, n))


@definition(_csc._csc_base.tocsr)
def _csc_to_csr(self, copy=False):
    _demand_floats(self)
    m, n = self.shape
    return self._csr_container(ordered(self.data, self.indices, majors(self), m, n), shape=(m, n))


@definition(_compressed._cs_matrix.tocoo, _csr._csr_base.tocoo)
def _to_coo(self, copy=True):
    _demand_floats(self)
    major, minor = majors(self), self.indices
    places = self._swap((major, minor))
    data = self.data.copy() if copy else self.data
    return self._coo_container((data, places), shape=self.shape)


def entries(a):
    """Return the entries of an array of diagonals, their rows and their columns."""
    m, n = a.shape
    columns = np.arange(a.data.shape[1])[None, :] + np.zeros_like(a.offsets)[:, None]
    rows = columns - a.offsets[:, None]
    inside = (rows >= 0) & (rows < m) & (columns < n)
    data = a.data[inside]
    if not np.all(data != 0):
        raise ValueError("entries that are zero")
    return data, rows[inside], columns[inside]


@definition(_dia._dia_base.tocsr)
def _dia_to_csr(self, copy=False):
    _demand_floats(self)
    m, n = self.shape
    data, rows, columns = entries(self)
    return self._csr_container(ordered(data, rows, columns, m, n), shape=(m, n))


@definition(_dia._dia_base.tocsc)
def _dia_to_csc(self, copy=False):
    _demand_floats(self)
    m, n = self.shape
    data, rows, columns = entries(self)
    return self._csc_container(ordered(data, columns, rows, n, m), shape=(m, n))


@definition(_dia._dia_base.tocoo)
def _dia_to_coo(self, copy=False):
    _demand_floats(self)
    data, rows, columns = entries(self)
    return self._coo_container((data, (rows, columns)), shape=self.shape)


def _to_array(self, order=None, out=None):
    if order is not None or out is not None:
        raise ValueError("another memory order")
    _demand_floats(self)
    y = np.zeros(self.shape, self.data.dtype)
    whole = self.tocoo()
    rows, columns = whole.coords
    np.add.at(y, (rows, columns), whole.data)
    return y


definition(_compressed._cs_matrix.toarray, _coo._coo_base.toarray)(_to_array)


@definition(sparse.kron)
def _kron(A, B, format=None):
    if not sparse.issparse(A) or not sparse.issparse(B) or A.ndim != 2 or B.ndim != 2:
        raise TypeError("factors of another kind")
    a, b = A.tocoo(), B.tocoo()
    (m, n), (p, q) = A.shape, B.shape
    if a.nnz == 0 or b.nnz == 0 or (format in (None, "bsr") and 2 * b.nnz >= p * q):
        raise ValueError("a product of another format")
    data = np.ravel(a.data[:, None] * b.data)
    rows = np.ravel(a.coords[0][:, None] * p + b.coords[0])
    columns = np.ravel(a.coords[1][:, None] * q + b.coords[1])
    whole = a._coo_container((data, (rows, columns)), shape=(m * p, n * q))
    return whole.asformat(format)


# ---- sums ----------------------------------------------------------------------------------------


def _sum(self, other, sign):
    _demand_floats(self)
    _demand_floats(other)
    if self.shape != other.shape:
        raise ValueError("inconsistent shapes")
    whole = other.asformat(self.format)
    self.sum_duplicates()
    whole.sum_duplicates()
    m, n = self._swap(self.shape)
    y = summed(
        np.concatenate([self.data, sign * whole.data]),
        np.concatenate([majors(self), majors(whole)]),
        np.concatenate([self.indices, whole.indices]),
        m,
        n,
    )
    if not np.all(y[0] != 0):
        raise ValueError("entries that are zero")
    return self.__class__(y, shape=self.shape)


@definition(_compressed._cs_matrix._add_sparse)
def _add_sparse(self, other):
    return _sum(self, other, 1.0)


@definition(_compressed._cs_matrix._sub_sparse)
def _sub_sparse(self, other):
    return _sum(self, other, -1.0)


# ---- diagonals -----------------------------------------------------------------------------------


def _diagonals(kind: Any) -> Any:
    def diagonals(diagonals, offsets=0, shape=None, format=None, dtype=None):
        if dtype not in (None, float, np.float64, "d", _construct_default):
            raise TypeError("numbers of another kind")
        if isinstance(offsets, int):
            places = [offsets]
            lines = (
                [np.atleast_1d(x) for x in diagonals] if np.ndim(diagonals) == 2 else [diagonals]
            )
        else:
            places = [int(k) for k in offsets]
            lines = [np.atleast_1d(x) for x in diagonals]
        if len(lines) != len(places) or len(lines) == 0:
            raise ValueError("Different number of diagonals and offsets.")
        m, n = (len(lines[0]) + abs(places[0]),) * 2 if shape is None else shape
        width = max([min(m + k, n - k) + max(0, k) for k in places])
        data = np.zeros((len(places), width))
        for j, line in enumerate(lines):
            k = places[j]
            if line.dtype not in (np.float64, np.int64):
                raise TypeError("numbers of another kind")
            length = min(m + k, n - k, m, n)
            if length < 0:
                raise ValueError("an offset out of bounds")
            start = max(0, k)
            data[j, start : start + length] = line[:length]
        return kind((data, np.array(places)), shape=(m, n)).asformat(format)

    return diagonals


_construct_default: Any = getattr(_construct, "_NoValue", None)

definition(sparse.diags)(_diagonals(sparse.dia_matrix))
definition(sparse.diags_array)(_diagonals(sparse.dia_array))
