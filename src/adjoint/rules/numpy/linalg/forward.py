"""How the forward rules of linear algebra are registered.

They are ordinary Python made of differentiable functions, so derivatives of higher order are taken
of them.
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
    lists. The tangents of the next arguments, as many as `settings`, come as they are. Some of
    these tangents is given, the others are ``None``; those of further arguments change nothing.
    What the rule returns is brought to the dtype of the result; a tuple has a tuple of its own
    type.
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
            except NoDerivativeError as error:  # it is one if the tangent is needed
                return f(*args, **keywords), Poison(error)
            return y, fitted(y_dot, y)

        rule = replace(Rule.of(function), function=forward)
        entry(f).frules.insert(0, rule)
        return function

    return add
