"""Conversions to and from arrays of objects, which are followed where each element is known.

Other functions of arrays of objects are unknown callees."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.primal.value_kinds import is_objects
from adjoint.rulekit.registry import entry, non_differentiable, primitive, substitute
from adjoint.runtime.foreign.unknown_call import run_unknown


def _converts(f: Any, key: Any) -> None:
    """Register `f`, which makes an array of its first argument."""

    def unknown(*args, **kwargs):
        return f(*args, **kwargs)

    @primitive(unknown)
    def _(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
        return run_unknown(record[0], record, slot, f, args, kwargs)

    @non_differentiable
    def of_zeros(source: Any, args: Any, kwargs: Any) -> Any:
        """Return what the conversion of objects, which may run user code, is like; ``None`` for an
        alias."""
        zeros = np.zeros_like(source)
        y = f(zeros, *args, **kwargs)
        return None if y is zeros or np.shares_memory(y, zeros) else y

    @substitute(key)
    def converted(source, /, *args, **kwargs):
        if is_objects(source):
            y = of_zeros(source, args, kwargs)
            way = _of_objects(source, y)
            return unknown(source, *args, **kwargs) if way is None else way(source, y)
        y = unknown(source, *args, **kwargs)
        way = _to_objects(source, y) if is_objects(y) else None
        return y if way is None else way(source, y)


def _of_objects(source: Any, y: Any) -> Any:
    """Return the function that converts an array of objects to an array like `y`, or ``None``."""
    if type(source) is not np.ndarray or type(y) is not np.ndarray or source.shape != y.shape:
        return None
    if is_objects(y):
        return copied
    if y.dtype.char not in "efdFD" or not source.flags.c_contiguous:
        return None
    return numbers_of if all(map(_is_number, source.flat)) else None


def _is_number(part: Any) -> bool:
    return part is None or (hasattr(type(part), "__float__") and not isinstance(part, np.ndarray))


def _to_objects(source: Any, y: Any) -> Any:
    """Return the function that makes the array of objects `y` of `source`, or ``None``."""
    if type(y) is not np.ndarray or not y.flags.c_contiguous:
        return None
    if isinstance(source, np.ndarray):
        return boxed if _is_plain(source, y) else None
    return listed if _holds(source, y) else None


def _is_plain(source: Any, y: Any) -> bool:
    return type(source) is np.ndarray and source.dtype.kind in "iufc" and source.shape == y.shape


def _holds(source: Any, y: Any) -> bool:
    """Return whether the elements of `y` are the items of nested lists, or one object."""
    for index in np.ndindex(*y.shape):
        part = source
        for i in index:
            if type(part) not in (list, tuple):
                return False
            part = part[i]
        if part is not y[index]:
            return False
    return True


non_differentiable(_of_objects, _to_objects)


def listed(source: Any, y: Any) -> Any:
    """Return an array of the items of nested lists, shaped like `y`."""
    made = np.empty(y.shape, object)
    for index in np.ndindex(*y.shape):
        part = source
        for i in index:
            part = part[i]
        made[index] = part
    return made


def boxed(source: Any, y: Any) -> Any:
    """Return an array of Python's own numbers."""
    made = np.empty(y.shape, object)
    for index in np.ndindex(*y.shape):
        made[index] = source[index].item()
    return made


def copied(source: Any, y: Any) -> Any:
    """Return a copy of an array of objects in the layout of `y`."""
    made = np.empty_like(y)
    made[...] = source
    return made


def numbers_of(source: Any, y: Any) -> Any:
    """Return the numbers of objects as C converts them, in the layout of `y`."""
    made = np.empty_like(y)
    for index in np.ndindex(*y.shape):
        made[index] = source[index]
    return made


for _f in (np.array, np.asarray, np.asanyarray):
    _converts(_f, _f)
for _name in ("astype", "copy", "__copy__"):
    _converts(getattr(np.ndarray, _name), (np.ndarray, _name))


def _runs_on_objects(f: Any, key: Any) -> None:
    """Register `f`, a function of an array, which is an unknown callee for arrays of objects."""

    otherwise = entry(key).primitive

    @primitive(key)
    def run(record: list[Any], slot: int, /, *args: Any, **kwargs: Any) -> Any:
        if args and is_objects(args[0]):
            return run_unknown(record[0], record, slot, f, args, kwargs)
        return NotImplemented if otherwise is None else otherwise(record, slot, *args, **kwargs)


_tricks: Any = getattr(np.lib, "_stride_tricks_impl", np.lib.stride_tricks)
_runs_on_objects(_tricks._broadcast_to, _tricks._broadcast_to)
_truth: Any = np.array([2.0], object).any()
if type(_truth) is float:  # NumPy 1 returns an element, not a boolean
    for _name in ("any", "all"):
        _f = getattr(np, _name)
        _runs_on_objects(_f, _f)
        _runs_on_objects(getattr(np.ndarray, _name), (np.ndarray, _name))
