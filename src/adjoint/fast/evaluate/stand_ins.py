"""Functions that stand for results of operators in the evaluator, which never calls them."""

from __future__ import annotations

from typing import Any

from adjoint.diagnostics.public_function import PublicFunction


def gradient_in(f: Any, argnums: Any, with_value: bool, *args: Any, **kwargs: Any) -> Any:
    """Stand for ``grad(f, argnums)`` or ``value_and_grad(f, argnums)``."""
    raise NotImplementedError


def derivative_at(f: Any, x: Any, *args: Any, **kwargs: Any) -> Any:
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
