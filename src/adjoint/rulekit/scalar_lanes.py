"""Lanes for functions of one real number.

A lane does in one step what the rule of its function does for any operand: dispatch on the operand
types takes longer than `math.sin` of a float itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy import float64

from adjoint.rulekit.lanes import lane
from adjoint.rulekit.partials import POLES, of_zero
from adjoint.rulekit.registry import entry


def of_a_number(*functions: Callable[..., Any]) -> None:
    """Register a lane for functions of one float that have an elementwise rule."""
    for f in functions:
        found = [getattr(rule.function, "slopes", None) for rule in entry(f).rrules]
        (p,) = next(s.partials for s in found if s is not None and len(s.partials) == 1)
        assert callable(p)
        lane(f, 1)(_of_a_number(f, p))


def _of_a_number(f: Callable[..., Any], p: Callable[..., Any]) -> Callable[..., Any]:
    def of_a_number(record: list[Any], slot: int, x: Any) -> Any:
        if type(x) is not float and type(x) is not float64:
            return NotImplemented
        y = f(x)

        def number_back(y_bar: Any) -> tuple[Any, ...]:
            if not y_bar:
                return None, of_zero(y_bar, p, y, x)
            try:
                return None, y_bar * p(y, x)
            except POLES:
                return None, y_bar * p(float64(y), float64(x))

        record[slot] = number_back
        return y

    return of_a_number
