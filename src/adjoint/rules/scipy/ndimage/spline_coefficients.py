"""Spline coefficients of `scipy.ndimage`: the inverse of a linear filter along one axis."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.ndimage import _nd_image

from adjoint.rules.numpy.operands import severed
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule
from adjoint.rules.scipy.ndimage.boundaries import (
    CONSTANT,
    GRID_CONSTANT,
    MIRROR,
    NEAREST,
    REFLECT,
    WRAP,
    constant,
    returning,
)

OF_A_MIRROR = (MIRROR, CONSTANT, GRID_CONSTANT, WRAP)
"""Modes that mirror the array at its outermost elements."""


@returning(_nd_image.spline_filter1d, 3)
def coefficients(input, order, axis, dtype, mode):
    """Return the coefficients of the spline through the elements along one axis."""


SHORT = 40
"""Length below which SciPy's coefficients of reflected lines are inexact, by up to 0.43ⁿ."""


def transposed_coefficients(y_bar: Any, order: int, axis: int, mode: int) -> Any:
    """Return the cotangent of the elements, from the solution of a symmetric system.

    In a mirrored array the outermost elements occur once and the others twice, so the system is
    symmetric with weight one half for the outermost.
    """
    n = y_bar.shape[axis]
    if mode in (NEAREST, REFLECT) and n < SHORT:
        matrix = coefficients(np.eye(n), order, 0, np.float64, mode)
        return np.moveaxis(np.tensordot(y_bar, matrix, (axis, 0)), -1, axis)
    counts = np.ones(n)
    if mode in OF_A_MIRROR and n > 1:
        counts[[0, -1]] = 0.5
    counts = counts.reshape(-1, *(1,) * (y_bar.ndim - 1 - axis % y_bar.ndim))
    return coefficients(y_bar / counts, order, axis, np.float64, mode) * counts


@matrix_rule(coefficients, "input")
def _(call: Call) -> Any:
    if severed(call.y, 0.5):
        return constant(1)
    order, axis, mode = call.order, call.axis, call.mode

    def back(y_bar: Any) -> Any:
        return (transposed_coefficients(y_bar, order, axis, mode),)

    def push(x_dot: Any) -> Any:
        return coefficients(x_dot, order, axis, np.float64, mode)

    return back, push
