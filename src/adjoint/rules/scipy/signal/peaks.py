"""Derivatives of the compiled functions that measure peaks in `scipy.signal`.

A prominence is the height of a peak over the higher of its two bases; equally high bases share the
cotangent. A width is the distance between the two points at which the interpolated samples cross a
height between peak and base.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.signal import _peak_finding_utils as compiled

from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import carried

non_differentiable(compiled._local_maxima_1d, compiled._select_by_peak_distance)


@non_differentiable
def _last_two(f: Any, *args: Any) -> Any:
    return f(*args)[-2:]


@carried(compiled._peak_prominences)
def _prominences(x: Any, peaks: Any, wlen: Any) -> Any:
    left, right = _last_two(compiled._peak_prominences, x, peaks, wlen)
    return x[peaks] - np.maximum(x[left], x[right]), left, right


def _crossing(x: Any, at: Any, heights: Any, step: int) -> Any:
    """Return the point near `at` at which the samples cross a height; a base does not move."""
    below = np.asarray(np.floor(at) if step > 0 else np.ceil(at), int)
    between = below != at
    above = np.where(between, below + step, below)
    rise = np.where(between, x[above] - x[below], 1.0)
    return below + step * np.where(between, (heights - x[below]) / rise, 0.0)


@carried(compiled._peak_widths)
def _widths(
    x: Any, peaks: Any, rel_height: Any, over: Any, left_bases: Any, right_bases: Any
) -> Any:
    args = x, peaks, rel_height, over, left_bases, right_bases
    ends = _last_two(compiled._peak_widths, *args)
    heights = x[peaks] - over * rel_height
    left, right = _crossing(x, ends[0], heights, 1), _crossing(x, ends[1], heights, -1)
    return right - left, heights, left, right
