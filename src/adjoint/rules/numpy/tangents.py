"""Tangents of nonlinear functions of real arrays, as formulas that programs inline."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.tangents import tangent_of
from adjoint.rules.numpy.operands import methods

# ---- products ------------------------------------------------------------------------------------


def _demand_regular(y: Any, a: Any) -> None:
    """Refuse products that divisions by their factors would not give exactly, nor their second
    derivatives: those near zero, those of factors of very different sizes, and those of integers,
    which wrap around."""
    if a.dtype.kind != "f":
        raise ArithmeticError
    size, sizes = np.abs(y), np.abs(a)
    if not np.all((size > 1e-30) & (size < 1e30)):
        raise ArithmeticError
    if not np.nanmin(sizes) > 1e-5 * np.nanmax(sizes):
        raise ArithmeticError


@tangent_of(np.prod, *methods("prod"))
def _(dots, y, a, axis=None, *, keepdims=False):
    _demand_regular(y, a)
    return y * np.sum(dots[0] / a, axis, keepdims=keepdims)


@tangent_of(np.nanprod)
def _(dots, y, a, axis=None, *, keepdims=False):
    _demand_regular(y, a)
    there = np.isnan(a)
    moved = np.where(there, 0.0, dots[0]) / np.where(there, 1.0, a)
    return y * np.sum(moved, axis, keepdims=keepdims)


@tangent_of(np.cumprod, *methods("cumprod"))
def _(dots, y, a, axis=None):
    _demand_regular(y, a)
    moved = dots[0] / a
    return y * np.cumsum(np.ravel(moved) if axis is None else moved, axis or 0)


if hasattr(np, "cumulative_prod"):

    @tangent_of(np.cumulative_prod)
    def _(dots, y, x, *, axis=None):
        _demand_regular(y, x)
        return y * np.cumsum(dots[0] / x, axis or 0)


# ---- deviations ----------------------------------------------------------------------------------


@tangent_of(np.var, *methods("var"))
def _variance(dots, y, a, axis=None, *, ddof=0, keepdims=False):
    gaps = a - np.mean(a, axis, keepdims=True)
    n = np.sum(np.ones_like(a), axis, keepdims=keepdims) - ddof
    return np.sum(gaps * dots[0], axis, keepdims=keepdims) * (2.0 / n)


@tangent_of(np.nanvar)
def _variance_without_nan(dots, y, a, axis=None, *, ddof=0, keepdims=False):
    there = np.logical_not(np.isnan(a))
    n = np.sum(there, axis, keepdims=True)
    gaps = np.where(there, a - np.sum(np.where(there, a, 0.0), axis, keepdims=True) / n, 0.0)
    moved = gaps * np.where(there, dots[0], 0.0) * (2.0 / (n - ddof))
    return np.sum(moved, axis, keepdims=keepdims)


@tangent_of(np.std, *methods("std"))
def _(dots, y, a, axis=None, *, ddof=0, keepdims=False):
    return _of_root(y, _variance(dots, y, a, axis, ddof=ddof, keepdims=keepdims))


@tangent_of(np.nanstd)
def _(dots, y, a, axis=None, *, ddof=0, keepdims=False):
    return _of_root(y, _variance_without_nan(dots, y, a, axis, ddof=ddof, keepdims=keepdims))


def _of_root(y: Any, moved: Any) -> Any:
    """Return the tangent of the root `y` from that of its square; 0 at 0."""
    return moved * (y != 0.0) * 0.5 / (y + (y == 0.0))


# ---- interpolation -------------------------------------------------------------------------------


@tangent_of(np.interp)
def _(dots, y, x, xp, fp, left=None, right=None):
    x_dot, xp_dot, fp_dot, *ends_dot = dots
    if any(dot is not None for dot in ends_dot):
        raise NotImplementedError
    i = np.minimum(np.maximum(np.searchsorted(xp, x, "right") - 1, 0), len(xp) - 2)
    moved: Any = 0.0
    if x_dot is not None:
        moved = moved + x_dot
    if xp_dot is not None:
        moved = moved - np.interp(x, xp, xp_dot)
    slopes = (fp[i + 1] - fp[i]) / (xp[i + 1] - xp[i])
    moved = np.where((x >= xp[0]) & (x <= xp[-1]), slopes * moved, 0.0)
    if fp_dot is not None:
        ends = [None if end is None else 0.0 for end in (left, right)]
        moved = moved + np.interp(x, xp, fp_dot, *ends)
    return moved


# ---- matrices ------------------------------------------------------------------------------------


@tangent_of(np.linalg.det)
def _(dots, y, a):
    """ẏ = y tr(a⁻¹ ȧ), at matrices that are not nearly singular."""
    inverse = np.linalg.inv(a)
    if not np.max(np.abs(a)) * np.max(np.abs(inverse)) < 1e8:
        raise ArithmeticError
    return y * np.sum(inverse * np.swapaxes(dots[0], -1, -2), (-2, -1))


@tangent_of(np.linalg.pinv)
def _(dots, y, a, rcond=None, *, rtol=None):
    """Of matrices of full rank, where it is smooth."""
    rank = np.trace(y @ a, 0, -2, -1)
    if not np.all(rank > min(np.shape(a)[-2:]) - 0.5):
        raise ArithmeticError
    a_dot, a_t = dots[0], np.swapaxes(dots[0], -1, -2)
    y_t = np.swapaxes(y, -1, -2)
    left, right = y @ y_t @ a_t, a_t @ y_t @ y
    return left - left @ a @ y + right - y @ a @ right - y @ a_dot @ y
