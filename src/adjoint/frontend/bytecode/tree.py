"""Structured code with jumps: the form between the blocks of the bytecode and the IR."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from adjoint.frontend.bytecode.flow_graph import Block
from adjoint.ir.nodes import Assign, Op, Operand, Span, Var


@dataclass(eq=False, slots=True)
class Goto:
    """Continue at `label` after `moves`."""

    label: Block
    span: Span
    moves: list[Assign] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Branch:
    """``if condition: body else: orelse``; only the end of a `Labelled` body may follow."""

    condition: Operand
    span: Span
    body: list[Item] = field(default_factory=list)
    orelse: list[Item] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Labelled:
    """Code followed by `label`."""

    body: list[Item]
    label: Block


@dataclass(eq=False, slots=True)
class Cycle:
    """A loop with head `head`: infinite, or over `iterable`, with `orelse` after the last item."""

    head: Block
    iterable: Operand | None
    span: Span
    target: Var | None = None
    body: list[Item] = field(default_factory=list)
    orelse: list[Item] = field(default_factory=list)


Item: TypeAlias = "Op | Goto | Branch | Labelled | Cycle"
