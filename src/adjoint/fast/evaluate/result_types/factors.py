"""Results of functions of `scipy.linalg` that return several arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from adjoint.fast.evaluate.result_types.lengths import Length, Misfit, Shape, smaller
from adjoint.fast.evaluate.result_types.records import (
    Several,
    array,
    dims,
    dtype_of,
    integer,
    shape_of,
)


def _matrix(a: Any) -> tuple[Length, Length]:
    """Return the lengths of a matrix of floats of double precision."""
    shape = dims(a)
    if len(shape) != 2 or dtype_of(a).char not in "dD" or 0 in shape:
        raise TypeError("a stack, an empty matrix, or one of another precision")
    return shape


def _several(a: Any, *shapes: Shape) -> Several:
    """Return the types of results that are of the dtype of a matrix."""
    return Several(tuple(array(dtype_of(a), shape) for shape in shapes))


def _demand_square(m: Length, n: Length) -> None:
    if m != n:
        raise Misfit(m, n)


@shape_of(linalg.eigh, arrays=2)
def _(
    a: Any,
    b: Any = None,
    *,
    lower: Any = True,
    eigvals_only: Any = False,
    type: Any = 1,
    check_finite: Any = True,
) -> Any:
    m, n = _matrix(a)
    _demand_square(m, n)
    if b is not None:
        _demand_square(*_matrix(b))
    if dtype_of(a).kind == "c":
        raise TypeError("complex matrices")
    values = array(np.float64, (n,))
    return values if integer(eigvals_only) else Several((values, array(np.float64, (n, n))))


@shape_of(linalg.svd)
def _(
    a: Any,
    full_matrices: Any = True,
    compute_uv: Any = True,
    overwrite_a: Any = False,
    check_finite: Any = True,
    lapack_driver: Any = "gesdd",
) -> Any:
    m, n = _matrix(a)
    k = smaller(m, n)
    values = array(np.float64, (k,))
    if not integer(compute_uv):
        return values
    left, right = (m, n) if integer(full_matrices) else (k, k)
    u, vh = _several(a, (m, left), (right, n)).types
    return Several((u, values, vh))


@shape_of(linalg.qr)
def _(
    a: Any,
    overwrite_a: Any = False,
    lwork: Any = None,
    mode: Any = "full",
    pivoting: Any = False,
    check_finite: Any = True,
) -> Several:
    m, n = _matrix(a)
    if integer(pivoting) or mode not in ("full", "economic"):
        raise TypeError("another mode")
    k = m if mode == "full" else smaller(m, n)
    return _several(a, (m, k), (k, n))


@shape_of(linalg.lu_factor)
def _(a: Any, overwrite_a: Any = False, check_finite: Any = True) -> Several:
    m, n = _matrix(a)
    return Several((*_several(a, (m, n)).types, array(np.int32, (smaller(m, n),))))


@shape_of(linalg.lu)
def _(
    a: Any,
    permute_l: Any = False,
    overwrite_a: Any = False,
    check_finite: Any = True,
    p_indices: Any = False,
) -> Several:
    m, n = _matrix(a)
    k = smaller(m, n)
    if integer(permute_l) or integer(p_indices) or dtype_of(a).kind == "c":
        raise TypeError("other parts, or complex matrices")
    return Several((array(np.float64, (m, m)), *_several(a, (m, k), (k, n)).types))
