"""Outer products that are added to large arrays, never stored as a whole.

Alone they are added by blocks of rows; in a loop that only adds to the array, many at once::

    t = outer(a, b)            add_outer(add, x_bar, ..., a, b)
    add_to(x_bar, t)

    for ...:                   sums = outer_sum(x_bar)
        t = outer(a, b)        for ...:
        add_to(x_bar, t)           note_outer(sums, add, ..., a, b)
                               add_sum(x_bar, sums)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import ANYTHING, Array
from adjoint.fast.single_assignment.walk import (
    callee_of,
    count_reads,
    defined_values,
    is_call_of,
    read_by,
    walk,
    walk_ops,
    with_blocks,
)
from adjoint.fast.support import functions as runtime
from adjoint.fast.support.outer_products import add_outer, add_sum, note_outer, outer_sum
from adjoint.ir.single import Block, Call, Const, Loop, Op, Operand, Value

_ADDITIONS: dict[Any, np.ufunc] = {
    runtime.add_to: np.add,
    runtime.add_at: np.add,
    runtime.subtract_from: np.subtract,
}


def without_outer_products(ev: Evaluator, block: Block) -> Block:
    """Return a block in which outer products that are only added to large arrays are not stored.

    No operation between the product and the addition writes to memory.
    """
    return _gathered(ev, _added_by_rows(ev, block, count_reads(block)))


def _added_by_rows(ev: Evaluator, block: Block, reads: Counter[Operand]) -> Block:
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
            if f and isinstance(product, Call) and isinstance(x_bar, Value) and ev.is_large(x_bar):
                ops[at] = None
                index = op.operands[1] if len(op.operands) == 3 else Const(...)
                given = (Const(f), x_bar, index, *product.operands)
                op = Call(None, Const(add_outer), given, span=op.span)
        products.clear()
        ops.append(with_blocks(op, lambda inner: _added_by_rows(ev, inner, reads)))
    return Block(block.parameters, tuple(op for op in ops if op is not None), block.results)


def _gathered(ev: Evaluator, block: Block) -> Block:
    """Return a block whose loops add outer products many at once, if they only add to the array."""
    ops: list[Op] = []
    for op in block.ops:
        sums: dict[Operand, Value] = {}
        if isinstance(op, Loop):
            sums = {x: ev.value(ANYTHING, name="sums") for x in _only_added_to(ev, op)}
            op = with_blocks(op, partial(_noted, sums=sums))
        ops += [Call(made, Const(outer_sum), (x,)) for x, made in sums.items()]
        ops.append(with_blocks(op, partial(_gathered, ev)))
        ops += [Call(None, Const(add_sum), (x, made)) for x, made in sums.items()]
    return Block(block.parameters, tuple(ops), block.results)


def _only_added_to(ev: Evaluator, loop: Loop) -> list[Value]:
    """Return the matrices from before a loop to which it adds outer products, and which it neither
    reads nor changes otherwise."""
    targets = {x: None for op in walk(loop.body) if (x := _target(ev, op)) is not None}
    if not targets:
        return []
    read: set[Value] = {x for x in loop.body.results or () if isinstance(x, Value)}
    for op in walk_ops((loop,)):
        read.update(_read_beside_additions(op))
    others = {owner for x in read for owner in ev.aliased_by(x)} | {*defined_values(loop.body)}
    return [x for x in targets if ev.aliased_by(x).isdisjoint(others)]


def _target(ev: Evaluator, op: Op) -> Value | None:
    """Return the matrix to which an operation adds an outer product of its own dtype."""
    if not is_call_of(op, add_outer):
        return None
    _, x_bar, _, a, b = op.operands
    types = [ev.types.get(x) if isinstance(x, Value) else None for x in (x_bar, a, b)]
    arrays = [t for t in types if isinstance(t, Array)]
    alike = len(arrays) == 3 and len({t.dtype for t in arrays}) == 1
    is_matrix = alike and len(arrays[0].shape) == 2 and arrays[0].dtype.char in "fdFD"
    return x_bar if is_matrix and isinstance(x_bar, Value) else None


def _read_beside_additions(op: Op) -> Iterator[Value]:
    """Yield the values that an operation reads; of an addition, not what it adds to."""
    read = read_by(op)
    if isinstance(op, Call) and callee_of(op) is add_outer:
        read = iter(op.operands[2:])
    elif isinstance(op, Call) and callee_of(op) in _ADDING:
        read = iter(op.operands[1:])
    return (x for x in read if isinstance(x, Value))


_ADDING = frozenset({*_ADDITIONS, runtime.scatter})


def _noted(block: Block, sums: Mapping[Operand, Value]) -> Block:
    def noted(op: Op) -> Op:
        if is_call_of(op, add_outer) and op.operands[1] in sums:
            f, x_bar, *given = op.operands
            return Call(None, Const(note_outer), (sums[x_bar], f, *given), span=op.span)
        return with_blocks(op, partial(_noted, sums=sums))

    return Block(block.parameters, tuple(map(noted, block.ops)), block.results)
