"""Rules of factorizations: Cholesky, LU, QR, RQ, singular values, polar.

Sources: those of `adjoint.rules.numpy.linalg`; for LU de Hoog, Anderssen & Lukas, *Differentiation
of matrix functionals using triangular factorization* (2011); for the polar factors the Sylvester
equation of UᴴU̇ (Higham, *Functions of matrices* (2008), chapter 8).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import linalg as sl

from adjoint.rulekit.projection import project
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.numpy.linalg.factors import cholesky_back, cholesky_dot, factors_bar, factors_dot
from adjoint.rules.numpy.linalg.matrices import dagger, rounding, skew, undetermined
from adjoint.rules.numpy.linalg.singular import (
    in_trial_basis,
    singular_bar,
    singular_dot,
    values_and_dot,
    values_bar,
)
from adjoint.rules.scipy.equivalents import result_like
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule, refused_pair
from adjoint.rules.scipy.linalg.solving import solution

# ---- Cholesky ------------------------------------------------------------------------------------


@matrix_rule(sl.cholesky, "a")
def _(call: Call) -> Any:
    y, upper = call.y, not call.lower
    back = cholesky_back(y, upper)
    return lambda y_bar: back(y_bar)[1:], lambda a_dot: cholesky_dot(y, a_dot, upper)


def _half(a: Any, upper: bool) -> Any:
    return np.triu(a) if upper else np.tril(a)


@matrix_rule(sl.cho_factor, "a")
def _(call: Call) -> Any:
    """Differentiate `cho_factor`, which may leave entries of A in the other triangle."""
    c, upper = call.y[0], not call.lower
    factor = _half(c, upper)
    beside = (1 - _half(np.ones(c.shape), upper)) * np.equal(c, call.a)
    back = cholesky_back(factor, upper)

    def factor_back(y_bar: Any) -> Any:
        if y_bar[0] is None:
            return (None,)
        return (back(_half(y_bar[0], upper))[1] + beside * y_bar[0],)

    return factor_back


@matrix_rule(sl.cho_solve, "*c_and_lower b")
def _(call: Call) -> Any:
    """Solve with A = L Lᴴ or Uᴴ U; L̄ = (Ā + Āᴴ) L and Ū = U (Ā + Āᴴ)."""
    c, lower = call.c_and_lower
    upper = not np.all(lower)
    given, vector = np.asarray(c), np.ndim(call.b) == 1
    factor = _half(given, upper)

    def solve(right: Any, _: bool) -> Any:
        first, last = (dagger(factor), factor) if upper else (factor, dagger(factor))
        return np.linalg.solve(last, np.linalg.solve(first, right))

    back, _ = solution(solve, call.y, vector)

    def solve_back(x_bar: Any) -> Any:
        bar, b_bar = back(x_bar)
        whole = bar + dagger(bar)
        c_bar = factor @ whole if upper else whole @ factor
        return (project(_half(c_bar, upper), c), None), b_bar

    return solve_back


# ---- LU: A = P L U -------------------------------------------------------------------------------


def _lu_bar(f: Any, lower: Any, upper: Any, lower_bar: Any, upper_bar: Any) -> Any:
    """Return the cotangent of L U, of any shape, from those of L and U.

    For square factors it is L⁻ᴴ (tril(Lᴴ L̄, −1) + triu(Ū Uᴴ)) U⁻ᴴ. The parts of L and U outside
    the square part are solved for first.
    """
    k = lower.shape[-1]
    if lower.shape[-2] == k == upper.shape[-1]:
        return _square_lu_bar(f, lower, upper, lower_bar, upper_bar)
    square_l, square_u = lower[..., :k, :], upper[..., :, :k]
    below_bar, beside_bar = lower_bar[..., k:, :], upper_bar[..., :, k:]
    low, up = lower_bar[..., :k, :], upper_bar[..., :, :k]
    try:
        below_bar = dagger(np.linalg.solve(square_u, dagger(below_bar)))
        beside_bar = np.linalg.solve(dagger(square_l), beside_bar)
        up = up - dagger(lower[..., k:, :]) @ below_bar
        low = low - beside_bar @ dagger(upper[..., :, k:])
    except np.linalg.LinAlgError:
        raise _singular(f) from None
    inner = _square_lu_bar(f, square_l, square_u, low, up)
    top = np.concatenate([inner, beside_bar], -1)
    if below_bar.shape[-2] == 0:
        return top
    return np.concatenate([top, below_bar], -2)


def _square_lu_bar(f: Any, lower: Any, upper: Any, lower_bar: Any, upper_bar: Any) -> Any:
    inner = np.tril(dagger(lower) @ lower_bar, -1) + np.triu(upper_bar @ dagger(upper))
    try:
        return np.linalg.solve(dagger(lower), dagger(np.linalg.solve(upper, dagger(inner))))
    except np.linalg.LinAlgError:
        raise _singular(f) from None


def _square_lu_dots(f: Any, p: Any, lower: Any, upper: Any, a_dot: Any) -> tuple[Any, Any]:
    """Return the tangents L tril(M, −1) and triu(M) U of square factors, M = L⁻¹ Pᵀ Ȧ U⁻¹."""
    moved = np.swapaxes(p, -1, -2) @ a_dot
    try:
        inner = np.linalg.solve(lower, moved)
        inner = dagger(np.linalg.solve(dagger(upper), dagger(inner)))
    except np.linalg.LinAlgError:
        raise _singular(f) from None
    return lower @ np.tril(inner, -1), np.triu(inner) @ upper


def _singular(f: Any) -> Exception:
    return undetermined(
        f,
        "a leading part of the matrix is singular, so that L is not determined",
        "use what does not need the factors, such as solve or det",
    )


def _zeros_for(bar: Any, like: Any) -> Any:
    return np.zeros_like(like) if bar is None else bar


@matrix_rule(sl.lu, "a")
def _(call: Call) -> Any:
    if call.a.size == 0:
        return lambda _: (None,)
    permuted, indices = bool(call.permute_l), bool(call.option("p_indices", False))
    if permuted:
        p, lower, upper = sl.lu(call.a)
    else:
        p, lower, upper = call.y
    if indices and not permuted:
        p = np.eye(call.a.shape[-2])[p]
    back_to = np.swapaxes(p, -1, -2)

    def back(y_bar: Any) -> Any:
        l_bar, u_bar = y_bar[-2:]
        if l_bar is None and u_bar is None:
            return (None,)
        l_bar, u_bar = _zeros_for(l_bar, lower), _zeros_for(u_bar, upper)
        if permuted:
            l_bar = back_to @ l_bar
        return (p @ _lu_bar(sl.lu, lower, upper, l_bar, u_bar),)

    def push(a_dot: Any) -> Any:
        l_dot, u_dot = _square_lu_dots(sl.lu, p, lower, upper, a_dot)
        return (p @ l_dot, u_dot) if permuted else (None, l_dot, u_dot)

    return (back, push) if call.a.shape[-2] == call.a.shape[-1] else back


def _unpacked(lu: Any) -> tuple[Any, Any]:
    """Return L and U from the one matrix of `lu_factor`."""
    if lu.shape[-2] == lu.shape[-1]:
        return np.tril(lu, -1) + np.eye(lu.shape[-1]), np.triu(lu)
    k = min(lu.shape[-2:])
    lower = np.tril(lu[..., :, :k], -1) + np.eye(lu.shape[-2], k)
    return lower, np.triu(lu[..., :k, :])


def _packed(lower: Any, upper: Any) -> Any:
    """Return tangents in the storage of `lu_factor`; the transpose of `_unpacked`."""
    m, n = lower.shape[-2], upper.shape[-1]
    k = lower.shape[-1]
    lower = np.tril(lower, -1)
    if k < n:
        lower = np.concatenate([lower, np.zeros((*lower.shape[:-1], n - k))], -1)
    if k < m:
        upper = np.concatenate([upper, np.zeros((*upper.shape[:-2], m - k, n))], -2)
    return lower + np.triu(upper)


@result_like(lambda pivots, m: np.zeros((*pivots.shape[:-1], m, m)))
@non_differentiable
def _rows(pivots: Any, m: int) -> Any:
    """Return the matrix P of A = P L U from LAPACK's row exchanges."""
    orders = np.tile(np.arange(m), (math.prod(pivots.shape[:-1]), 1)).tolist()
    for order, others in zip(orders, pivots.reshape(len(orders), -1).tolist(), strict=True):
        for i, other in enumerate(others):
            order[i], order[other] = order[other], order[i]
    found = np.swapaxes(np.eye(m)[np.array(orders, np.intp)], -1, -2)
    return found.reshape(*pivots.shape[:-1], m, m)


