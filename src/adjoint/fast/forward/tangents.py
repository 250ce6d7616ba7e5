"""Choice of the tangent of one operation: formula, partial derivatives, or registered rule."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adjoint.fast.evaluate.composites import Composite
from adjoint.fast.evaluate.types import has_complex
from adjoint.fast.forward import array_tangents as array_tangents
from adjoint.fast.forward import complex_tangents as complex_tangents
from adjoint.fast.forward.constant_functions import has_rule_from_outside
from adjoint.fast.forward.formulas import formulas
from adjoint.fast.forward.inlined_tangents import inlined_tangent
from adjoint.fast.forward.linear_rules import linear_tangent, steady_tangent
from adjoint.fast.forward.number_tangents import total_of
from adjoint.fast.forward.opaque_rules import opaque_tangent, tangents_of_pair
from adjoint.fast.forward.registered_rules import by_rule
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.reverse.arithmetic import as_precise, product
from adjoint.fast.reverse.cotangent_types import conjugated, operand_type
from adjoint.fast.reverse.differentiate import known_slopes
from adjoint.fast.reverse.elementwise import PRODUCTS, direction_of, is_modulus
from adjoint.fast.reverse.evaluated_slopes import evaluated_slope
from adjoint.fast.single_assignment.walk import callee_of, result_of
from adjoint.fast.support.opaque import Opaque
from adjoint.ir.single import Call, Const, Operand
from adjoint.rulekit.partials import Partials
from adjoint.rulekit.refusal import NoDerivative

if TYPE_CHECKING:
    from adjoint.fast.forward.tangent_values import TangentValues


def tangent(sweep: TangentValues, op: Call) -> Operand:
    """Write an operation, and return the tangent of its result.

    Raises
    ------
    NotCovered
        No formula and no rule applies to such operands.
    """
    f, y = callee_of(op), result_of(op)
    if isinstance(f, Composite):
        return f.tangent(sweep, op)
    if isinstance(f, Opaque):
        return opaque_tangent(sweep, op)
    if y in sweep.ev.rule_pairs:
        return tangents_of_pair(sweep, op)
    if has_rule_from_outside(f):
        return by_rule(sweep, op)
    found: Operand | None = None
    place = len(sweep.ev.block)
    sweep.ev.write(op)
    if f in formulas:
        found = formulas[f](sweep, op, y)
    if found is None:
        slopes = known_slopes(sweep.slopes, f, len(op.operands))
        if slopes is not None:
            found = _by_slopes(sweep, op, slopes)
    if found is None:
        found = linear_tangent(sweep, op) or inlined_tangent(sweep, op)
    if found is None and not sweep.is_last:
        found = steady_tangent(sweep, op)
    if found is None:
        del sweep.ev.block[place:]
        found = by_rule(sweep, op)
    return found


def _by_slopes(sweep: TangentValues, op: Call, slopes: Partials) -> Operand | None:
    """Write Σ slope · x_dot; ``None`` if a slope cannot be inlined."""
    if op.keywords:
        return None
    terms = sweep.ev.provisionally(lambda: _terms(sweep, op, slopes))
    if terms is None:
        return None
    y = result_of(op)
    return total_of(sweep.ev, terms, f"{y.name}_dot") if terms else sweep.zeros(y)


def _terms(sweep: TangentValues, op: Call, slopes: Partials) -> list[Operand]:
    ev, y = sweep.ev, result_of(op)
    terms: list[Operand] = []
    is_product = callee_of(op) in PRODUCTS and op.operands[0] is not op.operands[1]
    for x, p in zip(op.operands, slopes.partials, strict=True):
        dot = sweep.of(x)
        if dot is None or p is None:
            continue
        if isinstance(p, NoDerivative):
            raise NotCovered(f"the slope in {p.what}")
        if is_product:
            a, b = op.operands
            slope: Operand = b if x is a else a
        elif is_modulus(ev, op):
            slope = direction_of(ev, x, y)  # type: ignore[arg-type]
        elif callable(p):
            precise = [as_precise(ev, x, y) for x in op.operands]
            slope = evaluated_slope(ev, p, (y, *precise))
        else:
            slope = Const(p)
        if has_complex(operand_type(ev, x)) and not has_complex(ev.types[y]):
            slope = conjugated(ev, slope)  # `settle` takes the real part of the sum
        terms.append(product(ev, dot, slope, f"{y.name}_dot"))
    return terms
