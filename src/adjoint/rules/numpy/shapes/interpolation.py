"""Rules of linear interpolation, `np.interp`."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.elementwise_forward import like_result
from adjoint.rulekit.registry import entry, frule
from adjoint.rulekit.tangents import steady_in
from adjoint.rules.numpy.operands import array_rule, dense


@array_rule(np.interp, operands="x xp fp left right period")
def _(x, xp, fp, left=None, right=None, period=None):
    y = np.interp(x, xp, fp, left, right, period)
    if not np.size(x):  # the knots may be empty, too

        def nothing_back(y_bar):
            return None, *(np.zeros(np.shape(each)) for each in (x, xp, fp)), 0.0, 0.0, 0.0

        return y, nothing_back
    knots = _Knots(x, xp, fp, period)
    first = knots.below if left is None or period is not None else False
    last = knots.above if right is None or period is not None else False

    def interp_back(y_bar):
        within = np.where(knots.within, y_bar, 0)
        x_bar = np.real(np.conj(knots.slope) * within)
        position_bars = knots.spread(-x_bar)
        value_bars = knots.spread(within + np.where(first | last, y_bar, 0))
        return (
            None,
            x_bar,
            knots.collect(position_bars, np.shape(xp)),
            knots.collect(value_bars, np.shape(fp)),
            np.sum(np.where(knots.below, y_bar, 0)),
            np.sum(np.where(knots.above, y_bar, 0)),
            np.sum(x_bar * knots.x_turns) + np.sum(position_bars * knots.turns),
        )

    return y, interp_back


@frule.register(np.interp)
def _(dots, x, xp, fp, left=None, right=None, period=None):
    x_dot, xp_dot, fp_dot, left_dot, right_dot, period_dot = (dots + (None,) * 6)[:6]
    y = np.interp(x, xp, fp, left, right, period)
    if not np.size(x):
        return y, np.zeros(np.shape(y))
    knots = _Knots(x, xp, fp, period)
    y_dot, moved = np.zeros(np.shape(y)), np.zeros(np.shape(x))
    if x_dot is not None:
        moved = moved + dense(x_dot, x)
    if xp_dot is not None:
        moved = moved - np.interp(x, xp, dense(xp_dot, xp), None, None, period)
    if period_dot is not None and period is not None:
        moved = moved + (knots.x_turns - knots.between(knots.turns)) * period_dot
    y_dot = y_dot + np.where(knots.within, knots.slope * moved, 0)
    if fp_dot is not None:
        ends = (None if left is None else 0.0), (None if right is None else 0.0)
        y_dot = y_dot + np.interp(x, xp, dense(fp_dot, fp), ends[0], ends[1], period)
    if left_dot is not None and left is not None:
        y_dot = y_dot + np.where(knots.below, left_dot, 0)
    if right_dot is not None and right is not None:
        y_dot = y_dot + np.where(knots.above, right_dot, 0)
    return y, like_result(y_dot, y)


steady_in(np.interp, places=range(2, 5))  # the values at the knots


class _Knots:
    """The places of the points of an interpolation between its knots.

    Attributes
    ----------
    below, above, within
        Which points lie before the first knot, after the last, between two.
    slope
        The slope of the segment in which each point lies.
    x_turns, turns
        How many periods were added to each point and to each knot.
    """

    def __init__(self, x: Any, xp: Any, fp: Any, period: Any) -> None:
        x, xp, fp = np.asarray(x), np.asarray(xp), np.asarray(fp)
        self._source = np.arange(xp.size)
        self.x_turns: Any = 0.0
        self.turns: Any = 0.0
        if period is not None:
            width = np.abs(period)
            x_turns, turns = -np.floor_divide(x, width), -np.floor_divide(xp, width)
            order = np.argsort(xp + turns * width)
            self._source = np.concatenate((order[-1:], order, order[:1]))
            turns = turns[self._source] + np.r_[-1, np.zeros(order.size), 1]
            x, xp, fp = x + x_turns * width, xp[self._source] + turns * width, fp[self._source]
            self.x_turns, self.turns = x_turns * np.sign(period), turns * np.sign(period)
        self.below, self.above = x < xp[0], x > xp[-1]
        self.within = ~(self.below | self.above)
        self._left = np.clip(np.searchsorted(xp, x, "right") - 1, 0, max(xp.size - 2, 0))
        self._right = np.minimum(self._left + 1, xp.size - 1)
        width = xp[self._right] - xp[self._left]
        empty = width == 0  # at the ends only: elsewhere a later segment is found
        width = np.where(empty, 1, width)
        self.slope = np.where(empty, 0, (fp[self._right] - fp[self._left]) / width)
        share = np.where(empty, x >= xp[-1], (x - xp[self._left]) / width)
        self._share = np.where(self.below, 0.0, np.where(self.above, 1.0, share))

    def between(self, values: Any) -> Any:
        """Interpolate values at the knots to the points."""
        return (1 - self._share) * values[self._left] + self._share * values[self._right]

    def spread(self, bar: Any) -> Any:
        """Distribute values at the points to the two adjacent knots."""
        bars = np.zeros(self._source.size, np.result_type(bar, np.float64))
        np.add.at(bars, self._left, (1 - self._share) * bar)
        np.add.at(bars, self._right, self._share * bar)
        return bars

    def collect(self, bars: Any, shape: tuple[int, ...]) -> Any:
        """Add up values of knots that a period has repeated."""
        given = np.zeros(shape, bars.dtype)
        np.add.at(given, self._source, bars)
        return given


def _of_arrays(x, xp, fp, left=None, right=None, period=None):
    """Return the value and the pullback for arrays, in a form that programs inline."""
    if np.ndim(x) > 1 or left is not None or right is not None or period is not None:
        return NotImplemented
    if np.ndim(x) == 0:
        return np.interp(x, xp, fp), _of_a_number(x, xp, fp)

    def interp_back(y_bar):
        n = len(xp)
        i = np.maximum(np.minimum(np.searchsorted(xp, x, "right") - 1, n - 2), 0)
        j = np.minimum(i + 1, n - 1)
        start, value = xp[i], fp[i]
        width = xp[j] - start
        empty = width == 0  # at the end only: elsewhere a later segment is found
        width = np.where(empty, 1.0, width)
        within = (x >= xp[0]) & (x <= xp[-1])
        slope = np.where(empty, 0.0, (fp[j] - value) / width)
        x_bar = np.where(within, slope * y_bar, 0.0)
        end = np.where(x >= xp[-1], 1.0, 0.0)
        share = np.where(within & ~empty, (x - start) / width, end)

        def spread(bar):
            return np.bincount(i, (1 - share) * bar, n) + np.bincount(j, share * bar, n)

        return None, x_bar, spread(-x_bar), spread(y_bar)

    return np.interp(x, xp, fp), interp_back


def _of_a_number(x, xp, fp):
    def interp_back(y_bar):
        n = len(xp)
        i = max(min(int(np.searchsorted(xp, x, "right")) - 1, n - 2), 0)
        j = min(i + 1, n - 1)
        slope = (fp[j] - fp[i]) / (xp[j] - xp[i])
        share = (x - xp[i]) / (xp[j] - xp[i])
        if x < xp[0]:
            slope, share = 0.0 * slope, 0.0 * share
        if x > xp[-1]:
            slope, share = 0.0 * slope, 0.0 * share + 1.0

        def spread(bar):
            places = np.arange(n)
            return (1.0 - share) * bar * (places == i) + share * bar * (places == j)

        return None, slope * y_bar, spread(-slope * y_bar), spread(y_bar)

    return interp_back


_rule: Any = entry(np.interp).rrules[0].function
_rule.of_arrays = _of_arrays
