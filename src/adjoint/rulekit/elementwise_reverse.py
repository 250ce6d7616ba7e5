"""The reverse rule of an elementwise function.

It takes one of four lanes, so that little stands between the operation and the product of cotangent
and partial: double-precision arrays of one shape; real Python scalars; double-precision arrays that
broadcast with one another or with scalars; and everything else (complex, other dtypes, lists).
"""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import Any

import numpy as np
from numpy import count_nonzero, float64, ndarray, vdot, where

from adjoint.cotangents.finiteness import finite
from adjoint.primal.value_kinds import FLOAT64, REALS
from adjoint.rulekit.elementwise_general import general
from adjoint.rulekit.partials import (
    POLES,
    Partials,
    Rule,
    Traits,
    of_zero,
    with_arity,
)
from adjoint.rulekit.projection import held, unbroadcast

PYTHON_REALS = frozenset({float, int})


def reverse(f: Callable[..., Any], slopes: Partials) -> Rule:
    """Return the reverse rule of `f`, specialised on the number of operands and the kind of
    function.

    Its attribute ``slopes`` holds the partials. Its attribute ``only`` holds one rule per operand
    that gives the cotangent of that operand alone, for calls in which the others are constant;
    ``None`` where it would be the same rule.
    """
    rule = _specialised(f, slopes)
    n = len(slopes.partials)
    only = [
        _specialised(f, slopes.only(i)) if n > 1 and slopes.partials[i] is not None else None
        for i in range(n)
    ]
    rule.only, rule.slopes = tuple(only), slopes  # type: ignore[attr-defined]
    return rule


def _specialised(f: Callable[..., Any], slopes: Partials) -> Rule:
    traits = Traits.of(f)
    rule = _by_count(f, traits, slopes)
    return _selecting(f, traits, slopes, rule) if slopes.selects else rule


def _selecting(f: Callable[..., Any], traits: Traits, slopes: Partials, rule: Rule) -> Rule:
    wins: Any = slopes.selects

    def selecting(*operands: Any) -> Any:
        result = rule(*operands)
        if result is NotImplemented:
            return result
        y, back = result
        # whether one operand is selected everywhere: no ties, no NaN
        distinct = None if callable(wins) and _are_alike(*operands) else False

        def selecting_back(y_bar: Any) -> Any:
            nonlocal distinct
            if distinct is not False:
                first = wins(*operands)
                if distinct is None:
                    distinct = is_one_or_other(first, wins(*reversed(operands)))
                if distinct:
                    bars = parted(y_bar, first)
                    if finite(bars[1]):
                        return None, *bars
            if finite(y_bar):
                return back(y_bar)
            return general(f, traits, slopes, operands)[1](y_bar)

        return y, selecting_back

    return with_arity(selecting, len(slopes.partials))


def is_one_or_other(first: Any, second: Any) -> bool:
    """Return whether exactly one of two boolean arrays, never both, is true everywhere."""
    return bool(count_nonzero(first) + count_nonzero(second) == first.size)


def parted(y_bar: Any, first: Any) -> tuple[Any, Any]:
    """Split a finite cotangent into the part where `first` is true and the rest."""
    a_bar = held(first, y_bar)
    return a_bar, y_bar - a_bar


def _are_alike(a: Any, b: Any) -> bool:
    """Return whether two operands are double-precision arrays of one shape."""
    return (
        type(a) is ndarray
        and type(b) is ndarray
        and (a.dtype is FLOAT64 or a.dtype == FLOAT64)
        and (b.dtype is FLOAT64 or b.dtype == FLOAT64)
        and a.shape == b.shape
        and a.ndim > 0
    )


