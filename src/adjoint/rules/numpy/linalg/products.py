"""Rules of the products, traces and views that NumPy 2 also has in `numpy.linalg`, with stricter
parameters than in `numpy`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.matmul import bilinear, left_bar, plain_products, right_bar
from adjoint.rulekit.projection import unbroadcast
from adjoint.rulekit.registry import non_differentiable, rrule
from adjoint.rules.numpy.operands import array_rule, conj, linear_frule, linear_rule, severed
from adjoint.rules.numpy.shapes.shaping import diagonal_of

non_differentiable(np.linalg.matrix_rank)


def _products() -> None:
    bilinear(np.linalg.matmul, left_bar, right_bar)
    plain_products(np.linalg.matmul)
    bilinear(
        np.linalg.outer,
        lambda y_bar, a, b: np.dot(y_bar, conj(b)),
        lambda y_bar, a, b: np.dot(conj(a), y_bar),
    )

    @array_rule(np.linalg.vecdot, operands="x1 x2")
    def _(x1, x2, /, *, axis=-1):
        def vecdot_back(y_bar):
            """The first operand is conjugated, so its cotangent has the conjugate of ȳ."""
            a, b = np.moveaxis(x1, axis, -1), np.moveaxis(x2, axis, -1)
            column = np.asanyarray(y_bar)[..., None]
            a_bar, b_bar = unbroadcast(conj(column) * b, a.shape), unbroadcast(column * a, b.shape)
            return None, np.moveaxis(a_bar, -1, axis), np.moveaxis(b_bar, -1, axis)

        vecdot: Any = np.linalg.vecdot  # its stub knows no axis
        return vecdot(x1, x2, axis=axis), vecdot_back

    @array_rule(np.linalg.cross, operands="x1 x2")
    def _(x1, x2, /, *, axis=-1):
        if any(np.shape(np.moveaxis(x, axis, -1))[-1] != 3 for x in (x1, x2)):
            return NotImplemented  # for the error of this function
        found = rrule(np.cross, x1, x2, axis=axis)
        return NotImplemented if found is None else found

    @array_rule(np.linalg.tensordot, operands="x1 x2")
    def _(x1, x2, /, *, axes=2):
        found = rrule(np.tensordot, x1, x2, axes=axes)
        return NotImplemented if found is None else found

    linear_frule(np.linalg.vecdot, np.linalg.cross, np.linalg.tensordot, operands=2, positional=0)


def _views() -> None:
    def diagonal_bar(y_bar: Any, shape: Any, *, offset: int = 0) -> Any:
        return diagonal_of(shape, offset, -2, -1, y_bar)

    @array_rule(np.linalg.trace, operands="x")
    def _(x, /, *, offset=0, dtype=None):
        y, shape = np.linalg.trace(x, offset=offset, dtype=dtype), np.shape(x)
        if severed(y, x):
            return y, lambda y_bar: (None, None)
        return y, lambda y_bar: (
            None,
            diagonal_of(shape, offset, -2, -1, np.asanyarray(y_bar)[..., None]),
        )

    linear_frule(np.linalg.trace, positional=0)

    def transpose_bar(y_bar: Any, shape: Any) -> Any:
        return np.swapaxes(y_bar, -1, -2)

    linear_rule(np.linalg.diagonal, diagonal_bar, operand="", alias=True)
    linear_rule(np.linalg.matrix_transpose, transpose_bar, operand="", alias=True)


if hasattr(np.linalg, "matmul"):  # NumPy 2
    _products()
    _views()
