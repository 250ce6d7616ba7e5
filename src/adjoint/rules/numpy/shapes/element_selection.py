"""Rules of NumPy's functions that pick elements out of arrays or put some in.

The function applied to the positions of the elements tells the origin of each result.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.rulekit.projection import as_numeric, project
from adjoint.rulekit.registry import entry, primitive
from adjoint.rulekit.tangents import linear_in, steady_in
from adjoint.rules.numpy.aggregates.reductions import constant_back
from adjoint.rules.numpy.forward_rules import array_frule
from adjoint.rules.numpy.operands import (
    array_rule,
    cotangent_dtype,
    dense,
    like_sequence,
    linear_rule,
    methods,
    scatter,
    severed,
)
from adjoint.rules.numpy.protocols import (
    out as out,
)
from adjoint.runtime.dispatch.linked import linked
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.memory.memory import Memory


def positions_of(x: Any, start: int = 0) -> np.ndarray[Any, Any]:
    """Return the positions of the elements of raveled `x`, in the shape of `x`."""
    return np.arange(start, start + np.size(x)).reshape(np.shape(x))


# ---- take ----------------------------------------------------------------------------------------


def _take(y_bar, shape, indices, axis=None, out=None, mode="raise"):
    if axis is None or not shape:  # an array without axes is treated as one of length 1
        n = math.prod(shape)
        return np.reshape(_take(y_bar, (n,), indices, 0, None, mode), shape)
    axis, n = axis % len(shape), shape[axis]
    indices = np.asarray(indices, np.intp)
    if indices.size:
        indices = (
            indices % n
            if mode == "wrap"
            else np.clip(indices, 0, n - 1)
            if mode == "clip"
            else indices
        )
    bar = np.zeros(shape, cotangent_dtype(y_bar))
    at = (slice(None),) * axis + (indices,)
    if indices.ndim == 0:
        bar[at] = y_bar
    else:
        np.add.at(bar, at, y_bar)
    return bar


@array_rule(np.take, *methods("take"), exact=True)
def _(a, indices, axis=None, out=None, mode="raise"):
    if out is not None:
        return NotImplemented
    shape = np.shape(a)
    return np.take(a, indices, axis, mode=mode), lambda y_bar: (
        None,
        _take(y_bar, shape, indices, axis, None, mode),
    )


@array_frule(np.take, *methods("take"))
def _(dots, y, a, indices, axis=None, out=None, mode="raise"):
    return np.take(dots[0], indices, axis, mode=mode)


def _take_along_axis(y_bar, shape, indices, axis=-1):
    whole = positions_of(np.broadcast_to(0, shape))
    return scatter(np.take_along_axis(whole, indices, axis), y_bar, whole)


linear_rule(np.take_along_axis, _take_along_axis, operand="arr")

# ---- some of the elements, each at most once -----------------------------------------------------


@array_rule(np.compress, operands="condition a")
def _(condition, a, axis=None, out=None):
    if out is not None:
        return NotImplemented
    condition, whole = np.asarray(condition, bool), np.broadcast_to(0, np.shape(a))
    return np.compress(condition, a, axis), lambda y_bar: (
        None,
        None,
        scatter(np.compress(condition, positions_of(whole), axis), y_bar, whole, unique=True),
    )


@array_rule(*methods("compress"))
def _(a, condition, axis=None, out=None):
    if out is not None:
        return NotImplemented
    whole = np.broadcast_to(0, np.shape(a))
    return a.compress(condition, axis), lambda y_bar: (
        None,
        scatter(np.compress(condition, positions_of(whole), axis), y_bar, whole, unique=True),
    )


@array_rule(np.extract, operands="condition arr")
def _(condition, arr):
    whole = np.broadcast_to(0, np.shape(arr))
    return np.extract(condition, arr), lambda y_bar: (
        None,
        None,
        scatter(np.extract(condition, positions_of(whole)), y_bar, whole, unique=True),
    )


@array_frule(np.compress, operands="a")
def _(dots, y, condition, a, axis=None, out=None):
    return np.compress(condition, dots[0], axis)


@array_frule(*methods("compress"))
def _(dots, y, a, condition, axis=None, out=None):
    return np.compress(condition, dots[0], axis)


@array_frule(np.extract, operands="arr")
def _(dots, y, condition, arr):
    return np.extract(condition, dots[0])


def _delete(y_bar, shape, obj, axis=None):
    whole = positions_of(np.broadcast_to(0, shape))
    return scatter(np.delete(whole, obj, axis), y_bar, whole, unique=True)


linear_rule(np.delete, _delete, operand="arr")

# ---- two arrays into one -------------------------------------------------------------------------


def _merged(f: Callable[[Any, Any], Any], a: Any, b: Any) -> Any:
    """Return the pullback of ``f(a, b)``, whose elements are elements of a and of b."""
    a, b = np.broadcast_to(0, np.shape(a)), np.broadcast_to(0, np.shape(b))

    def merged_back(y_bar):
        both = scatter(
            f(positions_of(a), positions_of(b, a.size)),
            y_bar,
            np.broadcast_to(0, (a.size + b.size,)),
        )
        return both[: a.size].reshape(a.shape), both[a.size :].reshape(b.shape)

    return merged_back


@array_rule(np.insert, operands="arr values")
def _(arr, obj, values, axis=None):
    y = np.insert(arr, obj, values, axis)
    if y.dtype.kind not in "fc" and np.result_type(values).kind in "fc":
        return NotImplemented  # rounds the values to integers
    back = _merged(lambda a, b: np.insert(a, obj, b, axis), arr, values)
    return y, lambda y_bar: (None, *back(y_bar))


@array_rule(np.append, operands="arr values")
def _(arr, values, axis=None):
    back = _merged(lambda a, b: np.append(a, b, axis), arr, values)
    return np.append(arr, values, axis), lambda y_bar: (None, *back(y_bar))


@array_frule(np.insert, operands="arr values")
def _(dots, y, arr, obj, values, axis=None):
    return np.insert(dense(dots[0], arr), obj, dense(dots[1], values), axis)


@array_frule(np.append, operands="arr values")
def _(dots, y, arr, values, axis=None):
    return np.append(dense(dots[0], arr), dense(dots[1], values), axis)


@array_rule(np.choose, *methods("choose"), operands="a choices", nested=False)
def _(a, choices, out=None, mode="raise"):
    parts = choices if isinstance(choices, (list, tuple, np.ndarray)) else ()
    if out is not None or not len(parts) or any(as_numeric(part) is None for part in parts):
        return NotImplemented
    y, n = np.choose(a, choices, mode=mode), len(parts)
    which = np.asarray(a)
    which = which % n if mode == "wrap" else np.clip(which, 0, n - 1)

    def choose_back(y_bar):
        bars = [project(np.where(which == i, y_bar, 0), part) for i, part in enumerate(parts)]
        return None, None, like_sequence(bars, choices)

    return y, choose_back


@array_frule(np.choose, *methods("choose"), operands="choices", nested=False)
def _(dots, y, a, choices, out=None, mode="raise"):
    if any(as_numeric(part) is None for part in choices):
        return NotImplemented
    return None if severed(y, *choices) else np.choose(a, dots[0], mode=mode)


_into = entry((np.ndarray, "choose")).primitive


@primitive((np.ndarray, "choose"))
def _(record: list[Any], slot: int, /, a: Any, *choices: Any, **kwargs: Any) -> Any:
    """Accept choices one by one, as the method does."""
    if len(choices) < 2:
        return NotImplemented if _into is None else _into(record, slot, a, *choices, **kwargs)
    memory: Memory = record[0]

    def arrange(_: tuple[Any, ...]) -> tuple[Any, ...]:
        none = (None,) * len(kwargs)
        return (None, None, *memory.take_items(choices, len(choices)), *none)

    operands = (a, choices, kwargs)
    return linked(record, slot, arrange, call_function, _choose, operands, {})


def _choose(a, choices, options):
    return np.choose(a, list(choices), **options)


# ---- pad -----------------------------------------------------------------------------------------


def inner(shape: Any, pad_width: Any) -> tuple[slice, ...]:
    """Return the place of the original array in the padded one."""
    widths = np.broadcast_to(np.asarray(pad_width).round().astype(int), (len(shape), 2))
    return tuple(slice(low, low + n) for (low, _), n in zip(widths.tolist(), shape, strict=True))


@array_rule(np.pad, operands="array constant_values")
def _(array, pad_width, mode="constant", *, constant_values=0, reflect_type="even"):
    if isinstance(pad_width, dict) or reflect_type != "even" or np.ndim(constant_values) > 0:
        return NotImplemented
    shape = np.shape(array)
    if mode == "constant":
        y = np.pad(array, pad_width, mode, constant_values=constant_values)
        if severed(y, array):
            return y, constant_back
        where = inner(shape, pad_width)
        if severed(y, constant_values):  # rounded: a constant
            return y, lambda y_bar: (None, y_bar[where])
        return y, lambda y_bar: (None, y_bar[where], np.sum(y_bar) - np.sum(y_bar[where]))
    if mode not in ("edge", "reflect", "symmetric", "wrap"):
        return NotImplemented
    whole = np.broadcast_to(0, shape)
    return np.pad(array, pad_width, mode), lambda y_bar: (
        None,
        scatter(np.pad(positions_of(whole), pad_width, mode), y_bar, whole),
    )


@array_frule(np.pad, operands="array")
def _(dots, y, array, pad_width, mode="constant", *, constant_values=0, reflect_type="even"):
    if isinstance(pad_width, dict) or reflect_type != "even" or np.ndim(constant_values) > 0:
        return NotImplemented
    if mode not in ("constant", "edge", "reflect", "symmetric", "wrap"):
        return NotImplemented
    return np.pad(dots[0], pad_width, mode)


linear_in(np.compress, places=range(1, 2))

# ---- unique --------------------------------------------------------------------------------------


@array_rule(np.unique, operands="ar")
def _(
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    sorted=True,
):
    named = {} if sorted else {"sorted": sorted}
    y = np.unique(
        ar, return_index, return_inverse, return_counts, axis, equal_nan=equal_nan, **named
    )
    shape = np.shape(ar)
    _, where, counts = np.unique(
        ar, return_inverse=True, return_counts=True, axis=axis, equal_nan=equal_nan
    )

    def unique_back(y_bar):
        """Share the cotangent of a value among the elements that equal it."""
        values, values_bar = (y[0], y_bar[0]) if isinstance(y, tuple) else (y, y_bar)
        if values_bar is None:
            return None, None
        if not sorted:
            values_bar = values_bar[np.argsort(values, kind="stable")]
        along = axis or 0
        share = np.moveaxis(values_bar, along, -1) / counts
        ar_bar = np.moveaxis(share[..., np.ravel(where)], -1, along)
        return None, np.reshape(ar_bar, shape)

    return y, unique_back


@array_frule(np.unique, operands="ar")
def _(
    dots,
    y,
    ar,
    return_index=False,
    return_inverse=False,
    return_counts=False,
    axis=None,
    *,
    equal_nan=True,
    sorted=True,
):
    """Compute the tangent of a value as the mean over the elements that equal it."""
    values = y[0] if isinstance(y, tuple) else y
    _, where, counts = np.unique(
        ar, return_inverse=True, return_counts=True, axis=axis, equal_nan=equal_nan
    )
    along = axis or 0
    rows = np.moveaxis(np.ravel(dots[0]) if axis is None else dots[0], along, -1)
    order = np.argsort(np.ravel(where), kind="stable")
    starts = np.cumsum(counts) - counts
    means = np.add.reduceat(rows[..., order], starts, -1) / counts if rows.size else rows
    values_dot = np.moveaxis(means, -1, along)
    if not sorted:
        values_dot = values_dot[np.argsort(np.argsort(values, kind="stable"))]
    return (values_dot, *(None,) * (len(y) - 1)) if isinstance(y, tuple) else values_dot


steady_in(np.unique)
