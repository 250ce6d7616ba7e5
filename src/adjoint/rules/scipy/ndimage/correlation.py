"""Rules of linear filters of `scipy.ndimage`, in array, weights and constant beyond the edges.

SciPy's own Python code is differentiated down to the compiled functions, each of which makes one
pass over a real array. Each becomes a function with a rule that returns its result, and an
assignment of that result.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.ndimage import _nd_image

from adjoint.rules.numpy.operands import severed
from adjoint.rules.scipy.linalg.matrix_rule import Call, matrix_rule
from adjoint.rules.scipy.ndimage.boundaries import (
    CONSTANT,
    along,
    constant,
    extended,
    folded,
    linear_push,
    returning,
    widened,
)

# ---- along one axis ------------------------------------------------------------------------------


@returning(_nd_image.correlate1d, 3)
def correlated_along(input, weights, axis, dtype, mode, cval, origin):
    """Return ``y[i] = Σ w[k] x[i + k − size // 2 − origin]`` along one axis."""


def _double(y_bar: Any) -> Any:
    """Return `y_bar` in double precision, in which SciPy sums."""
    return np.asarray(y_bar, np.float64)


def _followed(y_bar: Any, axis: int, size: int) -> Any:
    """Append `size` − 1 zeros to `y_bar` along an axis."""
    shape = list(y_bar.shape)
    shape[axis] = size - 1
    return np.concatenate([y_bar, np.zeros(shape)], axis)


@matrix_rule(correlated_along, "input weights cval")
def _(call: Call) -> Any:
    if severed(call.y, call.weights):
        return constant(3)
    x, w, axis, mode, origin = call.input, call.weights, call.axis, call.mode, call.origin
    size = len(w)
    axes: list[Any] = [None] * x.ndim
    axes[axis] = along(x.shape[axis], size, origin, mode)

    def back(y_bar: Any) -> Any:
        y_bar = _double(y_bar)
        turned, padded = np.ascontiguousarray(w[::-1]), _followed(y_bar, axis, size)
        spread = correlated_along(padded, turned, axis, np.float64, CONSTANT, 0.0, (size - 1) // 2)
        x_bar, cval_bar = folded(spread, axes, x.shape)
        lines = np.moveaxis(y_bar, axis, -1).reshape(-1, x.shape[axis])
        wide = np.moveaxis(extended(x, axes, call.cval), axis, -1)
        wide = wide.reshape(-1, wide.shape[-1])
        w_bar = [np.einsum("ij,ij->", lines, wide[:, k : k + lines.shape[1]]) for k in range(size)]
        return x_bar, np.array(w_bar), cval_bar

    def push(x_dot: Any, w_dot: Any, cval_dot: Any) -> Any:
        run: Any = lambda x, w, cval: correlated_along(x, w, axis, np.float64, mode, cval, origin)
        moved = linear_push(lambda x, cval: run(x, w, cval), x.shape, x_dot, cval_dot)
        return moved if w_dot is None else moved + run(x, w_dot, call.cval)

    return back, push


# ---- means along one axis ------------------------------------------------------------------------


@returning(_nd_image.uniform_filter1d, 3)
def averaged(input, size, axis, dtype, mode, cval, origin):
    """Return the mean of the `size` neighbours along one axis."""


@matrix_rule(averaged, "input cval")
def _(call: Call) -> Any:
    if severed(call.y, 0.5):
        return constant(2)
    shape, size, axis, mode, origin = call.input.shape, call.size, call.axis, call.mode, call.origin
    axes: list[Any] = [None] * len(shape)
    axes[axis] = along(shape[axis], size, origin, mode)

    def back(y_bar: Any) -> Any:
        padded = _followed(_double(y_bar), axis, size)
        spread = averaged(padded, size, axis, np.float64, CONSTANT, 0.0, (size - 1) // 2)
        return folded(spread, axes, shape)

    def push(x_dot: Any, cval_dot: Any) -> Any:
        run: Any = lambda x, cval: averaged(x, size, axis, np.float64, mode, cval, origin)
        return linear_push(run, shape, x_dot, cval_dot)

    return back, push


# ---- along all axes ------------------------------------------------------------------------------


@returning(_nd_image.correlate, 2)
def correlated(input, weights, dtype, mode, cval, origins):
    """Return ``y[i] = Σ w[k] x[i + k − size // 2 − origin]`` with multi-indices."""


@matrix_rule(correlated, "input weights cval")
def _(call: Call) -> Any:
    if severed(call.y, call.weights):
        return constant(3)
    x, w, mode, origins = call.input, call.weights, call.mode, call.origins
    axes = widened(x.shape, w.shape, origins, mode)

    def back(y_bar: Any) -> Any:
        y_bar = padded = _double(y_bar)
        for axis, size in enumerate(w.shape):
            padded = _followed(padded, axis, size)
        last = [(size - 1) // 2 for size in w.shape]
        turned = np.ascontiguousarray(np.flip(w))
        spread = correlated(padded, turned, np.float64, CONSTANT, 0.0, last)
        x_bar, cval_bar = folded(spread, axes, x.shape)
        wide = extended(x, axes, call.cval)
        w_bar = np.empty(w.shape)
        for start in np.ndindex(w.shape):
            window = tuple(slice(k, k + n) for k, n in zip(start, x.shape, strict=True))
            w_bar[start] = np.sum(y_bar * wide[window])
        return x_bar, w_bar, cval_bar

    def push(x_dot: Any, w_dot: Any, cval_dot: Any) -> Any:
        run: Any = lambda x, w, cval: correlated(x, w, np.float64, mode, cval, origins)
        moved = linear_push(lambda x, cval: run(x, w, cval), x.shape, x_dot, cval_dot)
        return moved if w_dot is None else moved + run(x, w_dot, call.cval)

    return back, push
