"""Shapes of samples in `scipy.stats`, which computes these by arrays of integers, in plain Python:
the definitions that programs inline."""

from __future__ import annotations

import numpy as np
from scipy.stats import _axis_nan_policy

from adjoint.fast.evaluate.callees.numpy_definitions import definition


def _fitted(shapes, axis):
    """Return the place of an axis in all shapes, its lengths, and the other lengths of all."""
    if not isinstance(axis, int):
        raise TypeError("several axes")
    rank = max([len(shape) for shape in shapes])
    at = axis % rank
    full = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    others = np.broadcast_shapes(*[shape[:at] + shape[at + 1 :] for shape in full])
    return at, [shape[at] for shape in full], others


@definition(_axis_nan_policy._broadcast_shapes)
def _broadcast_shapes(shapes, axis=None):
    if axis is None:
        return np.broadcast_shapes(*shapes)
    at, lengths, others = _fitted(shapes, axis)
    return [others[:at] + (n,) + others[at:] for n in lengths]


@definition(_axis_nan_policy._broadcast_shapes_remove_axis)
def _broadcast_shapes_remove_axis(shapes, axis=None):
    return _fitted(shapes, axis)[2]
