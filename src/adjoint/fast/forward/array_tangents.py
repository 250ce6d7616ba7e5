"""Tangents of reductions, products, rearrangements and reads of arrays."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.fast.evaluate.types import ANYTHING, Array, Number, bar_type
from adjoint.fast.forward.formulas import formula
from adjoint.fast.forward.number_tangents import total_of
from adjoint.fast.reverse.arithmetic import product
from adjoint.fast.reverse.cotangent_types import operand_type, whole
from adjoint.fast.reverse.elementwise import demand_floats
from adjoint.fast.reverse.linear_functions import axes_of, simple_reduction
from adjoint.fast.single_assignment.walk import callee_of
from adjoint.fast.support import functions as runtime
from adjoint.ir import primitives
from adjoint.ir.single import Call, Const, Operand, Value
from adjoint.rulekit.row_sums import column_sums

if TYPE_CHECKING:
    from adjoint.fast.forward.tangent_values import TangentValues


def is_pack(sweep: TangentValues, x: Operand) -> bool:
    """Return whether an operand is a list or a tuple that the program builds."""
    return sweep.activity.parts_of(x) is not None


@formula(
    np.ndarray.transpose,
    np.reshape,
    np.ndarray.reshape,
    np.ravel,
    np.ndarray.ravel,
    np.ndarray.flatten,
    np.ndarray.tolist,
    np.broadcast_to,
    np.ascontiguousarray,
    column_sums,
    operator.getitem,
    runtime.own,
    runtime.broadcast_like,
    runtime.fitting,
    runtime.summed_part,
    runtime.last_part,
    runtime.present,
)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    """The functions that are linear in their first operand."""
    ev, x, f = sweep.ev, op.operands[0], callee_of(op)
    if (
        not isinstance(x, Value)
        or is_pack(sweep, x)
        or {k for k, _ in op.keywords} - _LINEAR_KEYWORDS
        or (f is operator.getitem and not isinstance(ev.types[x], Array))
    ):
        return None
    dot = sweep.of(x)
    if dot is None or (isinstance(ev.types[x], Array) and not isinstance(dot, Value)):
        return None
    return sweep.linear(f, (dot, *op.operands[1:]), y, op.keywords)


_LINEAR_KEYWORDS = {"axis", "keepdims", "axes"}


@formula(np.array)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    ev, x = sweep.ev, op.operands[0]
    if not isinstance(x, Value) or {name for name, _ in op.keywords} - {"dtype"}:
        return None
    if op.keywords and ev.array_type(y).dtype.kind not in "fc":
        return None
    given = sweep.full(x)
    made = _whole_pack(sweep, x) if is_pack(sweep, x) else given
    t = bar_type(ev.array_type(y))
    assert isinstance(t, Array)
    return sweep.linear(np.array, (made, Const(t.dtype)), y)


@formula(np.full, np.full_like)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    like, x = op.operands[:2]
    if len(op.operands) > 2 or op.keywords or not isinstance(sweep.ev.type_of(x), Number):
        return None
    if sweep.ev.array_type(y).dtype.kind not in "fc" or (dot := sweep.of(x)) is None:
        return None
    return sweep.linear(callee_of(op), (like, dot), y)


def _whole_pack(sweep: TangentValues, x: Value) -> Operand:
    """Return the tangents of the items of a list, each in the shape of its primal."""
    ev = sweep.ev
    parts: list[Operand] = []
    for part in sweep.activity.parts_of(x) or ():
        if isinstance(part, Value) and is_pack(sweep, part):
            parts.append(_whole_pack(sweep, part))
        elif isinstance(part, Const):
            value: Any = part.value
            parts.append(Const(np.zeros(np.shape(value)).tolist()))
        else:
            assert isinstance(part, Value)
            dot = sweep.full(part)
            parts.append(whole(ev, dot, part) if isinstance(ev.types[part], Array) else dot)
    made = ev.operation(primitives.build_list, parts, ANYTHING, name="parts")
    ev.packs[made] = tuple(parts)
    ev.note_alias(made, parts)
    return made


@formula(np.concatenate, np.stack, np.hstack, np.vstack, np.column_stack)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    x = op.operands[0]
    if not is_pack(sweep, x) or {k for k, _ in op.keywords} - {"axis"}:
        return None
    assert isinstance(x, Value)
    return sweep.linear(callee_of(op), (_whole_pack(sweep, x), *op.operands[1:]), y, op.keywords)


@formula(np.where)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    ev = sweep.ev
    if op.keywords or len(op.operands) != 3 or any(is_pack(sweep, x) for x in op.operands):
        return None
    condition, a, b = op.operands
    if not isinstance(ev.types[y], Array):
        return None
    picked = [whole(ev, dot, y) if (dot := sweep.of(x)) is not None else Const(0.0) for x in (a, b)]
    return sweep.linear(np.where, (condition, *picked), y)


@formula(np.max, np.min, np.ndarray.max, np.ndarray.min)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    """Each extremum moves with the elements that equal it, in equal shares."""
    ev, x = sweep.ev, op.operands[0]
    if not simple_reduction(op) or not isinstance(operand_type(ev, x), Array):
        return None
    assert isinstance(x, Value)
    demand_floats(ev, x)
    of_x = bar_type(ev.array_type(x))
    axis = axes_of(op, len(ev.array_type(x).shape))
    keepdims = dict(op.keywords).get("keepdims", Const(False))
    operands = (x, y, Const(1.0), Const(axis), keepdims)
    shares = ev.operation(runtime.to_extremes, operands, of_x, name="shares")
    terms = product(ev, sweep.full(x), shares, "t")
    options = (("axis", Const(axis)), ("keepdims", keepdims))
    return sweep.linear(np.sum, (terms,), y, options)


@formula(runtime.to_extremes)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    x, extremum, x_bar, *rest = op.operands
    return sweep.linear(runtime.to_extremes, (x, extremum, sweep.full(x_bar), *rest), y)


@formula(np.maximum, np.minimum)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    ev, (a, b) = sweep.ev, op.operands
    if op.keywords:
        return None
    is_greatest = callee_of(op) is np.maximum
    share: Any = runtime.share_of_greater if is_greatest else runtime.share_of_less

    def terms() -> Iterator[Operand]:
        for x, other in ((a, b), (b, a)):
            dot = sweep.of(x)
            if dot is not None and isinstance(x, Value):
                demand_floats(ev, x)
                slope = ev.operation(share, (x, other, y), bar_type(ev.types[y]), name="slope")
                yield product(ev, dot, slope, f"{y.name}_dot")

    return total_of(ev, terms(), f"{y.name}_dot")
