"""Tangents of reductions, products, rearrangements and reads of arrays."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.fast.evaluate.types import ANYTHING, Array, bar_type
from adjoint.fast.forward.formulas import formula
from adjoint.fast.forward.number_tangents import sum_of
from adjoint.fast.reverse.arithmetic import product
from adjoint.fast.reverse.cotangent_types import operand_type, whole
from adjoint.fast.reverse.elementwise import demand_floats
from adjoint.fast.reverse.linear_functions import axes_of, simple_reduction
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Call, Const, Operand, Value
from adjoint.rulekit.row_sums import column_sums

if TYPE_CHECKING:
    from adjoint.fast.forward.tangent_values import TangentValues


def is_pack(sweep: TangentValues, x: Operand) -> bool:
    """Return whether an operand is a list or a tuple that the program builds."""
    return sweep.activity.parts_of(x) is not None


@formula(
    np.sum,
    np.ndarray.sum,
    np.mean,
    np.ndarray.mean,
    np.transpose,
    np.ndarray.transpose,
    np.reshape,
    np.ndarray.reshape,
    np.ravel,
    np.ndarray.ravel,
    np.ndarray.flatten,
    np.ndarray.copy,
    np.copy,
    np.ndarray.tolist,
    np.expand_dims,
    np.squeeze,
    np.swapaxes,
    np.moveaxis,
    np.cumsum,
    np.flip,
    np.roll,
    np.diag,
    np.trace,
    np.broadcast_to,
    column_sums,
    operator.getitem,
    runtime.own,
    runtime.broadcast_like,
    runtime.fitting,
    runtime.summed_part,
    runtime.last_part,
    runtime.present,
)
def _(sweep: TangentValues, op: Call) -> Operand | None:
    """The functions that are linear in their first operand."""
    ev, x, y = sweep.ev, op.operands[0], op.result
    assert y is not None and isinstance(op.callee, Const)
    f = op.callee.value
    if (
        not isinstance(x, Value)
        or is_pack(sweep, x)
        or {k for k, _ in op.keywords} - _LINEAR_KEYWORDS
        or (f in (np.sum, np.mean) and not simple_reduction(op))
    ):
        return None
    dot = sweep.of(x)
    if dot is None or (isinstance(ev.types[x], Array) and not isinstance(dot, Value)):
        return None
    t = ev.types[y]
    found = bar_type(t) if t != ANYTHING else ANYTHING
    if f is operator.getitem and not isinstance(ev.types[x], Array):
        return None
    return ev.operation(f, (dot, *op.operands[1:]), found, op.keywords, name=f"{y.name}_dot")


_LINEAR_KEYWORDS = {"axis", "keepdims", "axes"}


@formula(np.array)
def _(sweep: TangentValues, op: Call) -> Operand | None:
    ev, x, y = sweep.ev, op.operands[0], op.result
    assert y is not None
    if not isinstance(x, Value) or op.keywords:
        return None
    given = sweep.full(x)
    made = _whole_pack(sweep, x) if is_pack(sweep, x) else given
    t = bar_type(ev.array_type(y))
    assert isinstance(t, Array)
    return ev.operation(np.array, (made, Const(t.dtype)), t, name=f"{y.name}_dot")


def _whole_pack(sweep: TangentValues, x: Value) -> Operand:
    """Return the tangents of the items of a list, each in the shape of its primal."""
    from adjoint.ir.primitives import build_list

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
    made = ev.operation(build_list, parts, ANYTHING, name="parts")
    ev.packs[made] = tuple(parts)
    ev.note_alias(made, parts)
    return made


@formula(np.concatenate, np.stack, np.hstack, np.vstack, np.column_stack)
def _(sweep: TangentValues, op: Call) -> Operand | None:
    ev, x, y = sweep.ev, op.operands[0], op.result
    assert y is not None and isinstance(op.callee, Const)
    if not is_pack(sweep, x) or {k for k, _ in op.keywords} - {"axis"}:
        return None
    assert isinstance(x, Value)
    given = (_whole_pack(sweep, x), *op.operands[1:])
    t = bar_type(ev.types[y])
    return ev.operation(op.callee.value, given, t, op.keywords, name=f"{y.name}_dot")


@formula(operator.matmul, np.matmul, np.dot, np.ndarray.dot, np.outer, np.vdot, np.inner)
def _(sweep: TangentValues, op: Call) -> Operand | None:
    ev, y = sweep.ev, op.result
    assert y is not None and isinstance(op.callee, Const)
    types = [operand_type(ev, x) for x in op.operands]
    if op.keywords or len(types) != 2 or not all(isinstance(t, Array) for t in types):
        return None
    (a, b), t, name = op.operands, bar_type(ev.types[y]), f"{y.name}_dot"
    total: Operand | None = None
    for operands in ((sweep.of(a), b), (a, sweep.of(b))):
        if None not in operands:
            term = ev.operation(op.callee.value, operands, t, name=name)  # type: ignore[arg-type]
            total = term if total is None else sum_of(ev, total, term, name)
    assert total is not None
    return total


@formula(np.where)
def _(sweep: TangentValues, op: Call) -> Operand | None:
    ev, y = sweep.ev, op.result
    assert y is not None
    if op.keywords or len(op.operands) != 3 or any(is_pack(sweep, x) for x in op.operands):
        return None
    condition, a, b = op.operands
    t = bar_type(ev.types[y])
    if not isinstance(t, Array):
        return None
    picked = [whole(ev, dot, y) if (dot := sweep.of(x)) is not None else Const(0.0) for x in (a, b)]
    return ev.operation(np.where, (condition, *picked), t, name=f"{y.name}_dot")


@formula(np.max, np.min, np.ndarray.max, np.ndarray.min)
def _(sweep: TangentValues, op: Call) -> Operand | None:
    """Each extremum moves with the elements that equal it, in equal shares."""
    ev, x, y = sweep.ev, op.operands[0], op.result
    assert y is not None
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
    return ev.operation(np.sum, (terms,), bar_type(ev.types[y]), options, name=f"{y.name}_dot")


@formula(runtime.to_extremes)
def _(sweep: TangentValues, op: Call) -> Operand | None:
    ev, (x, extremum, _, *rest), y = sweep.ev, op.operands, op.result
    assert y is not None
    operands = (x, extremum, sweep.full(op.operands[2]), *rest)
    return ev.operation(runtime.to_extremes, operands, bar_type(ev.types[y]), name=f"{y.name}_dot")


@formula(np.maximum, np.minimum)
def _(sweep: TangentValues, op: Call) -> Operand | None:
    ev, (a, b), y = sweep.ev, op.operands, op.result
    assert y is not None and isinstance(op.callee, Const)
    if op.keywords:
        return None
    share: Any = runtime.share_of_less
    if op.callee.value is np.maximum:
        share = runtime.share_of_greater
    total: Operand | None = None
    for x, other in ((a, b), (b, a)):
        dot = sweep.of(x)
        if dot is not None:
            assert isinstance(x, Value)
            demand_floats(ev, x)
            slope = ev.operation(share, (x, other, y), bar_type(ev.types[y]), name="slope")
            term = product(ev, dot, slope, f"{y.name}_dot")
            total = term if total is None else sum_of(ev, total, term, f"{y.name}_dot")
    assert total is not None
    return total
