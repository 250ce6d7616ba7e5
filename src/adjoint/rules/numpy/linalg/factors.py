"""Rules of triangular factorisations.

Formulas: Murray, *Differentiation of the Cholesky decomposition* (2016), section 3; Walter &
Lehmann, *Algorithmic differentiation of linear algebra functions with application in optimum
experimental design* (2010), for tall QR, with Roberts & Roberts, *QR and LQ decomposition matrix
backpropagation algorithms for square, wide and deep matrices* (2020), for wide ones. LAPACK makes
the diagonal of R real, which fixes the phases; the vectors that the mode "complete" adds are any
basis of the rest of the space, as those of a full `svd`. Of the matrix given to `cholesky` NumPy
reads one triangle only, so the cotangent of the other one is zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rules.numpy.linalg.forward_rules import forward_rule
from adjoint.rules.numpy.linalg.matrices import (
    dagger,
    diagonal,
    diagonal_matrix,
    from_triangle,
    hermitian,
    poisoned,
    to_triangle,
    undetermined,
)
from adjoint.rules.numpy.linalg.singular import rest_of
from adjoint.rules.numpy.operands import array_rule

# ---- cholesky ------------------------------------------------------------------------------------

KNOWS_UPPER = np.lib.NumpyVersion(np.__version__) >= "2.0.0"


def _halved(a: Any) -> Any:
    """Return the lower triangle, with half the real part of the diagonal."""
    return np.tril(a, -1) + diagonal_matrix(np.real(diagonal(a)) / 2)


def cholesky_back(y: Any, upper: bool) -> Any:
    """Return the pullback of the factor, upper triangular if the upper triangle is read."""

    def back(y_bar):
        """Ā = L⁻ᴴ herm(Φ(Lᴴ L̄)) L⁻¹, with Φ as in `_halved`."""
        factor, bar = (dagger(y), dagger(y_bar)) if upper else (y, y_bar)
        if factor.ndim == 2 and len(factor) > _BLOCK:
            a_bar = _bar_by_blocks(factor, bar)
            return None, dagger(a_bar) if upper else a_bar
        return None, to_triangle(_hermitian_bar(factor, np.linalg.inv(factor), bar), upper)

    return back


def _hermitian_bar(factor: Any, inverse: Any, bar: Any) -> Any:
    return dagger(inverse) @ hermitian(_halved(dagger(factor) @ bar)) @ inverse


_BLOCK = 96


def _bar_by_blocks(factor: Any, bar: Any) -> Any:
    """Return the cotangent of the lower triangle, by the reverse of the factorisation by blocks of
    columns: Murray, *Differentiation of the Cholesky decomposition* (2016), §4. It takes about two
    factorisations; the formula in `cholesky_back`, some twenty."""
    bar = np.tril(bar)
    for end in range(len(factor), 0, -_BLOCK):
        start = max(end - _BLOCK, 0)
        block, left = slice(start, end), slice(start)
        middle, below, row = factor[block, block], factor[end:, block], factor[block, left]
        inverse = np.linalg.inv(middle)
        below_bar = bar[end:, block] @ inverse
        adjoint = dagger(below_bar)
        middle_bar = bar[block, block] - adjoint @ below
        middle_bar = _hermitian_bar(middle, inverse, middle_bar)
        bar[end:, left] -= below_bar @ row
        bar[block, left] -= adjoint @ factor[end:, left] + 2 * middle_bar @ row
        bar[end:, block], bar[block, block] = below_bar, to_triangle(middle_bar, False)
    return bar


def cholesky_dot(y: Any, a_dot: Any, upper: bool) -> Any:
    """L̇ = L Φ(L⁻¹ Ȧ L⁻ᴴ)."""
    factor = dagger(y) if upper else y
    inverse = np.linalg.inv(factor)
    dot = factor @ _halved(inverse @ from_triangle(a_dot, upper) @ dagger(inverse))
    return dagger(dot) if upper else dot


if KNOWS_UPPER:

    @array_rule(np.linalg.cholesky)
    def _(a, /, *, upper=False):
        y = np.linalg.cholesky(a, upper=upper)
        return y, cholesky_back(y, upper)

    @forward_rule(np.linalg.cholesky)
    def _(dots, a, /, *, upper=False):
        y = np.linalg.cholesky(a, upper=upper)
        return y, cholesky_dot(y, dots[0], upper)

else:

    @array_rule(np.linalg.cholesky)
    def _(a):
        y = np.linalg.cholesky(a)
        return y, cholesky_back(y, False)

    @forward_rule(np.linalg.cholesky)
    def _(dots, a):
        y = np.linalg.cholesky(a)
        return y, cholesky_dot(y, dots[0], False)


# ---- qr ------------------------------------------------------------------------------------------


def _upper_hermitian(a: Any) -> Any:
    """Return the Hermitian matrix with the upper triangle and the real diagonal of `a`."""
    half = np.triu(a, 1)
    return half + dagger(half) + diagonal_matrix(np.real(diagonal(a)))


def _divided(f: Any, x: Any, r: Any) -> Any:
    """Return x R⁻ᴴ for a triangular factor R."""
    try:
        return dagger(np.linalg.solve(r, dagger(x)))
    except np.linalg.LinAlgError:
        raise undetermined(
            f,
            "the columns of the matrix are linearly dependent",
            "use another factorisation: np.linalg.svd, or np.linalg.eigh of a.T @ a",
        ) from None


def _of_shape(a: Any, m: int, n: int) -> Any:
    """Return matrices that have m rows and n columns; a program learns that from this."""
    return np.reshape(a, (*a.shape[:-2], m, n))


def _qr_bar(f: Any, q: Any, r: Any, q_bar: Any, r_bar: Any) -> Any:
    """Return ā of a matrix that is not wide; q̄ and r̄ are arrays."""
    inner = r_bar @ dagger(r) - dagger(q) @ q_bar
    return _divided(f, q_bar + q @ _upper_hermitian(inner), r)


def factors_bar(f: Any, a: Any, q: Any, r: Any, q_bar: Any, r_bar: Any) -> Any:
    """Return ā from the cotangents of q and r, of which one may be ``None``; any mode but raw."""
    m, n = a.shape[-2:]
    q_bar = np.zeros_like(q) if q_bar is None else q_bar
    r_bar = np.zeros_like(r) if r_bar is None else r_bar
    if m >= n:
        q_bar, q = (_of_shape(x, m, n) for x in (rest_of(f, q_bar, q, n), q[..., :n]))
        r_bar, r = (_of_shape(x[..., :n, :], n, n) for x in (r_bar, r))
        return _qr_bar(f, q, r, q_bar, r_bar)
    q_bar, q = (_of_shape(x, m, m) for x in (q_bar, q))
    right_bar, right = (_of_shape(x[..., m:], m, n - m) for x in (r_bar, a))
    q_bar = q_bar + right @ dagger(right_bar)
    left_bar, left = (_of_shape(x[..., :m], m, m) for x in (r_bar, r))
    return np.concatenate([_qr_bar(f, q, left, q_bar, left_bar), q @ right_bar], -1)


def _qr_dot(f: Any, q: Any, r: Any, a_dot: Any) -> tuple[Any, Any]:
    """Return q̇ and ṙ of a matrix that is not wide, in the reduced mode."""
    moved = _divided(f, a_dot, dagger(r))
    inner = dagger(q) @ moved
    inner = (
        np.triu(inner, 1) + dagger(np.tril(inner, -1)) + diagonal_matrix(np.real(diagonal(inner)))
    )
    return moved - q @ inner, inner @ r


def factors_dot(f: Any, a: Any, q: Any, r: Any, a_dot: Any) -> tuple[Any, Any]:
    m, n = np.shape(a)[-2:]
    if m < n:
        q, left, left_dot = (_of_shape(x[..., :m], m, m) for x in (q, r, a_dot))
        right, right_dot = (_of_shape(x[..., m:], m, n - m) for x in (a, a_dot))
        q_dot, left_dot = _qr_dot(f, q, left, left_dot)
        moved = dagger(q) @ right_dot + dagger(q_dot) @ right
        return q_dot, np.concatenate([left_dot, moved], -1)
    first, others = _of_shape(q[..., :n], m, n), q[..., n:]
    q_dot, r_dot = _qr_dot(f, first, _of_shape(r[..., :n, :], n, n), a_dot)
    if others.shape[-1] == 0:
        return q_dot, r_dot
    q_dot = np.concatenate([q_dot, -first @ (dagger(q_dot) @ others)], -1)
    return q_dot, np.concatenate([r_dot, np.zeros_like(r[..., n:, :])], -2)


@array_rule(np.linalg.qr)
def _(a, mode="reduced"):
    y = np.linalg.qr(a, mode)
    if mode not in ("reduced", "complete", "r"):
        return y, poisoned(_refused_mode(mode))
    q, r = np.linalg.qr(a) if mode == "r" else y

    def qr_back(y_bar):
        q_bar, r_bar = (None, y_bar) if mode == "r" else y_bar
        return None, factors_bar(np.linalg.qr, a, q, r, q_bar, r_bar)

    return y, poisoned(qr_back)


def _refused_mode(mode: str) -> Any:
    def refused(y_bar):
        raise _without_rule(mode)

    return refused


def _without_rule(mode: str) -> Exception:
    return undetermined(
        np.linalg.qr,
        f"the mode {mode!r} returns the reflectors that LAPACK computes with",
        'use the mode "reduced", "complete" or "r"',
    )


@forward_rule(np.linalg.qr)
def _(dots, a, mode="reduced"):
    if mode not in ("reduced", "complete", "r"):
        raise _without_rule(mode)
    y = np.linalg.qr(a, mode)
    q, r = np.linalg.qr(a) if mode == "r" else y
    q_dot, r_dot = factors_dot(np.linalg.qr, a, q, r, dots[0])
    return y, r_dot if mode == "r" else (q_dot, r_dot)
