"""Rules of elementwise choices and replacements, of angles, `sinc` and `i0`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.cotangents.finiteness import finite
from adjoint.primal.value_kinds import FLOAT64, REALS
from adjoint.rulekit.elementwise_forward import contributions, like_result
from adjoint.rulekit.families import elementwise
from adjoint.rulekit.projection import as_numeric, project, projector, unbroadcast
from adjoint.rulekit.registry import frule, non_differentiable, rrule
from adjoint.rulekit.tangents import steady_in
from adjoint.rules.numpy.operands import array_rule, core, dense

# ---- where, select -------------------------------------------------------------------------------


@rrule.register(np.where, trusted=True)
def _where(condition, x, y, /):
    if as_numeric(x) is None or as_numeric(y) is None:
        return NotImplemented
    result, to_x, to_y = np.where(condition, x, y), projector(x), projector(y)

    def where_back(bar):
        return None, None, to_x(np.where(condition, bar, 0)), to_y(np.where(condition, 0, bar))

    return result, where_back


def _where_only_x(condition, x, y, /):
    if as_numeric(x) is None or as_numeric(y) is None:
        return NotImplemented
    result, to_x = np.where(condition, x, y), projector(x)
    return result, lambda bar: (None, None, to_x(np.where(condition, bar, 0)), None)


def _where_only_y(condition, x, y, /):
    if as_numeric(x) is None or as_numeric(y) is None:
        return NotImplemented
    result, to_y = np.where(condition, x, y), projector(y)
    return result, lambda bar: (None, None, None, to_y(np.where(condition, 0, bar)))


_where.only = (None, _where_only_x, _where_only_y)  # type: ignore[attr-defined]


@rrule.register(np.where, trusted=True)
def _(condition, /):
    return np.where(condition), lambda positions_bar: (None, None)


@frule.register(np.where)
def _(dots, condition, x, y, /):
    if dots[1] is None and dots[2] is None:
        return np.where(condition, x, y), None
    result, x_dot, y_dot = np.where(condition, x, y), dense(dots[1], x), dense(dots[2], y)
    return result, like_result(np.where(condition, x_dot, y_dot), result)


@rrule.register(np.select)
def _(condlist, choicelist, default=None):
    last = () if default is None else (default,)
    if any(as_numeric(choice) is None for choice in (*choicelist, *last)):
        return NotImplemented
    y = np.select(condlist, choicelist, *last)
    masks, rest = _first_true(condlist)

    def select_back(y_bar):
        bars = [
            project(np.where(mask, y_bar, 0), choice)
            for mask, choice in zip(masks, choicelist, strict=True)
        ]
        chosen = tuple(bars) if isinstance(choicelist, tuple) else bars
        return None, None, chosen, *(project(np.where(rest, y_bar, 0), x) for x in last)

    return y, select_back


@frule.register(np.select)
def _(dots, condlist, choicelist, default=0):
    choices = [None] * len(choicelist) if dots[1] is None else dots[1]
    tangents = [dense(dot, choice) for dot, choice in zip(choices, choicelist, strict=True)]
    last = dense(dots[2] if len(dots) > 2 else None, default)
    y = np.select(condlist, choicelist, default)
    shape = np.shape(y)
    y_dot = np.select(condlist, [np.broadcast_to(dot, shape) for dot in tangents], last)
    return y, like_result(y_dot, y)


def _first_true(condlist: Any) -> tuple[list[Any], Any]:
    """Return masks of where each condition is the first that holds, and of where none holds."""
    rest: Any = np.True_
    masks = []
    for condition in condlist:
        masks.append(rest & condition)
        rest = rest & ~np.asarray(condition)
    return masks, rest


# ---- clip: the minimum of a maximum, whose ties are shared equally -------------------------------


def _clip_shares(a: Any, low: Any, high: Any) -> tuple[Any, Any, Any]:
    """Return the weights of the operand and of the two bounds in each element."""
    raised = a if low is None else np.maximum(a, low)
    below = 1.0 if high is None else np.where(np.equal(raised, high), 0.5, np.less(raised, high))
    inside = 1.0 if low is None else np.where(np.equal(a, low), 0.5, np.greater(a, low))
    return below * inside, below * (1.0 - inside), 1.0 - below


def _clipped(f: Any, a: Any, low: Any, high: Any) -> Any:
    simple = _is_double(a) and all(x is None or type(x) in REALS for x in (low, high))

    def clipped_back(y_bar):
        bars = _between_numbers(y_bar, a, low, high) if simple else None
        if bars is not None:
            return bars
        return tuple(
            [
                share * y_bar if finite(y_bar) else np.where(np.equal(share, 0), 0.0, share * y_bar)
                for share in _clip_shares(a, low, high)
            ]
        )

    return f(a, low, high), clipped_back


def _is_double(a: Any) -> bool:
    return type(a) is np.ndarray and a.dtype == FLOAT64 and a.ndim > 0


def _between_numbers(y_bar: Any, a: Any, low: Any, high: Any) -> Any:
    """Return the cotangents of an array and of bounds that are numbers, in few passes; None with
    ties, NaN, or bounds out of order."""
    if low is not None and high is not None and not low < high:
        return None
    below = None if low is None else a < low
    above = None if high is None else a > high
    inside = np.ones(a.shape, bool)
    if low is not None:
        inside &= a > low
    if high is not None:
        inside &= a < high
    outside = [part for part in (below, above) if part is not None]
    if np.count_nonzero(inside) + sum(map(np.count_nonzero, outside)) != a.size:
        return None
    if not finite(y_bar):
        return None
    sums = [None if part is None else y_bar[part].sum() for part in (below, above)]
    return y_bar * inside, *sums


non_differentiable(_is_double)


def _clipped_dot(f: Any, a: Any, low: Any, high: Any, dots: Any) -> Any:
    y = f(a, low, high)
    y_dot = np.zeros(np.shape(y))
    for share, dot, x in zip(_clip_shares(a, low, high), dots, (a, low, high), strict=False):
        if dot is not None:
            y_dot = y_dot + contributions(share, dense(dot, x), True)
    return y, like_result(y_dot, y)


@array_rule(np.clip, operands="a a_min a_max min max")
def _(a, a_min=None, a_max=None, out=None, *, min=None, max=None):
    if out is not None:
        return NotImplemented
    low, high = (min if a_min is None else a_min), (max if a_max is None else a_max)
    y, back = _clipped(np.clip, a, low, high)

    def clip_back(y_bar):
        a_bar, low_bar, high_bar = back(y_bar)
        low_bars = (low_bar, None) if a_min is not None else (None, low_bar)
        high_bars = (high_bar, None) if a_max is not None else (None, high_bar)
        return None, a_bar, low_bars[0], high_bars[0], low_bars[1], high_bars[1]

    return y, clip_back


@frule.register(np.clip)
def _(dots, a, a_min=None, a_max=None, *, min=None, max=None):
    low, high = (min if a_min is None else a_min), (max if a_max is None else a_max)
    return _clipped_dot(np.clip, a, low, high, dots)


@array_rule(core.umath.clip, operands="a low high")
def _(a, low, high):
    y, back = _clipped(core.umath.clip, a, low, high)
    return y, lambda y_bar: (None, *back(y_bar))


@frule.register(core.umath.clip)
def _(dots, a, low, high):
    return _clipped_dot(core.umath.clip, a, low, high, dots)


# ---- replacement of what is not finite -----------------------------------------------------------


def _finite_part(x: Any, x_dot: Any) -> Any:
    """Return `x_dot` where `x` is finite, separately for real and imaginary parts."""
    if np.iscomplexobj(x):
        real, imag = np.isfinite(np.real(x)), np.isfinite(np.imag(x))
        return np.where(real, np.real(x_dot), 0) + 1j * np.where(imag, np.imag(x_dot), 0)
    return np.where(np.isfinite(x), x_dot, 0)


@array_rule(np.nan_to_num, operands="x nan posinf neginf")
def _(x, copy=True, nan=0.0, posinf=None, neginf=None):
    if not copy:
        return NotImplemented
    y = np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)

    def nan_to_num_back(y_bar):
        bars = [
            None if value is None else unbroadcast(np.asarray(_at(place, y_bar)), np.shape(value))
            for place, value in zip(_places(x), (nan, posinf, neginf), strict=True)
        ]
        return None, _finite_part(x, y_bar), *bars

    return y, nan_to_num_back


def _places(x: Any) -> list[Any]:
    """Return the masks of NaN, infinity and its negative; of complex numbers, one for each part."""
    tests = (np.isnan, np.isposinf, np.isneginf)
    if np.iscomplexobj(x):
        return [(test(np.real(x)), test(np.imag(x))) for test in tests]
    return [test(x) for test in tests]


def _at(place: Any, y_bar: Any) -> Any:
    if isinstance(place, tuple):
        return np.where(place[0], np.real(y_bar), 0) + np.where(place[1], np.imag(y_bar), 0)
    return np.where(place, y_bar, 0)


def _put(place: Any, dot: Any) -> Any:
    if isinstance(place, tuple):
        return np.where(place[0], dot, 0) + 1j * np.where(place[1], dot, 0)
    return np.where(place, dot, 0)


steady_in(np.nan_to_num, places=range(5))


@frule.register(np.nan_to_num)
def _(dots, x, copy=True, nan=0.0, posinf=None, neginf=None):
    if not copy:
        return NotImplemented
    y = np.nan_to_num(x, nan=nan, posinf=posinf, neginf=neginf)
    x_dot, _, *others = (dots + (None,) * 4)[:5]
    y_dot = _finite_part(x, dense(x_dot, x))
    for place, value, dot in zip(_places(x), (nan, posinf, neginf), others, strict=True):
        if dot is not None and value is not None:
            y_dot = y_dot + _put(place, dense(dot, value))
    return y, like_result(y_dot, y)


# ---- the angle of a complex number ---------------------------------------------------------------


def _angle_gradient(z: Any, deg: bool) -> Any:
    """Return i z / |z|², taken as 0 at 0."""
    square = np.real(z) ** 2 + np.imag(z) ** 2
    return (180 / math.pi if deg else 1.0) * 1j * z / np.where(np.equal(square, 0), np.inf, square)


@array_rule(np.angle, operands="z")
def _(z, deg=False):
    y = np.angle(z, deg)
    if not np.iscomplexobj(z):
        return y, lambda y_bar: (None, None)
    return y, lambda y_bar: (None, y_bar * _angle_gradient(z, deg))


@frule.register(np.angle)
def _(dots, z, deg=False):
    if dots[0] is None or not np.iscomplexobj(z):
        return np.angle(z, deg), None
    z_dot = dense(dots[0], z)
    return np.angle(z, deg), np.real(np.conj(_angle_gradient(np.asarray(z), deg)) * z_dot)


# ---- sinc, i0 ------------------------------------------------------------------------------------


def _sinc_slope(y: Any, x: Any) -> Any:
    """Return (cos πx - sinc x) / x, near 0, where the terms cancel, by its power series."""
    small = np.less(np.abs(x), 1e-2)
    far = np.where(small, 1, x)
    z = math.pi * x
    z = np.where(small, z * z, 0)
    series = -(math.pi**2) * x * (1 / 3 - z * (1 / 30 - z * (1 / 840 - z / 45360)))
    return np.where(small, series, (np.cos(math.pi * far) - y) / far)


def bessel_i1(x: Any) -> Any:
    """Return I₁, the derivative of I₀, by the power series, beyond 30 by the asymptotic one.

    References
    ----------
    Abramowitz & Stegun, *Handbook of Mathematical Functions*, 9.6.10 and 9.7.1.
    """
    large = np.greater(np.abs(x), 30)
    near = np.where(large, 0, x)
    term = total = near / 2
    for k in range(1, 70):
        term = term * near * near / (4 * k * (k + 1))
        total = total + term
    far = np.where(large, np.abs(x), np.inf)
    term = tail = np.ones(np.shape(x))
    for k in range(1, 25):
        term = term * ((2 * k - 1) ** 2 - 4) / (8 * k * far)
        tail = tail + term
    # the exponential in two factors: their product overflows later than one would
    half = np.exp(np.where(large, far, 0) / 2)
    root = np.sqrt(2 * math.pi * np.where(large, far, 1))
    return np.where(large, np.sign(x) * (half / root * half) * tail, total)


elementwise(np.sinc, _sinc_slope)
elementwise(np.i0, lambda y, x: bessel_i1(x), singular=True)
