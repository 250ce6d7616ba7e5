"""Special methods that are not functions (cached, partial, with ``__get__`` or ``__call__``) as
Python functions that call them and can be lowered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.primal.value_kinds import defined_by


def function_of(static: Any) -> Callable[..., Any]:
    """Return a class attribute as a function of the object and the other operands."""
    if defined_by(type(static), "__get__") is not None:

        def bound_first(obj: Any, /, *args: Any, **kwargs: Any) -> Any:
            return static.__get__(obj, type(obj))(*args, **kwargs)

        return bound_first

    def without_object(obj: Any, /, *args: Any, **kwargs: Any) -> Any:
        return static(*args, **kwargs)

    return without_object
