"""Elementwise functions on levels, by their partials alone.

The rules of `adjoint.rulekit.elementwise_reverse` and `adjoint.rulekit.elementwise_forward` accept
any operands, in a page of Python each line of which would be an operation of the level below. For
double-precision numbers and arrays that do not broadcast, a product with the partial suffices.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np

from adjoint.primal.value_kinds import FLOAT64
from adjoint.rulekit.elementwise_reverse import dot
from adjoint.rulekit.partials import POLES, Partials
from adjoint.rulekit.registry import Rules

ndarray = np.ndarray
_NUMBERS = frozenset({float, np.float64})
_REALS = frozenset({float, np.float64, int})


def partials_of(rules: Rules, args: tuple[Any, ...]) -> Partials | None:
    """Return the partials of a function of such operands; ``None`` if the full rule is needed."""
    slopes: Partials | None = getattr(rules.frules[0].function, "slopes", None)
    if slopes is None or len(args) != len(slopes.partials):
        return None
    shape = None
    for arg in args:
        if type(arg) in _REALS:
            continue
        if type(arg) is not ndarray or arg.dtype is not FLOAT64 or not arg.ndim:
            return None
        if shape is None:
            shape = arg.shape
        elif arg.shape != shape:
            return None
    return slopes


def is_simple(y: Any, *parts: Any) -> bool:
    """Return whether a result and the factors of its partials are reals of one shape."""
    if type(y) in _NUMBERS:
        return all(type(part) in _REALS for part in parts)
    if type(y) is not ndarray or y.dtype is not FLOAT64:
        return False
    shape = y.shape
    return all(type(part) is ndarray and part.shape == shape for part in parts)


def weighted(
    level: Any, slopes: Partials, i: int, y: Any, args: tuple[Any, ...], weight: Any
) -> Any:
    """Return the partial in operand `i` times a tangent or a cotangent, on `level`. ``None`` if the
    product is not finite: then the rule decides whether it is zero."""
    p: Callable[..., Any] | float | None = slopes.partials[i]
    if not callable(p):
        return weight if p == 1 else level.below_operate("mul", p, weight)
    try:
        slope = level.below(p, y, *args)
    except POLES:
        return None
    term = level.below_operate("mul", slope, weight)
    if type(term) is ndarray:
        return term if isfinite(dot(term, term)) else None
    return term if isfinite(term) else None
