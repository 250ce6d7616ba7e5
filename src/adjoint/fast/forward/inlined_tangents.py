"""Tangents by the formulas of `adjoint.rulekit.tangents`, inlined into the program."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjoint.fast.evaluate.types import Array, has_complex
from adjoint.fast.evaluate.values import Known, Tuple
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.reverse.cotangent_types import abstract_of, operand_type, whole
from adjoint.fast.single_assignment.walk import callee_of, result_of
from adjoint.ir.single import Call, Operand, Value
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
    dots = Tuple(tuple(_dot(sweep, x) for x in op.operands))
    named = {k: abstract_of(x) for k, x in op.keywords}
    heap, place = dict(ev.heap), len(ev.block)
    try:
        args = [dots, result_of(op), *map(abstract_of, op.operands)]
        return ev.operand(ev.call(ev.outside.own(rules.tangent), args, named))
    except NotCovered:
        ev.heap = heap
        del ev.block[place:]
        return None


def _dot(sweep: TangentValues, x: Operand) -> Any:
    """Return the tangent of an operand in its shape; ``None`` without one."""
    dot = sweep.of(x)
    if dot is None or not isinstance(x, Value):
        return Known(None)
    return abstract_of(whole(sweep.ev, dot, x) if isinstance(sweep.ev.types[x], Array) else dot)