@matrix_rule(sl.lu_factor, "a")
def _(call: Call) -> Any:
    lu, pivots = call.y
    p, (lower, upper) = _rows(pivots, lu.shape[-2]), _unpacked(lu)

    def back(y_bar: Any) -> Any:
        if y_bar[0] is None:
            return (None,)
        k = lower.shape[-1]
        l_bar = np.tril(y_bar[0][..., :, :k], -1)
        u_bar = np.triu(y_bar[0][..., :k, :])
        return (p @ _lu_bar(sl.lu_factor, lower, upper, l_bar, u_bar),)

    def push(a_dot: Any) -> Any:
        l_dot, u_dot = _square_lu_dots(sl.lu_factor, p, lower, upper, a_dot)
        return l_dot + u_dot, None

    return (back, push) if lu.shape[-2] == lu.shape[-1] else back


@matrix_rule(sl.lu_solve, "*lu_and_piv b")
def _(call: Call) -> Any:
    """Solve with A = P L U; Ā = −b̄ xᴴ, transposed like A, and L̄ = Pᵀ Ā Uᴴ, Ū = Lᴴ Pᵀ Ā."""
    given = np.asarray(call.lu_and_piv[0])
    lower, upper = _unpacked(given)
    p = _rows(np.asarray(call.lu_and_piv[1]), given.shape[-2])
    turn: Any = (lambda x: x, lambda x: np.swapaxes(x, -1, -2), dagger)[call.trans]
    left = p @ lower

    def solve(right: Any, adjoint: bool) -> Any:
        m = turn(left @ upper)
        return np.linalg.solve(dagger(m) if adjoint else m, right)

    back, _ = solution(solve, call.y, np.ndim(call.b) == 1)

    def solve_back(x_bar: Any) -> Any:
        m_bar, b_bar = back(x_bar)
        bar = np.swapaxes(p, -1, -2) @ turn(m_bar)
        lu_bar = _packed(bar @ dagger(upper), dagger(lower) @ bar)
        return (project(lu_bar, call.lu_and_piv[0]), None), b_bar

    return solve_back


