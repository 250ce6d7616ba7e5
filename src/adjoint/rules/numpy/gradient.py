"""``numpy.gradient`` along coordinates.

NumPy takes coordinates that are evenly spaced for one step between all of them: a branch for one
value. How the result moves with each of them is said by its formula for any others. So the result
is NumPy's own, and its derivative is that of the formula (B. Fornberg, Generation of finite
difference formulas on arbitrarily spaced grids, Math. Comp. 51, 1988, with three points).
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from adjoint.rules.registry import primitive
from adjoint.run.by_source import call_function

_SIGNATURE = inspect.signature(np.gradient)


@primitive(np.gradient)
def _gradient(record: list[Any], slot: int, *args: Any, **kwargs: Any) -> Any:
    given = _SIGNATURE.bind(*args, **kwargs).arguments
    f, steps, axis = given["f"], given.get("varargs", ()), given.get("axis")
    if type(f) is not np.ndarray or f.dtype.kind not in "fc" or not any(map(_is_even, steps)):
        return NotImplemented
    y = np.gradient(*args, **kwargs)  # and NumPy's own message
    if not isinstance(y, np.ndarray):
        return call_function(record, slot, _along_each, args, kwargs)
    if isinstance(axis, tuple):
        axis = axis[0]
    inner: list[Any] = [record[0], None]
    operands = (f, steps[0], 0 if axis is None else axis, given.get("edge_order", 1))
    same = call_function(inner, 1, _along, operands, {})
    if record[0].level is not None:
        record[0].level.link(y, same)

    def gradient_back(y_bar: Any) -> tuple[Any, ...]:
        if inner[1] is None:
            return (None,) * (1 + len(args) + len(kwargs))
        _, f_bar, steps_bar, *_ = inner[1](y_bar)
        bars = {id(f): f_bar, id(steps[0]): steps_bar}
        return None, *[bars.get(id(x)) for x in (*args, *kwargs.values())]

    record[slot] = gradient_back
    return y


def _is_even(x: Any) -> bool:
    """Whether these are coordinates at equal distances."""
    if type(x) is not np.ndarray or x.ndim != 1 or x.dtype.kind != "f" or len(x) < 2:
        return False
    gaps = np.diff(x)
    return bool(np.all(gaps == gaps[0]))


def _along_each(f, *steps, axis=None, edge_order=1):
    """The axes one by one."""
    axes = range(f.ndim) if axis is None else axis
    kind = type(np.gradient(np.zeros((2, 2))))  # a list in NumPy 1
    return kind(
        [
            np.gradient(f, step, axis=i, edge_order=edge_order)
            for i, step in zip(axes, steps * (len(axes) // len(steps)), strict=True)
        ]
    )


def _along(f, x, axis, edge_order):
    """Along one axis, at coordinates with any distances."""
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
