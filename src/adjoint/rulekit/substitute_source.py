"""The source of a function that has a substitute, for use in that."""

from __future__ import annotations

from types import FunctionType
from typing import Any


def again(f: Any) -> Any:
    """Another function of the same code, which has no rule."""
    made = FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    made.__kwdefaults__, made.__module__ = f.__kwdefaults__, f.__module__
    return made
