"""Rules of linear equations with full matrices, of inverses and determinants.

SciPy reads only a part of a matrix with an assumed structure; the cotangent of the rest is zero.
Formulas: Giles, *Collected matrix derivative results* (2008), sections 2.2.3, 2.2.4, 2.3.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg as sl

from adjoint.rules.numpy.linalg.determinants import cofactors, det_dot
from adjoint.rules.numpy.linalg.matrices import dagger, diagonal, from_triangle, to_triangle
from adjoint.rules.scipy.linalg.matrix_rule import Call, Pair, matrix_rule

MIRRORED = frozenset({"sym", "symmetric", "her", "hermitian", "pos", "positive definite"})
CONJUGATED = MIRRORED - {"sym", "symmetric"}


# ---- the part of a matrix that SciPy reads -------------------------------------------------------


def _read(a: Any, structure: Any, lower: bool) -> Any:
    """Return the matrix that SciPy reads from `a`."""
    match structure:
        case "lower triangular":
            return np.tril(a)
        case "upper triangular":
            return np.triu(a)
        case "diagonal":
            return a * np.eye(np.shape(a)[-1])
        case "tridiagonal":
            return np.triu(np.tril(a, 1), -1)
    if structure in CONJUGATED:
        return from_triangle(a, not lower)
    if structure in MIRRORED:
        return _symmetric(a, lower)
    return a


def _symmetric(a: Any, lower: bool) -> Any:
    half = np.tril(a, -1) if lower else np.triu(a, 1)
    return half + np.swapaxes(half, -1, -2) + a * np.eye(np.shape(a)[-1])


def _unread(bar: Any, structure: Any, lower: bool) -> Any:
    """Return the transpose of `_read`, applied to `bar`."""
    if structure in CONJUGATED:
        return to_triangle((bar + dagger(bar)) / 2, not lower)
    if structure in MIRRORED:
        whole = bar + np.swapaxes(bar, -1, -2)
        half = np.tril(whole, -1) if lower else np.triu(whole, 1)
        return half + bar * np.eye(np.shape(bar)[-1])
    return _read(bar, structure, lower)


# ---- solve ---------------------------------------------------------------------------------------


def columns(b: Any) -> Any:
    """Return a right-hand side that is one vector as a matrix."""
    return b[..., None]


def solution(solve: Any, x: Any, vector: bool) -> Pair:
    """Return pullback and pushforward of x = M⁻¹ b: b̄ = M⁻ᴴ x̄, M̄ = −b̄ xᴴ.

    ``solve(b, adjoint)`` solves with M or Mᴴ. The pullback returns M̄ and b̄; the pushforward takes
    the tangents of M and b.
    """
    matrix = columns(x) if vector else x

    def back(x_bar: Any) -> tuple[Any, Any]:
        bar = solve(columns(x_bar) if vector else x_bar, True)
        return -(bar @ dagger(matrix)), bar[..., 0] if vector else bar

    def push(m_dot: Any, b_dot: Any) -> Any:
        right: Any = None if b_dot is None else columns(b_dot) if vector else b_dot
        if m_dot is not None:
            moved = m_dot @ matrix
            right = -moved if right is None else right - moved
        x_dot = solve(right, False)
        return x_dot[..., 0] if vector else x_dot

    return back, push


def _dense(m: Any) -> Any:
    return lambda right, adjoint: np.linalg.solve(dagger(m) if adjoint else m, right)


@matrix_rule(sl.solve, "a b")
def _(call: Call) -> Any:
    structure, lower = call.option("assume_a", None), bool(call.lower)
    turned = bool(call.transposed)
    a = _read(call.a, structure, lower)
    m = np.swapaxes(a, -1, -2) if turned else a
    back, push = solution(_dense(m), call.y, np.ndim(call.b) == 1)

    def solve_back(x_bar: Any) -> Any:
        m_bar, b_bar = back(x_bar)
        a_bar = np.swapaxes(m_bar, -1, -2) if turned else m_bar
        return _unread(a_bar, structure, lower), b_bar

    def solve_push(a_dot: Any, b_dot: Any) -> Any:
        if a_dot is not None:
            a_dot = _read(a_dot, structure, lower)
            a_dot = np.swapaxes(a_dot, -1, -2) if turned else a_dot
        return push(a_dot, b_dot)

    return solve_back, solve_push


def _triangle(a: Any, lower: bool, unit: bool) -> Any:
    k = int(unit)
    return np.tril(a, -k) if lower else np.triu(a, k)


@matrix_rule(sl.solve_triangular, "a b")
def _(call: Call) -> Any:
    lower, unit = bool(call.lower), bool(call.unit_diagonal)
    trans = {"N": 0, "T": 1, "C": 2}.get(call.trans, call.trans)
    a = _triangle(call.a, lower, unit)
    if unit:
        a = a + np.eye(a.shape[-1])
    turn: Any = (lambda x: x, lambda x: np.swapaxes(x, -1, -2), dagger)[trans]
    m = turn(a)

    def solve(right: Any, adjoint: bool) -> Any:
        """Solve by substitution."""
        matrix, below = (dagger(m), not lower) if adjoint else (m, lower)
        below = below if trans == 0 else not below
        if matrix.ndim == right.ndim == 2:
            return sl.solve_triangular(matrix, right, lower=below)
        return np.linalg.solve(matrix, right)

    back, push = solution(solve, call.y, np.ndim(call.b) == 1)

    def triangular_back(x_bar: Any) -> Any:
        m_bar, b_bar = back(x_bar)
        return _triangle(turn(m_bar), lower, unit), b_bar

    def triangular_push(a_dot: Any, b_dot: Any) -> Any:
        return push(None if a_dot is None else turn(_triangle(a_dot, lower, unit)), b_dot)

    return triangular_back, triangular_push


# ---- inverse and determinant ---------------------------------------------------------------------


@matrix_rule(sl.inv, "a")
def _(call: Call) -> Any:
    structure, lower = call.option("assume_a", None), bool(call.option("lower", False))
    y = _read(call.y, "diagonal", lower) if structure == "diagonal" else call.y
    y_h, beside = dagger(y), 1 - np.eye(y.shape[-1])

    def inv_back(y_bar: Any) -> Any:
        bar = _unread(-(y_h @ y_bar @ y_h), structure, lower)
        # SciPy leaves the entries outside the diagonal of a diagonal matrix unchanged.
        return (bar + y_bar * beside if structure == "diagonal" else bar,)

    def inv_push(a_dot: Any) -> Any:
        y_dot = -(y @ _read(a_dot, structure, lower) @ y)
        return y_dot + a_dot * beside if structure == "diagonal" else y_dot

    return inv_back, inv_push


@matrix_rule(sl.det, "a")
def _(call: Call) -> Any:
    a, y = call.a, call.y

    def push(a_dot: Any) -> Any:
        if np.all(np.not_equal(y, 0)):
            return y * np.sum(diagonal(np.linalg.solve(a, a_dot)), -1)
        return det_dot(a, a_dot)

    return lambda y_bar: (
        np.asanyarray(y_bar)[..., None, None] * cofactors(a, np.asarray(y)),
    ), push
