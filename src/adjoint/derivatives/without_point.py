"""Operators that also return a function of the point: ``hessian(f)`` beside ``hessian(f, x)``."""

from __future__ import annotations

import functools
from collections.abc import Callable
from sys import modules
from typing import Any, TypeVar

from adjoint.diagnostics.function_argument import demand_function
from adjoint.diagnostics.public_function import MadeBy, named_after, public

F = TypeVar("F", bound=Callable[..., Any])


def also_without_point(operator: F) -> F:
    """Make ``operator(f, **options)`` the function ``operator(f, *point, **options)`` of the point.

    Keyword arguments of the function that is returned are added to `options`.
    """
    takes_vector = operator.__code__.co_posonlyargcount > 2

    @functools.wraps(operator)
    def run(f: Callable[..., Any], /, *point: Any, **options: Any) -> Any:
        if point or _names_keyword(options):
            return operator(f, *point, **options)

        def at_point(*args: Any, **kwargs: Any) -> Any:
            return operator(f, *args, **{**options, **kwargs})

        demand_function(f, f"{operator.__name__}(f, x)")
        at_point.__module__ = operator.__module__  # where operators are
        made_by = MadeBy(getattr(modules[operator.__module__], operator.__name__), (f,), options)
        return named_after(public(at_point), made_by._replace(takes_point=not takes_vector))

    return run  # type: ignore[return-value]


def _names_keyword(options: dict[str, Any]) -> bool:
    """Return whether the derivative is taken in a keyword argument that is given."""
    argnums = options.get("argnums")
    asked = argnums if isinstance(argnums, tuple) else (argnums,)
    places = [one[0] if isinstance(one, list) and one else one for one in asked]
    return any(isinstance(place, str) and place in options for place in places)
