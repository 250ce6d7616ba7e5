"""Distributions whose formulas have a separate case where a shape parameter is zero.

The derivative in the shape exists there, but a branch does not show it. The substitutes compute the
values of SciPy's methods by functions that are analytic at zero: log(1 + u)/u and (exp(u) − 1)/u.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np
from scipy import special as sp
from scipy import stats as st

from adjoint.rulekit.registry import substitute
from adjoint.runtime.steering import stop_gradient

TERMS = 10
"""Number of derivatives in the shape that are exact at zero."""


def log1p_over(u: Any) -> Any:
    """Return log(1 + u)/u near 0."""
    series: Any = 0.0
    for k in range(TERMS, -1, -1):
        series = 1 / (k + 1) - u * series
    return series


def expm1_over(u: Any) -> Any:
    """Return (exp(u) − 1)/u near 0."""
    series: Any = 1.0
    for k in range(TERMS, 0, -1):
        series = 1 + u * series / (k + 1)
    return series


def _by(x: Any, c: Any, f: Any, near: Any) -> Any:
    """Return f(c x)/c, which is x for c = 0; `near` is f(u)/u."""
    zero = np.equal(c, 0)
    limit = x * near(c * np.where(zero & np.isfinite(x), x, 0))
    return np.where(zero, limit, f(np.where(zero, 0, c) * x) / np.where(zero, 1, c))


def _log1p_by(x: Any, c: Any) -> Any:
    """Return log(1 + c x)/c."""
    return _by(x, c, sp.log1p, log1p_over)


def _expm1_by(x: Any, c: Any) -> Any:
    """Return (exp(c x) − 1)/c."""
    return _by(x, c, sp.expm1, expm1_over)


# ---- generalized extreme values ------------------------------------------------------------------

_Extreme = type(st.genextreme)


@substitute(_Extreme._loglogcdf)
def _(self: Any, x: Any, c: Any) -> Any:
    return -_log1p_by(x, -c)


@substitute(_Extreme._logpdf)
def _(self: Any, x: Any, c: Any) -> Any:
    u = c * np.where(np.equal(c, 0) & ~np.isfinite(x), 0, x)
    inner = -_log1p_by(x, -c)
    outside = np.equal(u, 1) | np.equal(u, -np.inf)
    kept = np.where(np.equal(c, 0) & np.equal(x, -np.inf), 0, inner)
    density = -np.exp(inner) + kept - sp.log1p(-np.where(outside, 0, u))
    density = np.where(outside, -np.inf, density)
    return np.where(np.equal(c, 1) & np.equal(x, 1), 0, density)


@substitute(_Extreme._ppf)
def _(self: Any, q: Any, c: Any) -> Any:
    return _expm1_by(-np.log(-np.log(q)), -c)


@substitute(_Extreme._isf)
def _(self: Any, q: Any, c: Any) -> Any:
    return _expm1_by(-np.log(-np.log1p(-q)), -c)


# ---- generalized Pareto --------------------------------------------------------------------------

_Pareto = type(st.genpareto)


@substitute(_Pareto._logpdf)
def _(self: Any, x: Any, c: Any) -> Any:
    zero = np.equal(c, 0)
    limit = -(c + 1) * _log1p_by(x, np.where(zero, c, 0))
    shape = np.where(zero, 1, c)
    return np.where(zero, limit, -sp.xlog1py(shape + 1, shape * x) / shape)


@substitute(_Pareto._logsf)
def _(self: Any, x: Any, c: Any) -> Any:
    return -_log1p_by(x, c)


# ---- kappa4 --------------------------------------------------------------------------------------

_Kappa = type(st.kappa4)


def own_source(method: Any) -> Any:
    """Copy a method, so that a substitute can call the original source."""
    return FunctionType(method.__code__, method.__globals__, method.__name__)


def with_derivatives_where(y: Any, found: Any, where: Any) -> Any:
    """Return `y`, with the derivatives of `found` where the mask `where` is set."""
    moved = np.where(where & np.isfinite(found), found - stop_gradient(found), 0)
    return np.where(where, stop_gradient(y) + moved, y)


def _of_kappa(name: str, formula: Any) -> None:
    """Substitute `formula` for the method where a shape is zero."""
    method = getattr(_Kappa, name)
    plain = own_source(method)

    @substitute(method)
    def _(self: Any, x: Any, h: Any, k: Any) -> Any:
        zero = (np.equal(h, 0) | np.equal(k, 0)) & np.isfinite(x)
        if not np.any(zero):
            return plain(self, x, h, k)
        found = formula(*[np.where(zero, part, 0.25) for part in (x, h, k)])
        return with_derivatives_where(plain(self, x, h, k), found, zero)


def _kappa_logcdf(x: Any, h: Any, k: Any) -> Any:
    return -_log1p_by(np.exp(-_log1p_by(x, -k)), -h)


def _kappa_logpdf(x: Any, h: Any, k: Any) -> Any:
    tail = -_log1p_by(x, -k)
    return _less_one(x, k, tail) + _less_one(np.exp(tail), h, -_log1p_by(np.exp(tail), -h))


def _less_one(x: Any, c: Any, whole: Any) -> Any:
    """Return (1/c − 1) log(1 − c x), where `whole` is the part in 1/c."""
    zero = np.equal(c, 0)
    limit = whole - sp.log1p(-np.where(zero, c, 0) * x)
    shape = np.where(zero, 1, c)
    return np.where(zero, limit, sp.xlog1py(1 / shape - 1, -shape * x))


def _kappa_ppf(q: Any, h: Any, k: Any) -> Any:
    return -_expm1_by(np.log(-_expm1_by(np.log(q), h)), k)


_of_kappa("_logcdf", _kappa_logcdf)
_of_kappa("_logpdf", _kappa_logpdf)
_of_kappa("_ppf", _kappa_ppf)
