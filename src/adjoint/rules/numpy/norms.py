"""The Euclidean norm, which has a derivative rule of its own for the sake of zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rules.numpy.operands import array_rule


@array_rule(np.linalg.norm, operands="x")
def _(x: Any, ord: Any = None, axis: Any = None, keepdims: Any = False) -> Any:
    """Of vectors and, with ``ord=None`` or ``"fro"``, of matrices; its gradient at 0 is 0.

    Other orders are differentiated by NumPy's own source.
    """
    euclidean = ord is None or ord == "fro"
    vectors = np.ndim(x) == 1 if axis is None else np.ndim(axis) == 0
    if not euclidean and not (vectors and not isinstance(ord, str) and ord == 2):
        return NotImplemented
    y = np.linalg.norm(x, ord, axis, keepdims)
    axes = tuple(range(np.ndim(x))) if axis is None else axis

    def norm_back(y_bar: Any) -> Any:
        length, bar = y, y_bar
        if not keepdims:
            length, bar = np.expand_dims(y, axes), np.expand_dims(y_bar, axes)
        return None, bar * x / np.where(length == 0, 1, length)

    return y, norm_back