# ---- QR and RQ -----------------------------------------------------------------------------------


def _refused(f: Any, mode: Any) -> Any:
    return refused_pair(
        undetermined(
            f,
            f"the mode {mode!r} returns the reflectors that LAPACK computes with",
            'use the mode "economic", "full" or "r"',
        )
    )


@matrix_rule(sl.qr, "a")
def _(call: Call) -> Any:
    if call.mode == "raw":
        return _refused(sl.qr, call.mode)
    y, only_r = call.y, call.mode == "r"
    order: Any = None
    if call.pivoting:
        y, order = y[:-1], np.broadcast_to(y[-1][..., None, :], call.a.shape)
    q, r = y if not only_r else sl.qr(call.a, mode="economic", pivoting=call.pivoting)[:2]
    a = np.take_along_axis(call.a, order, -1) if call.pivoting else call.a

    def back(y_bar: Any) -> Any:
        q_bar, r_bar = (None, y_bar[0]) if only_r else y_bar[:2]
        if q_bar is None and r_bar is None:
            return (None,)
        if only_r:
            r_bar = r_bar[..., : r.shape[-2], :]
        bar = factors_bar(sl.qr, a, q, r, q_bar, r_bar)
        if not call.pivoting:
            return (bar,)
        return (np.take_along_axis(bar, np.argsort(order, -1), -1),)

    def push(a_dot: Any) -> Any:
        if call.pivoting:
            a_dot = np.take_along_axis(a_dot, order, -1)
        q_dot, r_dot = factors_dot(sl.qr, a, q, r, a_dot)
        if only_r:
            rows = call.y[0].shape[-2] - r_dot.shape[-2]
            r_dot = np.concatenate(
                [r_dot, np.zeros((*r_dot.shape[:-2], rows, r_dot.shape[-1]))], -2
            )
        rest = (None,) * bool(call.pivoting)
        return (r_dot, *rest) if only_r else (q_dot, r_dot, *rest)

    return back, push


def _turned(a: Any) -> Any:
    """Return the conjugate transpose of `a` with its rows reversed."""
    return dagger(a[..., ::-1, :])


