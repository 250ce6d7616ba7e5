"""``numpy.gradient`` along coordinates.

For evenly spaced coordinates NumPy uses one step, a branch that hides the derivative in each
coordinate. So the result is NumPy's, and its derivative is that of the formula for any coordinates
(B. Fornberg, Generation of finite difference formulas on arbitrarily spaced grids, Math. Comp. 51,
1988, with three points).
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from adjoint.rulekit.registry import primitive
from adjoint.runtime.dispatch.source_call import call_function

_SIGNATURE = inspect.signature(np.gradient)


@primitive(np.gradient)
def _gradient(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
    given = _SIGNATURE.bind(*args, **kwargs).arguments
    f, steps, axis = given["f"], given.get("varargs", ()), given.get("axis")
    if steps and any(isinstance(x, list | tuple) for x in (f, *steps)):
        return call_function(record, slot, _of_arrays, args, kwargs)
    if type(f) is not np.ndarray or f.dtype.kind not in "fciu" or not any(map(_is_even, steps)):
        return NotImplemented
    y = np.gradient(*args, **kwargs)  # or NumPy's own error
    if not isinstance(y, np.ndarray):
        return call_function(record, slot, _along_each, args, kwargs)
    if isinstance(axis, tuple):
        axis = axis[0]
    inner: list[Any] = [record[0], None]
    of_reals = f.dtype.kind in "fc"
    rows = f if of_reals else f.astype(float)
    operands = (rows, steps[0], 0 if axis is None else axis, given.get("edge_order", 1))
    same = call_function(inner, 1, _along, operands, {})
    if record[0].level is not None:
        record[0].level.link(y, same)

    def gradient_back(y_bar: Any) -> tuple[Any, ...]:
        bars = (None,) * 3 if inner[1] is None else inner[1](y_bar)
        rest = (None,) * (len(args) + len(kwargs) - 2)
        return None, bars[1] if of_reals else None, bars[2], *rest

    record[slot] = gradient_back
    return y


def _of_arrays(f, *steps, **options):
    """Convert lists to arrays, as NumPy does, and compute the gradient."""
    arrays = [np.asarray(x) if isinstance(x, list | tuple) else x for x in (f, *steps)]
    return np.gradient(*arrays, **options)


def _is_even(x: Any) -> bool:
    """Return whether `x` is an array of coordinates at equal distances."""
    if type(x) is not np.ndarray or x.ndim != 1 or x.dtype.kind != "f" or len(x) < 2:
        return False
    gaps = np.diff(x)
    return bool(np.all(gaps == gaps[0]))


def _along_each(f, *steps, axis=None, edge_order=1):
    """Compute the gradient along the axes one by one."""
    axes = range(f.ndim) if axis is None else axis
    kind = type(np.gradient(np.zeros((2, 2))))  # a list in NumPy 1
    return kind(
        [
            np.gradient(f, step, axis=i, edge_order=edge_order)
            for i, step in zip(axes, steps * (len(axes) // len(steps)), strict=True)
        ]
    )


def _along(f, x, axis, edge_order):
    """Compute the gradient along one axis, for any coordinates."""
    rows = np.moveaxis(f, axis, 0)
    gaps = np.reshape(np.diff(x), (-1,) + (1,) * (f.ndim - 1))
    first, last = (rows[1] - rows[0]) / gaps[0], (rows[-1] - rows[-2]) / gaps[-1]
    before, after = gaps[:-1], gaps[1:]
    rises = np.diff(rows, axis=0) / gaps
    inside = (after * rises[:-1] + before * rises[1:]) / (before + after)
    if edge_order == 2:
        # the slope of the parabola through three points, at its ends
        first = first + (first - rises[1]) * gaps[0] / (gaps[0] + gaps[1])
        last = last + (last - rises[-2]) * gaps[-1] / (gaps[-1] + gaps[-2])
    y = np.concatenate([first[None], inside, last[None]])
    return np.moveaxis(y, 0, axis).astype(f.dtype)
