"""Shuffles in place, by the same draws of positions, which are constants."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.rulekit.registry import non_differentiable, substitute


@substitute((np.random.Generator, "shuffle"))
def _(self, x, axis=0):
    if isinstance(x, np.ndarray):
        order = _shuffled(self, x.shape[axis])
        x[...] = np.take(x, order, axis)
    else:
        _swap(x, _shuffled(self, len(x), axis))


@substitute((np.random.RandomState, "shuffle"))
def _(self, x):
    order = _shuffled(self, len(x))
    if isinstance(x, np.ndarray):
        x[...] = x[order]
    else:
        _swap(x, order)


@substitute(np.random.shuffle)
def _(x):
    np.random.mtrand._rand.shuffle(x)


@substitute((np.random.Generator, "permuted"))
def _(self, x, *, axis=None, out=None):
    y = np.ravel(x)[_permuted(self, np.shape(x), axis)]
    if out is None:
        return y
    out[...] = y
    return out


def _swap(x, order):
    """Reorder items; other containers than lists, which may run user code, by NumPy's swaps."""
    if type(x) is list:
        x[:] = [x[i] for i in order.tolist()]
        return
    if not isinstance(x, Sequence):
        warnings.warn(
            f"you are shuffling a '{type(x).__name__}' object which is not a subclass of "
            "'Sequence'; `shuffle` is not guaranteed to behave correctly. E.g., non-numpy "
            "array/tensor objects with view semantics may contain duplicates after shuffling.",
            stacklevel=1,
        )
    for i, j in _swaps(order):
        x[i], x[j] = x[j], x[i]


def _swaps(order: Any) -> list[tuple[int, int]]:
    """Return the swaps of a Fisher-Yates shuffle that gives `order`, from the last place on."""
    wanted = order.tolist()
    items, places = [*range(len(wanted))], [*range(len(wanted))]
    swaps = []
    for i in reversed(range(1, len(wanted))):
        j = places[wanted[i]]
        items[i], items[j] = items[j], items[i]
        places[items[i]], places[items[j]] = i, j
        swaps.append((i, j))
    return swaps


def _shuffled(source: Any, n: int, axis: int = 0) -> Any:
    if axis != 0:
        source.shuffle([], axis)  # NumPy's own error
    order = np.arange(n)
    source.shuffle(order)
    return order


def _permuted(source: Any, shape: tuple[int, ...], axis: Any) -> Any:
    return source.permuted(np.arange(np.prod(shape, dtype=int)).reshape(shape), axis=axis)


non_differentiable(_swaps, _shuffled, _permuted)
