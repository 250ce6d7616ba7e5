"""Distributions whose formulas have a case of their own where a shape is zero: the derivative in
the shape exists there, too, but a branch does not show it.

The substitutes compute what SciPy's methods do, by functions that are analytic at zero:
log(1 + u)/u and (exp(u) − 1)/u.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special as sp
from scipy import stats as st

from adjoint.rules.registry import substitute

__all__: list[str] = []

TERMS = 10
"""So many derivatives in the shape are right at zero."""


def log1p_over(u: Any) -> Any:
    """log(1 + u)/u near 0."""
    series: Any = 0.0
    for k in range(TERMS, -1, -1):
        series = 1 / (k + 1) - u * series
    return series


def expm1_over(u: Any) -> Any:
    """(exp(u) − 1)/u near 0."""
    series: Any = 1.0
    for k in range(TERMS, 0, -1):
        series = 1 + u * series / (k + 1)
    return series


def _by(x: Any, c: Any, f: Any, near: Any) -> Any:
    """f(c x)/c, which is x for c = 0; `near` is f(u)/u."""
    zero = np.equal(c, 0)
    limit = x * near(c * np.where(zero & np.isfinite(x), x, 0))
    return np.where(zero, limit, f(np.where(zero, 0, c) * x) / np.where(zero, 1, c))


def _log1p_by(x: Any, c: Any) -> Any:
    """log(1 + c x)/c"""
    return _by(x, c, sp.log1p, log1p_over)


def _expm1_by(x: Any, c: Any) -> Any:
    """(exp(c x) − 1)/c"""
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
