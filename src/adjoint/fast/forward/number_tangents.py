"""Tangents of conversions, extrema and lists of numbers."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from functools import reduce
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.fast.evaluate.types import ANYTHING, FLOAT, Array, Row, bar_type
from adjoint.fast.forward.formulas import formula
from adjoint.fast.reverse.arithmetic import inferred, product, sum_of
from adjoint.fast.reverse.elementwise import share_of_one, ties_of_numbers
from adjoint.fast.reverse.evaluated_slopes import evaluated_slope
from adjoint.fast.single_assignment.walk import callee_of
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.fast.support.result_memory import COPIES, IDENTITIES
from adjoint.ir import primitives
from adjoint.ir.single import Call, Const, Operand, Value

if TYPE_CHECKING:
    from adjoint.fast.evaluate.evaluator import Evaluator
    from adjoint.fast.forward.tangent_values import TangentValues


def total_of(ev: Evaluator, terms: Iterable[Operand], name: str) -> Operand:
    """Write the sum of one term or more."""
    return reduce(lambda total, term: sum_of(ev, total, term, name), terms)


@formula(*IDENTITIES, *COPIES, runtime.as_float, np.float32, np.float16)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    return sweep.full(op.operands[0])


@formula(operator.truediv, np.true_divide)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    """y_dot = (a_dot - y b_dot) / b"""
    if op.keywords:
        return None
    ev, (a, b) = sweep.ev, op.operands
    a_dot, b_dot = sweep.of(a), sweep.of(b)
    name = f"{y.name}_dot"
    if b_dot is not None:
        term = product(ev, b_dot, y, "t")
        if a_dot is None:
            a_dot = product(ev, term, Const(-1), "t")
        else:
            a_dot = inferred(ev, operator.sub, (a_dot, term), "t")
    assert a_dot is not None
    return inferred(ev, operator.truediv, (a_dot, b), name)


@formula(max, min)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    ev = sweep.ev
    if op.keywords or len(op.operands) < 2:
        return None
    count = None
    if len(op.operands) > 2:
        count = evaluated_slope(ev, ties_of_numbers, (y, *op.operands))

    def terms() -> Iterator[Operand]:
        for i, x in enumerate(op.operands):
            dot = sweep.of(x)
            if dot is not None and count is None:
                slope = evaluated_slope(ev, share_of_one, (y, x, op.operands[1 - i]))
                yield product(ev, dot, slope, f"{y.name}_dot")
            elif dot is not None and count is not None:
                slope = evaluated_slope(ev, _share_of_several, (y, x, count))
                yield product(ev, dot, slope, f"{y.name}_dot")

    return total_of(ev, terms(), f"{y.name}_dot")


def _share_of_several(y: Any, x: Any, count: Any) -> Any:
    """Return the derivative of an extremum `y` in `x`, one of `count` numbers that equal it."""
    return 1.0 / count if x == y else 0.0 * y


@formula(primitives.build_tuple, primitives.build_list, rows.new_keys)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    ev = sweep.ev
    parts = tuple(map(sweep.full, op.operands))
    t = ev.types[y]
    made = ev.operation(
        callee_of(op), parts, bar_type(t) if isinstance(t, Row) else ANYTHING, name="parts"
    )
    if not isinstance(t, Row):
        ev.packs[made] = parts
    ev.note_alias(made, parts)
    return made


# ---- lists of numbers ----------------------------------------------------------------------------


@formula(rows.item, rows.part, rows.total, rows.exact_total, rows.repeated, rows.stacked)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    """The functions that are linear in their first operand."""
    return sweep.linear(callee_of(op), (sweep.full(op.operands[0]), *op.operands[1:]), y)


@formula(rows.total_or_zero)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    dots = sweep.full(op.operands[0])
    return sweep.linear(rows.total_or_zero, (dots, Const(0.0)), y)


@formula(rows.array_of)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    t = bar_type(sweep.ev.array_type(y))
    assert isinstance(t, Array)
    return sweep.linear(rows.array_of, (sweep.full(op.operands[0]), Const(t.dtype)), y)


@formula(rows.greatest, rows.least)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    ev, row = sweep.ev, op.operands[0]
    assert isinstance(row, Value)
    places = ev.operation(rows.ties, (row, y), ANYTHING, name="ties")
    return ev.operation(rows.mean_at, (sweep.full(row), places), FLOAT, name=f"{y.name}_dot")