def _by_count(f: Callable[..., Any], traits: Traits, slopes: Partials) -> Rule:
    match slopes.partials:
        case (p,) if callable(p):
            return _unary(f, traits, slopes, p)
        case (int() | float() as p,):
            return _scaled(f, traits, slopes, p)
        case (int() | float() | None as p, int() | float() | None as q):
            return _weighted_sum(f, traits, slopes, p, q)
        case (p, q) if p is not None and q is not None:
            return _binary(f, traits, slopes, _function(p), _function(q))
        case (p, q):
            return _one_sided(f, traits, slopes)
        case _:
            return with_arity(
                lambda *operands: general(f, traits, slopes, operands), len(slopes.partials)
            )


def _function(p: Callable[..., Any] | float) -> Callable[..., Any]:
    return p if callable(p) else lambda *_: p


def dot(a: Any, b: Any) -> Any:
    """Return the sum of products of two arrays of one shape, in the fastest way."""
    return a.dot(b) if a.ndim == 1 else vdot(a, b)


def _ieee(x: Any) -> Any:
    """Return a Python number as a NumPy one, which has infinities instead of exceptions."""
    return float64(x) if type(x) in REALS else x


# ---- one operand ---------------------------------------------------------------------------------


def _unary(f: Callable[..., Any], traits: Traits, slopes: Partials, p: Callable[..., Any]) -> Rule:
    (keep_y, keep_x), singular = slopes.residuals, slopes.singular
    of_numpy, array_lane = traits.of_numpy, not traits.floats_only
    times = slopes.quick or (lambda y_bar, y, x: y_bar * p(y, x))

    def rule(x: Any, /) -> Any:
        kind = type(x)
        if kind is ndarray and (x.dtype is FLOAT64 or x.dtype == FLOAT64) and x.ndim and array_lane:
            y = f(x)
            kept_y, kept_x = y if keep_y else None, x if keep_x else None
            tame = not singular  # whether all slopes are finite

            def array_back(y_bar: Any) -> Any:
                nonlocal tame
                x_bar = times(y_bar, kept_y, kept_x)
                # a product is finite only if the slope is
                if not tame and not (tame := finite(x_bar)):
                    x_bar = where(y_bar == 0, 0.0, y_bar * p(kept_y, kept_x))
                return None, x_bar

            return y, array_back
        if kind not in REALS:
            return general(f, traits, slopes, (x,))
        y = f(x)
        if type(y) is complex:
            return general(f, traits, slopes, (x,))
        if of_numpy:

            def number_back(y_bar: Any) -> Any:
                number = float64(x)
                bar = y_bar * p(y, number) if y_bar else of_zero(y_bar, p, y, number)
                return None, float(bar)

            return y, number_back

        def scalar_back(y_bar: Any) -> Any:
            try:
                return None, y_bar * p(y, x) if y_bar else of_zero(y_bar, p, y, x)
            except POLES:
                return None, y_bar * p(float64(y), float64(x))

        return y, scalar_back

    return rule


def _scaled(f: Callable[..., Any], traits: Traits, slopes: Partials, p: float) -> Rule:
    def direct_back(y_bar: Any) -> Any:
        return None, y_bar if p == 1 else -y_bar if p == -1 else p * y_bar

    def rule(x: Any, /) -> Any:
        kind = type(x)
        if (kind is ndarray and (x.dtype is FLOAT64 or x.dtype == FLOAT64) and x.ndim) or (
            kind in REALS and not traits.of_numpy
        ):
            return f(x), direct_back
        return general(f, traits, slopes, (x,))

    return rule


# ---- two operands --------------------------------------------------------------------------------


