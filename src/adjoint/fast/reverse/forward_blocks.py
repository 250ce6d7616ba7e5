"""Mutable blocks of the forward sweep, to which the reverse sweep adds residuals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from adjoint.ir import single as ir
from adjoint.ir.single import Block, If, Loop, Operand, Value

if TYPE_CHECKING:
    from adjoint.fast.reverse.block_cotangents import Scope


@dataclass
class Planned:
    """Plan of the reverse of an operation.

    Attributes
    ----------
    place
        Index in its region directly after the operation.
    number, outer
        Number of the operation among all, and that of the outermost operation around it among the
        outermost ones.
    has_blocks
        Whether the operation is a branch or a loop.
    """

    back: Callable[[Scope], None]
    place: int
    number: int
    outer: int
    has_blocks: bool


@dataclass
class ForwardBlock:
    """A block of the forward sweep under construction."""

    parameters: tuple[Value, ...]
    is_outermost: bool = False
    ops: list[Any] = field(default_factory=list)
    results: list[Operand] | None = None
    plan: list[Planned] = field(default_factory=list)
    defined: set[Value] = field(default_factory=set)


@dataclass
class Branches:
    """A branch of the forward sweep; `results` includes residuals."""

    op: If
    body: ForwardBlock
    orelse: ForwardBlock
    results: list[Value]
    owner: ForwardBlock


@dataclass
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
