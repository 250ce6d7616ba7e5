"""Mutable blocks of the forward sweep, to which the reverse sweep adds residuals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from adjoint.fast.reverse.block_cotangents import Scope
from adjoint.fast.reverse.contents import OpenBlock, Place
from adjoint.ir import single as ir
from adjoint.ir.node import node
from adjoint.ir.single import Block, If, Loop, Operand, Value

Step = Callable[[Scope], None]
"""What writes the reverse of an operation."""


@node
class Planned:
    """Plan of the reverse of an operation."""

    back: Step
    place: Place


@dataclass(eq=False, repr=False)
class ForwardBlock(OpenBlock):
    """A block of the forward sweep under construction, with the plan of its reverse."""

    results: list[Operand] | None = None
    plan: list[Planned] = field(default_factory=list)

    def reverse(self, scope: Scope) -> None:
        """Write the reverse of the block; `scope` holds the cotangents of its results. The plan,
        whose places refer to the block, is used up."""
        ev, contents = scope.ev, scope.sweep.contents
        while self.plan:
            step = self.plan.pop()
            if not contents.last:  # the program writes to no array
                step.back(scope)
                continue
            count = len(ev.block)
            before = contents.begin(step.place)
            step.back(scope)
            contents.end(before, ev.block, count)


@dataclass(eq=False, repr=False)
class Branches:
    """A branch of the forward sweep; `results` includes residuals."""

    op: If
    body: ForwardBlock
    orelse: ForwardBlock
    results: list[Value]
    owner: ForwardBlock


@dataclass(eq=False, repr=False)
class ForwardLoop:
    """A loop of the forward sweep; `range` is its iterable, if that is a range run to its end."""

    op: Loop
    body: ForwardBlock
    range: Operand | None


def freeze(region: ForwardBlock) -> Block:
    """Return a region as a finished block."""
    ops: list[ir.Op] = []
    for op in region.ops:
        if isinstance(op, Branches):
            op = replace(
                op.op, results=tuple(op.results), body=freeze(op.body), orelse=freeze(op.orelse)
            )
        elif isinstance(op, ForwardLoop):
            op = replace(op.op, body=freeze(op.body))
        ops.append(op)
    results = None if region.results is None else tuple(region.results)
    return Block(region.parameters, tuple(ops), results)
