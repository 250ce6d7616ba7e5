"""Tangents of arguments, as programs take them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from adjoint.fast.support.functions import finished
from adjoint.tangent import Tangent


def both_finished(
    values: tuple[Any, ...], outs: tuple[Any, ...], leaves: tuple[Any, ...]
) -> tuple[Any, Any]:
    """Return values and their tangents in arrays that share no memory; ``None`` for both if one is
    not finite."""
    made = finished(outs, (*leaves, *values))
    own = None if made is None else finished(values, leaves)
    return (None, None) if own is None else (own, made)


def fits(x: Any, dot: Any) -> bool:
    """Return whether a tangent has the structure, the shapes and the dtypes of `x`; ``None`` is
    zero."""
    if dot is None:
        return True
    kind = type(x)
    if kind is np.ndarray:
        if type(dot) is not np.ndarray or dot.shape != x.shape:
            return False
        return x.dtype is dot.dtype is _FLOAT64 or bool(dot.dtype == _dtype_for(x))
    if kind is list or kind is tuple or (issubclass(kind, tuple) and hasattr(kind, "_fields")):
        kinds = (list, tuple, kind)
        return type(dot) in kinds and len(dot) == len(x) and all(map(fits, x, dot))
    if issubclass(kind, int | float | np.floating | np.integer):
        return _class_of(dot) in (float, int, np.float64, kind)
    if issubclass(kind, complex | np.complexfloating):
        return _class_of(dot) in (float, int, complex, np.float64, np.complex128, kind)
    if kind is dict:
        return (
            type(dot) is dict
            and dot.keys() == x.keys()
            and all(fits(x[key], dot[key]) for key in x)
        )
    fields, moves = getattr(x, "__dict__", None), _fields_of(dot, kind)
    return (
        type(fields) is dict
        and moves is not None
        and moves.keys() == fields.keys()
        and all(fits(fields[key], moves[key]) for key in fields)
    )


def _class_of(dot: Any) -> type:
    """Return the class of a tangent of a number, which may be in an array of shape ``()``."""
    is_of_rank_0 = type(dot) is np.ndarray and not dot.ndim
    return dot.dtype.type if is_of_rank_0 else type(dot)


def _fields_of(dot: Any, kind: type) -> Mapping[str, Any] | None:
    """Return the tangents of the fields of an object of a class."""
    if type(dot) in (Tangent, dict):
        return dot  # type: ignore[no-any-return]
    return vars(dot) if type(dot) is kind and hasattr(dot, "__dict__") else None


_FLOAT64 = np.dtype(np.float64)
_STRUCTURES = (list, tuple, dict, Tangent)


def part_of(dot: Any, key: Any) -> Any:
    """Return the tangent of a part of a structure."""
    if dot is None:
        return None
    return dot[key] if isinstance(dot, _STRUCTURES) else vars(dot)[key]


def number_of(dot: Any) -> float:
    """Return the tangent of a number."""
    return 0.0 if dot is None else float(dot)


def complex_of(dot: Any) -> complex:
    """Return the tangent of a complex number."""
    return 0j if dot is None else complex(dot)


def single_of(dot: Any) -> Any:
    """Return the tangent of a number of single precision."""
    return np.float32(0.0 if dot is None else dot)


def array_of(dot: Any, x: Any) -> Any:
    """Return the tangent of an array."""
    return np.zeros(x.shape, _dtype_for(x)) if dot is None else dot


def _dtype_for(x: Any) -> Any:
    """Return the dtype of the tangent of an array."""
    return x.dtype if x.dtype.kind in "fc" else np.dtype(np.float64)


def row_of(dot: Any, xs: Any) -> Any:
    """Return the tangent of a list of numbers."""
    return [0.0] * len(xs) if dot is None else [*map(number_of, dot)]


def unchanged(now: Any, before: tuple[Any, ...]) -> bool:
    """Return whether the leaves of a program are unchanged: the same numbers and arrays, and lists
    of the same numbers; `now` is no tuple if a guard fails."""
    return type(now) is tuple and len(now) == len(before) and all(map(_is_same, now, before))


def _is_same(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(a) is not type(b) or type(a) is np.ndarray:
        return False
    return unchanged(a, b) if type(a) is tuple else bool(a == b)
