"""Sparse arrays of SciPy in terms of operations of programs: the definitions that these inline."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import _base, _compressed, _coo, _dia, _sputils, linalg

from adjoint.fast.evaluate.callees.numpy_definitions import definition
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import result_like
from adjoint.rules.scipy.sparse.kernels import diagonal_product, product, solution
from adjoint.rules.scipy.sparse.zeros import nonzero_entries

# ---- products with dense arrays ------------------------------------------------------------------


@definition(_base._spbase._matmul_dispatch)
def _matmul_dispatch(self, other):
    if _base.isscalarlike(other):
        return self._mul_scalar(other)
    if not _base.issparse(other) and other.ndim not in (1, 2):
        raise ValueError("could not interpret dimensions")
    if self._shape_as_2d[1] != other.shape[0]:
        raise ValueError("matmul: dimension mismatch with signature")
    if _base.issparse(other):
        return self._matmul_sparse(other)
    return self._matmul_vector(other) if other.ndim == 1 else self._matmul_multivector(other)


@definition(_coo._coo_base._rmatmul_dispatch)
def _rmatmul_dispatch(self, other):
    if _base.isscalarlike(other) or self.ndim != 2:
        raise ValueError("an array of another number of axes")
    return self.transpose()._matmul_dispatch(other.transpose()).transpose()


@definition(_compressed._cs_matrix._matmul_vector, _compressed._cs_matrix._matmul_multivector)
def _compressed_product(self, other):
    m, n = self._shape_as_2d
    y = product(self.data, _floating(other), self.indptr, self.indices, m, n, self.format)
    return y[0] if self.ndim == 1 else y


@definition(_coo._coo_base._matmul_vector, _coo._coo_base._matmul_multivector)
def _coordinate_product(self, other):
    if self.ndim != 2:
        raise ValueError("an array of another number of axes")
    m, n = self.shape
    if m == 1:
        raise ValueError("a number as a result")
    rows, columns = self.coords
    return product(self.data, _floating(other), rows, columns, m, n, "coo")


@definition(_dia._dia_base._matmul_vector, _dia._dia_base._matmul_multivector)
def _diagonal_product(self, other):
    m, n = self.shape
    return diagonal_product(self.data, _floating(other), self.offsets, m, n)


@definition(linalg.spsolve)
def _spsolve(A, b, permc_spec=None, use_umfpack=True):
    if not sparse.issparse(A) or A.format not in ("csr", "csc") or not use_umfpack:
        raise ValueError("another format")
    m, n = A.shape
    right = np.asarray(b)
    if m != n or right.shape[0] != n or (right.ndim == 2 and right.shape[1] == 1):
        raise ValueError("a right side of another shape")
    if A.data.dtype != np.float64 or right.dtype != np.float64:
        raise TypeError("numbers of another kind")
    return solution(A.data, right, A.indptr, A.indices, n, A.format, permc_spec)


def _floating(x):
    if x.dtype.kind not in "fc":
        raise TypeError("a product of integers")
    return x


# ---- construction --------------------------------------------------------------------------------


@definition(_sputils.get_index_dtype)
def _get_index_dtype(arrays=(), maxval=None, check_contents=False):
    if maxval is not None and maxval > 2147483647:
        raise ValueError("lengths beyond those of 32 bits")
    for one in (arrays,) if isinstance(arrays, np.ndarray) else arrays:
        arr = np.asarray(one)
        if arr.dtype != np.int32:
            if arr.dtype != np.int64:
                raise TypeError("places of another kind")
            if not check_contents:
                return np.int64
            if len(arr) > 0 and (arr.max() > 2147483647 or arr.min() < -2147483648):
                raise ValueError("places beyond those of 32 bits")
    return np.int32


def _of_coordinates(kind: Any) -> None:
    @definition(kind)
    def make(arg1, shape=None, dtype=None, copy=False, *, maxprint=None):
        made = object.__new__(kind)
        if isinstance(arg1, tuple):
            made.__init__(arg1, shape, dtype, copy, maxprint=maxprint)
            return made
        entries, places, lengths = _of_dense(np.asarray(arg1))
        if shape is not None:
            raise ValueError("a shape beside an array")
        made.__init__((entries, places), lengths, dtype, maxprint=maxprint)
        made.has_canonical_format = True
        return made


def _of_dense(dense):
    """Return the entries that are not zero, their places, and the shape."""
    if dense.ndim != 2:
        raise ValueError("an array of another rank")
    there = np.ravel(dense) != 0
    source = np.flatnonzero(there)
    entries = nonzero_entries(_floating(dense), source, np.flatnonzero(~there))
    places = source.astype(np.int32)
    n = dense.shape[1]
    return entries, (places // n, places % n), dense.shape


_of_coordinates(sparse.coo_array)
_of_coordinates(sparse.coo_matrix)


@definition(_sputils.to_native)
def _to_native(A):
    """Leave an array as it is: programs have no other byte order."""
    return A


@definition(_coo._coo_base.transpose)
def _transpose(self, axes=None, copy=False):
    if self.ndim != 2 or axes not in (None, (1, 0)):
        raise ValueError("other axes")
    m, n = self._shape
    rows, columns = self.coords
    return self.__class__((self.data, (columns, rows)), shape=(n, m), copy=copy)


@definition(_compressed._cs_matrix.prune)
def _prune(self):
    """Leave the arrays as they are: there is no unused space."""
    if len(self.indptr) != self._swap(self._shape_as_2d)[0] + 1:
        raise ValueError("index pointer has invalid length")
    if not fills(self.data, self.indices, self.indptr):
        raise ValueError("arrays with unused space")


@result_like(lambda data, indices, pointers: np.all(pointers >= 0))
@non_differentiable
def fills(data: Any, indices: Any, pointers: Any) -> Any:
    """Return whether arrays end with the last entry, and so does their memory: SciPy copies parts
    of others."""
    whole = all(x.base is None or x.size >= x.base.size // 2 for x in (data, indices))
    return np.bool_(whole and pointers[-1] == len(data) == len(indices))
