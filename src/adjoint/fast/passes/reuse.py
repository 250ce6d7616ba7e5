"""Reuse of buffers: an array is overwritten by the result of the operation that reads it last.

Before, after::

    u = exp(x)                      u = exp(x)
    s = sum(u)                      s = sum(u)
    y_bar = mul(u, z)               scale(u, z)
                                    y_bar = same(u)

This applies to large arrays that are read more than once; NumPy itself reuses the memory of an
array that is read once.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from adjoint.fast.single_assignment.primitives import same
from adjoint.fast.single_assignment.walk import callee_of, read_by, walk_ops
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Block, Call, Const, Op, Operand, Value

_IN_PLACE: dict[Any, Any] = {
    operator.add: runtime.add_to,
    operator.sub: runtime.subtract_from,
    operator.mul: runtime.scale,
    operator.truediv: runtime.divide,
}
_COMMUTE = frozenset({operator.add, operator.mul})


def reuse_buffers(block: Block, may_reuse: Callable[[Value, Value], bool]) -> Block:
    """Return a block with some operations in place.

    Parameters
    ----------
    may_reuse : callable
        Whether the first value may be overwritten with the second one: an array of the same type
        without other references or aliases.
    """
    last: dict[Value, int] = {}
    uses: Counter[Value] = Counter()
    for i, op in enumerate(block.ops):
        for x in _read(op):
            last[x] = i
            uses[x] += 1
    last |= {x: len(block.ops) for x in block.results or () if isinstance(x, Value)}
    ops: list[Op] = []
    for i, op in enumerate(block.ops):
        ops += _written(op, i, last, uses, may_reuse)
    return Block(block.parameters, tuple(ops), block.results)


def _read(op: Op) -> Iterable[Value]:
    """Yield the values that an operation reads, inner blocks included."""
    for inner in walk_ops((op,)):
        yield from (x for x in read_by(inner) if isinstance(x, Value))


def _written(
    op: Op,
    i: int,
    last: dict[Value, int],
    uses: Counter[Value],
    may_reuse: Callable[[Value, Value], bool],
) -> list[Op]:
    f = callee_of(op)
    if f not in _IN_PLACE or not isinstance(op, Call) or op.result is None:
        return [op]
    a, b = op.operands
    pairs: list[tuple[Operand, Operand]] = [(a, b)]
    if f in _COMMUTE:
        pairs.append((b, a))
    for x, other in pairs:
        if not isinstance(x, Value) or x is other or last[x] != i or uses[x] < 2:
            continue
        if may_reuse(x, op.result):
            write = Call(None, Const(_IN_PLACE[f]), (x, other), (), op.span)
            return [write, Call(op.result, Const(same), (x,), (), op.span)]
    return [op]
