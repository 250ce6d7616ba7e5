"""Tangents of arguments: checks of their structure, shape and kind."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.errors import ArgumentError
from adjoint.primal.value_kinds import by_value, content_of, fields_of, is_objects


def parts_given(value: Any, dot: Any, n: int) -> Any:
    """Return the tangents of the `n` elements of a sequence."""
    if dot is True:
        return [True] * n
    if not isinstance(dot, list | tuple | deque) or len(dot) != n:
        raise ArgumentError(
            f"the tangent of a {type(value).__name__} of {n} elements is"
            f" {f'of {len(dot)}' if hasattr(dot, '__len__') else f'a {type(dot).__name__}'}",
            hint="give a tangent of the same structure, None for zero",
        )
    return dot


def entries_given(value: Mapping[Any, Any], dot: Any) -> Any:
    """Return the tangents of the entries of a mapping, with their keys."""
    if dot is True:
        return [(key, True) for key in value]
    if type(dot) is FunctionType:
        entries: Any = captured(dot)
    else:
        entries = dot if isinstance(dot, Mapping) else fields_of(dot)
    if entries is None or not set(entries) <= set(value):
        raise ArgumentError(
            f"the tangent of a {type(value).__name__} is a {type(dot).__name__} that does not fit",
            hint="give a tangent of the same structure, None for zero",
        )
    return list(entries.items())


def captured(f: FunctionType) -> dict[str, Any]:
    """Return the captured variables of a function, by name."""
    contents = [content_of(cell) for cell in f.__closure__ or ()]
    return dict(zip(f.__code__.co_freevars, contents, strict=True))


def agree(a: Any, b: Any) -> bool:
    """Return whether tangents of the same structure are equal."""
    if a is b:
        return True
    if isinstance(a, list | tuple | deque) and isinstance(b, list | tuple | deque):
        return len(a) == len(b) and all(map(agree, a, b))
    if by_value(a) or by_value(b):
        return np.array_equal(a, b)
    if is_objects(a) and is_objects(b):
        return np.shape(a) == np.shape(b) and all(map(agree, a.flat, b.flat))
    first, second = (x if isinstance(x, Mapping) else fields_of(x) for x in (a, b))
    if first is None or second is None:
        return False
    return first.keys() == second.keys() and all(agree(first[key], second[key]) for key in first)


def check_tangent(value: Any, dot: Any) -> None:
    """Refuse an invalid tangent of a number or an array.

    Raises
    ------
    ArgumentError
        The shapes differ; `dot` is not made of numbers; or `dot` is complex and `value` real.
    """
    if dot is True:
        return
    kind = np.asarray(dot).dtype.kind
    if kind not in "fciub" or (kind == "c" and not np.iscomplexobj(value)):
        what = "complex, the argument is real" if kind == "c" else f"a {type(dot).__name__}"
        raise ArgumentError(
            f"the tangent is {what}", hint="give a number, or an array of them, None for zero"
        )
    if np.shape(dot) != np.shape(value):
        raise ArgumentError(
            f"the tangent has shape {np.shape(dot)}, the argument has shape {np.shape(value)}",
            hint="give a tangent of the shape of the argument, None for zero",
        )


def needs_float(dot: Any, own: Any) -> bool:
    """Return whether a tangent has to be converted to the type of its number."""
    return not (
        isinstance(own, complex | np.complexfloating) or isinstance(dot, float | np.inexact)
    )
