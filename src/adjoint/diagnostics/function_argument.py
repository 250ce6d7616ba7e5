"""Errors for calls of an operator without the function or without the point."""

from __future__ import annotations

import inspect
from typing import Any

from adjoint.errors import ArgumentError


def demand_function(f: Any, form: str) -> None:
    """Refuse what is no function. `form` is a call as it should be, such as ``gradient(f, x)``."""
    if callable(f):
        return
    operator = form.partition("(")[0]
    what = f"an array of shape {f.shape}" if hasattr(f, "shape") and f.shape else repr(f)
    raise ArgumentError(
        f"{operator} takes a function, and was given {what}",
        hint=f"write ad.{form}, with the function itself: not its value f(x)",
    )


def demand_point(f: Any, count: int, operator: str) -> None:
    """Refuse a call with `count` arguments, none of them the point that `f` needs."""
    demand_function(f, f"{operator}(f, x)")
    if count:
        return
    try:
        parameters = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):  # a function of C
        return
    by_position = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    if any(one.kind in by_position and one.default is one.empty for one in parameters):
        raise ArgumentError(
            f"{operator} takes the point, too",
            hint=f"write ad.{operator}(f, x); the gradient as a function of the point is"
            " ad.grad(f)",
        )
