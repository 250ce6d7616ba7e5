"""Tables from a syntax class to its lowering: the place to add new syntax."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any, Generic, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


class Table(Generic[F]):
    """An open dispatch on the exact class of a node: syntax nodes have no subclasses."""

    def __init__(self) -> None:
        self.entries: dict[type[ast.AST], F] = {}

    def register(self, *classes: type[ast.AST]) -> Callable[[F], F]:
        """Register the decorated function for nodes of these classes."""

        def enter(function: F) -> F:
            for cls in classes:
                self.entries[cls] = function
            return function

        return enter
