"""Rules of the matrix product, ``@``, for operands of any rank."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from adjoint.rules.projection import FLOAT64, projector
from adjoint.rules.registry import frule, rrule
from adjoint.rules.slopes import Traits, numeric_operands
from adjoint.rules.tangents import filled


def _register(f: Any) -> None:
    traits = Traits.of(f)

    @rrule.register(f, trusted=True)
    def matmul(a, b, /):
        if (
            type(a) is np.ndarray
            and type(b) is np.ndarray
            and a.dtype is FLOAT64
            and b.dtype is FLOAT64
            and a.ndim == 2
            and b.ndim == 2
        ):
            return f(a, b), lambda y_bar: (None, y_bar @ b.T, a.T @ y_bar)
        operands = numeric_operands(traits, (a, b))
        if operands is None:
            return NotImplemented
        y = f(a, b)
        (left, right), to_a, to_b = operands, projector(a), projector(b)

        def matmul_back(y_bar):
            return None, to_a(left_bar(y_bar, left, right)), to_b(right_bar(y_bar, left, right))

        return y, matmul_back

    def only_left(a, b, /):
        operands = numeric_operands(traits, (a, b))
        if operands is None:
            return NotImplemented
        (left, right), to_a = operands, projector(a)
        like = np.broadcast_to(np.float64(0), left.shape)  # the values of `a` are not needed
        return f(a, b), lambda y_bar: (None, to_a(left_bar(y_bar, like, right)), None)

    def only_right(a, b, /):
        operands = numeric_operands(traits, (a, b))
        if operands is None:
            return NotImplemented
        (left, right), to_b = operands, projector(b)
        like = np.broadcast_to(np.float64(0), right.shape)
        return f(a, b), lambda y_bar: (None, None, to_b(right_bar(y_bar, left, like)))

    matmul.only = (only_left, only_right)

    @frule.register(f, trusted=True)
    def matmul_forward(dots, a, b, /):
        if numeric_operands(traits, (a, b)) is None:
            return NotImplemented
        y, (a_dot, b_dot) = f(a, b), dots
        y_dot = None if a_dot is None else f(filled(a_dot, a), b)
        if b_dot is not None:
            term = f(a, filled(b_dot, b))
            y_dot = term if y_dot is None else y_dot + term
        return y, y_dot


def left_bar(y_bar: Any, a: Any, b: Any) -> Any:
    """ā = ȳ bᴴ, in the shape of the batch that `a` and `b` make together; of `a` only the rank
    counts."""
    b = np.conj(b) if np.iscomplexobj(b) else b
    if a.ndim == 1 and b.ndim == 1:
        return y_bar * b
    if b.ndim == 1:
        return y_bar[..., None] * b
    if a.ndim == 1:
        return (b @ y_bar[..., None])[..., 0]
    return y_bar @ np.swapaxes(b, -1, -2)


def right_bar(y_bar: Any, a: Any, b: Any) -> Any:
    """b̄ = aᴴ ȳ, in the shape of the batch that `a` and `b` make together; of `b` only the rank
    counts."""
    a = np.conj(a) if np.iscomplexobj(a) else a
    if a.ndim == 1 and b.ndim == 1:
        return y_bar * a
    if a.ndim == 1:
        return a[:, None] * y_bar[..., None, :]
    if b.ndim == 1:
        # one vector for the whole batch: sum over the batch in one product
        rows = math.prod(a.shape[:-1])
        return np.reshape(y_bar, rows) @ np.reshape(a, (rows, a.shape[-1]))
    if b.ndim == 2 and a.ndim > 2:
        rows = math.prod(a.shape[:-1])
        flat = np.reshape(a, (rows, a.shape[-1]))
        return flat.T @ np.reshape(y_bar, (rows, y_bar.shape[-1]))
    return np.swapaxes(a, -1, -2) @ y_bar


for _f in (operator.matmul, np.matmul):
    _register(_f)
