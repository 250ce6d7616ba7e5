"""Functions of sampled data in terms of others: the trapezoidal rule, phases. They are definitions
that programs inline."""

from __future__ import annotations

import numpy as np

from adjoint.fast.evaluate.callees.numpy_definitions import definition, with_derivative
from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import result_like


@definition(getattr(np, "trapezoid", None) or getattr(np, "trapz"))  # noqa: B009
def _trapezoid(y, x=None, dx=1.0, axis=-1):
    if np.ndim(dx) != 0:
        raise ValueError("several widths")
    steps = dx
    values = np.moveaxis(np.asarray(y), axis, -1)
    if x is not None:
        steps = np.diff(np.asarray(x) if np.ndim(x) == 1 else np.moveaxis(x, axis, -1))
    return np.sum(steps * (values[..., 1:] + values[..., :-1]) / 2.0, axis=-1)


@definition(np.unwrap)
def _unwrap(p, discont=None, axis=-1, *, period=2 * np.pi):
    if p.dtype != np.float64:
        raise TypeError("phases of another kind")
    return with_derivative(_unwrapped(p, discont, axis, period), p)


@result_like(lambda p, *options: p)
@non_differentiable
def _unwrapped(p, discont, axis, period):
    return np.unwrap(p, discont, axis, period=period)


@definition(np.ndarray.diagonal)
def _diagonal(a, offset=0, axis1=0, axis2=1):
    return np.diagonal(a, offset, axis1, axis2)


_LARGEST = {kind: float(np.finfo(kind).max) for kind in "df"}


@definition(np.nan_to_num)
def _nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    given = np.asarray(x)
    if not copy or given.dtype.char not in _LARGEST:
        raise TypeError("numbers of another kind, or an array to write to")
    most = _LARGEST[given.dtype.char]
    y = np.where(np.isnan(given), nan, given)
    y = np.where(given == np.inf, most if posinf is None else posinf, y)
    return np.where(given == -np.inf, -most if neginf is None else neginf, y)[()]