@matrix_rule(sl.rq, "a")
def _(call: Call) -> Any:
    """Differentiate RQ as QR of the matrix mirrored at its antidiagonal."""
    if call.mode == "r":
        r, q = sl.rq(call.a, mode="full")
    else:
        r, q = call.y
    a1, q1, r1 = _turned(call.a), dagger(q[..., ::-1, :]), dagger(r[..., ::-1, ::-1])

    def back(y_bar: Any) -> Any:
        r_bar, q_bar = (y_bar, None) if call.mode == "r" else y_bar
        if q_bar is None and r_bar is None:
            return (None,)
        q1_bar = None if q_bar is None else dagger(q_bar[..., ::-1, :])
        r1_bar = None if r_bar is None else dagger(r_bar[..., ::-1, ::-1])
        bar = factors_bar(sl.rq, a1, q1, r1, q1_bar, r1_bar)
        return (dagger(bar)[..., ::-1, :],)

    def push(a_dot: Any) -> Any:
        q1_dot, r1_dot = factors_dot(sl.rq, a1, q1, r1, _turned(a_dot))
        r_dot, q_dot = dagger(r1_dot)[..., ::-1, ::-1], dagger(q1_dot)[..., ::-1, :]
        return r_dot if call.mode == "r" else (r_dot, q_dot)

    return back, push


# ---- singular values -----------------------------------------------------------------------------


@matrix_rule(sl.svd, "a")
def _(call: Call) -> Any:
    if not call.compute_uv:
        return _values_rule(call)
    call.y, turn = in_trial_basis(call.y)
    y = call.y

    def back(y_bar: Any) -> Any:
        if all(bar is None for bar in y_bar):
            return (None,)
        return (singular_bar(sl.svd, y, tuple(y_bar), turn),)

    def push(a_dot: Any) -> Any:
        call.y, y_dot = singular_dot(y, a_dot)
        return y_dot

    return back, push


@matrix_rule(sl.svdvals, "a")
def _values_rule(call: Call) -> Any:
    a = call.a

    def push(a_dot: Any) -> Any:
        call.y, s_dot = values_and_dot(a, call.y, a_dot)
        return s_dot

    return lambda s_bar: (values_bar(a, s_bar),), push


# ---- polar: A = U P, with P on the right or on the left ------------------------------------------


def _over_sums(k: Any, v: Any, s: Any) -> Any:
    """Return the solution X of X P + P X = K, for P = V diag(s) Vᴴ."""
    inner = dagger(v) @ k @ v
    return v @ (inner / (s[..., None, :] + s[..., :, None])) @ dagger(v)


def _natural(a: Any) -> tuple[Any, Any, Any, Any]:
    """Return the right polar factors of a matrix with m ≥ n, and the eigenpairs of P."""
    w, s, vh = np.linalg.svd(a, full_matrices=False)
    v = dagger(vh)
    if np.any(s[..., -1:] <= rounding(a) * s[..., :1]):
        raise undetermined(
            sl.polar,
            "the matrix is not of full rank, so that the unitary factor is not determined",
            "use what does not need that factor, such as singular values",
        )
    return w @ vh, (v * s[..., None, :]) @ vh, v, s


def _polar_bar(parts: tuple[Any, ...], u_bar: Any, p_bar: Any) -> Any:
    u, p, v, s = parts
    x_bar = dagger(u) @ u_bar - p_bar @ p
    bar = 2 * (u @ _over_sums(skew(x_bar), v, s)) + u @ p_bar
    rest = u_bar - u @ (dagger(u) @ u_bar)
    return bar + (rest @ v / s[..., None, :]) @ dagger(v)


@matrix_rule(sl.polar, "a")
def _(call: Call) -> Any:
    """Differentiate polar factors; use Aᴴ for a wide matrix, and U P Uᴴ for the left P."""
    wide = call.a.shape[-2] < call.a.shape[-1]
    across = (call.side == "right") == wide
    turn: Any = dagger if wide else lambda x: x

    def back(y_bar: Any) -> Any:
        if y_bar[0] is None and y_bar[1] is None:
            return (None,)
        parts = _natural(turn(call.a))
        u, p = parts[:2]
        u_bar = turn(_zeros_for(y_bar[0], call.y[0]))
        p_bar = _zeros_for(y_bar[1], call.y[1])
        if across:
            u_bar = u_bar + (p_bar + dagger(p_bar)) @ u @ p
            p_bar = dagger(u) @ p_bar @ u
        return (turn(_polar_bar(parts, u_bar, p_bar)),)

    return back
