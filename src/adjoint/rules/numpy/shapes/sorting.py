"""Rules of sorting: each cotangent goes back to the position of its element before the sort."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit.tangents import steady_in
from adjoint.rules.numpy.forward_rules import array_frule
from adjoint.rules.numpy.operands import array_rule


def _unsorted(order: Any, y_bar: Any, axis: int) -> Any:
    bar = np.empty_like(y_bar)
    np.put_along_axis(bar, order, y_bar, axis)
    return bar


@array_rule(np.sort, exact=True)
def _(a, axis=-1, kind=None, order=None, *, stable=None, descending=np._NoValue):
    if order is not None:
        return NotImplemented
    options = _options(stable, descending)
    y = np.sort(a, axis, kind, **options)
    shape = np.shape(a)
    flat, along = (np.ravel(a), 0) if axis is None else (a, axis)
    where = _sorting(flat, along, options)
    return y, lambda y_bar: (None, np.reshape(_unsorted(where, y_bar, along), shape))


def _options(stable: Any, descending: Any) -> dict[str, Any]:
    """Return the options that were given; older versions of NumPy lack them."""
    options: dict[str, Any] = {} if stable is None else {"stable": stable}
    if descending is not np._NoValue:
        options["descending"] = descending
    return options


def _sorting(a: Any, axis: int, options: dict[str, Any]) -> Any:
    """Return the positions in `a` of the elements of the sorted array."""
    named: dict[str, Any] = {} if "stable" in options else {"kind": "stable"}
    return np.argsort(a, axis, **named, **options)


@array_frule(np.sort)
def _(dots, y, a, axis=-1, kind=None, order=None, *, stable=None, descending=np._NoValue):
    if order is not None:
        return NotImplemented
    flat, along = (np.ravel(a), 0) if axis is None else (a, axis)
    a_dot = np.ravel(dots[0]) if axis is None else dots[0]
    return np.take_along_axis(a_dot, _sorting(flat, along, _options(stable, descending)), along)


@array_rule(np.partition)
def _(a, kth, axis=-1, kind="introselect", order=None):
    if order is not None:
        return NotImplemented
    y = np.partition(a, kth, axis, kind)
    shape = np.shape(a)
    flat, along = (np.ravel(a), 0) if axis is None else (a, axis)
    # The k-th smallest of the result is the k-th smallest of the argument.
    before, after = np.argsort(flat, along, kind="stable"), np.argsort(y, along, kind="stable")

    def partition_back(y_bar):
        ranked = np.take_along_axis(y_bar, after, along)
        return None, np.reshape(_unsorted(before, ranked, along), shape)

    return y, partition_back


@array_frule(np.partition)
def _(dots, y, a, kth, axis=-1, kind="introselect", order=None):
    if order is not None:
        return NotImplemented
    flat, along = (np.ravel(a), 0) if axis is None else (a, axis)
    a_dot = np.ravel(dots[0]) if axis is None else dots[0]
    before, after = np.argsort(flat, along, kind="stable"), np.argsort(y, along, kind="stable")
    ranked = np.take_along_axis(a_dot, before, along)
    return np.take_along_axis(ranked, np.argsort(after, along), along)


steady_in(np.sort, np.partition)
