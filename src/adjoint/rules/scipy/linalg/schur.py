"""The rule of the Schur form A = Z T Zᴴ.

With the skew-Hermitian X = Zᴴ Ż and P = Zᴴ Ȧ Z, it holds that P = X T + Ṫ − T X. Ṫ is zero below
the diagonal blocks, which determines X there, column by column; above, X is the mirror image, and
the rest of the equation is Ṫ. A pair of conjugate eigenvalues makes a 2×2 block of the real form,
which LAPACK rotates until its diagonal entries are equal: that determines X in the block. The
phases of complex vectors are not determined.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg as sl

from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.numpy.linalg.matrices import dagger, noise, rounding, undetermined
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule


def _blocks(t: Any) -> list[slice]:
    """Return the diagonal blocks, of one or two rows."""
    blocks, i, n = [], 0, t.shape[0]
    while i < n:
        size = 2 if i + 1 < n and t[i + 1, i] != 0 else 1
        blocks.append(slice(i, i + size))
        i += size
    return blocks


def _upper(t: Any, blocks: list[slice]) -> Any:
    """Return a mask of the entries of T that may be nonzero: none below the blocks."""
    mask = np.triu(np.ones(t.shape))
    for block in blocks:
        mask[block, block] = 1
    return mask


def _require_separated(t: Any, blocks: list[slice]) -> None:
    values = [np.linalg.eigvals(t[block, block]) for block in blocks]
    bound = rounding(t) * np.sqrt(np.sum(np.abs(t) ** 2))
    for i, of_one in enumerate(values):
        for of_other in values[i + 1 :]:
            if np.any(np.abs(of_one[:, None] - of_other) <= bound):
                raise undetermined(
                    sl.schur,
                    "two eigenvalues are equal, so that the vectors are not determined",
                    "use a function of the whole matrix, or perturb it",
                )


def _stiffness(t: Any, i: int) -> Any:
    """Return how fast the diagonal entries of the block at `i` part under a rotation."""
    beside, size = t[i, i + 1] + t[i + 1, i], abs(t[i, i + 1]) + abs(t[i + 1, i])
    if abs(beside) <= rounding(t) * size:
        raise undetermined(
            sl.schur,
            "a block of the real form is a rotation, whose basis is not determined",
            'use the form with output="complex"',
        )
    return 2 * beside


def _solve(t: Any, block: slice, right: Any, adjoint: bool) -> Any:
    """Return the solution Y of Y T_jj − T_rest Y = right, or of the adjoint equation."""
    rest, corner = t[block.stop :, block.stop :], t[block, block]
    if adjoint:
        rest, corner = dagger(rest), dagger(corner)
    k, n = corner.shape[0], rest.shape[0]
    system = np.kron(corner.T, np.eye(n)) - np.kron(np.eye(k), rest)
    if k == 1 and _is_triangular(t):
        return sl.solve_triangular(system, right, lower=adjoint)
    return np.reshape(np.linalg.solve(system, np.reshape(right.T, -1)), (k, n)).T


def _is_triangular(t: Any) -> bool:
    return not np.any(np.diagonal(t, -1))


non_differentiable(_blocks, _upper, _require_separated, _is_triangular)


def _turns(t: Any, p: Any, blocks: list[slice]) -> Any:
    """Return X below the diagonal, from P."""
    y = np.zeros(t.shape, np.result_type(t, p))
    for block in blocks:
        i, j = block.start, block.stop
        if j < t.shape[0]:
            y[j:, block] = _solve(t, block, p[j:, block] - y[j:, :i] @ t[:i, block], False)
    for block in blocks:
        i, j = block.start, block.stop
        if j - i == 2:
            moved = p[block, block] - y[block, :i] @ t[:i, block] + t[block, j:] @ y[j:, block]
            y[i + 1, i] = (moved[1, 1] - moved[0, 0]) / _stiffness(t, i)
    return y


def _turns_bar(t: Any, y_bar: Any, blocks: list[slice]) -> Any:
    """Return P̄ from the cotangent of X below the diagonal: the transpose of `_turns`."""
    p_bar, y_bar = np.zeros(t.shape, y_bar.dtype), y_bar.copy()
    for block in blocks:
        i, j = block.start, block.stop
        if j - i == 2:
            share = y_bar[i + 1, i] / _stiffness(t, i)
            for k, part in ((i, -share), (i + 1, share)):
                p_bar[k, k] += part
                y_bar[k, :i] -= part * t[:i, k]
                y_bar[j:, k] += part * t[k, j:]
    for block in reversed(blocks):
        i, j = block.start, block.stop
        if j < t.shape[0]:
            bar = _solve(t, block, y_bar[j:, block], True)
            p_bar[j:, block] += bar
            y_bar[j:, :i] -= bar @ dagger(t[:i, block])
    return p_bar


@matrix_rule(sl.schur, "a", one_by_one=True)
def _(call: Call) -> Any:
    t, z = call.y[:2]
    if t.ndim != 2:
        return NotImplemented
    blocks = _blocks(t)
    upper = _upper(t, blocks)

    def back(y_bar: Any) -> Any:
        t_bar, z_bar = y_bar[:2]
        if t_bar is None and z_bar is None:
            return (None,)
        _require_separated(t, blocks)
        t_bar = np.zeros(t.shape) if t_bar is None else upper * t_bar
        x_bar = dagger(t) @ t_bar - t_bar @ dagger(t)
        if z_bar is not None:
            x_bar = x_bar + dagger(z) @ z_bar
        if np.any(np.abs(np.imag(np.diagonal(x_bar))) > noise(x_bar)):
            raise undetermined(
                sl.schur,
                "the phase of a vector shows in the result, and nothing determines it",
                "use what does not depend on it, such as abs(z)",
            )
        inner = t_bar + _turns_bar(t, np.tril(x_bar - dagger(x_bar), -1), blocks)
        return (z @ inner @ dagger(z),)

    def push(a_dot: Any) -> Any:
        _require_separated(t, blocks)
        p = dagger(z) @ a_dot @ z
        y = _turns(t, p, blocks)
        x = y - dagger(y)
        return (upper * (p - x @ t + t @ x), z @ x, *(None,) * (len(call.y) - 2))

    return back, push
