"""Declarations from which programs of tangents are made, of any order.

Rules that are closures are called as they are. Their derivative is known if the function is linear,
or piecewise linear, or if its tangent is a formula that a program inlines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from adjoint.rulekit.registry import entry

F = TypeVar("F", bound=Callable[..., Any])


def linear_in(*keys: Any, places: range = range(1)) -> None:
    """Declare that functions are linear in each operand of `places`, the others held fixed: of the
    tangent of one such operand, the function gives that of the result."""
    for key in keys:
        entry(key).linear = places


def steady_in(*keys: Any, places: range = range(1)) -> None:
    """Declare that functions are piecewise linear in the operands of `places`, taken together: a
    small change of them, as real numbers, changes neither forward rule nor pullback."""
    for key in keys:
        entry(key).steady = places


def tangent_of(*keys: Any) -> Callable[[F], F]:
    """Register the decorated formula ``tangent(dots, y, *args, **keywords) -> y_dot`` of functions.

    Programs inline it: it is plain NumPy, for real operands and the options in its signature; with
    others, the registered rule is called. Where it raises, the generic tier takes the call.
    """

    def add(function: F) -> F:
        for key in keys:
            entry(key).tangent = function  # type: ignore[assignment]
        return function

    return add
