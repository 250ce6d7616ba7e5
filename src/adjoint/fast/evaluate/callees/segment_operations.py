"""The operations of a program for segments, and their place in the heap (`segments`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from adjoint.fast.evaluate.callees.opaque_calls import note
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import ANYTHING
from adjoint.fast.evaluate.values import OpaqueObject, SegmentOf
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.walk import results
from adjoint.fast.support.opaque import Opaque
from adjoint.fast.support.segments import Step, function_of, values_in
from adjoint.ir.node import node
from adjoint.ir.single import Call, Const, Unpack, Value

MOST_RUNS = 3
"""Greatest number of operations for the steps of one segment: each runs the steps before it."""


@node(eq=False)
class Written:
    """The operation of a segment: the block that it is in, its result, its operands, and the values
    of the program that are results of steps."""

    block: Any
    pack: Value
    operands: tuple[Value, ...]
    parts: tuple[tuple[Step, Value], ...]


def root_of(ev: Evaluator, address: int) -> int:
    """Return the address of the segment that the one at `address` is a part of."""
    while (joined := _held(ev, address).joined) is not None:
        address = joined
    return address


def _held(ev: Evaluator, address: int) -> SegmentOf:
    held = ev.heap.get(address)
    if not isinstance(held, SegmentOf):
        raise NotCovered("an object of a library that a branch has changed", ev.span)
    return held


def segment_of(ev: Evaluator, address: int) -> SegmentOf:
    return _held(ev, root_of(ev, address))


def joined(ev: Evaluator, objects: Sequence[OpaqueObject]) -> int:
    """Return the address of one segment with the steps of all that `objects` are of."""
    roots = [*dict.fromkeys(root_of(ev, x.address) for x in objects)]
    if len(roots) == 1:
        return roots[0]
    all_held = [_held(ev, root) for root in roots]
    steps, shown = (
        tuple(x for held in all_held for x in getattr(held, name)) for name in ("steps", "shown")
    )
    runs = max((held.runs for held in all_held), default=0)
    address = ev.allocate(SegmentOf(steps, None, runs, shown)).address
    for root in roots:
        ev.heap[root] = replace(_held(ev, root), joined=address)
    return address


def taken(ev: Evaluator, a: OpaqueObject) -> Value:
    """Take the result of a step out of its segment: by a new operation, or by that of earlier
    results, if the steps since then name no other values of the program."""
    root = root_of(ev, a.address)
    segment, made = _held(ev, root), Value("part")
    for one in segment.steps:
        if any(ev.heap.get(address) is not held for address, held in ev.given_to[one]):
            raise NotCovered("a write to what an object of a library may hold", ev.span)
    operands, before = values_in(segment.steps), segment.written
    ev.types[made], ev.has_segments = ANYTHING, True
    is_same = before is not None and _is_known_there(ev, before, operands)
    if not is_same:
        if segment.runs == MOST_RUNS:
            raise NotCovered("steps with objects that would run again and again", ev.span)
        before = Written(ev.block, ev.value(ANYTHING, name="parts"), operands, ())
    parts = (*before.parts, (a.step, made))
    f = function_of(segment.steps, [made for made, _ in parts])
    callee = Opaque(f, (), "an object of a library")
    callee.is_watched = callee.is_alias = True
    ops = (
        Call(before.pack, Const(callee), operands, (), ev.span),
        Unpack(tuple(y for _, y in parts), before.pack, None, ev.span),
    )
    _write(ev, before.pack if is_same else None, *ops)
    note(ev, callee)
    written = replace(before, operands=operands, parts=parts)
    ev.heap[root] = replace(segment, written=written, runs=segment.runs + (not is_same))
    return made


def _is_known_there(ev: Evaluator, written: Written, operands: Sequence[Value]) -> bool:
    """Return whether the operation of a segment may have these operands: it is in this block, and
    none of them is made after it."""
    if written.block is not ev.block:
        return False
    made = {x: i for i, op in enumerate(ev.block) for x in results(op)}
    place = made.get(written.pack, -1)
    return all(made.get(x, -1) < place for x in operands)


def _write(ev: Evaluator, pack: Value | None, call: Call, unpack: Unpack) -> None:
    """Write the operation of a segment, in place of the one with the result `pack`."""
    if pack is None:
        ev.write(call)
        ev.write(unpack)
        return
    for i, op in enumerate(ev.block):
        if isinstance(op, Call) and op.result is pack:
            ev.block[i] = call
        elif isinstance(op, Unpack) and op.value is pack:
            ev.block[i] = unpack
    ev.defined[pack] = call
    ev.defined.update(dict.fromkeys(unpack.results, unpack))
