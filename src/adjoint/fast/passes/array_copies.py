"""Elimination of copies of arrays that nothing else reads.

Before, after::

    t = mul(a, b)                  t = mul(a, b)
    u = moveaxis(t, 0, 1)          u = moveaxis(t, 0, 1)
    y = own(u)                     y = same(u)
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeGuard

import numpy as np

from adjoint.fast.evaluate.types import Array, Type
from adjoint.fast.single_assignment.primitives import same
from adjoint.fast.single_assignment.walk import callee_of, count_reads
from adjoint.fast.support import functions as runtime
from adjoint.fast.support.result_memory import NEW_ARRAYS, VIEWS
from adjoint.ir.single import Block, Call, Const, Op, Operand, Value

_WITHOUT_COPY: dict[Any, Any] = {
    runtime.own: same,
    runtime.inner_derivative: runtime.finite_derivative,
}


def without_needless_copies(
    ops: Sequence[Op],
    results: Sequence[Operand],
    types: Mapping[Value, Type],
    written: Collection[Value],
) -> tuple[Op, ...]:
    """Return operations in which an array that was made for one copy is that copy; `written` are
    the values that are written to."""
    reads = count_reads(Block((), tuple(ops), tuple(results)))
    made = {op.result: op for op in ops if isinstance(op, Call) and op.result is not None}

    def is_for_this_alone(x: Operand) -> bool:
        while isinstance(x, Value) and reads[x] == 1 and x not in written and x in made:
            f = callee_of(made[x])
            if f in VIEWS and f not in NEW_ARRAYS:
                x = made[x].operands[0]
                continue
            return isinstance(f, np.ufunc) or f in NEW_ARRAYS
        return False

    return tuple(
        replace(op, callee=Const(_WITHOUT_COPY[callee_of(op)]))
        if _is_copy(op) and _is_array(op, types) and is_for_this_alone(op.operands[0])
        else op
        for op in ops
    )


def _is_array(op: Call, types: Mapping[Value, Type]) -> bool:
    return op.result is not None and isinstance(types[op.result], Array)


def has_copies(ops: Iterable[Op]) -> bool:
    """Return whether one of the operations is a copy that may be needless."""
    return any(map(_is_copy, ops))


def _is_copy(op: Op) -> TypeGuard[Call]:
    return callee_of(op) in _WITHOUT_COPY