def _binary(
    f: Callable[..., Any],
    traits: Traits,
    slopes: Partials,
    p: Callable[..., Any],
    q: Callable[..., Any],
) -> Rule:
    (keep_y, keep_a, keep_b), singular = slopes.residuals, slopes.singular
    of_numpy, array_lane = traits.of_numpy, not traits.floats_only
    quick = slopes.quick
    broadcast = _broadcasting(f, traits, slopes)

    def rule(a: Any, b: Any, /) -> Any:
        kind_a, kind_b = type(a), type(b)
        if (
            kind_a is ndarray
            and kind_b is ndarray
            and (a.dtype is FLOAT64 or a.dtype == FLOAT64)
            and (b.dtype is FLOAT64 or b.dtype == FLOAT64)
            and a.shape == b.shape
            and a.ndim
            and array_lane
        ):
            y = f(a, b)
            kept_y, kept_a, kept_b = (
                y if keep_y else None,
                a if keep_a else None,
                b if keep_b else None,
            )

            tame = not singular and quick is None  # whether all slopes are finite

            def array_back(y_bar: Any) -> Any:
                nonlocal tame
                if quick is not None:
                    bars = quick(y_bar, kept_y, kept_a, kept_b)
                    # one pass for both: the sum of products is finite only if every entry is
                    if bars is not None and (tame or isfinite(dot(*bars))):
                        tame = True
                        return None, *bars
                a_bar, b_bar = y_bar * p(kept_y, kept_a, kept_b), y_bar * q(kept_y, kept_a, kept_b)
                if singular and not tame and not (tame := isfinite(dot(a_bar, b_bar))):
                    zero = y_bar == 0
                    a_bar, b_bar = where(zero, 0.0, a_bar), where(zero, 0.0, b_bar)
                return None, a_bar, b_bar

            return y, array_back
        if kind_a not in REALS or kind_b not in REALS:
            return broadcast(a, b)
        y = f(a, b)
        if of_numpy:
            a, b = float64(a), float64(b)
        if type(y) is complex:  # a power of a negative number
            return general(f, traits, slopes, (a, b))

        def scalar_back(y_bar: Any) -> Any:
            try:
                if y_bar:
                    a_bar, b_bar = y_bar * p(y, a, b), y_bar * q(y, a, b)
                else:
                    a_bar, b_bar = of_zero(y_bar, p, y, a, b), of_zero(y_bar, q, y, a, b)
            except POLES:
                floats = float64(y), float64(a), float64(b)
                a_bar, b_bar = y_bar * p(*floats), y_bar * q(*floats)
            return (None, float(a_bar), float(b_bar)) if of_numpy else (None, a_bar, b_bar)

        return y, scalar_back

    return rule


def _one_sided(f: Callable[..., Any], traits: Traits, slopes: Partials) -> Rule:
    """Return the rule of two operands of which only one has a derivative."""
    (keep_y, keep_a, keep_b), singular = slopes.residuals, slopes.singular
    left = slopes.partials[0] is not None
    p: Any = slopes.partials[0 if left else 1]
    broadcast = _broadcasting(f, traits, slopes)

    def rule(a: Any, b: Any, /) -> Any:
        active, other = (a, b) if left else (b, a)
        if (
            type(active) is ndarray
            and (active.dtype is FLOAT64 or active.dtype == FLOAT64)
            and active.ndim
        ):
            if type(other) not in REALS or traits.floats_only:
                return broadcast(a, b)
            y = f(a, b)
            kept_y, kept_a, kept_b = (
                y if keep_y else None,
                a if keep_a else None,
                b if keep_b else None,
            )

            def array_back(y_bar: Any) -> Any:
                try:
                    bar = y_bar * p(kept_y, kept_a, kept_b)
                except POLES:
                    bar = y_bar * p(kept_y, *map(_ieee, (kept_a, kept_b)))
                if singular and not finite(bar):
                    bar = where(y_bar == 0, 0.0, bar)
                return (None, bar, None) if left else (None, None, bar)

            return y, array_back
        if type(a) not in REALS or type(b) not in REALS or traits.of_numpy:
            return broadcast(a, b)
        y = f(a, b)
        if type(y) is complex:
            return general(f, traits, slopes, (a, b))

        def scalar_back(y_bar: Any) -> Any:
            try:
                bar = y_bar * p(y, a, b) if y_bar else of_zero(y_bar, p, y, a, b)
            except POLES:
                bar = y_bar * p(float64(y), float64(a), float64(b))
            return (None, bar, None) if left else (None, None, bar)

        return y, scalar_back

    return rule


