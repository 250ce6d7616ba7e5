"""Filters of `scipy.ndimage` that pick an element of each window, in terms of the elements that are
equal to it: the definitions that programs inline."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import ndimage

from adjoint.fast.evaluate.callees.numpy_definitions import definition, with_derivative
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import result_like

_PADDING: Any = {
    "reflect": "symmetric",
    "grid-mirror": "symmetric",
    "mirror": "reflect",
    "nearest": "edge",
    "wrap": "wrap",
    "grid-wrap": "wrap",
    "constant": "constant",
    "grid-constant": "constant",
}
MOST_ELEMENTS = 16
"""Greatest size of a window in programs, which look at one place of all windows after the other."""


@result_like(lambda name, x, rank, mode, *window: x)
@non_differentiable
def _value(name, x, rank, mode, *window):
    f = getattr(ndimage, name)
    return f(x, window, mode=mode) if rank is None else f(x, rank, window, mode=mode)


def _picked(name, x, rank, window, mode):
    if math.prod(window) > MOST_ELEMENTS:
        raise ValueError("a window of too many elements")
    widths = [(n // 2, n - 1 - n // 2) for n in window]
    for length, (before, _) in zip(x.shape, widths, strict=True):
        if length <= before:
            raise ValueError("a window that is longer than the array")
    y = _value(name, x, rank, mode, *window)
    wide = np.pad(x, widths, mode=_PADDING[mode])
    total: Any = 0.0
    count: Any = 0.0
    for start in np.ndindex(window):
        places = [slice(k, k + n) for k, n in zip(start, x.shape, strict=True)]
        part = wide[tuple(places)]
        hit = part == y
        total, count = total + np.where(hit, part, 0.0), count + hit  # part may be NaN
    return with_derivative(y, total / count)


def _given(input, size, footprint, output, cval, origin, axes):
    """Return the array and the lengths of its windows."""
    if footprint is not None or output is not None or axes is not None or cval != 0 or origin != 0:
        raise ValueError("another footprint, or another place of the result")
    x = np.asarray(input)
    window = (size,) * x.ndim if np.ndim(size) == 0 else tuple(int(n) for n in size)
    if x.dtype != np.float64 or x.ndim == 0 or len(window) != x.ndim or min(window) < 1:
        raise TypeError("numbers of another kind, or windows of another kind")
    return x, window


@definition(ndimage.rank_filter)
def rank_filter(
    input, rank, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *,
    axes=None,
):  # fmt: skip
    x, window = _given(input, size, footprint, output, cval, origin, axes)
    return _picked("rank_filter", x, rank, window, mode)


@definition(ndimage.median_filter)
def median_filter(
    input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *,
    axes=None,
):  # fmt: skip
    x, window = _given(input, size, footprint, output, cval, origin, axes)
    return _picked("median_filter", x, None, window, mode)


def _extremes(name):
    """Define a filter of minima or maxima, and that along one axis: SciPy goes along one axis after
    the other, which tells how equal elements share a cotangent."""

    @definition(getattr(ndimage, f"{name}1d"))
    def of_lines(input, size, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
        rank = np.ndim(input)
        if not -rank <= axis < rank:
            raise ValueError("an axis out of bounds")
        window = tuple(size if i == axis % rank else 1 for i in range(rank))
        x, window = _given(input, window, None, output, cval, origin, None)
        return _picked(name, x, None, window, mode)

    @definition(getattr(ndimage, name))
    def of_windows(
        input, size=None, footprint=None, output=None, mode="reflect", cval=0.0, origin=0, *,
        axes=None,
    ):  # fmt: skip
        x, window = _given(input, size, footprint, output, cval, origin, axes)
        y = np.copy(x)
        for axis, n in enumerate(window):
            if n > 1:
                line = tuple(n if i == axis else 1 for i in range(x.ndim))
                y = _picked(name, y, None, line, mode)
        return y


_extremes("minimum_filter")
_extremes("maximum_filter")
