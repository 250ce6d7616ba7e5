"""Structured code whose jumps are still jumps: between the blocks of the bytecode and the IR."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from adjoint.frontend.bytecode.graph import Block
from adjoint.ir.nodes import Assign, Op, Operand, Span, Var


@dataclass(eq=False, slots=True)
class Goto:
    """Go on at `label`; `moves` are run before."""

    label: Block
    span: Span
    moves: list[Assign] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Branch:
    """``if condition: body else: orelse``; nothing stands behind it but a `Labelled` body's end."""

    condition: Operand
    span: Span
    body: list[Item] = field(default_factory=list)
    orelse: list[Item] = field(default_factory=list)


@dataclass(eq=False, slots=True)
class Labelled:
    """`label` is the place behind `body`."""

    body: list[Item]
    label: Block


@dataclass(eq=False, slots=True)
class Cycle:
    """A loop whose iterations begin at `head`: forever, or over `iterable`, with `orelse` behind
    the last item."""

    head: Block
    iterable: Operand | None
    span: Span
    target: Var | None = None
    body: list[Item] = field(default_factory=list)
    orelse: list[Item] = field(default_factory=list)


Item: TypeAlias = "Op | Goto | Branch | Labelled | Cycle"
