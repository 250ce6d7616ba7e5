"""The split of a program of tangents into what depends on the point alone, and the rest.

Before, after::

    h = tanh(x)                    h = tanh(x)
    h_dot = mul(x_dot, h)          k = mul(h, h)
    k = mul(h, h)                  -- for each tangent
    k_dot = mul(h_dot, k)          h_dot = mul(x_dot, h)
                                   k_dot = mul(h_dot, k)

So many tangents at one point cost the first part once. The second part may run many times: what it
writes to, and the iterators that it uses up, are made in it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, TypeGuard

from adjoint.fast.passes.sequence import is_effect
from adjoint.fast.single_assignment.substitution import free_values
from adjoint.fast.single_assignment.walk import callee_of, operands, results, walk_ops
from adjoint.ir.single import Block, Call, If, Loop, Op, Operand, Value

_ITERATORS: frozenset[Any] = frozenset({zip, enumerate, reversed})


def split(
    ops: Sequence[Op], dots: Iterable[Value], written: Collection[Value]
) -> tuple[tuple[Op, ...], tuple[Op, ...]]:
    """Return the operations that do not depend on `dots`, and those that do.

    Parameters
    ----------
    written
        The values that the program writes to, and their aliases: operations on one of them stay
        together, in their order.
    """
    reads = [_reads(op) for op in ops]
    bound = {*written, *_written_by(ops), *(op.result for op in ops if _makes_iterator(op))}
    moved: set[Value] = set(dots)
    count = -1
    while count != len(moved):
        count = len(moved)
        for op, read in zip(ops, reads, strict=True):
            made = results(op)
            if not moved.isdisjoint(read) or not moved.isdisjoint(made):
                moved.update(made)
                moved.update(x for x in read if x in bound)
    first = [i for i, op in enumerate(ops) if moved.isdisjoint((*reads[i], *results(op)))]
    kept = set(first)
    return tuple(ops[i] for i in first), tuple(op for i, op in enumerate(ops) if i not in kept)


def _reads(op: Op) -> set[Value]:
    """Return the values that an operation reads, its blocks included."""
    if isinstance(op, If | Loop):
        return set(free_values(Block((), (op,), ())))
    return {x for x in operands(op) if isinstance(x, Value)}


def _written_by(ops: Iterable[Op]) -> Iterator[Operand]:
    """Yield the operands that operations write to: arrays, lists, tapes."""
    for op in walk_ops(ops):
        if isinstance(op, Call) and op.operands and is_effect(op):
            yield op.operands[0]


def _makes_iterator(op: Op) -> TypeGuard[Call]:
    return callee_of(op) in _ITERATORS
