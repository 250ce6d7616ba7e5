"""Arrays of which every write comes before anything else may be the array, or a part of it.

Such an array is filled in the block that makes it, as in ``y = np.zeros(2); y[0] = a; y[1] = b``:
each write may as well give a new array.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.result_types.elementwise import is_ufunc
from adjoint.fast.evaluate.types import Array
from adjoint.fast.passes.sequence import is_effect
from adjoint.fast.single_assignment.walk import blocks, callee_of, operands, read_by, walk_ops
from adjoint.fast.support import functions as runtime
from adjoint.fast.support.members import members
from adjoint.ir.single import Block, Call, Op, Value

UPDATES: dict[Any, Any] = {
    runtime.put: None,
    runtime.put_broadcast: None,
    runtime.add_to: operator.add,
    runtime.subtract_from: operator.sub,
    runtime.scale: operator.mul,
    runtime.divide: operator.truediv,
}
"""Writes to the first operand: what the new contents are of it and the last one; ``None``: the
elements at an index are replaced."""

ARITHMETIC = members(operator, "add sub mul neg pos abs")
OPERATORS = ARITHMETIC | {operator.truediv, operator.pow}
SUMS = members(np, "sum ndarray.sum")
DOTS = members(np, "dot ndarray.dot inner vdot") | {operator.matmul}
_READS = OPERATORS | SUMS | DOTS | {np.linalg.norm}


def still_written(ev: Evaluator, block: Block) -> set[Value]:
    """Return the arrays that a program writes to, without those that are filled where they are
    made."""
    if not ev.written:
        return set()
    found = set(_filled(ev, block))
    others = {y for x in ev.written for y in ev.aliased_by(x) if y is not x}
    return ev.written - (found - others)


def _filled(ev: Evaluator, block: Block) -> Iterator[Value]:
    made = {
        op.result: i
        for i, op in enumerate(block.ops)
        if isinstance(op, Call) and op.result in ev.written and op.result in ev.fresh
    }
    for x, first in made.items():
        assert x is not None
        writes = [i for i, op in enumerate(block.ops) if _writes(op, x)]
        between = block.ops[first + 1 : max(writes, default=0) + 1]
        if sum(_writes(op, x) for op in walk_ops(block.ops)) == len(writes) and all(
            _only_reads(ev, op, x) for op in between
        ):
            yield x
    for op in block.ops:
        for inner in blocks(op):
            yield from _filled(ev, inner)


def _writes(op: Op, x: Value) -> bool:
    return isinstance(op, Call) and is_effect(op) and op.operands[:1] == (x,)


def _only_reads(ev: Evaluator, op: Op, x: Value) -> bool:
    """Return whether an operation has nothing to do with `x`, is a write to it that is known, or
    computes new numbers of its elements."""
    if not isinstance(op, Call):
        return all(x is not y for one in walk_ops((op,)) for y in read_by(one))
    if all(x is not y for y in operands(op)):
        return True
    f = callee_of(op)
    if f in UPDATES:
        return op.operands[-1] is not x
    if f is operator.getitem:
        return op.result is not None and not isinstance(ev.types[op.result], Array)
    return f in _READS or is_ufunc(f)


def fits_into(shape: tuple[int, ...], part: tuple[int, ...] | None) -> bool:
    """Return whether an array of a shape may be written to a part of another, if it is one."""
    try:
        return part is not None and np.broadcast_shapes(shape, part) == part
    except ValueError:
        return False
