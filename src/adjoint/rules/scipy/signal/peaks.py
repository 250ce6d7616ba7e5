"""Rules of the compiled functions that measure peaks in `scipy.signal`.

A prominence is the height of a peak over the higher of its two bases; equally high bases share the
cotangent. A width is the distance between the two points at which the interpolated samples cross a
height between peak and base.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.signal import _peak_finding_utils as compiled

from adjoint.rulekit.elementwise_forward import filled
from adjoint.rulekit.registry import frule, non_differentiable, substitute
from adjoint.rules.numpy.operands import array_rule

non_differentiable(compiled._local_maxima_1d, compiled._select_by_peak_distance)

# ---- prominences ---------------------------------------------------------------------------------


def _shares(x: Any, left: Any, right: Any) -> Any:
    """Return the share of the left base in the higher base: 0, 1, or 0.5 for equal bases."""
    return 0.5 + 0.5 * np.sign(x[left] - x[right])


def prominences(x: Any, peaks: Any, wlen: Any) -> Any:
    """Return the prominences of peaks and the positions of their bases."""
    return compiled._peak_prominences(x, peaks, wlen)


@substitute(compiled._peak_prominences)
def _(x, peaks, wlen):
    return prominences(x, peaks, wlen)


@array_rule(prominences, operands="x")
def _(x, peaks, wlen):
    result = prominences(x, peaks, wlen)
    _, left, right = result

    def prominences_back(y_bar):
        bar, x_bar = y_bar[0], np.zeros(x.shape)
        if bar is not None:
            share = _shares(x, left, right)
            np.add.at(x_bar, peaks, bar)
            np.add.at(x_bar, left, -bar * share)
            np.add.at(x_bar, right, -bar * (1.0 - share))
        return None, x_bar

    return result, prominences_back


@frule.register(prominences)
def _(dots, x, peaks, wlen):
    result = prominences(x, peaks, wlen)
    if dots[0] is None:
        return result, None
    _, left, right = result
    x_dot, share = filled(dots[0], x), _shares(x, left, right)
    moved = x_dot[peaks] - x_dot[left] * share - x_dot[right] * (1.0 - share)
    return result, (moved, None, None)


# ---- widths --------------------------------------------------------------------------------------


class _Crossings(NamedTuple):
    """The points at which the interpolated samples cross a height. A point lies `along` of the way
    from the sample `below` to the sample `above`, and moves by `slope` per unit of height."""

    below: Any
    above: Any
    along: Any
    slope: Any


def _crossings(x: Any, at: Any, heights: Any, step: int) -> _Crossings:
    below = np.asarray(np.floor(at) if step > 0 else np.ceil(at), int)
    between = below != at  # otherwise the point is a base, which does not move
    above = np.where(between, below + step, below)
    rise = np.where(between, x[above] - x[below], 1.0)
    along = np.where(between, (heights - x[below]) / rise, 0.0)
    return _Crossings(below, above, along, np.where(between, step / rise, 0.0))


def widths(
    x: Any, peaks: Any, rel_height: Any, over: Any, left_bases: Any, right_bases: Any
) -> Any:
    """Return widths at a part `rel_height` of the prominences (`over`), heights, and both ends."""
    return compiled._peak_widths(x, peaks, rel_height, over, left_bases, right_bases)


@substitute(compiled._peak_widths)
def _(x, peaks, rel_height, over, left_bases, right_bases):
    return widths(x, peaks, rel_height, over, left_bases, right_bases)


@array_rule(widths, operands="x rel_height over")
def _(x, peaks, rel_height, over, left_bases, right_bases):
    result = widths(x, peaks, rel_height, over, left_bases, right_bases)
    _, heights, *ends = result
    sides = [_crossings(x, at, heights, step) for at, step in zip(ends, (1, -1), strict=True)]

    def widths_back(y_bar):
        width_bar, height_bar, left_bar, right_bar = (
            np.zeros(len(peaks)) if bar is None else bar for bar in y_bar
        )
        x_bar = np.zeros(x.shape)
        bars = (left_bar - width_bar, right_bar + width_bar)
        for side, bar in zip(sides, bars, strict=True):
            moved = bar * side.slope
            height_bar = height_bar + moved
            np.add.at(x_bar, side.below, -moved * (1.0 - side.along))
            np.add.at(x_bar, side.above, -moved * side.along)
        np.add.at(x_bar, peaks, height_bar)
        return None, x_bar, -np.sum(height_bar * over), -height_bar * rel_height

    return result, widths_back


@frule.register(widths)
def _(dots, x, peaks, rel_height, over, left_bases, right_bases):
    result = widths(x, peaks, rel_height, over, left_bases, right_bases)
    _, heights, *ends = result
    x_dot = filled(dots[0], x)
    height_dot = x_dot[peaks]
    if dots[2] is not None:
        height_dot = height_dot - over * dots[2]
    if dots[3] is not None:
        height_dot = height_dot - rel_height * filled(dots[3], over)
    moved = []
    for at, step in zip(ends, (1, -1), strict=True):
        side = _crossings(x, at, heights, step)
        followed = x_dot[side.below] * (1.0 - side.along) + x_dot[side.above] * side.along
        moved.append((height_dot - followed) * side.slope)
    left_dot, right_dot = moved
    return result, (right_dot - left_dot, height_dot, left_dot, right_dot)
