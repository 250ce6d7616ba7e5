"""Tangents by the formulas of `adjoint.rulekit.tangents`, inlined into the program."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjoint.fast.evaluate.types import has_complex
from adjoint.fast.evaluate.values import Known, Tuple
from adjoint.fast.reverse.cotangent_types import abstract_of, operand_type
from adjoint.fast.single_assignment.walk import callee_of, result_of
from adjoint.ir.single import Call, Operand
from adjoint.rulekit.registry import lookup

if TYPE_CHECKING:
    from adjoint.fast.forward.tangent_values import TangentValues


def inlined_tangent(sweep: TangentValues, op: Call) -> Operand | None:
    """Return the tangent of the result of `op`, which has been written; ``None`` without a formula
    for such operands."""
    rules, ev = lookup(callee_of(op)), sweep.ev
    if rules is None or rules.tangent is None:
        return None
    if any(sweep.activity.parts_of(x) is not None for x in op.operands):
        return None
    if any(has_complex(operand_type(ev, x)) for x in op.operands):
        return None
    shaped = map(sweep.shaped, op.operands)
    dots = Tuple(tuple(Known(None) if dot is None else abstract_of(dot) for dot in shaped))
    named = {k: abstract_of(x) for k, x in op.keywords}
    args = [dots, result_of(op), *map(abstract_of, op.operands)]
    meaning = ev.outside.own(rules.tangent)
    return ev.provisionally(lambda: ev.operand(ev.call(meaning, args, named)))
