"""Results of functions that make arrays from lengths and values."""

from __future__ import annotations

from math import ceil
from typing import Any

import numpy as np

from adjoint.fast.evaluate.result_types.lengths import UNKNOWN, Derived, Length, Shape, less
from adjoint.fast.evaluate.result_types.records import (
    array,
    broadcast,
    cast,
    dims,
    dtype_of,
    made_lengths,
    shape_of,
)
from adjoint.fast.evaluate.result_types.shapes import broadcast_to
from adjoint.fast.evaluate.types import Array, Number, Symbol


@shape_of(np.zeros, np.ones, np.empty)
def _(shape: Any, dtype: Any = None, order: Any = "C") -> Array:
    return array(dtype, made_lengths(shape))


@shape_of(np.full)
def _(shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C") -> Array:
    lengths = made_lengths(shape)
    broadcast_to(fill_value, lengths)
    return array(cast(dtype_of(fill_value), dtype), lengths)


@shape_of(np.zeros_like, np.ones_like, np.empty_like)
def _(a: Any, dtype: Any = None, order: Any = "K", subok: Any = True, shape: Any = None) -> Array:
    return array(
        dtype_of(a) if dtype is None else dtype, dims(a) if shape is None else made_lengths(shape)
    )


@shape_of(np.full_like)
def _(
    a: Any,
    fill_value: Any,
    dtype: Any = None,
    order: Any = "K",
    subok: Any = True,
    shape: Any = None,
) -> Array:
    lengths = dims(a) if shape is None else made_lengths(shape)
    found = dtype_of(a) if dtype is None else dtype
    broadcast_to(fill_value, lengths)
    return array(cast(dtype_of(fill_value), found), lengths)


@shape_of(np.eye)
def _(N: Any, M: Any = None, k: Any = 0, dtype: Any = float, order: Any = "C") -> Array:
    return array(dtype, made_lengths((N, N if M is None else M)))


@shape_of(np.identity)
def _(n: Any, dtype: Any = None) -> Array:
    return array(dtype, made_lengths(n) * 2)


@shape_of(np.arange)
def _(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Array:
    given = [x for x in (start, stop, step) if x is not None]
    if any(isinstance(x, Number) and not x.kinds <= {int, np.int64} for x in given):
        raise TypeError("a range of numbers that are not known")
    if dtype is None:  # no steps of the same classes
        kinds = [int if isinstance(x, Symbol | Number) else type(x) for x in given]
        dtype = np.arange(*(kind(i > 1) for i, kind in enumerate(kinds))).dtype
    if any(isinstance(x, Number) for x in given):
        return array(dtype, (UNKNOWN,))
    if stop is None:
        start, stop = 0, start
    return array(dtype, (_steps(start, stop, 1 if step is None else step),))


def _steps(start: Any, stop: Any, step: Any) -> Length:
    """Return the number of steps from `start` to `stop`."""
    if not any(isinstance(x, Symbol) for x in (start, stop, step)):
        steps: int = max(ceil((stop - start) / step), 0)
        return steps
    if isinstance(step, int) and step == 1 and isinstance(start, int) and start >= 0:
        if not isinstance(stop, Symbol) or stop.key[:1] != ("minus",):  # which may be negative
            return less(stop, start)
    return Derived(("range", start, stop, step))


@shape_of(np.linspace)
def _(start: Any, stop: Any, num: Any = 50, endpoint: Any = True) -> Shape:
    return (*made_lengths(num), *broadcast(dims(start), dims(stop)))
