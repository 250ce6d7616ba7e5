"""Arrays that a loop carries and writes to, such as buffers that change places.

Before, after::

    a, b = for i in n with a = a0, b = b0      a, b = for i in n with a = a0, b = b0
        put(a, i, x)                               c = copy(a)
        -> b, a                                    put(c, i, x)
                                                   -> b, c

No carried array is written to any more. That is the same program if no other name shows the write:
the carried arrays have memory of their own at the beginning, which nothing reads from there on, and
each iteration hands on arrays that it was given or has made, each once.
"""

from __future__ import annotations

from collections.abc import Collection

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import Array
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.walk import blocks, carried_values, operands, results, walk
from adjoint.ir.single import Block, Loop, Operand, Value

_REASON = "a write to an array that a loop carries, and that something else may show"


def slots_apart(ev: Evaluator, whole: Block, loop: Loop) -> Collection[int]:
    """Return the places of the carried values that are never written to, and are no aliases of what
    is; of loops that copy an array, the arrays that change places.

    Raises
    ------
    NotCovered
        Another name may show a write.
    """
    first = int(loop.iterable is not None)
    carried = loop.body.parameters[first:]
    if ev.copied_parameters.isdisjoint(carried):
        return ()
    ends = (loop.body.results or ())[int(loop.stops) :]
    apart = _handed_on(ev, carried, ends)
    copied = {i for i, x in enumerate(carried) if x in ev.copied_parameters}
    ends_apart = [ends[i] for i in apart]
    if not copied <= apart or len({*ends_apart}) != len(ends_apart):
        raise NotCovered(_REASON, loop.span)
    given = [loop.initial[i] for i in apart]
    if len({*given}) != len(given) or not all(_is_own(ev, x) for x in given):
        raise NotCovered(_REASON, loop.span)
    inside = {*ends_apart, *(carried[i] for i in apart)}
    others = [
        x for i, (_, made_of) in enumerate(carried_values(loop)) if i not in apart for x in made_of
    ]
    if any(not ev.aliased_by(x).isdisjoint({*inside, *given}) for x in others):
        raise NotCovered(_REASON, loop.span)
    _demand_last_read(ev, whole, loop, {x for x in given if isinstance(x, Value)})
    return apart


def _handed_on(ev: Evaluator, carried: Collection[Value], ends: Collection[Operand]) -> set[int]:
    """Return the places of arrays that each iteration hands on or makes anew."""
    pairs = [*zip(carried, ends, strict=True)]
    apart = {i for i, (x, _) in enumerate(pairs) if isinstance(ev.types[x], Array)}
    while True:
        known = {pairs[i][0] for i in apart}
        kept = {i for i in apart if pairs[i][1] in known or pairs[i][1] in ev.fresh}
        if kept == apart:
            return apart
        apart = kept


def _is_own(ev: Evaluator, x: Operand) -> bool:
    """Return whether an array is in memory of its own, made by the program."""
    return isinstance(x, Value) and x in ev.fresh and ev.aliased_by(x) == {x}


def _demand_last_read(ev: Evaluator, whole: Block, loop: Loop, given: set[Value]) -> None:
    """Demand that nothing reads arrays from the loop on, except the loop as the first values of
    those that it carries."""
    block = next(one for one in _all_blocks(whole) if any(op is loop for op in one.ops))
    place = next(i for i, op in enumerate(block.ops) if op is loop)
    made = {y for op in block.ops[:place] for y in results(op)}
    read: list[Operand] = [*(block.results or ()), *loop.initial]
    read += [] if loop.iterable is None else [loop.iterable]
    later = Block((), block.ops[place + 1 :], None)
    for one in (*blocks(loop), later):
        read += [*(one.results or ()), *(x for op in walk(one) for x in _read(op))]
    for x in given:
        if x not in made or read.count(x) > 1:
            raise NotCovered(_REASON, loop.span)
    others = {x for x in read if isinstance(x, Value)} - given
    if any(not ev.aliased_by(x).isdisjoint(given) for x in others):
        raise NotCovered(_REASON, loop.span)


def _read(op: object) -> list[Operand]:
    """Return the operands of an operation, and the results of its blocks."""
    ends = [x for one in blocks(op) for x in one.results or ()]  # type: ignore[arg-type]
    return [*operands(op), *ends]  # type: ignore[arg-type]


def _all_blocks(block: Block) -> list[Block]:
    return [block, *(inner for op in walk(block) for inner in blocks(op))]
