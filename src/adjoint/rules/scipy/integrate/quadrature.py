"""Adaptive quadrature: `quad`, and with it `dblquad`, `tplquad` and `nquad`.

The value is QUADPACK's. By Leibniz' rule the derivative is the integral of the integrand's own
derivative, and the integrand at the limits. That integral is a sum over Gauss' points in the
intervals that QUADPACK ended with, divided further until it is as exact as numbers are;
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
)

from adjoint.rules.projection import is_numeric
from adjoint.rules.refusal import NoDerivative, refusal, refused_bar
from adjoint.rules.registry import frule, non_differentiable, rrule, substitute
from adjoint.rules.scipy.carried import carrying

__all__: list[str] = []

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(20)
DIVISIONS = 60
PRECISION = 1e-14
SINGULAR = NoDerivative("the limit", "is not finite: the integrand cannot be evaluated there")
COMPILED = NoDerivative("its arguments", "is not known: the integrand is not in Python")


# ---- the points ----------------------------------------------------------------------------------


class _Grid:
    """Intervals, of which those where the sum is least exact are divided further: at a kink, the
    derivative is as wrong as the interval is long."""

    def __init__(self, g: Any, left: Any, right: Any) -> None:
        self.g = g
        self.heap: list[Any] = []
        self.size = self.error = 0.0
        for ends in zip(left.tolist(), right.tolist(), strict=True):
            self.add(*ends, self.sum(*ends))
        for _ in range(DIVISIONS):
            if not self.error > PRECISION * self.size:
                break
            error, left, middle, right, first, second = heapq.heappop(self.heap)
            self.error += error
            self.size -= abs(first + second)
            self.add(left, middle, first)
            self.add(middle, right, second)

    def sum(self, left: float, right: float) -> float:
        half = (right - left) / 2
        total = 0.0
        for point, weight in zip(POINTS.tolist(), WEIGHTS.tolist(), strict=True):
            total += weight * self.g(left + half * (1 + point))
        return half * total

    def add(self, left: float, right: float, value: float) -> None:
        middle = (left + right) / 2
        first, second = self.sum(left, middle), self.sum(middle, right)
        error = abs(first + second - value)
        self.error += error
        self.size += abs(first + second)
        heapq.heappush(self.heap, (-error, left, middle, right, first, second))

    def points(self) -> tuple[Any, Any]:
        left, right = np.array([(line[1], line[3]) for line in self.heap]).T
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
    u, weights = grid.points()
    ts, scales = change(u)
    points, weights = np.concatenate(ts), np.concatenate([weights * scales] * len(ts))
    kept = [_counts(func, point, args) for point in points.tolist()]
    return found, points[kept], weights[kept]


def _counts(func: Any, point: float, args: Any) -> bool:
    """Whether the integrand has a derivative at a point: where it has underflown to 0, that is
    often 0 ∞, as of p log p."""
    from adjoint.api import pullback

    with np.errstate(all="ignore"):
        if float(func(point, *args)) != 0.0:
            return True
        return _is_finite(pullback(func, point, *args)[1](1.0))


def _is_finite(bars: Any) -> bool:
    if isinstance(bars, Mapping):
        return all(map(_is_finite, bars.values()))
    if isinstance(bars, list | tuple | set):
        return all(map(_is_finite, bars))
    return not is_numeric(bars) or bool(np.all(np.isfinite(bars)))


@non_differentiable
def at_limit(func: Any, limit: float, args: Any) -> Any:
    """The integrand at a limit; ``None`` where it has no value."""
    try:
        with np.errstate(all="ignore"):
            return float(func(limit, *args))
    except (ArithmeticError, ValueError):  # told of where the derivative is needed
        return None


# ---- the limits ----------------------------------------------------------------------------------


def moving(limit: float, value: Any) -> float:
    """Zero, which has the derivative `value` in the limit."""
    return 0.0


@rrule.register(moving)
def _(limit, value):
    def moving_back(y_bar: Any) -> Any:
        if value is None:
            return None, refused_bar(quad, SINGULAR, y_bar), None
        return None, y_bar * value, None

    return 0.0, moving_back


@frule.register(moving)
def _(dots, limit, value):
    if dots[0] is None:
        return 0.0, None
    if value is None:
        raise refusal(quad, SINGULAR)
    return 0.0, dots[0] * value


def unknown(y: Any, *operands: Any) -> Any:
    """A value whose derivative in the operands is not known."""
    return y


@rrule.register(unknown)
def _(y, *operands):
    def unknown_back(y_bar: Any) -> Any:
        return None, y_bar, *[refused_bar(quad, COMPILED, y_bar) for _ in operands]

    return y, unknown_back


@frule.register(unknown)
def _(dots, y, *operands):
    if any(dot is not None for dot in dots[1:]):
        raise refusal(quad, COMPILED)
    return y, dots[0]


# ---- QUADPACK's routines -------------------------------------------------------------------------


def _sum(func, points, weights, args):
    total = 0.0
    for point, weight in zip(points.tolist(), weights.tolist()):  # noqa: B905 (it is lowered)
        total = total + weight * float(func(point, *args))
    return total


def _results(found, carrier, tolerances, full_output):
    atol = 10.0 * (tolerances[0] + found[1])
    y = carrying(found[0], carrier, quad, 10.0 * tolerances[1], atol)
    return (y, *found[1:]) if full_output else (y, found[1], *found[3:])


@substitute(_quadpack._qagse)
def qagse(func, a, b, args, full_output, epsabs, epsrel, limit):
    found, points, weights = evaluated(
        _quadpack._qagse, func, (a, b), args, (epsabs, epsrel), limit
    )
    if callable(func):
        carrier = _sum(func, points, weights, args)
        carrier += moving(b, at_limit(func, b, args)) - moving(a, at_limit(func, a, args))
    else:
        carrier = unknown(found[0], a, b, *args)
    return _results(found, carrier, (epsabs, epsrel), full_output)


@substitute(_quadpack._qagpe)
def qagpe(func, a, b, points_, args, full_output, epsabs, epsrel, limit):
    where = a, b, points_
    found, points, weights = evaluated(_quadpack._qagpe, func, where, args, (epsabs, epsrel), limit)
    if callable(func):
        carrier = _sum(func, points, weights, args)
        carrier += moving(b, at_limit(func, b, args)) - moving(a, at_limit(func, a, args))
    else:
        carrier = unknown(found[0], a, b, *args)
    return _results(found, carrier, (epsabs, epsrel), full_output)


@substitute(_quadpack._qagie)
def qagie(func, bound, infbounds, args, full_output, epsabs, epsrel, limit):
    where = bound, infbounds
    found, points, weights = evaluated(_quadpack._qagie, func, where, args, (epsabs, epsrel), limit)
    if not callable(func):
        carrier = unknown(found[0], bound, *args)
        return _results(found, carrier, (epsabs, epsrel), full_output)
    carrier = _sum(func, points, weights, args)
    if infbounds != 2:
        carrier -= infbounds * moving(bound, at_limit(func, bound, args))
    return _results(found, carrier, (epsabs, epsrel), full_output)
