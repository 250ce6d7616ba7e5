"""Arrays that a branch chooses or a loop carries, and that the program writes to.

Before, after::

    a, b = for i in n with a = a0, b = b0      a, b = for i in n with a = a0, b = b0
        put(a, i, x)                               c = copy(a)
        -> b, a                                    put(c, i, x)
                                                   -> b, c

No such array is written to any more. That is the same program if no other name shows the write: the
array is in memory that the program has made, and nothing reads it from there on by another name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import Array
from adjoint.fast.evaluate.writes.memory_sharing import Sharing
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.walk import (
    blocks,
    callee_of,
    operands,
    read_by,
    results,
    walk,
    with_blocks,
)
from adjoint.fast.support import functions as runtime
from adjoint.ir.nodes import Span
from adjoint.ir.single import Block, Call, Const, If, Loop, Op, Operand, Unpack, Value

_REASON = "a write to an array that a branch chooses or a loop carries, and that has another name"
_WRITES = runtime.WRITES | runtime.BUFFER_WRITES


def target_of(op: Op) -> Value | None:
    """Return what an operation writes to."""
    if isinstance(op, Call) and callee_of(op) in _WRITES:
        assert isinstance(op.operands[0], Value)
        return op.operands[0]
    return None


def reads_sizes(op: Op) -> bool:
    """Return whether an operation reads only the sizes of its operands."""
    return callee_of(op) in (runtime.length, runtime.shape_of)


def with_own_joins(ev: Evaluator, block: Block, sharing: Sharing) -> Block:
    """Return a block in which each join that is written to is copied where it is made.

    Raises
    ------
    NotCovered
        Another name may show a write.
    """
    written: dict[Value, Span | None] = {}
    for op in walk(block):
        target = target_of(op)
        owner = target if target is None else ev.owners(target)[-1]
        if owner in sharing.joins and isinstance(ev.types[owner], Array):
            written.setdefault(owner, op.span)
    if not written:
        return block
    for x, span in written.items():
        if not all(root in ev.fresh or ev.aliases.get(root) for root in sharing.made_of(x)):
            raise NotCovered(_REASON, span)
    _Reads(ev, sharing, written).before(block, set())
    ev.fresh |= written.keys()
    return _copying(ev, block, written)


def _copying(ev: Evaluator, block: Block, written: Collection[Value]) -> Block:
    """Return a block in which the joins `written` are copies of joins under new names."""
    incoming = {x: ev.value(ev.types[x], x.name) for x in block.parameters if x in written}
    ops: list[Op] = [_copy(y, x) for y, x in incoming.items()]
    at = int(bool(block.ops) and _unpacks_item(block))
    ops[:0] = block.ops[:at]
    for op in block.ops[at:]:
        op = with_blocks(op, lambda inner: _copying(ev, inner, written))
        if isinstance(op, If | Loop):
            made = {y: ev.value(ev.types[y], y.name) for y in op.results if y in written}
            ops.append(replace(op, results=tuple(made.get(y, y) for y in op.results)))
            ops += [_copy(y, x) for y, x in made.items()]
        else:
            ops.append(op)
    return Block(tuple(incoming.get(x, x) for x in block.parameters), tuple(ops), block.results)


def _unpacks_item(block: Block) -> bool:
    """Return whether a block begins with that it unpacks its first parameter, an item."""
    first = block.ops[0]
    return isinstance(first, Unpack) and first.value in block.parameters[:1]


def _copy(y: Value, x: Value) -> Op:
    return Call(y, Const(np.copy), (x,))


class _Reads:
    """The reads of a block, and what they demand of the joins `written`."""

    def __init__(self, ev: Evaluator, sharing: Sharing, written: Mapping[Value, Span | None]):
        self.types, self.sharing, self.written = ev.types, sharing, written

    def before(self, block: Block, later: set[Value]) -> set[Value]:
        """Return what is read in a block or, `later`, after it, without what the block makes.

        Raises
        ------
        NotCovered
            What may share memory with a join that is written to is read after the join is made.
        """
        read = later | _values(block.results or ())
        for op in reversed(block.ops):
            self._demand_own(results(op), read)
            read.difference_update(results(op))
            for inner in blocks(op):
                read |= self.before(inner, read | self._again(op))
            if not reads_sizes(op):
                read |= _values(operands(op))
        self._demand_own(block.parameters, read)
        return read.difference(block.parameters)

    def _again(self, op: Op) -> set[Value]:
        """Return the values from before a loop that each iteration reads."""
        if not isinstance(op, Loop):
            return set()
        begin = min(self.sharing.rank(x) for one in blocks(op) for x in one.parameters)
        read = {op.iterable} if isinstance(op.iterable, Value) else set()
        for inner in blocks(op):
            read |= _values(inner.results or ())
            read |= {
                x for one in walk(inner) if not reads_sizes(one) for x in _values(read_by(one))
            }
        return {x for x in read if self.sharing.rank(x) < begin}

    def _demand_own(self, made: Iterable[Value], read: Collection[Value]) -> None:
        for x in made:
            if x in self.written:
                if any(y is not x and self.sharing.share(x, y) for y in read):
                    raise NotCovered(_REASON, self.written[x])


def _values(xs: Iterable[Operand]) -> set[Value]:
    return {x for x in xs if isinstance(x, Value)}
