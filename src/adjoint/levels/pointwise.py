"""Functions that act on each element by itself, on levels: by their slopes, without the rule around
them.

The rules of `adjoint.rulekit.elementwise_reverse` and `adjoint.rulekit.elementwise_forward` take
any operands, which is a page of Python; run on a level below, each of its lines is an operation of
that level. For numbers and arrays of double precision that do not broadcast, a product with the
slope is all there is.
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np

from adjoint.primal.value_kinds import FLOAT64
from adjoint.rulekit.elementwise_reverse import dot
from adjoint.rulekit.partials import POLES, Slopes
from adjoint.rulekit.registry import Rules

ndarray = np.ndarray
_NUMBERS = frozenset({float, np.float64})
_REALS = frozenset({float, np.float64, int})


def slopes_of(rules: Rules, args: tuple[Any, ...]) -> Slopes | None:
    """The slopes of a function of such operands; ``None`` if its rule has to see to them."""
    slopes: Slopes | None = getattr(rules.frules[0].function, "slopes", None)
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
    """Whether a result and what is multiplied with its slopes are reals of one shape."""
    if type(y) in _NUMBERS:
        return all(type(part) in _REALS for part in parts)
    if type(y) is not ndarray or y.dtype is not FLOAT64:
        return False
    shape = y.shape
    return all(type(part) is ndarray and part.shape == shape for part in parts)


def weighted(level: Any, slopes: Slopes, i: int, y: Any, args: tuple[Any, ...], weight: Any) -> Any:
    """The slope in operand `i` times a tangent or a cotangent, on the level `level`; ``None`` where
    that is not finite, and a rule has to say whether it is zero."""
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
