"""Correlations of real arrays with weights, closed under derivatives: programs call these in place
of the filters of `scipy.ndimage`.

With an axis, the weights are those along it; with ``None``, they have the axes of the array. The
constant beyond the edges is zero, in the modes that have one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

from adjoint.rules.scipy.multilinear import multilinear
from adjoint.rules.scipy.ndimage.boundaries import (
    CONSTANT,
    GRID_CONSTANT,
    GRID_WRAP,
    REFLECT,
    WRAP,
    along,
    extended,
    folded,
    widened,
)
from adjoint.rules.scipy.ndimage.spline_coefficients import coefficients, transposed_coefficients


def _axes(x: Any, shape: Any, axis: Any, mode: int, origin: Any) -> Any:
    """Return the positions that the weights meet along each axis."""
    if axis is None:
        return widened(x.shape, shape, origin, mode)
    axes: list[Any] = [None] * x.ndim
    axes[axis] = along(x.shape[axis], shape[0], origin, mode)
    return axes


_MODES = ("nearest", "wrap", "reflect", "mirror", "constant", "grid-wrap", "grid-constant")


def _correlated(x: Any, w: Any, axis: Any, mode: int, origin: Any) -> Any:
    options: Any = {"mode": _MODES[mode], "cval": 0.0, "origin": origin}
    if (
        axis is None
    ):  # SciPy leaves out weights below the rounding error of 1, and those that are NaN
        largest = np.max(np.abs(w))
        if np.isnan(largest):
            return np.full_like(x, np.nan)
        if 0 < largest < 0.1:
            return ndimage.correlate(x, w / largest, **options) * largest
        return ndimage.correlate(x, w, **options)
    return ndimage.correlate1d(x, w, axis, **options)


def _to_array(y_bar, x, w, axis, mode, origin):
    return spread(y_bar, w, axis, mode, origin)


def _to_weights(y_bar, x, w, axis, mode, origin):
    return products(y_bar, x, w.shape, axis, mode, origin)


@multilinear(lambda x, w, axis, mode, origin: x, _to_array, _to_weights)
def correlated(x: Any, w: Any, axis: Any, mode: int, origin: Any) -> Any:
    """Return ``y[i] = Σ w[k] x[i + k − size // 2 − origin]``."""
    return _correlated(x, w, axis, mode, origin)


def _of_spread(bar, y, w, axis, mode, origin):
    return correlated(bar, w, axis, mode, origin)


def _weights_of_spread(bar, y, w, axis, mode, origin):
    return products(y, bar, w.shape, axis, mode, origin)


@multilinear(lambda y, w, axis, mode, origin: y, _of_spread, _weights_of_spread)
def spread(y: Any, w: Any, axis: Any, mode: int, origin: Any) -> Any:
    """Return the cotangent of the array in `correlated`, given that of its result."""
    turned = np.ascontiguousarray(np.flip(w))
    if mode in _PERIODIC or (mode == REFLECT and _is_even(w, turned, origin)):
        # each element meets the weights in the opposite order, beyond the edges, too
        opposite: Any = tuple(
            -k - (1 - n % 2) for k, n in zip(np.atleast_1d(origin).tolist(), w.shape, strict=True)
        )
        return _correlated(y, turned, axis, mode, opposite if axis is None else opposite[0])
    sizes = [1] * y.ndim
    if axis is None:
        sizes = [*w.shape]
    else:
        sizes[axis] = len(w)
    padded = np.zeros([n + size - 1 for n, size in zip(y.shape, sizes, strict=True)])
    padded[tuple(map(slice, y.shape))] = y
    last: Any = [(size - 1) // 2 for size in sizes]
    found = _correlated(padded, turned, axis, CONSTANT, last if axis is None else last[axis])
    axes = _axes(y, w.shape, axis, mode, origin)
    return folded(found, axes, y.shape)[0].astype(y.dtype, copy=False)


_PERIODIC = (WRAP, CONSTANT, GRID_WRAP, GRID_CONSTANT)


def _is_even(w: Any, turned: Any, origin: Any) -> bool:
    """Return whether weights are even about the element that they are of, along each axis."""
    if np.any(origin) or not all(n % 2 for n in w.shape):
        return False
    if w.ndim == 1:
        return bool(np.array_equal(w, turned))
    return all(np.array_equal(w, np.flip(w, axis)) for axis in range(w.ndim))


def _of_mean(y_bar, x, size, axis, mode, origin):
    return spread(y_bar, np.full(size, 1.0 / size), axis, mode, origin)


@multilinear(lambda x, size, axis, mode, origin: x, _of_mean)
def averaged(x: Any, size: int, axis: int, mode: int, origin: int) -> Any:
    """Return the mean of the `size` neighbours along one axis."""
    return ndimage.uniform_filter1d(x, size, axis, mode=_MODES[mode], origin=origin)


def _first_factor(bar, y, x, shape, axis, mode, origin):
    return correlated(x, bar, axis, mode, origin)


def _second_factor(bar, y, x, shape, axis, mode, origin):
    return spread(y, bar, axis, mode, origin)


@multilinear(lambda y, x, shape, axis, mode, origin: np.empty(shape), _first_factor, _second_factor)
def products(y: Any, x: Any, shape: Any, axis: Any, mode: int, origin: Any) -> Any:
    """Return the cotangent of the weights in `correlated`, given that of its result."""
    wide = extended(x, _axes(x, shape, axis, mode, origin), 0.0)
    found = np.empty(shape)
    for start in np.ndindex(*shape):
        first = [0] * x.ndim
        at = 0 if axis is None else axis
        first[at : at + len(start)] = start
        window = tuple(slice(k, k + n) for k, n in zip(first, x.shape, strict=True))
        found[start] = np.sum(y * wide[window])
    return found


# ---- coefficients of splines ---------------------------------------------------------------------


def _of_values(y_bar, x, order, axis, mode):
    return spread_coefficients(y_bar, order, axis, mode)


@multilinear(lambda x, order, axis, mode: x * 1.0, _of_values)
def spline_coefficients(x: Any, order: int, axis: int, mode: int) -> Any:
    """Return the coefficients of the spline through the elements along one axis."""
    return coefficients(x, order, axis, np.float64, mode)


def _of_coefficients(bar, y, order, axis, mode):
    return spline_coefficients(bar, order, axis, mode)


@multilinear(lambda y, order, axis, mode: y * 1.0, _of_coefficients)
def spread_coefficients(y: Any, order: int, axis: int, mode: int) -> Any:
    """Return the cotangent of the elements, given that of their coefficients."""
    return transposed_coefficients(y, order, axis, mode)
