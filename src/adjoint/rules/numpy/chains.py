"""Chains of calls of a ufunc along an axis, as functions that programs call and derive: logarithms
of sums of exponentials, sums of segments, and the places of running maxima."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.registry import frule, non_differentiable, rrule
from adjoint.rulekit.tangents import tangent_of
from adjoint.rules.scipy.equivalents import result_like
from adjoint.rules.scipy.multilinear import multilinear


def shares(a: Any, y: Any) -> Any:
    """Return the slopes of ``y = logaddexp.reduce(a)``; zeros where no element is above -inf."""
    return np.exp(a - np.where(y == -np.inf, 0.0, y))


@result_like(lambda a, axis: np.sum(a, axis))
def log_total(a: Any, axis: int) -> Any:
    """Return the logarithm of the sum of exponentials along an axis."""
    return np.logaddexp.reduce(a, axis)


@rrule.register(log_total)
def _(a, axis):
    y = log_total(a, axis)

    def log_total_back(y_bar):
        return None, np.expand_dims(y_bar, axis) * shares(a, np.expand_dims(y, axis)), None

    return y, log_total_back


@frule.register(log_total)
def _(dots, a, axis):
    y = log_total(a, axis)
    return y, None if dots[0] is None else _moved(dots, y, a, axis)


@tangent_of(log_total)
def _moved(dots, y, a, axis):
    return np.sum(shares(a, np.expand_dims(y, axis)) * dots[0], axis)


# ---- segments ------------------------------------------------------------------------------------


def _spread(y_bar, a, starts):
    return spread(y_bar, starts, a.shape[-1])


def _sums(bar, y, starts, n):
    return segment_sums(bar, starts)


@multilinear(lambda a, starts: np.empty((*a.shape[:-1], len(starts)), a.dtype), _spread)
def segment_sums(a: Any, starts: Any) -> Any:
    """Return the sums of the segments of the last axis that begin at `starts`, which increase."""
    return np.add.reduceat(a, starts, -1)


@multilinear(lambda y, starts, n: np.empty((*y.shape[:-1], n), y.dtype), _sums)
def spread(y: Any, starts: Any, n: int) -> Any:
    """Return arrays of `n` elements, zero before the first segment, of one number per segment."""
    found = np.zeros((*y.shape[:-1], n), y.dtype)
    found[..., starts[0] :] = np.repeat(y, np.diff(starts, append=n), -1)
    return found


# ---- running extrema -----------------------------------------------------------------------------


@result_like(lambda f, a, axis: np.argsort(a, axis))
@non_differentiable
def running_places(f: Any, a: Any, axis: int) -> Any:
    """Return the place along an axis of the first element that equals each element of
    ``f.accumulate(a, axis)``, a running maximum or minimum."""
    values = np.moveaxis(f.accumulate(a, axis), axis, 0)
    index = np.arange(len(values)).reshape(-1, *(1,) * (values.ndim - 1))
    fresh = np.ones(values.shape, bool)
    fresh[1:] = values[1:] != values[:-1]
    if values.dtype.kind == "f":
        fresh[1:] &= ~np.isnan(values[:-1])
    return np.moveaxis(np.maximum.accumulate(np.where(fresh, index, 0), 0), 0, axis)
