"""Tangents of opaque operations, and of registered rules that the sweeps of a gradient call as they
are.

The function or the rule is differentiated on a level of the interpreter, at run time. So a gradient
with a rule that has not been inlined has tangents, too, at the price of an interpreted call.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

from adjoint.fast.evaluate.types import ANYTHING
from adjoint.fast.forward.formulas import formula
from adjoint.fast.forward.linear_rules import linear_pair
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.walk import callee_of, result_of
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import opaque, pullbacks
from adjoint.ir import primitives
from adjoint.ir.single import Call, Const, Operand, Unpack, Value

if TYPE_CHECKING:
    from adjoint.fast.forward.tangent_values import TangentValues


def opaque_tangent(sweep: TangentValues, op: Call) -> Operand:
    """Write an opaque operation, and return the tangent of its result."""
    ev, y, f = sweep.ev, result_of(op), callee_of(op)
    if f.problem is not None or not sweep.is_last:
        raise NotCovered(f.problem or "a reverse sweep over the tangent of a function", op.span)
    dots = tuple(Const(None) if (dot := sweep.of(x)) is None else dot for x in op.operands)
    packed = (
        ev.operation(primitives.build_tuple, items, ANYTHING, name="parts")
        for items in (op.operands, dots)
    )
    pair = ev.operation(opaque.pushforward, (op.callee, *packed), ANYTHING, name="pair")
    raw = ev.value(ANYTHING, name=f"{y.name}_dot")
    ev.write(Unpack((y, raw), pair, None, op.span))
    if ev.types[y] == ANYTHING:
        return raw
    return sweep.linear(runtime.present, (raw, y), y)


def tangents_of_pair(sweep: TangentValues, op: Call) -> Operand:
    """Write the call of a rule, and the pair of the tangent of its value and that of its
    pullback."""
    is_opaque = op.callee == Const(opaque.pullback)
    found = None if is_opaque else linear_pair(sweep, op)
    if found is not None:
        return found
    if not sweep.has_opaque_rules:
        raise NotCovered("a rule that is not inlined", op.span)
    ev = sweep.ev
    ev.write(op)
    dots = tuple(Const(None) if (dot := sweep.of(x)) is None else dot for x in op.operands)
    names = tuple(name for name, _ in op.keywords)
    packed = [
        ev.operation(primitives.build_tuple, items, ANYTHING, name="parts")
        for items in (op.operands, dots, tuple(x for _, x in op.keywords))
    ]
    callee = Const(opaque.nested_pullback) if is_opaque else op.callee
    given = (callee, *packed[:2], Const(names), packed[2])
    return ev.operation(pullbacks.TangentsOfRule, given, ANYTHING, name="rule_dot")


@formula(opaque.apart_from)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    """``pair = apart_from(pair, *copies)``"""
    return sweep.of(op.operands[0])


@formula(operator.call)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    """``bars = back(y_bar)``"""
    back, y_bar = op.operands
    back_dot, y_bar_dot = sweep.of(back), sweep.of(y_bar)
    if back_dot is None:
        raise NotCovered("a pullback of constants", op.span)
    moved = Const(None) if y_bar_dot is None else y_bar_dot
    operands = (back, back_dot, y_bar, moved)
    return sweep.ev.operation(pullbacks.pulled, operands, ANYTHING, name="bar_dots")
