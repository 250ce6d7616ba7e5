"""Results of functions of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.fast.evaluate.result_types.lengths import Length, Shape
from adjoint.fast.evaluate.result_types.records import broadcast, dims, shape_of
from adjoint.fast.evaluate.result_types.reductions import reduced


def _square(a: Any) -> tuple[Shape, Length]:
    """Return the shape of a stack of square matrices, and the length of their axes."""
    *stack, m, n = dims(a)
    if m != n:
        raise ValueError("a matrix that is not square")
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


@shape_of(np.linalg.eigvalsh)
def _(a: Any, UPLO: Any = "L") -> Shape:
    stack, n = _square(a)
    return (*stack, n)


@shape_of(np.linalg.solve, arrays=2)
def _(a: Any, b: Any) -> Shape:
    (stack, n), right = _square(a), dims(b)
    vectors = 1 if _NUMPY_2 else len(stack) + 1
    columns = 1 if len(right) == vectors else 2
    if right[-columns:][:1] != (n,):
        raise ValueError("a right-hand side that is not as long as the matrix")
    return (*broadcast(stack, right[:-columns]), *right[-columns:])


_NUMPY_2 = int(np.__version__.partition(".")[0]) >= 2
"""Right-hand sides are vectors if they have one axis; before, if they have one less than the
matrices."""


@shape_of(np.linalg.norm)
def _(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Shape:
    return reduced(x, axis, keepdims)
