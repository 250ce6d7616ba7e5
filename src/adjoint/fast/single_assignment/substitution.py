"""Free values of blocks, and substitution of values."""

from __future__ import annotations

from collections.abc import Mapping

from adjoint.fast.single_assignment.primitives import same
from adjoint.fast.single_assignment.walk import (
    blocks,
    is_call_of,
    mapped,
    operands,
    reads_any,
    results,
    walk,
    with_blocks,
)
from adjoint.ir.single import Block, Call, Const, Operand, Value


def without_copies(block: Block) -> Block:
    """Return the block without ``y = same(x)``, with `x` in place of `y`."""
    names: dict[Value, Operand] = {}
    calls = [op for op in walk(block) if type(op) is Call]
    copies = [op for op in calls if type(op.callee) is Const and op.callee.value is same]
    if not copies:
        return block
    for op in copies:
        if op.result is not None:
            (x,) = op.operands
            names[op.result] = names.get(x, x) if isinstance(x, Value) else x
    return renamed(_without_copies(block), names)


def _without_copies(block: Block) -> Block:
    ops = tuple(with_blocks(op, _without_copies) for op in block.ops if not is_call_of(op, same))
    return Block(block.parameters, ops, block.results)


def free_values(block: Block) -> list[Value]:
    """Return the values that a block reads and does not define, each once, in order."""
    defined: set[Value] = set(block.parameters)
    found: dict[Value, None] = {}
    _collect(block, defined, found)
    return [v for v in found if v not in defined]


def _collect(block: Block, defined: set[Value], found: dict[Value, None]) -> None:
    defined.update(block.parameters)
    for op in block.ops:
        for x in operands(op):
            if type(x) is Value:
                found[x] = None
        if type(op) is Call:
            if op.result is not None:
                defined.add(op.result)
            continue
        defined.update(results(op))
        for inner in blocks(op):
            _collect(inner, defined, found)
    for x in block.results or ():
        if type(x) is Value:
            found[x] = None


def renamed(block: Block, names: Mapping[Value, Operand]) -> Block:
    """Return the block with the values in `names` replaced."""
    if not names:
        return block

    def new(x: Operand) -> Operand:
        return names.get(x, x) if type(x) is Value else x

    def inner(block: Block) -> Block:
        return renamed(block, names)

    ops = tuple(
        op if type(op) is Call and not reads_any(op, names) else mapped(op, new, inner)
        for op in block.ops
    )
    ends = None if block.results is None else tuple(map(new, block.results))
    return Block(block.parameters, ops, ends)
