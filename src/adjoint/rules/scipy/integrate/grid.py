"""Points at which an integrand is differentiated, and their weights.

The integral of the derivative is a sum over Gauss points in the final intervals of QUADPACK. They
are divided further until the sum of the integrand itself is exact to rounding.
"""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from adjoint.rulekit import nested
from adjoint.rulekit.projection import is_numeric

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(20)
DIVISIONS = 60
PRECISION, LEAST = 1e-14, 1e-9
_SPARSE = np.linalg.solve(np.polynomial.legendre.legvander(POINTS[::2], 9).T, [2.0] + [0.0] * 9)
NULLS = np.ravel(np.stack([1 - _SPARSE / WEIGHTS[::2], np.ones(10)], axis=1))


def size_of(value: Any) -> float:
    return float(np.max(np.abs(value), initial=0.0))


class Identity:
    """The identity as a change of variable."""

    def __call__(self, u: Any) -> Any:
        """Return the variables of the integrand, and their slope."""
        return [u], 1.0

    def back(self, t: float) -> float:
        """Return the variable of the interval."""
        return t


class HalfLine(Identity):
    """QUADPACK's change of variable: u in (0, 1) becomes t = `bound` ± (1 − u)/u. For the whole
    line `bound` is 0, and each u becomes two points."""

    def __init__(self, bound: float, sides: int) -> None:
        self.bound = bound
        self.signs: Any = (1, -1) if sides == 2 else (sides,)

    def __call__(self, u: Any) -> Any:
        return [self.bound + sign * (1 - u) / u for sign in self.signs], 1 / u**2

    def back(self, t: float) -> float:
        return 1 / (1 + abs(t - self.bound))


class Grid:
    """Intervals, of which those with the least exact sums are divided further. The derivative's
    error at a kink is proportional to the length of the interval."""

    error: Any
    size: float
    added: int

    def __init__(self, integrand: Any, change: Identity, left: Any, right: Any) -> None:
        self.integrand = integrand
        self.change = change
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
            self.size -= size_of(first + second)
            self.add(left, middle, first)
            self.add(middle, right, second)

    def sum(self, left: float, right: float) -> Any:
        half = (right - left) / 2
        total: Any = 0.0
        for point, weight in zip(POINTS.tolist(), WEIGHTS.tolist(), strict=True):
            ts, scale = self.change(left + half * (1 + point))
            total += weight * scale * sum(map(self.integrand, ts))
        return half * total

    def add(self, left: float, right: float, value: Any) -> None:
        middle = (left + right) / 2
        first, second = self.sum(left, middle), self.sum(middle, right)
        error = size_of(first + second - value)
        self.error += error
        self.size += size_of(first + second)
        self.added += 1  # breaks ties, since arrays cannot be compared
        line = -error, self.added, left, middle, right, first, second
        heapq.heappush(self.heap, line)

    def points(self) -> tuple[Any, Any]:
        left, right = np.array([(line[2], line[4]) for line in self.heap]).T
        half = (right - left)[:, None] / 2
        return np.ravel(left[:, None] + half * (1 + POINTS)), np.ravel(half * WEIGHTS)

    def split(self, t: float) -> None:
        """Divide the interval around `t` at `t`."""
        u = self.change.back(t)
        for i, (error, number, left, _, right, first, second) in enumerate(self.heap):
            if left < u < right:
                self.heap[i] = error, number, left, u, u, first, second
                self.heap.append((error, number, u, u, right, first, second))
                return

    def ends(self) -> Any:
        """Return the ends of the halves of all intervals: the sum over an interval is exact where a
        jump is in its middle, and the rest is odd about it."""
        return np.unique([end for line in self.heap for end in line[2:5]])

    def rough(self) -> list[Any]:
        return [np.array([line[2], line[4]]) for line in self.heap if -line[0] > LEAST * self.size]


class Nodes(NamedTuple):
    """Points at which the integrand is evaluated.

    Attributes
    ----------
    points, weights
        Points and weights of the sum.
    values
        Values of the integrand.
    blocks
        Index of the interval of each point.
    nulls
        Weights, relative to `weights`, of the difference between the sum over an interval and a sum
        over every other point.
    ends
        Finite ends of the intervals, in order.
    rough
        Ends of the intervals whose sum is not the integral.
    size
        Rough integral of the modulus of the integrand.
    """

    points: Any
    weights: Any
    values: list[Any]
    blocks: Any
    nulls: Any
    ends: Any
    rough: list[tuple[float, float]]
    size: float

    def is_graded(self) -> bool:
        """Return whether an interval has been divided many times."""
        gaps = np.diff(self.ends)
        return bool(np.min(gaps, initial=np.inf) < 1e-6 * np.max(gaps, initial=0.0))


def nodes_of(grid: Grid, func: Any, args: Any) -> Nodes:
    """Return the nodes of a grid at which the integrand has a derivative."""
    change = grid.change
    u, weights = grid.points()
    ts, scales = change(u)
    points, weights = np.concatenate(ts), np.concatenate([weights * scales] * len(ts))
    found = [_value(func, point, args) for point in points.tolist()]
    kept = np.array([i for i, value in enumerate(found) if value is not None], dtype=int)
    ends = np.unique(change(grid.ends())[0])
    rough = [
        (min(pair), max(pair)) for ends_ in grid.rough() for pair in np.transpose(change(ends_)[0])
    ]
    return Nodes(
        points[kept], weights[kept], [found[i] for i in kept],
        kept // len(POINTS), NULLS[kept % len(POINTS)], ends[np.isfinite(ends)], rough, grid.size,
    )  # fmt: skip


def _value(func: Any, point: float, args: Any) -> Any:
    """Return the integrand at a point, or ``None`` if it has no derivative there. An integrand that
    underflows to 0 often has the derivative 0 · ∞, as p log p does."""
    with np.errstate(all="ignore"):
        y = np.asarray(func(point, *args))
        return y if np.all(y != 0) or is_finite(slopes_at(func, point, args)) else None


def slopes_at(func: Any, point: float, args: Any) -> Any:
    """Return the derivatives of the integrand in operands and captured values, as a structure."""
    y, back = nested.pullback(_as_array, func, point, *args)
    return back(np.ones(y.shape, y.dtype))


def _as_array(func: Any, *args: Any) -> Any:
    return np.asarray(func(*args)) * 1.0


def is_finite(bars: Any) -> bool:
    """Return whether all numbers in a structure of cotangents are finite."""
    return bool(np.isfinite(total(bars)))


def total(bars: Any) -> float:
    """Return the sum of the sizes of the numbers in a structure of cotangents."""
    if isinstance(bars, Mapping):
        return sum(map(total, bars.values()))
    if isinstance(bars, list | tuple | set):
        return sum(map(total, bars))
    return float(np.sum(np.abs(bars))) if is_numeric(bars) else 0.0
