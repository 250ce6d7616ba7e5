"""Results of functions of matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.fast.evaluate.result_types.lengths import Length, Misfit, Shape, smaller
from adjoint.fast.evaluate.result_types.records import (
    Several,
    array,
    broadcast,
    dims,
    dtype_of,
    integer,
    shape_of,
)
from adjoint.fast.evaluate.result_types.reductions import reduced
from adjoint.fast.evaluate.types import Number


def _square(a: Any) -> tuple[Shape, Length]:
    """Return the shape of a stack of square matrices, and the length of their axes."""
    *stack, m, n = dims(a)
    if m != n:
        raise Misfit(m, n)
    return tuple(stack), n


@shape_of(np.linalg.inv)
def _(a: Any) -> Shape:
    stack, n = _square(a)
    return (*stack, n, n)


@shape_of(np.linalg.cholesky)
def _(a: Any, /, *, upper: Any = False) -> Shape:
    stack, n = _square(a)
    return (*stack, n, n)


@shape_of(np.linalg.det)
def _(a: Any) -> Shape:
    return _square(a)[0]


def _several(f: Any, dtypes: Sequence[Any], *shapes: Shape) -> Several:
    """Return the types of results of `f`, of class and dtypes of an example."""
    example = f(*(np.ones((1, 1), dtype) for dtype in dtypes))
    found = [
        array(y.dtype, shape) if shape else Number(frozenset({type(y)}))
        for y, shape in zip(example, shapes, strict=True)
    ]
    return Several(tuple(found), type(example))


@shape_of(np.linalg.slogdet)
def _(a: Any) -> Several:
    stack, _ = _square(a)
    return _several(np.linalg.slogdet, [dtype_of(a)], stack, stack)


@shape_of(np.linalg.eigh)
def _(a: Any, UPLO: Any = "L") -> Several:
    stack, n = _square(a)
    return _several(np.linalg.eigh, [dtype_of(a)], (*stack, n), (*stack, n, n))


@shape_of(np.linalg.svd)
def _(a: Any, full_matrices: Any = True, compute_uv: Any = True, hermitian: Any = False) -> Any:
    *stack, m, n = dims(a)
    if not integer(compute_uv):
        y = np.linalg.svd(np.ones((1, 1), dtype_of(a)), compute_uv=False)
        return array(y.dtype, (*stack, smaller(m, n)))
    k = smaller(m, n)
    left, right = (m, n) if integer(full_matrices) else (k, k)
    shapes = ((*stack, m, left), (*stack, k), (*stack, right, n))
    return _several(np.linalg.svd, [dtype_of(a)], *shapes)


@shape_of(np.linalg.qr)
def _(a: Any, mode: Any = "reduced") -> Any:
    *stack, m, n = dims(a)
    k = m if mode == "complete" else smaller(m, n)
    if mode == "r":
        r: Any = np.linalg.qr(np.ones((1, 1), dtype_of(a)), "r")
        return array(r.dtype, (*stack, k, n))
    if mode not in ("reduced", "complete"):
        raise ValueError("another mode")
    return _several(np.linalg.qr, [dtype_of(a)], (*stack, m, k), (*stack, k, n))


@shape_of(np.linalg.eigvalsh)
def _(a: Any, UPLO: Any = "L") -> Shape:
    stack, n = _square(a)
    return (*stack, n)


@shape_of(np.linalg.solve, arrays=2)
def _(a: Any, b: Any) -> Shape:
    (stack, n), right = _square(a), dims(b)
    vectors = 1 if _NUMPY_2 else len(stack) + 1
    columns = 1 if len(right) == vectors else 2
    if len(right) < columns:
        raise ValueError("a right-hand side of too few axes")
    if right[-columns] != n:
        raise Misfit(right[-columns], n)
    return (*broadcast(stack, right[:-columns]), *right[-columns:])


_NUMPY_2 = int(np.__version__.partition(".")[0]) >= 2
"""Right-hand sides are vectors if they have one axis; before, if they have one less than the
matrices."""


@shape_of(np.linalg.norm)
def _(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Shape:
    return reduced(x, axis, keepdims)
