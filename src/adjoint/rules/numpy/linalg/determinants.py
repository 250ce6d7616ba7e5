"""Rules of determinants, which have a derivative at singular matrices too.

Giles (2008), section 2.2.4, and Jacobi's formula: the derivative of det is the adjugate. Of an
invertible matrix that is det · a⁻¹; of a singular one it comes from the singular values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rules.numpy.linalg.forward import forward_rule
from adjoint.rules.numpy.linalg.matrices import dagger, diagonal, floating
from adjoint.rules.numpy.operands import array_rule, conj
from adjoint.rules.numpy.reductions import others
from adjoint.rules.registry import non_differentiable

WORST = 1e8
"""Up to which condition number, roughly, the inverse gives the adjugate well enough."""


def cofactors(a: Any, det: Any) -> Any:
    """The conjugate transpose of the adjugate of square matrices."""
    a = floating(a)
    if np.all(det) and np.all(np.isfinite(det)):
        inverse = np.linalg.inv(a)
        if np.all(_largest(a) * _largest(inverse) < WORST):
            return conj(det)[..., None, None] * dagger(inverse)
    u, s, vh = np.linalg.svd(a)
    sign = conj(np.linalg.det(u) * np.linalg.det(vh))
    return (u * (sign[..., None] * others(s))[..., None, :]) @ vh


def _largest(a: Any) -> Any:
    return abs(a).max((-2, -1), initial=0)


# ---- det -----------------------------------------------------------------------------------------


@array_rule(np.linalg.det)
def _(a):
    y = np.linalg.det(a)

    def det_back(y_bar):
        return None, np.asarray(y_bar)[..., None, None] * cofactors(a, np.asarray(y))

    return y, det_back


@forward_rule(np.linalg.det)
def _(dots, a):
    y = np.linalg.det(a)
    if _all_invertible(y):
        return y, y * trace(np.linalg.solve(a, dots[0]))
    return y, det_dot(a, dots[0])


def trace(a: Any) -> Any:
    return np.sum(diagonal(a), -1)


def det_dot(a: Any, a_dot: Any) -> Any:
    """The derivative of the determinant along `a_dot`, column by column, for any matrix."""
    n = np.shape(a)[-1]
    columns = np.eye(n, dtype=bool)[:, None, :]
    return np.sum(np.linalg.det(np.where(columns, a_dot[..., None, :, :], a[..., None, :, :])), -1)


def _all_invertible(det: Any) -> bool:
    return bool(np.all(det != 0))


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
        return None, _over_matrix(slope[..., None, None], a, np.equal(sign, 0)[..., None, None])

    return y, slogdet_back


def _over_matrix(slope: Any, a: Any, singular: Any) -> Any:
    """``slope * a^-H``; infinite at a singular matrix, but where the slope is zero."""
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


non_differentiable(_all_invertible)
