"""Substitutes for NumPy's functions and methods that write into an array, made of assignments.

Assignments to subscripts are logged and differentiated. As in C, ``__setitem__`` of a subclass is
not called.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.primal.childless_types import CHILDLESS_TYPES
from adjoint.primal.value_kinds import is_objects
from adjoint.rulekit.projection import SEQUENCES
from adjoint.rulekit.registry import non_differentiable, primitive, substitute
from adjoint.runtime.arrays.writes import demand_order
from adjoint.runtime.dispatch.number_protocols import holds_unlike_elements
from adjoint.runtime.dispatch.source_call import call_function
from adjoint.runtime.foreign.unknown_call import run_unknown


@non_differentiable
def _demand_cast(f: Any, a: Any, values: Any) -> None:
    """Raise the error of `f` if it does not cast `values` to the dtype of `a`."""
    if not is_objects(a) and np.size(values):
        f(np.empty(0, a.dtype), np.empty(0, bool), values)


non_differentiable(demand_order)


def as_written(a: Any, values: Any) -> Any:
    """Convert `values` to elements of `a` as NumPy does."""
    if is_objects(a):
        return np.asarray(values, object)
    # NumPy reads the value of a float subclass for complex elements, ``__float__`` for others.
    return np.asarray(values, a.dtype) if is_float_subclass(a, values) else values


def is_float_subclass(a: Any, value: Any) -> bool:
    return a.dtype.kind == "c" and isinstance(value, float) and type(value) not in CHILDLESS_TYPES


non_differentiable(is_float_subclass)


@substitute(np.copyto)
def _copyto(dst, src, casting="same_kind", where=True):
    if isinstance(src, SEQUENCES) or (
        dst.dtype.kind == "O" and isinstance(src, (np.generic, int, float, complex))
    ):
        src = np.asarray(src)  # an assignment refuses some lists, and stores the number itself
    elif isinstance(src, float):
        src = np.asarray(src) if is_float_subclass(dst, src) else src
    if not np.can_cast(src if isinstance(src, np.ndarray) else np.asarray(src), dst.dtype, casting):
        raise TypeError(
            f"Cannot cast array data from {np.asarray(src).dtype!r} to {dst.dtype!r} according to "
            f"the rule {casting!r}"
        )
    dst = np.ndarray.view(dst, np.ndarray)
    if where is True:
        dst[...] = src
    else:
        if isinstance(where, np.ndarray) and where.dtype != bool:
            raise TypeError(
                f"Cannot cast array data from {where.dtype!r} to {np.dtype(bool)!r} according to "
                "the rule 'safe'"
            )
        chosen = np.broadcast_to(np.asarray(where, bool), dst.shape)
        dst[chosen] = np.broadcast_to(src, dst.shape)[chosen]


@substitute((np.ndarray, "fill"))
def _fill(a, value):
    if is_objects(a):
        for index in np.ndindex(*a.shape):
            a[index] = value  # which may be a list
        return
    if holds_unlike_elements(a.dtype, (value,)):
        one = np.empty((), a.dtype)
        one[()] = value
        value = one
    np.asarray(a)[...] = value


@substitute((np.ndarray, "sort"))
def _sort(a, axis=-1, kind=None, order=None, *, stable=None):
    a = np.asarray(a)  # ``np.sort`` would call ``sort`` of a subclass
    if stable is None:
        a[...] = np.sort(a, axis, kind, order)
    else:
        a[...] = np.sort(a, axis, kind, order, stable=stable)


@substitute((np.ndarray, "partition"))
def _partition(a, kth, axis=-1, kind="introselect", order=None):
    a = np.asarray(a)
    a[...] = np.partition(a, kth, axis, kind, order)


def _sort_rows(a, axis=-1, kind=None, order=None, *, stable=None):
    """Sort a structured array, or an array of bytes."""
    named = {} if stable is None else {"stable": stable}
    _arrange(a, np.argsort(a, axis, kind, order, **named), axis)


def _arrange(a, places, axis):
    """Reorder a structured array field by field, because fields may carry derivatives."""
    if a.dtype.names is not None:
        for name in a.dtype.names:
            _arrange(a[name], places, axis)
        return
    axis = axis % places.ndim
    if a.dtype.kind == "V":
        a = a[..., None].view(np.uint8)
    a[...] = np.take_along_axis(
        a, np.reshape(places, places.shape + (1,) * (a.ndim - places.ndim)), axis
    )


def _sorts_by_unknown(f: Any, key: Any, plain: str = "") -> None:
    """Register `key`: an unknown call sorts copies of arrays of objects, arrays of dtype kinds
    `plain` are constant."""

    def run(record: list[Any], slot: int, /, *args: Any, **options: Any) -> Any:
        if args and isinstance(args[0], np.ndarray):
            if args[0].dtype.hasobject and key is f:
                return run_unknown(record[0], record, slot, f, args, options)
            if args[0].dtype.kind in plain:
                return f(*args, **options)
            if args[0].dtype.kind == "V" and f is np.ndarray.sort and type(args[0]) is np.ndarray:
                return call_function(record, slot, _sort_rows, args, options)
        return NotImplemented

    primitive(key)(run)


for _name in ("sort", "partition"):
    _sorts_by_unknown(getattr(np, _name), getattr(np, _name), plain="SUTmM")
    _sorts_by_unknown(getattr(np.ndarray, _name), (np.ndarray, _name))


@substitute((np.ndarray, "put"))
def _put(a, indices, values, /, mode="raise"):
    demand_order(a, lambda target: target.put(indices, values, mode), values)
    values = as_written(a, values)
    a, where = np.ndarray.view(a, np.ndarray), np.asarray(indices).reshape(-1)
    count = where.size if np.size(values) else 0
    if mode == "wrap":
        where = where % a.size
    elif mode == "clip":
        where = np.clip(where, 0, a.size - 1)
    else:
        outside = (where < -a.size) | (where >= a.size)
        count = int(np.argmax(outside)) if count and outside.any() else count
    if count and not a.ndim:
        a[...] = np.resize(values, count)[-1]
    elif count:
        places = np.unravel_index(where[:count] % a.size, a.shape)
        a[places] = np.resize(values, count)
    if count < where.size and np.size(values):  # the values before it are written
        raise IndexError(f"index {where[count]} is out of bounds for axis 0 with size {a.size}")


@substitute(np.putmask)
def _putmask(a, /, mask, values):
    """Assign where `mask` is true; `values` is repeated over all elements."""
    _demand_cast(np.putmask, a, values)
    demand_order(a, lambda target: np.putmask(target, mask, values), values)
    values = as_written(a, values)
    a = np.ndarray.view(a, np.ndarray)
    if np.size(values):
        chosen = np.reshape(np.asarray(mask, bool), a.shape)
        a[chosen] = np.resize(values, a.shape)[chosen]


@substitute(np.place)
def _place(arr, mask, vals):
    """Assign where `mask` is true; `vals` is repeated over the chosen elements."""
    _demand_cast(np.place, arr, vals)
    demand_order(arr, lambda target: np.place(target, mask, vals), vals)
    vals = as_written(arr, vals)
    arr = np.ndarray.view(arr, np.ndarray)
    chosen = np.reshape(np.asarray(mask, bool), arr.shape)
    count = np.count_nonzero(chosen)
    if count:
        if not np.size(vals):
            raise ValueError("Cannot insert from an empty array!")
        arr[chosen] = np.resize(vals, count)
