"""Of which cotangents of a tuple's items the cotangents that a program gives are made."""

from __future__ import annotations

from adjoint.fast.program import Program
from adjoint.fast.single.walk import blocks, operands, results, walk
from adjoint.ir.single import Operand, Value

__all__ = ["needs"]


def needs(program: Program) -> tuple[tuple[int, ...], ...]:
    """For each cotangent that a program gives, the items of which the cotangents may be in it."""
    found: dict[Operand, set[int]] = {
        y_bar: {i} for i, y_bar in enumerate(program.y_bars) if y_bar is not None
    }
    for op in program.reverse.ops:
        read = [*operands(op)]
        for block in blocks(op):
            read += [*(x for one in walk(block) for x in operands(one)), *(block.results or ())]
        values = [x for x in read if isinstance(x, Value)]
        come = set[int]().union(*(found.get(x, ()) for x in values))
        for x in results(op) or values:  # without a result, it writes to one of them
            found[x] = come | found.get(x, set())
    return tuple(tuple(sorted(found.get(x, ()))) for x in program.reverse.results or ())
