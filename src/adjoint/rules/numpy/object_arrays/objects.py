"""Conversions of numbers and lists to arrays of objects, and of these to numbers."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from adjoint.primal.value_kinds import is_objects, is_one_object
from adjoint.rulekit.projection import SEQUENCES
from adjoint.rulekit.registry import non_differentiable, on_objects
from adjoint.rules.numpy.object_arrays.object_move_primitives import moving
from adjoint.runtime.arrays.object_conversion import _astype, _is, follows, of_numbers, of_parts
from adjoint.runtime.arrays.object_layout import empty_like_layout, in_memory_order
from adjoint.runtime.dispatch.source_call import call_function

# ---- conversions ---------------------------------------------------------------------------------


def numbers_of(a, plain):
    """Convert each element of an array of objects as C does, to the dtype and layout of `plain`."""
    convert = _conversion(plain)
    if convert is None:
        return plain
    numbers = np.array([convert(part) for part in a.flat], plain.dtype)
    return in_memory_order(np.reshape(numbers, plain.shape), plain)


def _conversion(plain: Any) -> Any:
    """Return the function that converts an element, or None if its result has no derivative."""
    return {"f": float, "c": complex}.get(plain.dtype.kind)


def _are_numbers(a: Any, plain: Any) -> bool:
    """Return whether NumPy converts the elements to numbers as Python does."""
    if plain.dtype.kind not in "fc":
        return True
    ways = ("__float__",) if plain.dtype.kind == "f" else ("__float__", "__complex__")
    return plain.dtype.char not in "gG" and all(
        any(hasattr(type(part), way) for way in ways) and not isinstance(part, np.ndarray)
        for part in a.flat
    )


non_differentiable(_astype, _is, follows, _conversion, _are_numbers)


def _converts(f: Any, key: Any) -> None:
    """Register `f`, which makes an array of its first argument."""
    move = moving(f)

    def converted(source, *args, **kwargs):
        if is_objects(source):  # each element is converted once
            like = _plain(_zeros_like_objects(source), args, kwargs)
            return numbers_of(source, like) if _conversion(like) else _plain(source, args, kwargs)
        plain = _plain(source, args, kwargs)
        if not is_objects(plain):
            return plain
        if _holds_only(source, plain):
            made = np.empty(plain.shape, object)
            made[(0,) * plain.ndim] = source
            return made
        if isinstance(source, np.ndarray):
            if source.dtype.kind not in "fc":
                return plain
            return of_numbers(np.reshape(source, plain.shape), plain)
        if isinstance(source, np.generic):
            return of_numbers(source, plain)
        return of_parts(source, plain)

    def _plain(source: Any, args: Any, kwargs: Any) -> Any:
        return f(source, *args, **kwargs)

    non_differentiable(_plain, _holds_only, _zeros_like_objects)

    @on_objects(key)
    def convert(record: list[Any], slot: int, *args: Any, **kwargs: Any) -> Any:
        if not args:
            return NotImplemented
        source = args[0]
        if isinstance(source, np.ndarray) and type(source) is not np.ndarray:
            return NotImplemented
        is_one = isinstance(source, int | float | complex) or is_one_object(source)
        if not is_one and not isinstance(source, (*SEQUENCES, np.ndarray, np.generic)):
            return NotImplemented  # converted by its own code
        y = f(_zeros_like_objects(source), *args[1:], **kwargs)
        if is_objects(source):
            if is_objects(y):
                return move(record, slot, *args, **kwargs)
            if not _are_numbers(source, y):
                return NotImplemented
        elif not is_objects(y) or (isinstance(source, SEQUENCES) and not follows(source, y)):
            return NotImplemented
        elif is_one and not isinstance(source, np.generic) and not _holds_only(source, y):
            return NotImplemented
        return call_function(record, slot, converted, args, kwargs)


def _zeros_like_objects(source: Any) -> Any:
    """Replace an array of objects, whose conversion may run user code, by zeros in its layout."""
    if not is_objects(source):
        return source
    zeros = empty_like_layout(source)
    zeros[...] = 0.0
    return zeros


def _holds_only(source: Any, made: Any) -> bool:
    """Return whether `made` is an array of objects whose only element is `source`."""
    return is_objects(made) and made.size == 1 and made.item() is source


for _f in (np.array, np.asarray, np.asanyarray, np.ascontiguousarray, np.asfortranarray):
    _converts(_f, _f)
_converts(np.ndarray.astype, (np.ndarray, "astype"))


# ---- arrays filled with one object ---------------------------------------------------------------


def _full(shape, fill_value, dtype=None, order="C"):
    made = np.empty(shape, object, order)
    np.copyto(made, fill_value)
    return made


def _full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    made = np.empty_like(a, object, order, subok, shape)
    np.copyto(made, fill_value)
    return made


def _fills(f: Any, source: Any) -> None:
    @on_objects(f)
    def fill(record: list[Any], slot: int, *args: Any, **kwargs: Any) -> Any:
        given = inspect.signature(f).bind(*args, **kwargs).arguments
        fill_value = given["fill_value"]
        if is_one_object(fill_value):  # a conversion may run user code
            given["fill_value"] = 0
            if given.get("dtype") is None and f is np.full:
                given["dtype"] = object
        y = f(**given)
        if not is_objects(y) or type(y) is not np.ndarray or isinstance(fill_value, SEQUENCES):
            return NotImplemented
        return call_function(record, slot, source, args, kwargs)


_fills(np.full, _full)
_fills(np.full_like, _full_like)
