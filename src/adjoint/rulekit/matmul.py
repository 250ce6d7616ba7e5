"""Rules of the matrix product, ``@``, for operands of any rank."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from adjoint.primal.value_kinds import FLOAT64
from adjoint.rulekit.elementwise_forward import filled
from adjoint.rulekit.partials import Traits, as_strong, numeric_operands
from adjoint.rulekit.projection import projector
from adjoint.rulekit.registry import frule, rrule
from adjoint.rulekit.tangents import linear_in


def bilinear(f: Any, left_bar: Any, right_bar: Any) -> None:
    """Register both rules of a product of arrays.

    Parameters
    ----------
    f
        ``f(a, b)``, linear in each operand (over the real numbers).
    left_bar, right_bar
        ``(y_bar, a, b)`` to the cotangent of `a` or `b`, in any shape to which the operand
        broadcasts. Of the operand itself only the shape may be read.
    """
    traits = Traits.of(f)
    linear_in(f, places=range(2))

    @rrule.register(f, trusted=True)
    def both(a, b, /):
        operands = numeric_operands(traits, (a, b))
        if operands is None:
            return NotImplemented
        (left, right), to_a, to_b = operands, projector(a), projector(b)

        y = f(a, b)
        kind = type(y)

        def product_back(y_bar, *, wanted=(True, True)):
            y_bar = as_strong(y_bar, kind)
            a_bar = to_a(left_bar(y_bar, left, right)) if wanted[0] else None
            b_bar = to_b(right_bar(y_bar, left, right)) if wanted[1] else None
            return None, a_bar, b_bar

        return y, product_back

    def only_left(a, b, /):
        operands = numeric_operands(traits, (a, b))
        if operands is None:
            return NotImplemented
        like, right, to_a = _shape_of(operands[0]), operands[1], projector(a)
        y = f(a, b)
        kind = type(y)

        def left_back(y_bar):
            return None, to_a(left_bar(as_strong(y_bar, kind), like, right)), None

        return y, left_back

    def only_right(a, b, /):
        operands = numeric_operands(traits, (a, b))
        if operands is None:
            return NotImplemented
        left, like, to_b = operands[0], _shape_of(operands[1]), projector(b)
        y = f(a, b)
        kind = type(y)

        def right_back(y_bar):
            return None, None, to_b(right_bar(as_strong(y_bar, kind), left, like))

        return y, right_back

    both.only = (only_left, only_right)  # type: ignore[attr-defined]

    @frule.register(f, trusted=True)
    def product_forward(dots, a, b, /):
        if numeric_operands(traits, (a, b)) is None:
            return NotImplemented
        y, (a_dot, b_dot) = f(a, b), dots
        y_dot = None if a_dot is None else f(filled(a_dot, a), b)
        if b_dot is not None:
            term = f(a, filled(b_dot, b))
            y_dot = term if y_dot is None else y_dot + term
        return y, y_dot


def _shape_of(x: Any) -> Any:
    """Return an array of the shape of `x` that does not keep `x` alive."""
    return np.broadcast_to(np.float64(0), np.shape(x))


def left_bar(y_bar: Any, a: Any, b: Any) -> Any:
    """ā = ȳ bᴴ, in the batch shape of `a` and `b` together; of `a` only the rank is read."""
    b = np.conj(b) if np.iscomplexobj(b) else b
    if a.ndim == 1 and b.ndim == 1:
        return y_bar * b
    if b.ndim == 1:
        return y_bar[..., None] * b
    if a.ndim == 1:
        return (b @ y_bar[..., None])[..., 0]
    return y_bar @ np.swapaxes(b, -1, -2)


def right_bar(y_bar: Any, a: Any, b: Any) -> Any:
    """b̄ = aᴴ ȳ, in the batch shape of `a` and `b` together; of `b` only the rank is read."""
    a = np.conj(a) if np.iscomplexobj(a) else a
    if a.ndim == 1 and b.ndim == 1:
        return y_bar * a
    if a.ndim == 1:
        return a[:, None] * y_bar[..., None, :]
    if b.ndim == 1:
        # a single vector: sum over the batch in one product
        rows = math.prod(a.shape[:-1])
        return np.reshape(y_bar, rows) @ np.reshape(a, (rows, a.shape[-1]))
    if b.ndim == 2 and a.ndim > 2:
        rows = math.prod(a.shape[:-1])
        flat = np.reshape(a, (rows, a.shape[-1]))
        return flat.T @ np.reshape(y_bar, (rows, y_bar.shape[-1]))
    return np.swapaxes(a, -1, -2) @ y_bar


def plain_products(f: Any) -> None:
    """Register a lane ahead of the general rule: products of doubles need no projection."""

    @rrule.register(f, trusted=True)
    def both(a, b, /):
        if not _are_plain(a, b):
            return NotImplemented
        to_left, to_right = left_bars[b.ndim], right_bars[a.ndim]

        def product_back(y_bar, *, wanted=(True, True)):
            if type(y_bar) is not np.ndarray:  # a number, or a `Cotangent`
                return None, left_bar(y_bar, a, b), right_bar(y_bar, a, b)
            a_bar = to_left(y_bar, b, a.ndim) if wanted[0] else None
            return None, a_bar, to_right(y_bar, a, b.ndim) if wanted[1] else None

        return f(a, b), product_back

    def only_left(a, b, /):
        if not _are_plain(a, b):
            return NotImplemented
        to_left, rank = left_bars[b.ndim], a.ndim

        def left_back(y_bar):
            if type(y_bar) is not np.ndarray:
                return None, left_bar(y_bar, _OF_RANK[rank], b), None
            return None, to_left(y_bar, b, rank), None

        return f(a, b), left_back

    def only_right(a, b, /):
        if not _are_plain(a, b):
            return NotImplemented
        to_right, rank = right_bars[a.ndim], b.ndim

        def right_back(y_bar):
            if type(y_bar) is not np.ndarray:
                return None, None, right_bar(y_bar, a, _OF_RANK[rank])
            return None, None, to_right(y_bar, a, rank)

        return f(a, b), right_back

    both.only = (only_left, only_right)  # type: ignore[attr-defined]


_OF_RANK = tuple(np.zeros((1,) * rank) for rank in range(3))


def _are_plain(a: Any, b: Any) -> bool:
    return (
        type(a) is np.ndarray
        and type(b) is np.ndarray
        and (a.dtype is FLOAT64 or a.dtype == FLOAT64)
        and (b.dtype is FLOAT64 or b.dtype == FLOAT64)
        and a.ndim in (1, 2)
        and b.ndim in (1, 2)
    )


def _outer(a: Any, b: Any) -> Any:
    return a.reshape(-1, 1).dot(b.reshape(1, -1))


left_bars: Any = {
    1: lambda y_bar, b, rank: y_bar * b if rank == 1 else _outer(y_bar, b),
    2: lambda y_bar, b, rank: b.dot(y_bar) if rank == 1 else y_bar.dot(b.T),
}
"""ā for a `b` of one or two axes; `rank` is that of `a`."""
right_bars: Any = {
    1: lambda y_bar, a, rank: y_bar * a if rank == 1 else _outer(a, y_bar),
    2: lambda y_bar, a, rank: y_bar.dot(a) if rank == 1 else a.T.dot(y_bar),
}
"""b̄ for an `a` of one or two axes; `rank` is that of `b`."""


for _f in (operator.matmul, np.matmul):
    bilinear(_f, left_bar, right_bar)
    plain_products(_f)
