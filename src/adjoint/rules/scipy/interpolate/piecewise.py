"""Rules of the leaves that evaluate piecewise polynomials, in the power and Bernstein bases.

`PPoly`, `CubicSpline`, `PchipInterpolator` and related classes are Python code that calls these
leaves. Each point lies in one interval, where the value is linear in the coefficients. At a
breakpoint the slope is that of the interval that SciPy takes the value from.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special
from scipy.interpolate import _ppoly

from adjoint.rulekit.registry import frule, non_differentiable, rrule, substitute
from adjoint.rulekit.tangents import tangent_of
from adjoint.rules.scipy.equivalents import result_like
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule

# ---- shared functions ----------------------------------------------------------------------------


@non_differentiable
def intervals(x: Any, xp: Any, extrapolate: Any) -> tuple[Any, Any]:
    """Return the interval of each point, and whether it has one, as SciPy finds them."""
    found, xp = np.empty((len(xp), 1)), np.ascontiguousarray(xp)
    _ppoly.evaluate(np.arange(len(x) - 1.0)[None, :, None], x, xp, 0, bool(extrapolate), found)
    inside = np.isfinite(found[:, 0])
    return np.where(inside, found[:, 0], 0).astype(int), inside


def added(terms: Any, places: Any, n: int) -> Any:
    """Return the sums of all terms with the same place, for `n` places."""
    total = np.zeros((n, *terms.shape[np.ndim(places) :]), terms.dtype)
    np.add.at(total, places, terms)
    return total


def power_slopes(s: Any, terms: int, nu: int) -> Any:
    """Return the derivatives of order `nu` of s^(terms-1), …, s, 1, one row per point."""
    powers = np.arange(terms - 1, -1, -1)
    left = np.maximum(powers - nu, 0)
    factors = np.where(powers >= nu, special.poch(powers - nu + 1.0, nu), 0.0)
    return factors * s[:, None] ** left


def _evaluated(evaluate: Callable[..., Any], c: Any, x: Any, xp: Any, nu: int, ext: Any) -> Any:
    out = np.empty((len(xp), c.shape[2]), c.dtype)
    evaluate(c, x, xp, nu, bool(ext), out)
    return out


def _as_evaluated(c: Any, x: Any, xp: Any, nu: int, extrapolate: Any) -> Any:
    return np.empty((len(xp), c.shape[2]), c.dtype)


def _at_points(local: Any, weights: Any) -> Any:
    """Return the sum over coefficients: the last axis of `weights`, the middle one of `local`."""
    return np.einsum("rk,rkn->rn", weights, local)


def _pair(call: Call, places: Any, weights: Any, slopes: Any, ends: list[Any]) -> Any:
    """Return pullback and pushforward; `ends` are slopes in the breakpoints from `places` on."""
    c, x = call.c, call.x

    def back(y_bar: Any) -> Any:
        c_bar = added(weights[:, :, None] * y_bar[:, None, :], places, c.shape[1])
        *of_ends, xp_bar = [np.real(np.sum(np.conj(s) * y_bar, axis=1)) for s in (*ends, slopes)]
        x_bar = sum([added(bar, places + i, len(x)) for i, bar in enumerate(of_ends)])
        return np.swapaxes(c_bar, 0, 1), x_bar, xp_bar

    def push(c_dot: Any, x_dot: Any, xp_dot: Any) -> Any:
        y_dot = np.zeros_like(slopes)
        if c_dot is not None:
            y_dot = y_dot + _at_points(np.swapaxes(c_dot, 0, 1)[places], weights)
        if xp_dot is not None:
            y_dot = y_dot + slopes * xp_dot[:, None]
        for i, slope in enumerate([] if x_dot is None else ends):
            y_dot = y_dot + slope * x_dot[places + i][:, None]
        return y_dot

    return back, push


# ---- powers --------------------------------------------------------------------------------------


@result_like(_as_evaluated)
def piecewise(c: Any, x: Any, xp: Any, nu: int, extrapolate: Any) -> Any:
    """Return the values that `_ppoly.evaluate` writes into its last argument: the derivatives of
    order `nu` of Σ c[j, i] (xp − x[i])^(k−j)."""
    c, x, xp = map(np.ascontiguousarray, (c, x, xp))
    return _evaluated(_ppoly.evaluate, c, x, xp, nu, extrapolate)


@substitute(_ppoly.evaluate)
def _(c, x, xp, dx, extrapolate, out):
    out[...] = piecewise(c, x, xp, dx, extrapolate)


@result_like(_as_evaluated)
def within(c: Any, x: Any, xp: Any, nu: int, extrapolate: Any) -> Any:
    """Return what `piecewise` returns, but 0 at points that have no interval."""
    y = piecewise(c, x, xp, nu, extrapolate)
    if not extrapolate:
        first, last = sorted((x[0], x[-1]))
        y[~((xp >= first) & (xp <= last))] = 0
    elif math.isnan(xp.dot(xp)):
        y[np.isnan(xp)] = 0
    return y


@result_like(
    lambda y, x, xp, terms, nu, extrapolate: np.empty((terms, len(x) - 1, y.shape[1]), y.dtype)
)
def spread(y: Any, x: Any, xp: Any, terms: int, nu: int, extrapolate: Any) -> Any:
    """Return the adjoint of `within` as a function of its coefficients, of order `terms`."""
    places, inside = intervals(x, xp, extrapolate)
    weights = power_slopes(np.where(inside, xp - x[places], 0.0), terms, nu) * inside[:, None]
    found = np.empty((terms, len(x) - 1, y.shape[1]), y.dtype)
    for i in range(y.shape[1]):
        for j in range(terms):
            found[j, :, i] = sums_at(weights[:, j] * y[:, i], places, len(x) - 1)
    return found


def sums_at(terms: Any, places: Any, n: int) -> Any:
    """Return the sums of all terms, which are numbers, with the same place, for `n` places."""
    if terms.dtype.kind == "c":
        return sums_at(terms.real, places, n) + 1j * sums_at(terms.imag, places, n)
    return np.bincount(places, terms, n)


def _product(slopes, y_bar):
    """Return the real inner product of each row of two arrays."""
    if slopes.dtype.kind == "c":
        return np.real(np.sum(np.conj(slopes) * y_bar, axis=1))
    found = slopes * y_bar
    return found[:, 0] if found.shape[1] == 1 else np.sum(found, axis=1)


def _of_points(found, x, xp, extrapolate, wanted):
    """Return the cotangents of breakpoints and points from that of their difference."""
    if not wanted[0]:
        return None, found
    first = spread(-found[:, None], x, xp, 1, 0, extrapolate)[0, :, 0]
    return np.concatenate([first, np.zeros(1)]), found


def _moved(x_dot, xp_dot, x, xp, extrapolate):
    """Return the tangents of the difference between points and their breakpoints, as a column."""
    if x_dot is None:
        return xp_dot[:, None]
    gap = within(x_dot[None, :-1, None], x, xp, 0, extrapolate)
    return -gap if xp_dot is None else xp_dot[:, None] - gap


def _evaluating(f: Any) -> None:
    @rrule.register(f)
    def _(c, x, xp, nu, extrapolate):
        def piecewise_back(y_bar, *, wanted):
            c_bar = x_bar = xp_bar = None
            if wanted[0]:
                c_bar = spread(y_bar, x, xp, len(c), nu, extrapolate)
            if wanted[1] or wanted[2]:
                found = _product(within(c, x, xp, nu + 1, extrapolate), y_bar)
                x_bar, xp_bar = _of_points(found, x, xp, extrapolate, wanted[1:])
            return None, c_bar, x_bar, xp_bar, None, None

        return f(c, x, xp, nu, extrapolate), piecewise_back

    @tangent_of(f)
    def piecewise_tangent(dots, y, c, x, xp, nu, extrapolate):
        c_dot, x_dot, xp_dot = dots[0], dots[1], dots[2]
        moved = None
        if x_dot is not None or xp_dot is not None:
            slopes = within(c, x, xp, nu + 1, extrapolate)
            moved = slopes * _moved(x_dot, xp_dot, x, xp, extrapolate)
        if c_dot is None:
            return moved
        along = within(c_dot, x, xp, nu, extrapolate)
        return along if moved is None else along + moved

    @frule.register(f)
    def _(dots, c, x, xp, nu, extrapolate):
        y = f(c, x, xp, nu, extrapolate)
        if all(dot is None for dot in dots[:3]):
            return y, None
        return y, piecewise_tangent(dots, y, c, x, xp, nu, extrapolate)


_evaluating(piecewise)
_evaluating(within)


@rrule.register(spread)
def _(y, x, xp, terms, nu, extrapolate):
    def spread_back(c_bar, *, wanted):
        y_bar = x_bar = xp_bar = None
        if wanted[0]:
            y_bar = within(c_bar, x, xp, nu, extrapolate)
        if wanted[1] or wanted[2]:
            found = _product(within(c_bar, x, xp, nu + 1, extrapolate), y)
            x_bar, xp_bar = _of_points(found, x, xp, extrapolate, wanted[1:])
        return None, y_bar, x_bar, xp_bar, None, None, None

    return spread(y, x, xp, terms, nu, extrapolate), spread_back


@tangent_of(spread)
def _spread_tangent(dots, found, y, x, xp, terms, nu, extrapolate):
    y_dot, x_dot, xp_dot = dots[0], dots[1], dots[2]
    moved = None
    if x_dot is not None or xp_dot is not None:
        along = y * _moved(x_dot, xp_dot, x, xp, extrapolate)
        moved = spread(along, x, xp, terms, nu + 1, extrapolate)
    if y_dot is None:
        return moved
    linear = spread(y_dot, x, xp, terms, nu, extrapolate)
    return linear if moved is None else linear + moved


@frule.register(spread)
def _(dots, y, x, xp, terms, nu, extrapolate):
    found = spread(y, x, xp, terms, nu, extrapolate)
    if all(dot is None for dot in dots[:3]):
        return found, None
    return found, _spread_tangent(dots, found, y, x, xp, terms, nu, extrapolate)


# ---- Bernstein's basis ---------------------------------------------------------------------------


@result_like(_as_evaluated)
def bernstein(c: Any, x: Any, xp: Any, nu: int, extrapolate: Any) -> Any:
    """Return the values that `_ppoly.evaluate_bernstein` writes into its last argument."""
    return _evaluated(_ppoly.evaluate_bernstein, c, x, xp, nu, extrapolate)


@substitute(_ppoly.evaluate_bernstein)
def _(c, x, xp, nu, extrapolate, out):
    out[...] = bernstein(c, x, xp, nu, extrapolate)


def _bernstein_slopes(s: Any, terms: int, nu: int) -> Any:
    """Return the derivatives of order `nu` of the Bernstein polynomials, one row per point."""
    degree = terms - 1 - nu
    if degree < 0:
        return np.zeros((len(s), terms))
    j = np.arange(degree + 1)
    basis = special.comb(degree, j) * s[:, None] ** j * (1 - s[:, None]) ** (degree - j)
    differences = np.diff(np.eye(terms), nu, axis=0) * special.poch(degree + 1.0, nu)
    return basis @ differences


@matrix_rule(bernstein, "c x xp")
def _(call: Call) -> Any:
    """Evaluate y = b(s) / hᵛ with s = (xp − x[i]) / h and h = x[i + 1] − x[i]."""
    c, x, xp, nu = call.c, call.x, call.xp, int(call.nu)
    places, inside = intervals(x, xp, call.extrapolate)
    h = (x[places + 1] - x[places])[:, None]
    s = np.where(inside, xp - x[places], 0.0) / h[:, 0]
    weights = _bernstein_slopes(s, c.shape[0], nu) / h**nu * inside[:, None]
    local = np.swapaxes(c, 0, 1)[places]
    along = _bernstein_slopes(s, c.shape[0], nu + 1) / h ** (nu + 1) * inside[:, None]
    slopes, stretched = _at_points(local, along), nu * _at_points(local, weights) / h
    of_left = slopes * (s[:, None] - 1) + stretched
    of_right = -slopes * s[:, None] - stretched

    return _pair(call, places, weights, slopes, [of_left, of_right])
