"""Rules of sums of powers that are given by their logarithms, as in ``np.logaddexp.reduce``."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rules.numpy.forward_rules import array_frule
from adjoint.rules.numpy.operands import array_rule

_reduce: Any = np.logaddexp.reduce


def log_sum(a: Any, axis: Any = 0, keepdims: bool = False) -> Any:
    """Return the logarithm of the sum of ``exp(a)``: what ``np.logaddexp.reduce`` is without
    further options."""
    return _reduce(a, axis, keepdims=keepdims)


def summed_axes(shape: tuple[int, ...], axis: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the axes that are summed, and the shape with these of length 1."""
    n = len(shape)
    given = range(n) if axis is None else (axis if isinstance(axis, tuple) else (axis,))
    axes = tuple([k % n for k in given])
    return axes, tuple([1 if k in axes else size for k, size in enumerate(shape)])


def shares_of(a: Any, b: Any, value: Any, axes: tuple[int, ...]) -> Any:
    """Return exp(a − value); times b, this is the share of each term in the sum. Infinite terms
    share an infinite sum equally; the shares of a sum of 0 are 0."""
    if np.all(np.isfinite(value)):
        return np.exp(a - value)
    above = np.equal(value, np.inf)
    none = np.equal(np.real(value), -np.inf)
    shares = np.where(none, 0, np.exp(a - np.where(above | none, 0, value)))
    if not np.any(above):
        return shares
    most = np.equal(a, np.inf) & np.not_equal(1 if b is None else b, 0)
    count = np.sum(most * (1 if b is None else b), axis=axes, keepdims=True)
    return np.where(above, most / np.where(np.equal(count, 0), 1, count), shares)


def _shares(a: Any, y: Any, axis: Any) -> Any:
    axes, kept = summed_axes(np.shape(a), axis)
    return shares_of(a, None, np.reshape(y, kept), axes), kept


@array_rule(log_sum)
def log_sum_rule(a, axis=0, keepdims=False):
    y = log_sum(a, axis, keepdims)
    shares, kept = _shares(a, y, axis)

    def log_sum_back(y_bar):
        return None, np.where(np.equal(shares, 0), 0, np.reshape(y_bar, kept) * shares)

    return y, log_sum_back


@array_frule(log_sum)
def _(dots, y, a, axis=0, keepdims=False):
    shares, _kept = _shares(a, y, axis)
    moved = np.where(np.equal(shares, 0), 0, dots[0] * shares)
    return np.sum(moved, axis=axis, keepdims=keepdims)
