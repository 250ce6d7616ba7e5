"""Registration of forward rules of linear algebra.

The rules are Python code of differentiable functions, so that derivatives of higher order exist.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any, TypeVar

from adjoint.cotangents.poison import Poison
from adjoint.errors import NoDerivativeError
from adjoint.rulekit.elementwise_forward import filled, fitted
from adjoint.rulekit.projection import as_numeric
from adjoint.rulekit.registry import entry
from adjoint.rulekit.rule import Rule

F = TypeVar("F", bound=Callable[..., Any])


def forward_rule(f: Any, operands: int = 1, settings: int = 0) -> Callable[[F], F]:
    """Register the decorated ``rule(dots, *args, **keywords) -> (y, y_dot)`` of `f`.

    The rule sees the first `operands` arguments and their tangents as numbers and arrays, never as
    lists, and the tangents of the next `settings` arguments unchanged. At least one of these
    tangents is not ``None``; those of further arguments are ignored. The tangent is fitted to the
    dtype of the result, that of a tuple to its type.
    """

    def add(function: F) -> F:
        def forward(dots: tuple[Any, ...], /, *args: Any, **keywords: Any) -> Any:
            tangents = [*dots, *(None,) * settings][: operands + settings]
            if all(dot is None for dot in tangents):
                return f(*args, **keywords), None
            values = list(args)
            for i in range(operands):
                value = as_numeric(args[i])
                if value is None:
                    return NotImplemented
                values[i] = value
                tangents[i] = None if dots[i] is None else filled(dots[i], args[i])
            try:
                y, y_dot = function(tuple(tangents), *values, **keywords)
            except NoDerivativeError as error:  # an error only if the tangent is needed
                return f(*args, **keywords), Poison(error)
            return y, fitted(y_dot, y)

        forward.rule = function  # type: ignore[attr-defined]
        rule = replace(Rule.of(function), function=forward)
        entry(f).frules.insert(0, rule)
        return function

    return add
