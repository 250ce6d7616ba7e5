"""Adaptive quadrature: `quad`, and with it `dblquad`, `tplquad` and `nquad`; `quad_vec`.

The value is SciPy's. By Leibniz' rule the derivative is the integral of the integrand's own
derivative, and the integrand at the limits. That integral is a sum over Gauss' points in the
intervals that it ended with, divided further until it is as exact as numbers are;
the integrand is differentiated at each point like any function of the user's. Where such a sum of
the integrand itself is not its integral, because it is singular, the derivative is refused.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.integrate import (
    _quadpack,
    quad,
    quad_vec,
)

from adjoint.operators import stop_gradient
from adjoint.rules.projection import is_numeric
from adjoint.rules.refusal import NoDerivative, refusal, refused_bar
from adjoint.rules.registry import frule, leveled, non_differentiable, rrule, substitute
from adjoint.rules.scipy.carried import carrying, refusing

__all__: list[str] = []

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(20)
DIVISIONS = 60
PRECISION = 1e-14
SINGULAR = NoDerivative("the limit", "is not finite: the integrand cannot be evaluated there")
COMPILED = NoDerivative("its arguments", "is not known: the integrand is not in Python")


# ---- the points ----------------------------------------------------------------------------------


def _size(value: Any) -> float:
    return float(np.max(np.abs(value), initial=0.0))


class _Grid:
    """Intervals, of which those where the sum is least exact are divided further: at a kink, the
    derivative is as wrong as the interval is long."""

    def __init__(self, g: Any, left: Any, right: Any) -> None:
        self.g = g
        self.heap: list[Any] = []
        self.size = self.error = 0.0
        self.added = 0
        for ends in zip(left.tolist(), right.tolist(), strict=True):
            self.add(*ends, self.sum(*ends))
        for _ in range(DIVISIONS):
            if not self.error > PRECISION * self.size:
                break
            error, _, left, middle, right, first, second = heapq.heappop(self.heap)
            self.error += error
            self.size -= _size(first + second)
            self.add(left, middle, first)
            self.add(middle, right, second)

    def sum(self, left: float, right: float) -> Any:
        half = (right - left) / 2
        total: Any = 0.0
        for point, weight in zip(POINTS.tolist(), WEIGHTS.tolist(), strict=True):
            total += weight * self.g(left + half * (1 + point))
        return half * total

    def add(self, left: float, right: float, value: Any) -> None:
        middle = (left + right) / 2
        first, second = self.sum(left, middle), self.sum(middle, right)
        error = _size(first + second - value)
        self.error += error
        self.size += _size(first + second)
        self.added += 1  # arrays cannot be compared
        line = -error, self.added, left, middle, right, first, second
        heapq.heappush(self.heap, line)

    def points(self) -> tuple[Any, Any]:
        left, right = np.array([(line[2], line[4]) for line in self.heap]).T
        half = (right - left)[:, None] / 2
        return np.ravel(left[:, None] + half * (1 + POINTS)), np.ravel(half * WEIGHTS)


def _onto(bound: float, sides: int) -> Any:
    """QUADPACK's points u in (0, 1) stand for t = `bound` ± (1 − u)/u; to both sides for the whole
    line, whose bound is 0. Also dt/du."""
    signs = (1, -1) if sides == 2 else (sides,)
    return lambda u: ([bound + sign * (1 - u) / u for sign in signs], 1 / u**2)


def _itself(u: Any) -> Any:
    return [u], 1.0


@non_differentiable
def evaluated(leaf: Any, func: Any, where: Any, args: Any, tolerances: Any, limit: int) -> Any:
    """What QUADPACK returns, with full output, and the points and weights of a sum that agrees."""
    change = _onto(*where) if leaf is _quadpack._qagie else _itself

    def g(u: float) -> float:
        ts, scale = change(u)
        return float(scale * sum(float(func(t, *args)) for t in ts))

    found = leaf(func, *where, args, 1, *tolerances, limit)
    info = found[2]
    if not callable(func):
        return found, np.zeros(0), np.zeros(0)
    with np.errstate(all="ignore"):
        grid = _Grid(g, info["alist"][: info["last"]], info["blist"][: info["last"]])
    return found, *_points(grid, change, func, args)


def _points(grid: _Grid, change: Any, func: Any, args: Any) -> tuple[Any, Any]:
    """Those at which the integrand is taken, and their weights."""
    u, weights = grid.points()
    ts, scales = change(u)
    points, weights = np.concatenate(ts), np.concatenate([weights * scales] * len(ts))
    kept = [_counts(func, point, args) for point in points.tolist()]
    return points[kept], weights[kept]


def _counts(func: Any, point: float, args: Any) -> bool:
    """Whether the integrand has a derivative at a point: where it has underflown to 0, that is
    often 0 ∞, as of p log p."""
    from adjoint.api import pullback

    with np.errstate(all="ignore"):
        y = np.asarray(func(point, *args))
        if np.all(y != 0):
            return True
        return _is_finite(pullback(_as_array, func, point, *args)[1](np.ones(y.shape, y.dtype)))


def _as_array(func: Any, *args: Any) -> Any:
    return np.asarray(func(*args)) * 1.0


def _is_finite(bars: Any) -> bool:
    if isinstance(bars, Mapping):
        return all(map(_is_finite, bars.values()))
    if isinstance(bars, list | tuple | set):
        return all(map(_is_finite, bars))
    return not is_numeric(bars) or bool(np.all(np.isfinite(bars)))


@non_differentiable
def at_limit(func: Any, limit: Any, args: Any) -> Any:
    """The integrand at a limit; ``None`` where it has no value."""
    limit = float(limit)
    try:
        with np.errstate(all="ignore"):
            y = func(limit, *args)
            return y if np.ndim(y) else np.asarray(y)[()]
    except (ArithmeticError, ValueError):  # told of where the derivative is needed
        return None


# ---- the limits ----------------------------------------------------------------------------------


@non_differentiable
def is_nested() -> bool:
    """Whether the derivative that is being taken is differentiated itself."""
    return False


@leveled(is_nested)
def _(level: Any, record: Any, slot: int) -> bool:
    return level.outer is not None


def moving(limit: float, value: Any) -> Any:
    """Zero, which has the derivative `value` in the limit, where that is not a finite number."""
    return 0.0 if value is None else 0.0 * value


@rrule.register(moving)
def _(limit, value):
    def moving_back(y_bar: Any) -> Any:
        if value is None:
            return None, refused_bar(quad, SINGULAR, y_bar), None
        return None, float(np.real(np.sum(y_bar * np.conj(value)))), None

    return 0.0 if value is None else 0.0 * value, moving_back


@frule.register(moving)
def _(dots, limit, value):
    if dots[0] is None:
        return moving(limit, value), None
    if value is None:
        raise refusal(quad, SINGULAR)
    return moving(limit, value), dots[0] * value


def vanishing(length: float, factor: Any) -> Any:
    """``length * factor`` where the first is zero: so is this, if the other is infinite, too. Its
    derivative has that of the length, hence is infinite itself where the factor is."""
    return np.zeros(np.shape(factor), np.asarray(factor).dtype)[()]


@rrule.register(vanishing)
def _(length, factor):
    def vanishing_back(y_bar: Any) -> Any:
        along = float(np.real(np.sum(y_bar * np.conj(factor))))
        return None, along, vanishing(length, y_bar)

    return vanishing(length, factor), vanishing_back


@frule.register(vanishing)
def _(dots, length, factor):
    y_dot = None if dots[0] is None else dots[0] * factor
    if dots[1] is not None:
        rest = vanishing(length, dots[1])
        y_dot = rest if y_dot is None else y_dot + rest
    return vanishing(length, factor), y_dot


NEAR, SHARES = (found.tolist() for found in np.polynomial.legendre.leggauss(8))


def beyond(limit, func, args):
    """The integral from the limit as it is now to the limit: zero, with derivatives of any order
    in the limit and in what the integrand depends on (Gauss' rule is exact for polynomials)."""
    value = at_limit(func, limit, args)
    if not is_nested() or value is None or not np.all(np.isfinite(value)):
        return moving(limit, value)
    start = stop_gradient(limit)
    length, total = limit - start, 0.0
    with np.errstate(all="ignore"):  # a slope there may be infinite
        for near, share in zip(NEAR, SHARES):  # noqa: B905 (it is lowered)
            total = total + share / 2 * func(start + length * (1 + near) / 2, *args)
    return vanishing(length, total)


# ---- QUADPACK's routines -------------------------------------------------------------------------


def _sum(func, points, weights, args):
    total = 0.0
    for point, weight in zip(points.tolist(), weights.tolist()):  # noqa: B905 (it is lowered)
        total = total + weight * float(func(point, *args))
    return total


def _between(found, func, a, b, points, weights, args):
    if not callable(func):
        return refusing(found[0], quad, COMPILED, a, b, *args)
    carrier = _sum(func, points, weights, args)
    return carrier + (beyond(b, func, args) - beyond(a, func, args))


def _results(found, carrier, tolerances, full_output):
    atol = 10.0 * (tolerances[0] + found[1])
    y = carrying(found[0], carrier, quad, 10.0 * tolerances[1], atol)
    return (y, *found[1:]) if full_output else (y, found[1], *found[3:])


@substitute(_quadpack._qagse)
def qagse(func, a, b, args, full_output, epsabs, epsrel, limit):
    found, points, weights = evaluated(
        _quadpack._qagse, func, (a, b), args, (epsabs, epsrel), limit
    )
    carrier = _between(found, func, a, b, points, weights, args)
    return _results(found, carrier, (epsabs, epsrel), full_output)


@substitute(_quadpack._qagpe)
def qagpe(func, a, b, points_, args, full_output, epsabs, epsrel, limit):
    where = a, b, points_
    found, points, weights = evaluated(_quadpack._qagpe, func, where, args, (epsabs, epsrel), limit)
    carrier = _between(found, func, a, b, points, weights, args)
    return _results(found, carrier, (epsabs, epsrel), full_output)


@substitute(_quadpack._qagie)
def qagie(func, bound, infbounds, args, full_output, epsabs, epsrel, limit):
    where = bound, infbounds
    found, points, weights = evaluated(_quadpack._qagie, func, where, args, (epsabs, epsrel), limit)
    if not callable(func):
        carrier = refusing(found[0], quad, COMPILED, bound, *args)
        return _results(found, carrier, (epsabs, epsrel), full_output)
    carrier = _sum(func, points, weights, args)
    if infbounds != 2:
        carrier -= infbounds * beyond(bound, func, args)
    return _results(found, carrier, (epsabs, epsrel), full_output)


# ---- functions with several values ---------------------------------------------------------------


@non_differentiable
def vectors(f: Any, a: Any, b: Any, args: Any, options: dict[str, Any]) -> Any:
    """What `quad_vec` returns, with full output, and points and weights of a sum that agrees."""
    found = quad_vec(f, a, b, **{**options, "full_output": True}, args=args)
    left, right, sign = _in_order(a, b)
    if np.isinf(left) or np.isinf(right):
        whole = np.isinf(left) and np.isinf(right)
        change = _onto(0.0, 2) if whole else _onto(right, -1) if np.isinf(left) else _onto(left, 1)
        ends = np.array([[0.0, 1.0]])
    else:
        change, ends = _itself, np.sort(found[2].intervals, axis=1)

    def g(u: float) -> Any:
        ts, scale = change(u)
        return sum(scale * np.asarray(f(t, *args)) for t in ts)

    with np.errstate(all="ignore"):
        grid = _Grid(g, ends[:, 0], ends[:, 1])
    points, weights = _points(grid, change, f, args)
    return found, points, sign * weights


def _in_order(a: Any, b: Any) -> tuple[float, float, float]:
    return (float(a), float(b), 1.0) if a <= b else (float(b), float(a), -1.0)


@substitute(quad_vec)
def quad_vec_of(
    f, a, b, epsabs=1e-200, epsrel=1e-8, norm="2", cache_size=100e6, limit=10000, workers=1,
    points=None, quadrature=None, full_output=False, *, args=(),
):  # fmt: skip
    args = args if isinstance(args, tuple) else (args,)
    options = {
        "epsabs": epsabs, "epsrel": epsrel, "norm": norm, "cache_size": cache_size,
        "limit": limit, "workers": workers, "points": points, "quadrature": quadrature,
    }  # fmt: skip
    found, places, weights = vectors(f, a, b, args, options)
    carrier = 0.0
    for point, weight in zip(places.tolist(), weights.tolist()):  # noqa: B905 (it is lowered)
        carrier = carrier + weight * f(point, *args)
    if np.isfinite(b):
        carrier = carrier + beyond(b, f, args)
    if np.isfinite(a):
        carrier = carrier - beyond(a, f, args)
    size = float(np.max(np.abs(found[0])))
    y = carrying(found[0], carrier, quad_vec, 1e-12, 10.0 * (found[1] + epsrel * size))
    return (y, *found[1:]) if full_output else (y, found[1])
