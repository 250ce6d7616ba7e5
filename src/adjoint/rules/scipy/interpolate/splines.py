"""Values of splines and coefficients of interpolating ones, as functions closed under derivatives.

A spline Σ c_i B_i(x) is linear in its coefficients, and its derivative in the points is that of the
next order. The coefficients of an interpolating spline solve A(x, t) c = b, where A c are the
values of the spline at the positions x. Derivatives in the knots are those of de Boor's algorithm;
programs call them as they are.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import interpolate
from scipy.linalg import solve_banded

from adjoint.rulekit.registry import frule, rrule
from adjoint.rulekit.tangents import tangent_of
from adjoint.rules.scipy.equivalents import result_like
from adjoint.rules.scipy.interpolate.deboor import Local, places_of
from adjoint.rules.scipy.interpolate.piecewise import added

_leaves: Any = getattr(interpolate, "_dierckx", None)
_older: Any = None if _leaves is not None else getattr(interpolate, "_bspl", None)

MOST_DENSE = 1 << 16
"""Greatest number of values of all B-splines at all points that are calculated at once."""
MOST_FULL = 64
"""Greatest number of equations that are solved with a full matrix."""


def of_points(t: Any, c: Any, k: int, x: Any, nu: int, extrapolate: Any) -> Any:
    return np.empty((len(x), c.shape[1]), c.dtype)


@result_like(of_points)
def spline(t: Any, c: Any, k: int, x: Any, nu: int, extrapolate: Any) -> Any:
    """Return the values of a spline, one row per point, from the compiled code."""
    t, c, x = map(np.ascontiguousarray, (t, c, x))
    if len(c) < len(t) - k - 1 or len(t) < 2 * k + 2:
        raise ValueError("knots and coefficients that do not fit")  # compiled code does not check
    if _leaves is not None:
        return np.asarray(_leaves.evaluate_spline(t, c, k, x, nu, extrapolate))
    out = np.empty((len(x), c.shape[1]), c.dtype)
    _older.evaluate_spline(t, c, k, x, nu, bool(extrapolate), out)  # before SciPy 1.15
    return out


@result_like(of_points)
def spline_within(t: Any, c: Any, k: int, x: Any, nu: int, extrapolate: Any) -> Any:
    """Return what `spline` returns, but 0 at points where that is not defined."""
    if nu > k:
        return np.zeros((len(x), c.shape[1]), c.dtype)
    inside = _inside(t, k, x, extrapolate)
    y = spline(t, c, k, np.where(inside, x, t[k]), nu, True)
    return y if inside.all() else np.where(inside[:, None], y, 0.0)


def _inside(t: Any, k: int, x: Any, extrapolate: Any) -> Any:
    inside = np.isfinite(x)
    if not extrapolate:
        inside &= (x >= t[k]) & (x <= t[len(t) - k - 1])
    return inside


@result_like(lambda y, t, k, x, size, nu, extrapolate: np.empty((size, y.shape[1]), y.dtype))
def spline_spread(y: Any, t: Any, k: int, x: Any, size: int, nu: int, extrapolate: Any) -> Any:
    """Return the adjoint of `spline_within` as a function of the coefficients, at `y`. There are
    `size` of them; those after the last B-spline are not used."""
    n = len(t) - k - 1
    if size * len(x) <= MOST_DENSE:
        return spline_within(t, np.eye(n, size), k, x, nu, extrapolate).T @ y
    inside = _inside(t, k, x, extrapolate)
    at = np.where(inside, x, t[k])
    places = places_of(t, k, n, at)
    weights = np.where(inside[:, None], values_of_basis(t, k, at, places, nu), 0.0)
    return added(weights[:, :, None] * y[:, None, :], places[:, None] + np.arange(-k, 1), size)


def values_of_basis(t: Any, k: int, x: Any, places: Any, nu: int) -> Any:
    """Return the k + 1 nonzero B-splines at each point, or their derivatives."""
    unit = np.broadcast_to(np.eye(k + 1), (len(x), k + 1, k + 1))
    return Local(t, k, x, places, unit, nu).y


# ---- knots ---------------------------------------------------------------------------------------


STEP = 1e-100
"""An imaginary step so small that its square vanishes beside 1: the derivative by it is exact."""


def _local(t: Any, c: Any, k: int, x: Any, nu: int, is_analytic: bool) -> Local:
    places = places_of(np.real(t), k, len(t) - k - 1, np.real(x))
    return Local(t, k, x, places, c[places[:, None] + np.arange(-k, 1)], nu, is_analytic)


def _pulled(
    y_bar: Any, t: Any, c: Any, k: int, x: Any, nu: int, extrapolate: Any, is_analytic: bool = False
) -> Any:
    """Return the cotangents of knots, points and local coefficients."""
    inside = _inside(np.real(t), k, np.real(x), extrapolate)
    local = _local(t, c, k, np.where(inside, x, t[k]), nu, is_analytic)
    return local.pull(np.where(inside[:, None], y_bar, 0.0))


def _pushed(
    t_dot: Any, t: Any, c: Any, k: int, x: Any, nu: int, extrapolate: Any, is_analytic: bool = False
) -> Any:
    inside = _inside(np.real(t), k, np.real(x), extrapolate)
    local = _local(t, c, k, np.where(inside, x, t[k]), nu, is_analytic)
    return np.where(inside[:, None], local.push(t_dot, None, None), 0.0)


@result_like(lambda y_bar, t, c, k, x, nu, extrapolate: np.empty(len(t)))
def knots_back(y_bar: Any, t: Any, c: Any, k: int, x: Any, nu: int, extrapolate: Any) -> Any:
    """Return the cotangent of the knots of a spline."""
    return _pulled(y_bar, t, c, k, x, nu, extrapolate)[0]


@result_like(lambda t_dot, t, c, k, x, nu, extrapolate: np.empty((len(x), c.shape[1])))
def knots_dot(t_dot: Any, t: Any, c: Any, k: int, x: Any, nu: int, extrapolate: Any) -> Any:
    """Return the tangent of a spline from that of the knots."""
    return _pushed(t_dot, t, c, k, x, nu, extrapolate)


def _stepped(x: Any, dot: Any) -> Any:
    """Return `x` with an imaginary step, which is not a number where `dot` is not finite: the real
    part stays, which says in which intervals the points lie."""
    if dot is None:
        return x
    moved = np.array(x, complex)
    moved.imag = STEP * np.where(np.isfinite(dot), dot, np.nan)
    return moved


def _turned(
    y_bar: Any, t_dot: Any, t: Any, c: Any, k: int, x: Any, nu: int, extrapolate: Any
) -> Any:
    """Return how the cotangents of knots, coefficients and points move with the knots."""
    found = _pulled(y_bar, _stepped(t, t_dot), c, k, x, nu, extrapolate, True)
    t_bar, x_bar, local_bar = (part.imag / STEP for part in found)
    at = np.where(_inside(t, k, x, extrapolate), x, t[k])
    columns = places_of(t, k, len(t) - k - 1, at)[:, None] + np.arange(-k, 1)
    return t_bar, added(local_bar, columns, len(c)), x_bar


def _in_knots(f: Any, other: Any, first: int) -> None:
    """Register the rules of a function that is linear in `bar`, which is the `first` operand of
    `_turned`. The spline is rational: its second derivatives are first ones of a complex step."""

    @rrule.register(f)
    def _(bar, t, c, k, x, nu, extrapolate):
        if np.iscomplexobj(bar) or np.iscomplexobj(c):
            return NotImplemented

        def in_knots_back(y_bar):
            pair = (y_bar, bar) if first else (bar, y_bar)
            t_bar, c_bar, x_bar = _turned(*pair, t, c, k, x, nu, extrapolate)
            bar_bar = other(y_bar, t, c, k, x, nu, extrapolate)
            return None, bar_bar, t_bar, c_bar, None, x_bar, None, None

        return f(bar, t, c, k, x, nu, extrapolate), in_knots_back

    @frule.register(f)
    def _(dots, bar, t, c, k, x, nu, extrapolate):
        if np.iscomplexobj(bar) or np.iscomplexobj(c):
            return NotImplemented
        given = bar, t, c, x
        moved = map(_stepped, given, (dots[0], dots[1], dots[2], dots[4]))
        bar_at, t_at, c_at, x_at = moved
        operands = bar_at, t_at, c_at, k, x_at, nu, extrapolate, True
        found = _pushed(*operands) if first else _pulled(*operands)[0]
        return f(bar, t, c, k, x, nu, extrapolate), found.imag / STEP


_in_knots(knots_back, knots_dot, 0)
_in_knots(knots_dot, knots_back, 1)


# ---- rules of values -----------------------------------------------------------------------------


def _inner(slopes, y_bar):
    """Return the inner product of each row of two arrays."""
    found = slopes * y_bar
    return found[:, 0] if found.shape[1] == 1 else np.sum(found, axis=1)


def evaluating(f: Any) -> None:
    """Register the rules of `spline` for a function that calculates the same."""

    @rrule.register(f)
    def _(t, c, k, x, nu, extrapolate):
        def spline_back(y_bar, *, wanted):
            t_bar = c_bar = x_bar = None
            if wanted[0]:
                t_bar = knots_back(y_bar, t, c, k, x, nu, extrapolate)
            if wanted[1]:
                c_bar = spline_spread(y_bar, t, k, x, len(c), nu, extrapolate)
            if wanted[3]:
                x_bar = _inner(spline_within(t, c, k, x, nu + 1, extrapolate), y_bar)
            return None, t_bar, c_bar, None, x_bar, None, None

        return f(t, c, k, x, nu, extrapolate), spline_back

    @tangent_of(f)
    def spline_tangent(dots, y, t, c, k, x, nu, extrapolate):
        t_dot, c_dot, x_dot = dots[0], dots[1], dots[3]
        terms = []
        if t_dot is not None:
            terms.append(knots_dot(t_dot, t, c, k, x, nu, extrapolate))
        if c_dot is not None:
            terms.append(spline_within(t, c_dot, k, x, nu, extrapolate))
        if x_dot is not None:
            terms.append(spline_within(t, c, k, x, nu + 1, extrapolate) * x_dot[:, None])
        return _total(terms)

    @frule.register(f)
    def _(dots, t, c, k, x, nu, extrapolate):
        y = f(t, c, k, x, nu, extrapolate)
        if dots[0] is None and dots[1] is None and dots[3] is None:
            return y, None
        return y, spline_tangent(dots, y, t, c, k, x, nu, extrapolate)


def _total(terms):
    total = terms[0]
    for i in range(1, len(terms)):
        total = total + terms[i]
    return total


evaluating(spline)
evaluating(spline_within)


@rrule.register(spline_spread)
def _(y, t, k, x, size, nu, extrapolate):
    def spread_back(c_bar, *, wanted):
        y_bar = t_bar = x_bar = None
        if wanted[0]:
            y_bar = spline_within(t, c_bar, k, x, nu, extrapolate)
        if wanted[1]:
            t_bar = knots_back(y, t, c_bar, k, x, nu, extrapolate)
        if wanted[3]:
            x_bar = _inner(spline_within(t, c_bar, k, x, nu + 1, extrapolate), y)
        return None, y_bar, t_bar, None, x_bar, None, None, None

    return spline_spread(y, t, k, x, size, nu, extrapolate), spread_back


def _spread_in_knots(t_dot, y, t, k, x, size, nu, extrapolate):
    """Return the tangent of `spline_spread` from that of the knots: B_i(x) moves for each i."""
    moved = knots_dot(t_dot, t, np.eye(len(t) - k - 1, size), k, x, nu, extrapolate)
    return moved.T @ y


@tangent_of(spline_spread)
def _spread_tangent(dots, found, y, t, k, x, size, nu, extrapolate):
    y_dot, t_dot, x_dot = dots[0], dots[1], dots[3]
    terms = []
    if y_dot is not None:
        terms.append(spline_spread(y_dot, t, k, x, size, nu, extrapolate))
    if t_dot is not None:
        terms.append(_spread_in_knots(t_dot, y, t, k, x, size, nu, extrapolate))
    if x_dot is not None:
        terms.append(spline_spread(y * x_dot[:, None], t, k, x, size, nu + 1, extrapolate))
    return _total(terms)


@frule.register(spline_spread)
def _(dots, y, t, k, x, size, nu, extrapolate):
    found = spline_spread(y, t, k, x, size, nu, extrapolate)
    if dots[0] is None and dots[1] is None and dots[3] is None:
        return found, None
    return found, _spread_tangent(dots, found, y, t, k, x, size, nu, extrapolate)


# ---- interpolation -------------------------------------------------------------------------------


def of_positions(x: Any, b: Any, k: int, t: Any) -> Any:
    return np.empty((len(t) - k - 1, b.shape[1]))


@result_like(of_positions)
def coefficients(x: Any, b: Any, k: int, t: Any) -> Any:
    """Return the coefficients of the spline that has the values `b` at the positions `x`."""
    return interpolate.make_interp_spline(x, b, k, t, check_finite=False).c


@result_like(lambda x, c_bar, k, t: c_bar)
def turned_coefficients(x: Any, c_bar: Any, k: int, t: Any) -> Any:
    """Return the solution of the equations of `coefficients` with the transposed matrix."""
    n = len(x)
    if n <= MOST_FULL:
        return np.linalg.solve(spline(t, np.eye(n), k, x, 0, True).T, c_bar)
    places = places_of(t, k, n, x)
    columns = places[:, None] + np.arange(-k, 1)
    band = np.zeros((2 * k + 1, n))
    # the entry (j, i) of the transpose lies in row k + j − i and column i
    rows = np.broadcast_to(np.arange(n)[:, None], columns.shape)
    lines = k + columns - rows
    if np.any((lines < 0) | (lines > 2 * k)):
        raise ValueError("knots and positions that do not fit")  # the matrix is singular
    band[lines, rows] = values_of_basis(t, k, x, places, 0)
    return solve_banded((k, k), band, c_bar)


def _of_equations(c: Any, b_bar: Any, x: Any, k: int, t: Any, wanted: Any) -> tuple[Any, Any]:
    """Return the cotangents of positions and knots, by which the equations for `c` are made."""
    x_bar = t_bar = None
    if wanted[0]:
        x_bar = -_inner(spline_within(t, c, k, x, 1, True), b_bar)
    if wanted[3]:
        t_bar = -knots_back(b_bar, t, c, k, x, 0, True)
    return x_bar, t_bar


def solving(f: Any) -> None:
    """Register the rules of `coefficients` for a function that calculates the same."""

    @rrule.register(f)
    def _(x, b, k, t):
        c = f(x, b, k, t)

        def coefficients_back(c_bar, *, wanted):
            b_bar = turned_coefficients(x, c_bar, k, t)
            x_bar, t_bar = _of_equations(c, b_bar, x, k, t, wanted)
            return None, x_bar, b_bar, None, t_bar

        return c, coefficients_back

    @tangent_of(f)
    def coefficients_tangent(dots, c, x, b, k, t):
        x_dot, b_dot, t_dot = dots[0], dots[1], dots[3]
        terms = []
        if b_dot is not None:
            terms.append(b_dot)
        if x_dot is not None:
            terms.append(-(spline_within(t, c, k, x, 1, True) * x_dot[:, None]))
        if t_dot is not None:
            terms.append(-knots_dot(t_dot, t, c, k, x, 0, True))
        return coefficients(x, _total(terms), k, t)

    @frule.register(f)
    def _(dots, x, b, k, t):
        c = f(x, b, k, t)
        if dots[0] is None and dots[1] is None and dots[3] is None:
            return c, None
        return c, coefficients_tangent(dots, c, x, b, k, t)


solving(coefficients)


@rrule.register(turned_coefficients)
def _(x, c_bar, k, t):
    b_bar = turned_coefficients(x, c_bar, k, t)

    def turned_back(bar, *, wanted):
        solved = coefficients(x, bar, k, t)
        x_bar, t_bar = _of_equations(solved, b_bar, x, k, t, wanted)
        return None, x_bar, solved, None, t_bar

    return b_bar, turned_back


@tangent_of(turned_coefficients)
def _turned_tangent(dots, b_bar, x, c_bar, k, t):
    x_dot, c_bar_dot, t_dot = dots[0], dots[1], dots[3]
    terms = []
    if c_bar_dot is not None:
        terms.append(c_bar_dot)
    if x_dot is not None:
        terms.append(-spline_spread(b_bar * x_dot[:, None], t, k, x, len(x), 1, True))
    if t_dot is not None:
        terms.append(-_spread_in_knots(t_dot, b_bar, t, k, x, len(x), 0, True))
    return turned_coefficients(x, _total(terms), k, t)


@frule.register(turned_coefficients)
def _(dots, x, c_bar, k, t):
    b_bar = turned_coefficients(x, c_bar, k, t)
    if dots[0] is None and dots[1] is None and dots[3] is None:
        return b_bar, None
    return b_bar, _turned_tangent(dots, b_bar, x, c_bar, k, t)
