"""Copies of functions without their rules, for use in their substitutes."""

from __future__ import annotations

from types import FunctionType
from typing import Any


def without_rule(f: Any) -> Any:
    """Copy `f` without its rule, so that a substitute can call the original source."""
    made = FunctionType(f.__code__, f.__globals__, f.__name__, f.__defaults__, f.__closure__)
    made.__kwdefaults__, made.__module__ = f.__kwdefaults__, f.__module__
    return made