def _weighted_sum(
    f: Callable[..., Any], traits: Traits, slopes: Partials, p: float | None, q: float | None
) -> Rule:
    of_numpy, broadcast = traits.of_numpy, _broadcasting(f, traits, slopes)

    def direct_back(y_bar: Any) -> Any:
        a_bar = y_bar if p == 1 else None if p is None else p * y_bar
        return None, a_bar, y_bar if q == 1 else None if q is None else q * y_bar

    def rule(a: Any, b: Any, /) -> Any:
        kind_a, kind_b = type(a), type(b)
        if (
            kind_a is ndarray
            and kind_b is ndarray
            and (a.dtype is FLOAT64 or a.dtype == FLOAT64)
            and (b.dtype is FLOAT64 or b.dtype == FLOAT64)
            and a.shape == b.shape
            and a.ndim
        ) or (kind_a in REALS and kind_b in REALS and not of_numpy):
            return f(a, b), direct_back
        return broadcast(a, b)

    return rule


def _broadcasting(f: Callable[..., Any], traits: Traits, slopes: Partials) -> Rule:
    """Return the rule for double-precision arrays of different shapes, or an array and a real
    scalar; other operands go to `general`."""
    (p, q), (keep_y, keep_a, keep_b), singular = slopes.partials, slopes.residuals, slopes.singular

    def rule(a: Any, b: Any, /) -> Any:
        kind_a, kind_b = type(a), type(b)
        dtype = a.dtype if kind_a is ndarray else b.dtype if kind_b is ndarray else None
        # a Python number takes the precision of the array beside it, a double does not
        weak = REALS if dtype is FLOAT64 else PYTHON_REALS
        if (
            dtype is None
            or dtype.kind != "f"
            or not (a.dtype is dtype if kind_a is ndarray else kind_a in weak)
            or not (b.dtype is dtype if kind_b is ndarray else kind_b in weak)
            or traits.floats_only
        ):
            return general(f, traits, slopes, (a, b))
        y = f(a, b)
        if type(y) is not ndarray or y.dtype is not dtype:
            return general(f, traits, slopes, (a, b))
        shape_a = a.shape if kind_a is ndarray else None
        shape_b = b.shape if kind_b is ndarray else None
        kept = (
            y if keep_y else None,
            None if not keep_a else dtype.type(a) if shape_a is None else a,
            None if not keep_b else dtype.type(b) if shape_b is None else b,
        )

        def broadcast_back(y_bar: Any) -> Any:
            a_bar = None if p is None else _fitted(p, y_bar, kept, singular, shape_a)
            b_bar = None if q is None else _fitted(q, y_bar, kept, singular, shape_b)
            return None, a_bar, b_bar

        return y, broadcast_back

    return rule


def _fitted(
    p: Callable[..., Any] | float,
    y_bar: Any,
    kept: tuple[Any, ...],
    singular: bool,
    shape: tuple[int, ...] | None,
) -> Any:
    """Return one cotangent, summed over broadcast axes; shape ``None`` means a Python number."""
    if not callable(p):
        bar = y_bar if p == 1 else p * y_bar
    else:
        slope = p(*kept)
        if shape is None and type(slope) is ndarray and slope.shape == y_bar.shape:
            # for a scalar: the sum of products in one pass, finite only if every product is
            total = float(vdot(y_bar, slope))
            if isfinite(total) or not singular:
                return total
        bar = y_bar * slope
        if singular and not isfinite(vdot(bar, bar) if np.ndim(slope) else slope):
            bar = where(y_bar == 0, 0, bar)
    if shape is None:
        return float(bar.sum())
    if bar.shape != shape:
        bar = unbroadcast(bar, shape)
    return bar if bar.dtype is y_bar.dtype else bar.astype(y_bar.dtype)
