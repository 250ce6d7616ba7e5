"""`np.pad`, where it has no rule, in terms of other functions of NumPy, which programs inline."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.fast.evaluate.callees.library import call_library
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handler
from adjoint.fast.evaluate.values import Abstract, Known

_READING = ("edge", "reflect", "symmetric", "wrap")
"""Modes in which each new element is one of the array."""
_OF_A_LINE: Any = {"maximum": np.max, "minimum": np.min, "mean": np.mean, "median": np.median}


@handler(np.pad)
def _(
    ev: Evaluator,
    array: Abstract,
    pad_width: Abstract,
    mode: Abstract = Known("constant"),
    **keywords: Abstract,
) -> Abstract:
    named = {k: x for k, x in keywords.items() if getattr(x, "value", x) not in (0, "even")}
    if not named and isinstance(mode, Known) and mode.value in ("constant", *_READING):
        return call_library(ev, np.pad, [array, pad_width, mode], {})
    return ev.inline(ev.outside.own(_padded), [array, pad_width, mode], named)  # type: ignore[arg-type]


def _padded(array, pad_width, mode="constant", constant_values=0, end_values=0, stat_length=None):
    y = np.asarray(array)
    if y.dtype != np.float64 or stat_length is not None:
        raise TypeError("an array of another precision")
    values = _pairs(constant_values if mode == "constant" else end_values, y.ndim)
    for axis, (before, after) in enumerate(_pairs(pad_width, y.ndim)):
        ends = []
        for count, is_first in ((before, True), (after, False)):
            value = values[axis][0 if is_first else 1]
            if count < 0:
                raise ValueError("index can't contain negative values")
            shape = (count, *y.shape[:axis], *y.shape[axis + 1 :])
            if mode == "constant":
                end = np.zeros(shape) + value
            elif mode == "linear_ramp":
                edge = np.take(y, 0 if is_first else -1, axis)
                steps = np.arange(count) / max(count, 1)
                steps = np.reshape(steps if is_first else steps[::-1], (-1, *(1,) * (y.ndim - 1)))
                end = value + (edge - value) * steps
            else:
                end = np.broadcast_to(_OF_A_LINE[mode](y, axis), shape)
            ends.append(np.moveaxis(end, 0, axis))
        y = np.concatenate([ends[0], y, ends[1]], axis)
    return y


def _pairs(given, rank):
    """Return the widths or values at both ends of each axis."""
    if np.ndim(given) == 0:
        return [(given, given)] * rank
    if len(given) == 1:
        return _pairs(given[0], rank)
    if np.ndim(given[0]) == 0:
        if len(given) != 2:
            raise ValueError("widths or values of another kind")
        return [(given[0], given[1])] * rank
    if len(given) != rank:
        raise ValueError("widths or values of other axes")
    return [(w, w) if np.ndim(w) == 0 else (w[0], w[-1]) for w in given]
