"""Functions that stand for results of operators in the evaluator, which never calls them."""

from __future__ import annotations

import functools
from types import CodeType, FunctionType
from typing import Any

from adjoint.diagnostics.public_function import PublicFunction
from adjoint.primal.value_kinds import content_of
from adjoint.rulekit import nested


def gradient_in(f: Any, argnums: Any, with_value: bool, /, *args: Any, **kwargs: Any) -> Any:
    """Stand for ``grad(f, argnums)`` or ``value_and_grad(f, argnums)``."""
    raise NotImplementedError


def derivative_at(f: Any, /, x: Any, *args: Any, **kwargs: Any) -> Any:
    """Stand for ``derivative(f)``."""
    raise NotImplementedError


def options_of(value: Any) -> tuple[Any, bool] | None:
    """Return what `grad` or `value_and_grad` was told to differentiate in, and whether the value is
    returned too; ``None`` for other options and other functions."""
    asked = vars(value).get("asks_for") if type(value) is PublicFunction else None
    if asked is None or asked.has_aux or asked.tier == "generic":
        return None
    argnums = asked.argnums
    places = argnums if type(argnums) is tuple else () if argnums is None else (argnums,)
    if not all(type(place) is int for place in places):
        return None
    return argnums, asked.with_value


def rows_of(f: Any, in_axes: Any, out_axes: Any, /, *args: Any, **kwargs: Any) -> Any:
    """Stand for ``vmap(f, in_axes, out_axes)``."""
    raise NotImplementedError


def is_mapped(f: FunctionType) -> bool:
    """Return whether `vmap` has returned a function."""
    return f.__code__ is nested.code_of_mapped


def axes_of(f: FunctionType) -> tuple[Any, Any] | None:
    """Return the axes that `vmap` was given when it returned `f`; ``None`` for structures of
    axes."""
    held = dict(zip(f.__code__.co_freevars, map(content_of, f.__closure__ or ()), strict=True))
    in_axes = held["in_axes"]
    axes = tuple(in_axes) if type(in_axes) is list else in_axes, held["out_axes"]
    return axes if all(map(_is_axis, axes)) else None


def _is_axis(axis: Any) -> bool:
    return axis is None or type(axis) is int or (type(axis) is tuple and all(map(_is_axis, axis)))


def is_dispatching(f: FunctionType) -> bool:
    """Return whether `functools.singledispatch` has made a function."""
    return f.__code__ is _dispatching_code()


@functools.cache
def _dispatching_code() -> CodeType:
    made: Any = functools.singledispatch(lambda x: x)
    return made.__code__  # type: ignore[no-any-return]
