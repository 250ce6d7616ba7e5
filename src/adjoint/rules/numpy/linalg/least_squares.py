"""Rules of pseudo-inverses and of least squares.

Formulas: Golub & Pereyra, *The differentiation of pseudo-inverses and nonlinear least squares
problems whose variables separate* (1973), theorem 4.3, if no singular value is cut off; else the
divided differences of 1/s, which is 0 below the cutoff. The rank is held constant: where it
changes, the pseudo-inverse jumps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.numpy.aggregates.reductions import NONE, given
from adjoint.rules.numpy.linalg.forward_rules import forward_rule
from adjoint.rules.numpy.linalg.matrices import (
    dagger,
    diagonal,
    floating,
    from_triangle,
    hermitian,
    rounding,
    skew,
    to_triangle,
)
from adjoint.rules.numpy.operands import array_rule
from adjoint.rules.numpy.transposition import forward_from_reverse

# ---- the derivative of the conjugate transpose of the pseudo-inverse -----------------------------


def mirrored(x: Any, a: Any, p: Any) -> Any:
    """Return the derivative of ``pinv(a)^H`` along `x`, its own transpose; `p` is ``pinv(a)``."""
    if np.size(p) == 0:
        return np.zeros(np.shape(x))
    if _cuts(a, p):
        return _cut(x, a, _rank(a, p))
    p_h = dagger(p)
    across = p_h @ dagger(x) @ p_h
    right, left = x @ p, p @ x
    return (right - a @ (p @ right)) @ p_h + p_h @ (left - (left @ p) @ a) - across


def _cuts(a: Any, p: Any) -> bool:
    """Return whether singular values that are not zero were cut off."""
    lost = np.abs(a - a @ p @ a)
    return bool(np.any(lost > rounding(p) * np.max(np.abs(a), (-2, -1), keepdims=True)))


def _rank(a: Any, p: Any) -> Any:
    return np.rint(np.real(np.sum(diagonal(p @ a), -1)))


def _cut(x: Any, a: Any, rank: Any) -> Any:
    """Compute `mirrored` by singular values, of which only the first `rank` are inverted."""
    u, s, vh = np.linalg.svd(a, full_matrices=False)
    v = dagger(vh)
    kept = _first(s, rank)
    inverse = np.where(kept, 1 / np.where(kept, s, 1), 0)
    inner = dagger(u) @ x @ v
    turned = hermitian(inner) * _slopes(s, kept, -1) + skew(inner) * _slopes(s, kept, 1)
    squared = (inverse * inverse)[..., None, :]
    outer = u @ turned + (x @ v - u @ inner) * squared
    return outer @ vh + (u * squared) @ (dagger(u) @ x - inner @ vh)


def _first(s: Any, rank: Any) -> Any:
    return np.arange(s.shape[-1]) < np.asarray(rank)[..., None]


def _slopes(s: Any, kept: Any, sign: int) -> Any:
    """Return ``(g_j + sign g_i) / (s_j + sign s_i)`` for g = 1/s, or g = 0 where s is cut off."""
    row, column = s[..., None, :], s[..., :, None]
    kept_row, kept_column = kept[..., None, :], kept[..., :, None]
    large = np.where(kept_row, row, np.where(kept_column, column, 1))
    other = np.where(kept_row, column, row)
    both = kept_row & kept_column
    distance = np.where(both, other, large + sign * other)
    value = np.where(both, sign, 1) / (large * np.where(kept_row | kept_column, distance, 1))
    return np.where(kept_row | kept_column, value, 0)


# ---- pinv ----------------------------------------------------------------------------------------


@array_rule(np.linalg.pinv, operands="a rcond rtol")
def _(a, rcond=NONE, hermitian=False, *, rtol=NONE):
    y = np.linalg.pinv(a, hermitian=hermitian, **given(rcond=rcond, rtol=rtol))

    def pinv_back(y_bar):
        if not hermitian:
            return None, mirrored(dagger(y_bar), floating(a), y)
        bar = mirrored(dagger(y_bar), from_triangle(floating(a), False), y)
        return None, to_triangle((bar + dagger(bar)) / 2, False)

    return y, pinv_back


@forward_rule(np.linalg.pinv)
def _(dots, a, rcond=NONE, hermitian=False, *, rtol=NONE):
    y = np.linalg.pinv(a, hermitian=hermitian, **given(rcond=rcond, rtol=rtol))
    a, a_dot = floating(a), dots[0]
    if hermitian:
        a, a_dot = from_triangle(a, False), from_triangle(a_dot, False)
    return y, dagger(mirrored(a_dot, a, y))


# ---- lstsq ---------------------------------------------------------------------------------------


def _inverse(a: Any, s: Any, rank: int) -> Any:
    """Return the pseudo-inverse with as many singular values as the solution used."""
    return np.linalg.pinv(a, _cutoff(s, rank))


def _cutoff(s: Any, rank: int) -> float:
    """Return a bound, relative to the largest value, between the values used and those cut off."""
    if rank == 0:
        return 2.0
    return float((s[rank - 1] + s[rank]) / (2 * s[0])) if rank < len(s) else 0.0


@array_rule(np.linalg.lstsq, operands="a b rcond")
def _(a, b, rcond=NONE):
    y = np.linalg.lstsq(a, b, **given(rcond=rcond))
    x, residuals, rank, s = y
    matrix = b if b.ndim == 2 else b[:, None]

    def lstsq_back(y_bar):
        x_bar, residuals_bar, _, s_bar = y_bar
        if x_bar is None and residuals_bar is None and s_bar is None:
            return None, None, None
        a_bar = np.zeros(a.shape, s.dtype)
        b_bar = np.zeros(matrix.shape, s.dtype)
        if x_bar is not None and x.size:
            p, x_bar = _inverse(a, s, rank), np.reshape(x_bar, (a.shape[1], -1))
            a_bar = mirrored(matrix @ dagger(x_bar), floating(a), p)
            b_bar = dagger(p) @ x_bar
        if residuals_bar is not None and residuals.size:
            columns = np.reshape(x, (a.shape[1], -1))
            rest = 2 * residuals_bar * (matrix - a @ columns)
            a_bar = a_bar - rest @ dagger(columns)
            b_bar = b_bar + rest
        if s_bar is not None:
            u, _, vh = np.linalg.svd(a, full_matrices=False)
            a_bar = a_bar + (u * s_bar) @ vh
        return None, a_bar, np.reshape(b_bar, b.shape)

    return y, lstsq_back


forward_from_reverse(np.linalg.lstsq)
non_differentiable(_cuts, _rank, _first, _cutoff)
