"""Names of the floats in a model, such as ``layers.0.W``, and gradients by these names."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, TypeAlias

import numpy as np

from adjoint.derivatives.tree_plan import (
    Path,
    is_number,
    is_variable,
    path_text,
    plan_of,
    rebuilt,
)
from adjoint.errors import ArgumentError
from adjoint.runtime.leaves import object_fields

Parts: TypeAlias = "dict[str, Any]"
"""Numbers and arrays by name."""


def name_of(path: Path) -> str:
    """Return the keys and field names of a path, separated by dots."""
    return ".".join(str(key) for _, key in path)


def variables(model: Any) -> Parts:
    """Return the floats and complex numbers of a model, and arrays of them, by name.

    Raises
    ------
    ArgumentError
        There are none, or two have one name.
    """
    _, plan = plan_of(model, (), is_variable, False)
    parts: Parts = {}
    for leaf in plan.leaves:
        _add(parts, name_of(leaf.path), leaf.value)
    if not parts:
        raise ArgumentError(
            f"a {type(model).__name__} holds no floats that an optimizer could change",
            hint="integers are constants, and so is what functions capture: write 1.0 for 1,"
            " np.array(..., dtype=float), and give parameters in a dict, a list or an object",
        )
    return parts


def warn_of_captured(model: Any) -> None:
    """Warn where functions in a model capture arrays of floats: a copy of the model shares them."""
    _, plan = plan_of(model, (), _captures, False)
    for leaf in plan.leaves:
        warnings.warn(
            f"the function at {path_text('params', leaf.path)} captures an array of floats, which"
            " no optimizer changes: keep it in a field of an object, or train by"
            " ad.nn.gradient_descent(..., optimizer=...)",
            RuntimeWarning,
            stacklevel=3,
        )


def _captures(value: Any) -> bool:
    """Return whether `value` is a function that holds arrays of floats."""
    held: list[Any] = []
    if isinstance(value, FunctionType):
        held = [*object_fields(value).values()]
    elif isinstance(value, MethodType):
        held = [value.__self__]
    elif isinstance(value, functools.partial):
        held = [*value.args, *value.keywords.values()]
    _, plan = plan_of(held, (), is_variable, False)
    return any(isinstance(leaf.value, np.ndarray) for leaf in plan.leaves)


def cotangents(bars: Any, model: Any) -> tuple[Parts, Parts | None]:
    """Return the parts of a gradient by name, and those of the model beside them.

    Parameters
    ----------
    bars
        A gradient, or a structure like it; parts that are ``None`` are left out.
    model
        What it is the gradient of: parts beside integers are left out, and shapes are compared;
        ``None`` if it is not known.
    """
    parts: Parts = {}
    if model is None:
        _, plan = plan_of(bars, (), is_variable, False)
        for leaf in plan.leaves:
            _add(parts, name_of(leaf.path), leaf.value)
        return parts, None
    known: Parts = {}
    _, plan = plan_of(model, (bars,), is_variable, False)
    for leaf in plan.leaves:
        (bar,) = leaf.beside
        if bar is not None:
            name = name_of(leaf.path)
            check_part(name, leaf.value, bar)
            _add(parts, name, bar)
            known[name] = leaf.value
    return parts, known


def with_parts(bars: Any, parts: Parts) -> Any:
    """Return a structure like a gradient that has the given parts, and ``None`` for others."""
    root, plan = plan_of(bars, (), is_number, False)
    names = {leaf.number: name_of(leaf.path) for leaf in plan.leaves}
    return rebuilt(root, lambda number, value: parts.get(names[number]), bars, (), {})


def check_part(name: str, value: Any, bar: Any) -> None:
    """Refuse a cotangent whose shape is not that of its primal, or a complex one of a real."""
    place = f"{name!r}" if name else "the parameter"
    if np.shape(bar) != np.shape(value):
        raise ArgumentError(
            f"{place} has shape {np.shape(value)}, its gradient or state {np.shape(bar)}",
            hint="give the gradient of this model, and a state that init made for it",
        )
    if np.iscomplexobj(bar) and not np.iscomplexobj(value):
        raise ArgumentError(
            f"{place} is real, its gradient is complex", hint="give np.real of the gradient"
        )


def map_parts(f: Callable[..., Any], parts: Parts, *others: Parts) -> Parts:
    """Return ``f`` of each part and of those of the same name in `others`."""
    return {name: f(part, *(other[name] for other in others)) for name, part in parts.items()}


def _add(parts: Parts, name: str, value: Any) -> None:
    if name in parts:
        raise ArgumentError(
            f"two parts of the model have the name {name!r}",
            hint="use keys without dots, of which no two read alike (1 and '1')",
        )
    parts[name] = value
