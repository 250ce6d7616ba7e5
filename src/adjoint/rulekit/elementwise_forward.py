"""The forward rule of an elementwise function.

It is ordinary Python that is itself differentiated for derivatives of higher order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import float64, where

from adjoint.cotangents.finiteness import finite
from adjoint.cotangents.poison import Poison
from adjoint.primal.value_kinds import FLOAT64, REALS
from adjoint.rulekit.partials import (
    POLES,
    Partials,
    Rule,
    Traits,
    as_precise,
    numeric_operands,
    with_arity,
)
from adjoint.rulekit.projection import is_numeric
from adjoint.rulekit.registry import non_differentiable


def forward(f: Callable[..., Any], slopes: Partials) -> Rule:
    """Return the forward rule of `f`, which is itself differentiable."""
    traits, partials = Traits.of(f), slopes.partials

    def rule(dots: tuple[Any, ...], /, *operands: Any) -> Any:
        values = numeric_operands(traits, operands)
        if values is None:
            return NotImplemented
        y = f(*operands)
        if traits.floats_only and not REALS.issuperset(map(type, operands)):
            dots, operands = _real_parts(dots), _real_parts(operands)
            values = operands
        if type(y) is float:
            return y, tangent(dots, y, operands, values)
        with np.errstate(all="ignore"):  # warnings of the slopes do not concern the user
            return y, tangent(dots, y, operands, values)

    def tangent(dots: Any, y: Any, operands: Any, values: Any) -> Any:
        y_dot = None
        for p, dot, x in zip(partials, dots, operands, strict=True):
            if p is None or dot is None:
                continue
            term = _product(_slope(p, y, values), filled(dot, x), x, slopes)
            y_dot = term if y_dot is None else y_dot + term
        return y_dot if y_dot is None else like_result(y_dot, y)

    rule.slopes = slopes  # type: ignore[attr-defined]
    return with_arity(rule, len(partials), "dots")


def _real_parts(xs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the real parts, which functions of `math` use of NumPy's complex numbers."""
    return tuple([x.real if np.iscomplexobj(x) else x for x in xs])


def _slope(p: Callable[..., Any] | float, y: Any, operands: tuple[Any, ...]) -> Any:
    if not callable(p):
        return p
    dtype = getattr(y, "dtype", FLOAT64)
    floating = [as_precise(x, dtype) for x in (y, *operands)]
    try:
        return p(*floating)
    except POLES:
        return p(*map(float64, floating))


def filled(dot: Any, x: Any) -> Any:
    """Return the tangent of a list as that of an array; parts without tangent are zero."""
    if dot is None:
        return np.zeros(np.shape(x))
    if isinstance(dot, list | tuple):
        return np.asarray([filled(part, of) for part, of in zip(dot, x, strict=True)])
    return dot


def _product(slope: Any, dot: Any, x: Any, slopes: Partials) -> Any:
    if slopes.real_valued and (np.iscomplexobj(dot) or np.iscomplexobj(slope)):
        term = np.real(np.conj(slope) * dot)
    else:
        term = slope * dot
    if not finite(term):
        # At a limit of the function (1/x or tanh at infinity) the result does not depend on x, and
        # an element that was not selected contributes nothing.
        still = np.equal(slope, 0) & (np.isinf(x) | bool(slopes.selects))
        term = _without(term, np.equal(dot, 0) | still)
    return term


def _without(term: Any, unused: Any) -> Any:
    """Return `term` with zero where it is `unused` and not finite.

    Finite entries must stay products, for the next derivative.
    """
    return where(unused & ~np.isfinite(term), 0, term)[()]


def contributions(slopes: Any, dot: Any, unused: Any) -> Any:
    """Return ``slopes * dot``, where `unused` elements with a slope of zero contribute nothing,
    even for an infinite or NaN tangent."""
    term = slopes * dot
    return term if finite(term) else _without(term, unused & np.equal(slopes, 0))


def like_result(y_dot: Any, y: Any) -> Any:
    """Return `y_dot` in the shape and precision of `y`, which constant operands may have widened;
    that of a number is a number, since the methods of NumPy's numbers do not take arrays."""
    if type(y_dot) is Poison:
        return y_dot
    if np.shape(y_dot) != np.shape(y):
        y_dot = y_dot + np.zeros(np.shape(y))
    if type(y_dot) is np.ndarray and not y_dot.ndim and not isinstance(y, np.ndarray):
        y_dot = y_dot[()]
    dtype = getattr(y, "dtype", None)
    if dtype is not None and dtype.kind in "fc" and getattr(y_dot, "dtype", dtype) != dtype:
        y_dot = y_dot.astype(dtype)
    return y_dot


def fitted(y_dot: Any, y: Any) -> Any:
    """Return a tangent in the shape and dtype of the result; ``None`` is zero."""
    if y_dot is None:
        return None
    if isinstance(y, list | tuple):  # SciPy returns lists for stacks of matrices
        parts = [fitted(part_dot, part) for part_dot, part in zip(y_dot, y, strict=True)]
        return type(y)(*parts) if hasattr(y, "_fields") else type(y)(parts)
    return like_result(y_dot, y)


non_differentiable(is_numeric, finite)
