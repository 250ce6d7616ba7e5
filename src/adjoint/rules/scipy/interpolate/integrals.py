"""Rules of the leaves of piecewise polynomials: integrals, continuity, several variables."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from scipy import special
from scipy.interpolate import _ppoly

from adjoint.rulekit.registry import entry, rrule, substitute
from adjoint.rulekit.tangents import linear_in, tangent_of
from adjoint.rules.scipy.equivalents import result_like
from adjoint.rules.scipy.interpolate.piecewise import (
    added,
    intervals,
    power_slopes,
    spread,
    within,
)
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule

# ---- definite integrals --------------------------------------------------------------------------


@result_like(lambda c, x, a, b, extrapolate: np.empty(c.shape[2], c.dtype))
def integral(c: Any, x: Any, a: Any, b: Any, extrapolate: Any) -> Any:
    """Return the values that `_ppoly.integrate` writes into its last argument."""
    c, x = np.ascontiguousarray(c), np.ascontiguousarray(x)
    out = np.empty(c.shape[2], c.dtype)
    _ppoly.integrate(c, x, a, b, bool(extrapolate), out)
    return out


@substitute(_ppoly.integrate)
def _(c, x, a, b, extrapolate, out):
    out[...] = integral(c, x, a, b, extrapolate)


class _End:
    """One limit of the integral: for each interval the end of integration within it. The end is the
    limit itself in one interval (`own`), and a breakpoint in the others."""

    def __init__(self, x: Any, limit: Any, extrapolate: Any) -> None:
        (place,), (inside,) = intervals(x, np.array([limit], float), extrapolate)
        i = np.arange(len(x) - 1)
        rising = bool(x[-1] >= x[0])
        left, right = (i, i + 1) if rising else (i + 1, i)
        beyond = limit >= x[right]
        self.own = i == place
        self.breakpoint = np.where(beyond, right, left)
        self.s = np.where(self.own, limit, x[self.breakpoint]) - x[:-1]
        self.inside = bool(inside)


def _signs(ends: list[_End]) -> tuple[float, float]:
    return (1.0, -1.0) if all(end.inside for end in ends) else (0.0, 0.0)


def _weights(ends: list[_End], terms: int) -> Any:
    """Return the integrals of the powers in each interval (row); `ends` are the upper and the lower
    one."""
    over = np.arange(terms, 0, -1)
    return sum(
        sign * power_slopes(end.s, terms + 1, 0)[:, :-1] / over
        for sign, end in zip(_signs(ends), ends, strict=True)
    )


def _ends(x: Any, a: Any, b: Any, extrapolate: Any) -> list[_End]:
    return [_End(x, limit, extrapolate) for limit in (b, a)]


def _values(ends: list[_End], c: Any, nu: int = 0) -> list[Any]:
    """Return the signed values of all curves at each end, or of their derivatives of order `nu`,
    one row per interval."""
    return [
        sign * np.einsum("ik,kin->in", power_slopes(end.s, c.shape[0], nu), c)
        for sign, end in zip(_signs(ends), ends, strict=True)
    ]


def _of_ends(bars: list[Any], ends: list[_End], x: Any) -> Any:
    """Return the cotangents of the breakpoints, and of the upper and the lower limit, from those of
    the distance of each end from the left of its interval."""
    x_bar, limit_bars = np.zeros(len(x)), []
    for end, bar in zip(ends, bars, strict=True):
        x_bar[:-1] -= bar
        np.add.at(x_bar, end.breakpoint, np.where(end.own, 0.0, bar))
        limit_bars.append(bar[end.own].sum())
    return x_bar, limit_bars


def _inner(values: Any, y: Any) -> Any:
    """Return the real inner product with each row of an array, or with a vector."""
    found = np.real(np.conj(values) * y) if values.dtype.kind == "c" else values * y
    return np.sum(found, axis=-1)


@matrix_rule(integral, "c x a b")
def _(call: Call) -> Any:
    """Integrate as the sum over intervals of Q(upper end) − Q(lower end), Q an antiderivative."""
    c, x = call.c, call.x
    ends = _ends(x, call.a, call.b, call.extrapolate)
    weights, values = _weights(ends, c.shape[0]), _values(ends, c)

    def integral_back(y_bar: Any) -> Any:
        c_bar = np.swapaxes(weights[:, :, None] * y_bar, 0, 1)
        x_bar, limit_bars = _of_ends([_inner(value, y_bar) for value in values], ends, x)
        return c_bar, x_bar, limit_bars[1], limit_bars[0]

    def integral_push(c_dot: Any, x_dot: Any, a_dot: Any, b_dot: Any) -> Any:
        y_dot = np.zeros(c.shape[2], c.dtype)
        if c_dot is not None:
            y_dot = y_dot + np.einsum("ik,kin->n", weights, c_dot)
        for end, value, limit_dot in zip(ends, values, (b_dot, a_dot), strict=True):
            moved = np.zeros(len(x) - 1)
            if x_dot is not None:
                moved = np.where(end.own, 0.0, x_dot[end.breakpoint]) - x_dot[:-1]
            if limit_dot is not None:
                moved = moved + np.where(end.own, limit_dot, 0.0)
            y_dot = y_dot + moved @ value
        return y_dot

    return integral_back, integral_push


@result_like(lambda y, x, a, b, terms, extrapolate: np.empty((terms, len(x) - 1, len(y)), y.dtype))
def integral_spread(y: Any, x: Any, a: Any, b: Any, terms: int, extrapolate: Any) -> Any:
    """Return the adjoint of `integral` as a function of its coefficients, of order `terms`."""
    weights = _weights(_ends(x, a, b, extrapolate), terms)
    return np.ascontiguousarray(np.swapaxes(weights[:, :, None] * y, 0, 1))


@result_like(lambda y, c, x, a, b, extrapolate: np.empty(len(x)))
def integral_in_breakpoints(y: Any, c: Any, x: Any, a: Any, b: Any, extrapolate: Any) -> Any:
    """Return the cotangent of the breakpoints of `integral`."""
    ends = _ends(x, a, b, extrapolate)
    return _of_ends([_inner(value, y) for value in _values(ends, c)], ends, x)[0]


def _at_limit(c, x, limit, extrapolate):
    """Return the values at a limit, of which there is one for each curve."""
    return within(c, x, np.array([limit], float), 0, extrapolate)[0]


def _of_arrays(c, x, a, b, extrapolate):
    """Return the value and the pullback for arrays, in a form that programs inline."""
    if c.dtype.kind == "c":
        return NotImplemented

    def integral_back(y_bar):
        a_bar = -np.sum(_at_limit(c, x, a, extrapolate) * y_bar)
        b_bar = np.sum(_at_limit(c, x, b, extrapolate) * y_bar)
        c_bar = integral_spread(y_bar, x, a, b, len(c), extrapolate)
        x_bar = integral_in_breakpoints(y_bar, c, x, a, b, extrapolate)
        return None, c_bar, x_bar, a_bar, b_bar, None

    return integral(c, x, a, b, extrapolate), integral_back


_rule: Any = entry(integral).rrules[0].function
_rule.of_arrays = _of_arrays


@tangent_of(integral)
def _integral_dot(dots, y, c, x, a, b, extrapolate):
    c_dot, x_dot, a_dot, b_dot = dots[0], dots[1], dots[2], dots[3]
    if x_dot is not None:
        raise NotImplementedError
    y_dot = np.zeros_like(y)
    if c_dot is not None:
        y_dot = y_dot + integral(c_dot, x, a, b, extrapolate)
    if a_dot is not None:
        y_dot = y_dot - _at_limit(c, x, a, extrapolate) * a_dot
    if b_dot is not None:
        y_dot = y_dot + _at_limit(c, x, b, extrapolate) * b_dot
    return y_dot


@rrule.register(integral_spread)
def _(y, x, a, b, terms, extrapolate):
    def spread_back(c_bar):
        y_bar = integral(c_bar, x, a, b, extrapolate)
        x_bar = integral_in_breakpoints(y, c_bar, x, a, b, extrapolate)
        a_bar = -_inner(_at_limit(c_bar, x, a, extrapolate), y)
        b_bar = _inner(_at_limit(c_bar, x, b, extrapolate), y)
        return None, y_bar, x_bar, a_bar, b_bar, None, None

    return integral_spread(y, x, a, b, terms, extrapolate), spread_back


@tangent_of(integral_spread)
def _spread_dot(dots, found, y, x, a, b, terms, extrapolate):
    y_dot, x_dot, a_dot, b_dot = dots[0], dots[1], dots[2], dots[3]
    if x_dot is not None:
        raise NotImplementedError
    moved = np.zeros_like(found)
    if y_dot is not None:
        moved = moved + integral_spread(y_dot, x, a, b, terms, extrapolate)
    if a_dot is not None:
        moved = moved - spread(y[None] * a_dot, x, np.array([a], float), terms, 0, extrapolate)
    if b_dot is not None:
        moved = moved + spread(y[None] * b_dot, x, np.array([b], float), terms, 0, extrapolate)
    return moved


@rrule.register(integral_in_breakpoints)
def _(y, c, x, a, b, extrapolate):
    ends = _ends(x, a, b, extrapolate)
    signs, values = _signs(ends), _values(ends, c)

    def in_breakpoints_back(bar):
        gaps = [np.where(end.own, 0.0, bar[end.breakpoint]) - bar[:-1] for end in ends]
        y_bar, weights, bars = np.zeros_like(y), np.zeros(c.shape[1::-1]), []
        for i, slopes in enumerate(_values(ends, c, 1)):
            y_bar = y_bar + gaps[i] @ values[i]
            powers = power_slopes(ends[i].s, len(c), 0)
            weights = weights + signs[i] * powers * gaps[i][:, None]
            bars.append(gaps[i] * _inner(slopes, y))
        x_bar, limit_bars = _of_ends(bars, ends, x)
        c_bar = np.swapaxes(weights[:, :, None] * y, 0, 1)
        return None, y_bar, c_bar, x_bar, limit_bars[1], limit_bars[0], None

    return integral_in_breakpoints(y, c, x, a, b, extrapolate), in_breakpoints_back


# ---- continuity of antiderivatives ---------------------------------------------------------------


@result_like(lambda c, x, order: np.empty_like(c))
def continued(c: Any, x: Any, order: int) -> Any:
    """Return the coefficients that `_ppoly.fix_continuity` makes of `c`."""
    c = np.array(c, order="C")
    _ppoly.fix_continuity(c, x, order)
    return c


@substitute(_ppoly.fix_continuity)
def _(c, x, order):
    c[...] = continued(c, x, order)


linear_in(continued)


@matrix_rule(continued, "c x")
def _(call: Call) -> Any:
    """Make the last `order` + 1 coefficients of an interval continue the interval before. They are
    Taylor coefficients of the polynomial before, so they do not depend on their old values."""
    y, h, n = call.y, np.diff(call.x), int(call.order) + 1
    terms, m = y.shape[:2]
    shifts, slopes = (
        np.stack([power_slopes(h, terms, d + extra) / special.factorial(d) for d in range(n)], 1)
        for extra in (0, 1)
    )  # by interval, by order of derivative, by coefficient

    def continued_back(y_bar: Any) -> Any:
        c_bar, h_bar = np.array(y_bar), np.zeros(m)
        for i in range(m - 1, 0, -1):
            bar = c_bar[terms - n :, i][::-1].copy()
            c_bar[terms - n :, i] = 0
            c_bar[:, i - 1] += shifts[i - 1].T @ bar
            h_bar[i - 1] = np.real(np.sum(np.conj(slopes[i - 1] @ y[:, i - 1]) * bar))
        return c_bar, _of_breakpoints(h_bar)

    def continued_push(c_dot: Any, x_dot: Any) -> Any:
        y_dot = np.zeros_like(y) if c_dot is None else np.array(c_dot, y.dtype)
        h_dot = np.zeros(m) if x_dot is None else np.diff(x_dot)
        for i in range(1, m):
            moved = shifts[i - 1] @ y_dot[:, i - 1] + slopes[i - 1] @ y[:, i - 1] * h_dot[i - 1]
            y_dot[terms - n :, i] = moved[::-1]
        return y_dot

    return continued_back, continued_push


def _of_breakpoints(h_bar: Any) -> Any:
    """Return the transpose of `np.diff`, applied to `h_bar`."""
    nothing = np.zeros(1)
    return np.concatenate([nothing, h_bar]) - np.concatenate([h_bar, nothing])


# ---- several variables ---------------------------------------------------------------------------


def tensor(c: Any, xs: Any, ks: Any, xp: Any, nu: Any, extrapolate: Any) -> Any:
    """Return the values that `_ppoly.evaluate_nd` writes into its last argument."""
    out = np.empty((len(xp), c.shape[2]), c.dtype)
    _ppoly.evaluate_nd(c, xs, ks, xp, nu, bool(extrapolate), out)
    return out


@substitute(_ppoly.evaluate_nd)
def _(c, xs, ks, xp, dx, extrapolate, out):
    out[...] = tensor(c, xs, ks, xp, dx, extrapolate)


def _product(factors: list[Any]) -> Any:
    """Return the products of all choices of one column of each matrix, row by row."""
    return reduce(lambda a, b: np.reshape(a[:, :, None] * b[:, None, :], (len(a), -1)), factors)


@matrix_rule(tensor, "c *xs xp")
def _(call: Call) -> Any:
    c, xs, ks, xp, nu = call.c, call.xs, call.ks, call.xp, call.nu
    found = [intervals(x, xp[:, axis], call.extrapolate) for axis, x in enumerate(xs)]
    inside = np.all([within for _, within in found], axis=0)
    places = [np.where(inside, place, 0) for place, _ in found]
    flat = np.ravel_multi_index(places, [len(x) - 1 for x in xs])
    s = [np.where(inside, xp[:, axis] - x[places[axis]], 0.0) for axis, x in enumerate(xs)]

    def weights(along: int | None) -> Any:
        factors = [
            power_slopes(s[axis], int(ks[axis]), int(nu[axis]) + (axis == along))
            for axis in range(len(xs))
        ]
        return _product(factors) * inside[:, None]

    own, local = weights(None), np.swapaxes(c, 0, 1)[flat]
    slopes = [np.einsum("rk,rkn->rn", weights(axis), local) for axis in range(len(xs))]

    def tensor_back(y_bar: Any) -> Any:
        c_bar = np.swapaxes(added(own[:, :, None] * y_bar[:, None, :], flat, c.shape[1]), 0, 1)
        bars = [np.real(np.sum(np.conj(slope) * y_bar, axis=1)) for slope in slopes]
        x_bars = [
            -added(bar, place, len(x)) for bar, place, x in zip(bars, places, xs, strict=True)
        ]
        return c_bar, tuple(x_bars), np.stack(bars, axis=1)

    def tensor_push(c_dot: Any, x_dots: Any, xp_dot: Any) -> Any:
        y_dot = np.zeros((len(xp), c.shape[2]), c.dtype)
        if c_dot is not None:
            y_dot = y_dot + np.einsum("rk,rkn->rn", own, np.swapaxes(c_dot, 0, 1)[flat])
        for axis, slope in enumerate(slopes):
            if xp_dot is not None:
                y_dot = y_dot + slope * xp_dot[:, axis, None]
            if x_dots is not None and x_dots[axis] is not None:
                y_dot = y_dot - slope * x_dots[axis][places[axis]][:, None]
        return y_dot

    return tensor_back, tensor_push
