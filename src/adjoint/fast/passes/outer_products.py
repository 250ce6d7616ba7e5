"""Outer products that are added to large arrays by blocks of rows, never stored as a whole.

Before, after::

    t = outer(a, b)            add_outer(add, x_bar, ..., a, b)
    add_to(x_bar, t)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.fast.single_assignment.walk import callee_of, count_reads, is_call_of, with_blocks
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Block, Call, Const, Op, Operand, Value

_ADDITIONS: dict[Any, np.ufunc] = {
    runtime.add_to: np.add,
    runtime.add_at: np.add,
    runtime.subtract_from: np.subtract,
}


def add_by_rows(block: Block, is_large: Callable[[Value], bool]) -> Block:
    """Return a block in which outer products that are only added to large arrays are added by rows.

    No operation between the product and the addition writes to memory.
    """
    return _added_by_rows(block, is_large, count_reads(block))


def _added_by_rows(
    block: Block, is_large: Callable[[Value], bool], reads: Counter[Operand]
) -> Block:
    ops: list[Op | None] = []
    products: dict[Operand, int] = {}
    for op in block.ops:
        if isinstance(op, Call) and op.result is not None:
            if is_call_of(op, np.outer) and not op.keywords and reads[op.result] == 1:
                products[op.result] = len(ops)
            ops.append(op)
            continue
        at = products.get(op.operands[-1]) if isinstance(op, Call) and op.operands else None
        if isinstance(op, Call) and at is not None:
            product, f, x_bar = ops[at], _ADDITIONS.get(callee_of(op)), op.operands[0]
            if f and isinstance(product, Call) and isinstance(x_bar, Value) and is_large(x_bar):
                ops[at] = None
                index = op.operands[1] if len(op.operands) == 3 else Const(...)
                given = (Const(f), x_bar, index, *product.operands)
                op = Call(None, Const(runtime.add_outer), given, span=op.span)
        products.clear()
        ops.append(with_blocks(op, lambda inner: _added_by_rows(inner, is_large, reads)))
    return Block(block.parameters, tuple(op for op in ops if op is not None), block.results)
