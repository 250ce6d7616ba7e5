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

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

from adjoint.fast.passes.sequence import is_effect
from adjoint.fast.single_assignment.substitution import free_values
from adjoint.fast.single_assignment.walk import callee_of, operands, results, walk_ops
from adjoint.ir.single import Block, Call, If, Loop, Op, Operand, Value

_ITERATORS: frozenset[Any] = frozenset({zip, enumerate, reversed, itertools.count})


def split(
    ops: Sequence[Op], dots: Iterable[Value], written: Mapping[Value, Set[Value]]
) -> tuple[tuple[Op, ...], tuple[Op, ...]]:
    """Return the operations that do not depend on `dots`, and those that do.

    Parameters
    ----------
    written
        By value that the program writes to, and by alias of one: the values that may share memory
        with it. Operations on these stay together, in their order.
    """
    both = [(op, _reads(op), results(op)) for op in ops]
    bound: set[Any] = {*written, *_bound_by(ops)}
    moved: set[Value] = set(dots)
    later: list[Op] = []
    is_settled = False
    while not is_settled:  # each value is made before it is read: most programs need one pass
        is_settled, later = True, []
        for op, read, made in both:
            if not moved.isdisjoint(read) or not moved.isdisjoint(made):
                later.append(op)
                moved.update(made)
                if bound and not moved.issuperset(found := bound.intersection(read)):
                    moved.update(found, *(written.get(x, ()) for x in found))
                    is_settled = False
    kept = set(map(id, later))
    return tuple([op for op in ops if id(op) not in kept]), tuple(later)


def _reads(op: Op) -> list[Value]:
    """Return the values that an operation reads, its blocks included."""
    if isinstance(op, If | Loop):
        return free_values(Block((), (op,), ()))
    return [x for x in operands(op) if type(x) is Value]


def _bound_by(ops: Iterable[Op]) -> Iterator[Operand]:
    """Yield the operands that operations write to, arrays, lists, tapes; and the iterators that
    they make."""
    for op in walk_ops(ops):
        if type(op) is not Call:
            continue
        if op.operands and is_effect(op):
            yield op.operands[0]
        elif op.result is not None and callee_of(op) in _ITERATORS:
            yield op.result
