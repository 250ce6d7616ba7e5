"""Choice of the reverse of one operation: formula, partial derivatives, or registered rule."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from adjoint.fast.evaluate.composites import Composite
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import (
    Array,
    IntegersOrFloats,
    Number,
    Row,
    Type,
    has_complex,
    is_inexact,
)
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.reverse.elementwise import PRODUCTS, elementwise_back, is_modulus
from adjoint.fast.reverse.evaluated_slopes import evaluated_slope
from adjoint.fast.reverse.formulas import formulas, steps, with_cotangent
from adjoint.fast.reverse.forward_blocks import Step
from adjoint.fast.reverse.opaque_calls import opaque_back
from adjoint.fast.reverse.registered_rules import by_rule, has_formula
from adjoint.fast.reverse.sweep import Sweep
from adjoint.fast.single_assignment.walk import callee_of, result_of
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.fast.support.opaque import Opaque
from adjoint.ir import primitives
from adjoint.ir.single import Call, Const, Operand, Value
from adjoint.rulekit.partials import Partials
from adjoint.rulekit.refusal import NoDerivative
from adjoint.rulekit.registry import lookup

CONSTANT: frozenset[Any] = frozenset(
    {
        runtime.constant,
        runtime.length,
        runtime.equal_items,
        runtime.shape_of,
        runtime.zeros_like,
        runtime.new_tape,
        rows.count,
        rows.order,
        rows.first_greatest,
        rows.first_least,
        rows.place_of,
        rows.key_place,
        rows.set_order,
        rows.known_place,
        rows.count_of,
        bisect_left,
        bisect_right,
        runtime.sum_of,
        runtime.sum_of_these,
        runtime.share_of_greater,
        runtime.share_of_less,
        len,
        range,
        round,
        zip,
        enumerate,
        reversed,
        int,
        bool,
        primitives.build_slice,
        np.zeros_like,
        np.ones_like,
        np.empty_like,
    }
)


def is_carrier(sweep: Sweep, op: Call) -> bool:
    """Return whether the result of an operation on active operands may be active."""
    f = callee_of(op)
    if isinstance(f, Composite):
        return True
    if isinstance(f, Opaque):
        return not f.is_constant
    if f is runtime.to_extremes:
        return sweep.is_active(op.operands[2:3])
    if f in CONSTANT or (f is round and len(op.operands) == 1):
        return False
    if f in formulas or f in steps:
        return True
    slopes = known_slopes(sweep.slopes, f, len(op.operands))
    if slopes is not None:
        return any(p is not None for p in slopes.partials)
    rules = lookup(f)
    return rules is None or not rules.inactive


def is_rounded(ev: Evaluator, op: Call, active: set[Value], made_by: Mapping[Value, Call]) -> bool:
    """Return whether the active operands of a call, or their items, are rounded to integers: the
    result is an array of integers, and they are none. A list is rounded as a whole. The sign of a
    real number is rounded, too."""
    f = callee_of(op)
    if f is np.sign:
        return _is_real(ev.type_at(op.operands[0])) and not _has_other_rule(f)
    if f not in _ROUNDING or op.result is None:
        return False
    t = ev.types.get(op.result)
    if type(t) is not Array or t.dtype.kind in "fc":
        return False
    leaves = [*_leaves(ev, op, made_by)]
    moving = [x for x in leaves if isinstance(x, Value) and x in active]
    if any(isinstance(ev.types[x], IntegersOrFloats) for x in moving):
        raise NotCovered("integers that may be floats, as integers", op.span)
    found = {_is_inexact(ev, x) for x in moving}
    if f is np.array:
        return bool(found) and any(_is_inexact(ev, x) for x in leaves)
    if len(found) > 1:
        raise NotCovered("derivatives of integers beside numbers that are rounded", op.span)
    return found == {True}


_ROUNDING = frozenset({np.array, np.asarray, np.full, np.full_like, np.insert, rows.array_of})
"""Functions that round the numbers that they are given to the dtype of their result."""


def _is_real(t: Type | None) -> bool:
    return isinstance(t, Array | Number) and not has_complex(t)


def _has_other_rule(f: Any) -> bool:
    """Return whether a user has registered a rule of a function."""
    rules = lookup(f)
    return rules is not None and rules.overridden


def _is_inexact(ev: Evaluator, x: Operand) -> bool:
    if isinstance(x, Value):
        t = ev.types[x]
        return is_inexact(t.item if isinstance(t, Row) else t)
    return isinstance(x, Const) and np.asarray(x.value).dtype.kind in "fc"


def _leaves(ev: Evaluator, op: Call, made_by: Mapping[Value, Call]) -> Iterator[Operand]:
    """Yield the operands of a call, with the items of lists that the program builds."""
    for x in op.operands:
        made = made_by.get(x) if isinstance(x, Value) else None
        if made is None or made.callee not in _BUILDING or isinstance(ev.types[x], Row):  # type: ignore[index]
            yield x
        else:
            yield from _leaves(ev, made, made_by)


_BUILDING = (Const(primitives.build_list), Const(primitives.build_tuple))


def slopes_of(f: Any, count: int) -> Partials | None:
    """Return the partial derivatives of an elementwise function of `count` operands, or ``None``:
    those of its newest rule, or of one before that takes fewer operands. A `NoDerivative` stands
    for one that is refused."""
    rules = lookup(f)
    if rules is None or rules.overridden or rules.inactive:
        return None
    for rule in rules.rrules:
        slopes: Partials | None = getattr(rule.function, "slopes", None)
        slopes = slopes or getattr(rule.function, "partly", None)
        if slopes is None or len(slopes.partials) == count:
            return slopes
    return None


def known_slopes(known: dict[Any, Partials | None], f: Any, count: int) -> Partials | None:
    """Return `slopes_of` a callee; `known` keeps those of one sweep."""
    if (f, count) not in known:
        known[f, count] = slopes_of(f, count)
    return known[f, count]


def differentiated(sweep: Sweep, op: Call) -> Step:
    """Write the forward part of an active operation; return the function that writes its
    reverse."""
    f, ev, y = callee_of(op), sweep.ev, result_of(op)
    if isinstance(f, Composite):
        ev.block.append(op)
        return lambda scope: f.back(sweep, scope, op)
    if isinstance(f, Opaque):
        return opaque_back(sweep, op)
    if f in steps:
        ev.block.append(op)
        return steps[f](sweep, op)
    if has_formula(ev, op):
        ev.block.append(op)
        return lambda scope: with_cotangent(scope, y, lambda bar: formulas[f](scope, op, bar))
    slopes = known_slopes(sweep.slopes, f, len(op.operands))
    if slopes is not None and _are_inlined(sweep, op, slopes):
        ev.block.append(op)
        return lambda scope: elementwise_back(scope, op, slopes)
    return by_rule(sweep, op)


def _are_inlined(sweep: Sweep, op: Call, slopes: Partials) -> bool:
    """Return whether the evaluator can inline the partial derivatives that are needed."""
    if op.keywords or op.result is None:
        return False
    ev = sweep.ev
    if callee_of(op) in PRODUCTS or is_modulus(ev, op):
        return True
    operands = (op.result, *op.operands)
    for x, p in zip(op.operands, slopes.partials, strict=True):
        if isinstance(p, NoDerivative) and x in sweep.active:
            return False
        if not callable(p) or x not in sweep.active:
            continue
        key = p, tuple(_kind_of_operand(ev, x) for x in operands)
        if key not in _inlinable:
            ev.keeps_branches = True  # what the numbers of one call leave out, others may need
            try:
                with ev.trial():
                    evaluated_slope(ev, p, operands)
                _inlinable[key] = True
            except NotCovered:
                _inlinable[key] = False
            finally:
                ev.keeps_branches = False
        if not _inlinable[key]:
            return False
    return True


_inlinable: dict[Any, bool] = {}
"""Whether a partial derivative can be inlined, by function and kinds of operands."""


def _kind_of_operand(ev: Evaluator, x: Operand) -> Any:
    if isinstance(x, Const):
        return type(x.value), repr(x.value)
    t = ev.type_at(x)
    if isinstance(t, Array):
        dtype = None if isinstance(t, IntegersOrFloats) else t.dtype
        return dtype, tuple(n if isinstance(n, int) else -1 for n in t.shape)
    return t, x in ev.dims, ev.known_integer(x)  # which decide branches
