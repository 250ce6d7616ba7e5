"""NumPy functions in terms of others: functions that programs inline in place of them.

Each gives what NumPy gives, or raises: then the generic tier runs the call. So what a definition
does not provide for raises, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from adjoint.rulekit.registry import non_differentiable
from adjoint.rules.scipy.equivalents import with_derivative_of

F = TypeVar("F", bound=Callable[..., Any])
definitions: dict[Any, Any] = {}
several: Any = tuple if int(np.__version__.partition(".")[0]) >= 2 else list
"""What functions of NumPy return that return several arrays."""


def definition(*functions: Any) -> Callable[[F], F]:
    """Register the decorated function as the definition of `functions`."""

    def add(f: F) -> F:
        definitions.update(dict.fromkeys(functions, f))
        return f

    return add


# ---- compiled functions whose derivative is that of a twin in Python -----------------------------


@non_differentiable
def constant(x):
    return x


def with_derivative(value, y):
    """Return `value` with the derivative of `y`."""
    moved = y - constant(y)
    return value + (moved if np.ndim(y) else float(moved))


@definition(with_derivative_of)
def _with_derivative_of(y, carrier, f, rtol, atol):
    """The second derivative is that of `carrier`, too: so it is not the rule that is inlined."""
    if y.dtype != carrier.dtype or y.shape != carrier.shape:
        raise TypeError("results of another kind")
    if not np.all(np.abs(carrier - y) <= atol + rtol * np.abs(y)):
        raise ValueError("results that disagree")
    return y + (carrier - constant(carrier))


@definition(np.ndarray.searchsorted)
def _searchsorted(a, v, side="left", sorter=None):
    if sorter is not None:
        raise ValueError("an order of its own")
    return np.searchsorted(a, v, side)


@definition(np.ndarray.view)
def _view(a):
    return a[...]


@definition(np.fromiter)
def _fromiter(iter, dtype, count=-1):
    y = np.array(list(iter), dtype)
    if count not in (-1, len(y)):
        raise ValueError("items of another number")
    if y.ndim != 1 or y.dtype.kind not in "fiub":
        raise TypeError("items of another kind")
    return y


# ---- parts ---------------------------------------------------------------------------------------


@definition(np.array_split)
def array_split(ary, indices_or_sections, axis=0):
    n = ary.shape[axis]
    if isinstance(indices_or_sections, int):
        count = indices_or_sections
        if count <= 0:
            raise ValueError("number sections must be larger than 0")
        each, longer = n // count, n % count
        ends = [i * each + min(i, longer) for i in range(count + 1)]
    else:
        ends = [0, *indices_or_sections, n]
    if axis == 0:
        return [ary[ends[i] : ends[i + 1]] for i in range(len(ends) - 1)]
    turned = np.swapaxes(ary, 0, axis)
    return [np.swapaxes(turned[ends[i] : ends[i + 1]], 0, axis) for i in range(len(ends) - 1)]


@definition(np.split)
def split(ary, indices_or_sections, axis=0):
    if isinstance(indices_or_sections, int) and ary.shape[axis] % indices_or_sections:
        raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


@definition(np.vsplit)
def _vsplit(ary, indices_or_sections):
    return split(ary, indices_or_sections, 0)


@definition(np.hsplit)
def _hsplit(ary, indices_or_sections):
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


@definition(np.ndenumerate)
def _ndenumerate(arr):
    if arr.ndim == 1:
        for i in range(arr.shape[0]):
            yield (i,), arr[i]
    elif arr.ndim == 2:
        m, n = arr.shape
        for i in range(m):
            for j in range(n):
                yield (i, j), arr[i, j]
    else:
        m, n, k = arr.shape
        for i in range(m):
            for j in range(n):
                for p in range(k):
                    yield (i, j, p), arr[i, j, p]


@definition(np.ndindex)
def _ndindex(*shape):
    if len(shape) == 1 and isinstance(shape[0], tuple):
        (shape,) = shape
    if len(shape) == 1:
        for i in range(shape[0]):
            yield (i,)
    elif len(shape) == 2:
        m, n = shape
        for i in range(m):
            for j in range(n):
                yield i, j
    else:
        m, n, k = shape
        for i in range(m):
            for j in range(n):
                for p in range(k):
                    yield i, j, p


def windows(x, window_shape, axis=None, subok=False, writeable=False):
    if axis is None:
        axes = tuple(range(x.ndim))
    else:
        axes = (axis,) if isinstance(axis, int) else tuple(axis)
    lengths = window_shape if isinstance(window_shape, tuple | list) else (window_shape,)
    if len(lengths) != len(axes):
        raise ValueError("windows of other axes")
    places, rank = [at % x.ndim for at in axes], x.ndim + len(axes)
    keys = []
    for d in range(x.ndim):
        if d in places:
            k = places.index(d)
            starts, steps = np.arange(x.shape[d] - lengths[k] + 1), np.arange(lengths[k])
            key = along(starts, d, rank) + along(steps, x.ndim + k, rank)
        else:
            key = along(np.arange(x.shape[d]), d, rank)
        keys.append(key)
    return x[tuple(keys)]  # one read: what it looks at is told by that


def along(numbers, axis, rank):
    return np.reshape(numbers, tuple(-1 if i == axis else 1 for i in range(rank)))


# ---- arrays beside one another -------------------------------------------------------------------


@definition(np.meshgrid)
def _meshgrid(*xi, sparse=False, indexing="xy"):
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    rank = len(xi)
    turned = indexing == "xy" and rank > 1
    places = [1 - i if turned and i < 2 else i for i in range(rank)]
    found = [
        np.reshape(x, tuple(-1 if i == place else 1 for i in range(rank)))
        for x, place in zip(xi, places, strict=True)
    ]
    if not sparse:
        shape = tuple(found[places[i]].shape[i] for i in range(rank))
        found = [np.broadcast_to(x, shape) for x in found]
    return several([np.copy(x) for x in found])


@definition(np.block)
def _block(arrays):
    nested = [isinstance(row, list) for row in arrays]
    rows = arrays if nested[0] else [arrays]
    rank = 1
    for row in rows:
        for x in row:
            if isinstance(x, list):
                raise ValueError("lists of lists of lists")
            rank = max(rank, np.ndim(x))
    if not isinstance(arrays, list) or any(nested) != all(nested) or rank > 2:
        raise ValueError("blocks of another kind")
    if not nested[0] and rank == 1:
        return np.concatenate([np.atleast_1d(x) for x in arrays])
    return np.concatenate(
        [np.concatenate([np.atleast_2d(x) for x in row], axis=1) for row in rows], axis=0
    )


# ---- choices -------------------------------------------------------------------------------------


@definition(np.select)
def _select(condlist, choicelist, default=0):
    if len(condlist) != len(choicelist) or len(condlist) == 0:
        raise ValueError("list of cases must be same length as list of conditions")
    y = default
    for i in range(len(condlist) - 1, -1, -1):
        if np.asarray(condlist[i]).dtype != bool:
            raise TypeError("a condition that is not of truth values")
        y = np.where(condlist[i], choicelist[i], y)
    return y


@definition(np.choose)
def _choose(a, choices):
    if np.any((a < 0) | (a >= len(choices))):
        raise ValueError("invalid entry in choice array")
    y = choices[-1]
    for i in range(len(choices) - 2, -1, -1):
        y = np.where(a == i, choices[i], y)
    return y


@definition(np.piecewise)
def _piecewise(x, condlist, funclist, *args, **kw):
    if not isinstance(condlist, list | tuple):
        condlist = [condlist]
    y = np.zeros_like(x)
    rest = condlist[0]
    for i in range(1, len(condlist)):
        rest = rest | condlist[i]
    conditions = [*condlist, ~rest] if len(funclist) > len(condlist) else condlist
    if len(conditions) != len(funclist):
        raise ValueError("other numbers of conditions and functions")
    for condition, f in zip(conditions, funclist, strict=True):
        if callable(f):
            chosen = x[condition]
            if len(chosen) > 0:
                y[condition] = f(chosen, *args, **kw)
        else:
            y[condition] = f
    return y


# ---- functions of rows and of elements -----------------------------------------------------------


@definition(np.apply_along_axis)
def _apply_along_axis(func1d, axis, arr, *args, **kwargs):
    rows = np.moveaxis(arr, axis, -1)
    shape = rows.shape[:-1]
    flat = np.reshape(rows, (-1, rows.shape[-1]))
    first = func1d(flat[0], *args, **kwargs)
    count = flat.shape[0]
    if np.ndim(first) == 0:
        y = np.full(count, first)
        for i in range(1, count):
            y[i] = func1d(flat[i], *args, **kwargs)
        return np.reshape(y, shape)
    y = np.empty((count, len(first)), first.dtype)
    y[0] = first
    for i in range(1, count):
        y[i] = func1d(flat[i], *args, **kwargs)
    return np.moveaxis(np.reshape(y, (*shape, len(first))), -1, axis)


def vectorized(f, *args):
    whole = np.broadcast_arrays(*args) if len(args) > 1 else args
    first = np.asarray(f(*[x.ravel()[0] for x in whole]))  # it decides on the type of the result
    made = [f(*items) for items in zip(*[x.ravel().tolist() for x in whole], strict=False)]
    y = np.array(made)
    if y.dtype != first.dtype:
        raise TypeError("numbers of several types")
    return np.reshape(y, whole[0].shape)


# ---- differences and products -------------------------------------------------------------------


@definition(np.diff)
def _diff(a, n=1, axis=-1, prepend=np._NoValue, append=np._NoValue):
    if a.dtype.kind == "b":
        raise TypeError("differences of truth values")
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n}")
    if n > 0 and prepend is not np._NoValue:
        a = np.concatenate([_end_of(a, axis, prepend), a], axis)
    if n > 0 and append is not np._NoValue:
        a = np.concatenate([a, _end_of(a, axis, append)], axis)
    if n == 1 and (axis == 0 or (a.ndim == 1 and axis == -1)):
        return a[1:] - a[:-1]
    y = np.moveaxis(a, axis, -1)
    if n == 1:
        return np.moveaxis(y[..., 1:] - y[..., :-1], -1, axis)
    for _ in range(n):
        y = y[..., 1:] - y[..., :-1]
    return np.moveaxis(y, -1, axis)


def _end_of(a, axis, values):
    if isinstance(values, list | tuple) or np.ndim(values) > 0:
        return np.asarray(values)
    shape = list(a.shape)
    shape[axis] = 1
    return np.full(tuple(shape), values)


@definition(np.ndarray.__truediv__)
def _quotient(a, b):
    return np.true_divide(a, b)


@definition(np.nancumprod)
def _nancumprod(a, axis=None):
    return np.cumprod(np.where(np.isnan(a), 1, a), axis)


if hasattr(np, "cumulative_prod"):

    @definition(np.cumulative_prod)
    def _cumulative_prod(x, /, *, axis=None, include_initial=False):
        if axis is None:
            if x.ndim != 1:
                raise ValueError("several axes")
            axis = 0
        y = np.moveaxis(np.cumprod(x, axis), axis, 0)
        if include_initial:
            if len(y) == 0:
                raise ValueError("no first factor")
            y = np.concatenate([np.ones_like(y[:1]), y])
        return np.moveaxis(y, 0, axis)
