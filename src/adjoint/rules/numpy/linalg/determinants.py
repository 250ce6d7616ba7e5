"""Rules of determinants, which have a derivative at singular matrices too.

Giles (2008), section 2.2.4, and Jacobi's formula: the derivative of det is the adjugate, which is
det · a⁻¹ for an invertible matrix. For a singular one the adjugate and its derivative come from the
singular values, whose vectors may have no derivative.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.projection import project
from adjoint.rulekit.registry import frule, non_differentiable, rrule
from adjoint.rules.numpy.aggregates.reductions import others
from adjoint.rules.numpy.linalg.forward_rules import forward_rule
from adjoint.rules.numpy.linalg.matrices import dagger, diagonal, diagonal_matrix, floating
from adjoint.rules.numpy.operands import array_rule, conj

WORST = 1e8
"""The approximate condition number up to which the inverse gives an accurate adjugate."""


def cofactors(a: Any, det: Any) -> Any:
    """Return the conjugate transpose of the adjugate of square matrices."""
    a = floating(a)
    if _all_invertible(det):
        inverse = np.linalg.inv(a)
        if _is_clear(a, inverse):
            return conj(det)[..., None, None] * dagger(inverse)
    return adjugate(a)


def adjugate(a: Any) -> Any:
    """Compute `cofactors` of any square matrices in floating point by singular values."""
    u, s, vh, sign = _turned(a)
    return sign * ((u * others(s)[..., None, :]) @ vh)


@rrule.register(adjugate, trusted=True)
def _(a: Any) -> Any:
    return adjugate(a), lambda y_bar: (None, project(adjugate_dot(a, y_bar), a))


@frule.register(adjugate, trusted=True)
def _(dots: Any, a: Any) -> Any:
    return adjugate(a), adjugate_dot(a, dots[0])


def adjugate_dot(a: Any, a_dot: Any) -> Any:
    """Return the derivative of `adjugate` along `a_dot`, a map that is its own transpose.

    For a diagonal matrix it is m ↦ diag(P diag(m)) − P ∘ mᵀ, where p_ij is the product of the
    elements of the diagonal other than i and j.
    """
    u, s, vh, sign = _turned(a)
    m = np.conj(dagger(u) @ a_dot @ dagger(vh))
    n = s.shape[-1]
    unit = np.eye(n, dtype=bool)
    pairs = np.where(unit, 0, others(np.where(unit, 1, s[..., None, :])))
    inner = diagonal_matrix((pairs @ diagonal(m)[..., None])[..., 0])
    return sign * (u @ (inner - pairs * np.swapaxes(m, -1, -2)) @ vh)


def _turned(a: Any) -> tuple[Any, Any, Any, Any]:
    """Return the singular value decomposition, and the conjugate determinant of its rotations."""
    unknown = ~np.all(np.isfinite(a), (-2, -1), keepdims=True)
    u, s, vh = np.linalg.svd(np.where(unknown, 0, a) if unknown.any() else a)
    s = np.where(unknown[..., 0], np.nan, s)
    return u, s, vh, conj(np.linalg.det(u) * np.linalg.det(vh))[..., None, None]


def _is_clear(a: Any, inverse: Any) -> bool:
    """Return whether the inverse is accurate enough."""
    return bool(np.all(_largest(a) * _largest(inverse) < WORST))


def _largest(a: Any) -> Any:
    return abs(a).max((-2, -1), initial=0)


# ---- det -----------------------------------------------------------------------------------------


@array_rule(np.linalg.det)
def _(a):
    y = np.linalg.det(a)

    def det_back(y_bar):
        return None, np.asanyarray(y_bar)[..., None, None] * cofactors(a, np.asarray(y))

    return y, det_back


@forward_rule(np.linalg.det)
def _(dots, a):
    y = np.linalg.det(a)
    if _all_invertible(y):
        inverse = np.linalg.inv(a)
        if _is_clear(a, inverse):
            return y, y * np.sum(np.swapaxes(inverse, -1, -2) * dots[0], (-2, -1))
    return y, det_dot(a, dots[0])


def trace(a: Any) -> Any:
    return np.sum(diagonal(a), -1)


def det_dot(a: Any, a_dot: Any) -> Any:
    """Return the derivative of the determinant along `a_dot`, column by column, for any matrix."""
    n = np.shape(a)[-1]
    columns = np.eye(n, dtype=bool)[:, None, :]
    return np.sum(np.linalg.det(np.where(columns, a_dot[..., None, :, :], a[..., None, :, :])), -1)


def _all_invertible(det: Any) -> bool:
    return bool(np.all(det) and np.all(np.isfinite(det)))


# ---- slogdet -------------------------------------------------------------------------------------


@array_rule(np.linalg.slogdet)
def _(a):
    """ā = (l̄ + i Im(s* s̄)) a⁻ᴴ, for the sign s and the logarithm l; a real sign is a constant."""
    y = np.linalg.slogdet(a)
    sign, _ = y

    def slogdet_back(y_bar):
        sign_bar, log_bar = y_bar
        slope = np.zeros(np.shape(sign)) if log_bar is None else np.asarray(log_bar)
        if sign_bar is not None and np.iscomplexobj(sign):
            slope = slope + 1j * np.imag(conj(sign) * sign_bar)
        of_matrices = (-2, -1)
        slope, singular = np.expand_dims(slope, of_matrices), np.equal(sign, 0)
        return None, _over_matrix(slope, a, np.expand_dims(singular, of_matrices))

    return y, slogdet_back


def _over_matrix(slope: Any, a: Any, singular: Any) -> Any:
    """Return ``slope * a^-H``, infinite at a singular matrix except where the slope is zero."""
    regular = np.where(singular, np.eye(np.shape(a)[-1]), a) if np.any(singular) else a
    bar = slope * dagger(np.linalg.inv(regular))
    if np.any(singular):
        pole = cofactors(a, np.zeros(np.shape(a)[:-2])) / np.zeros(())
        bar = np.where(singular, np.where(slope == 0, 0, slope * pole), bar)
    return bar


@forward_rule(np.linalg.slogdet)
def _(dots, a):
    y = np.linalg.slogdet(a)
    sign = y[0]
    if _all_invertible(sign):
        slope = trace(np.linalg.solve(a, dots[0]))
    else:
        singular = np.equal(sign, 0)
        regular = np.where(singular[..., None, None], np.eye(np.shape(a)[-1]), a)
        slope = trace(np.linalg.solve(regular, dots[0]))
        slope = np.where(singular, det_dot(a, dots[0]) / np.where(singular, 0.0, 1.0), slope)
    if not np.iscomplexobj(sign):
        return y, (None, np.real(slope))
    return y, (1j * sign * np.imag(slope), np.real(slope))


non_differentiable(_all_invertible, _is_clear)
