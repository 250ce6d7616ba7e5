"""What modules and classes of C hold, by the beginnings of their names."""

from __future__ import annotations

from typing import Any

_FUNCTIONS = ("cython_function_or_method", "builtin_function_or_method")


def derived_from(base: type, module: Any) -> list[type]:
    """The classes of a module that are derived from one of C."""
    return [kind for kind in vars(module).values() if type(kind) is type and issubclass(kind, base)]


def names(owner: Any, *beginnings: str) -> list[str]:
    """The functions of a module or a class of C whose names begin in some way."""
    return [
        name
        for name, found in vars(owner).items()
        if name.startswith(beginnings) and type(found).__name__ in _FUNCTIONS
    ]
