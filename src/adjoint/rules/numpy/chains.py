"""Chains of calls of a ufunc along an axis, as functions that programs call and derive: sums of
segments, the places of running maxima, and the shares of numbers in maxima at places."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import result_like
from adjoint.rules.scipy.multilinear import multilinear

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


# ---- extrema at places ---------------------------------------------------------------------------


@result_like(lambda f, z, places, n: z)
@non_differentiable
def shares_of_extrema(f: Any, z: Any, places: Any, n: int) -> Any:
    """Return the slope of ``f.at``, a maximum or a minimum at each of `n` places, in each number of
    `z`. Equal numbers share as in calls of `f`, one after the other: the last one has one half."""
    y = z[:n].copy()
    f.at(y, places[n:], z[n:])
    if np.isnan(y).any():
        raise ValueError("an extremum of what is no number")
    equal = np.flatnonzero(z == y[places])
    order = equal[np.argsort(places[equal], kind="stable")]
    ranked = places[order]
    first, end = (np.searchsorted(ranked, ranked, side) for side in ("left", "right"))
    shares = np.zeros(len(z))
    shares[order] = 0.5 ** (end - np.maximum(np.arange(len(order)), first + 1))
    return shares
