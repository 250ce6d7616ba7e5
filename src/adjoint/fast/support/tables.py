"""Tables by callee, and the decorators that fill them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


Registering: TypeAlias = Callable[..., Callable[[F], F]]


def registering(table: dict[Any, F]) -> Registering[F]:
    """Return ``register(*callees)``, a decorator that puts a function into `table` for each of
    them."""

    def register(*callees: Any) -> Callable[[F], F]:
        def add(function: F) -> F:
            for callee in callees:
                table[callee] = function
            return function

        return add

    return register
