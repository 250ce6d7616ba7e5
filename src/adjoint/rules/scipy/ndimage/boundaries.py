"""Extension of an array beyond its edges as in `scipy.ndimage`, and its transpose.

Each position along an axis maps to an index inside, or to none where the constant applies. The
modes have the numbers of SciPy's compiled code.
"""

from __future__ import annotations

from functools import wraps
from inspect import signature
from typing import Any, NamedTuple

import numpy as np

from adjoint.rulekit.registry import substitute

NEAREST, WRAP, REFLECT, MIRROR, CONSTANT, GRID_WRAP, GRID_CONSTANT = range(7)

OUTSIDE = -1


class Along(NamedTuple):
    """The inner index of each position along one axis, and the number of positions before it."""

    places: Any
    before: int


def along(n: int, size: int, origin: int, mode: int) -> Along:
    """Return the positions that a window of `size` meets on an axis of length `n`."""
    before = size // 2 + origin
    return beyond(n, before, size - 1 - before, mode)


def beyond(n: int, before: int, after: int, mode: int) -> Along:
    """Return the positions from `before` ahead of the first element to `after` past the last."""
    return Along(_places(n, before, after, mode), before)


def _places(n: int, before: int, after: int, mode: int) -> Any:
    position = np.arange(-before, n + after)
    if mode == NEAREST:
        return np.clip(position, 0, n - 1)
    if mode in (WRAP, GRID_WRAP):
        return position % n
    if mode == REFLECT:
        position = position % (2 * n)
        return np.minimum(position, 2 * n - 1 - position)
    if mode == MIRROR:
        position = position % max(2 * n - 2, 1)
        return np.minimum(position, 2 * n - 2 - position)
    return np.where((position < 0) | (position >= n), OUTSIDE, position)


def widened(shape: tuple[int, ...], sizes: Any, origins: Any, mode: int) -> list[Along]:
    """Return `along` for every axis."""
    return [along(*given, mode) for given in zip(shape, sizes, origins, strict=True)]


def linear_push(filtered: Any, shape: tuple[int, ...], x_dot: Any, cval_dot: Any) -> Any:
    """Return the tangent of a filter that is linear in the array and the constant beyond it."""
    if x_dot is None and cval_dot is None:
        return 0.0
    x_dot = np.zeros(shape) if x_dot is None else x_dot
    return filtered(x_dot, 0.0 if cval_dot is None else cval_dot)


def extended(x: Any, axes: Any, cval: Any) -> Any:
    """Extend `x` beyond its edges, except along axes whose entry is ``None``."""
    for axis, line in enumerate(axes):
        if line is None:
            continue
        x = np.take(x, line.places, axis)
        outside = line.places == OUTSIDE
        if outside.any():
            x = np.where(_standing(outside, axis, x.ndim), cval, x)
    return x


def folded(bar: Any, axes: Any, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Return the cotangents of the array and of the constant: the transpose of `extended`."""
    outer: Any = 0.0
    for axis in reversed(range(len(shape))):
        if axes[axis] is None:
            continue
        at, before = axes[axis]
        after = before + shape[axis]
        lines = np.moveaxis(bar, axis, 0)
        inner = lines[before:after].copy()
        for position in (*range(before), *range(after, len(at))):
            if at[position] == OUTSIDE:
                outer = outer + lines[position].sum()
            else:
                inner[at[position]] += lines[position]
        bar = np.moveaxis(inner, 0, axis)
    return bar, outer


def _standing(flags: Any, axis: int, ndim: int) -> Any:
    shape = [1] * ndim
    shape[axis] = -1
    return flags.reshape(shape)


def returning(compiled: Any, place: int) -> Any:
    """Return a decorator for the signature of a function that returns what `compiled` writes.

    `compiled` writes into its argument at `place`, which has the shape of the first one; the
    function takes the dtype of the result there. Calls of `compiled` assign its result.
    """

    def decorate(f: Any) -> Any:
        @wraps(f)
        def returned(*given: Any, **named: Any) -> Any:
            args = signature(f).bind(*given, **named).args
            y = np.empty(np.shape(args[0]), args[place])
            compiled(*args[:place], y, *args[place + 1 :])
            return y

        @substitute(compiled)
        def write(*args):
            y = args[place]
            y[...] = returned(*args[:place], y.dtype, *args[place + 1 :])

        return returned

    return decorate


def constant(operands: int) -> tuple[Any, Any]:
    """Return pullback and pushforward of a result that was rounded to integers."""
    return lambda y_bar: (None,) * operands, lambda *dots: None
