"""Entries of the stack while bytecode is lowered: operands, and entries that become operands on
use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from adjoint.frontend.bytecode.tree import Cycle
from adjoint.ir.node import node
from adjoint.ir.nodes import Operand, Var


@node
class StackMark:
    """An entry without an operand."""

    name: str


NULL = StackMark("NULL")
"""The mark in place of a bound object, for a call without one."""

RUNNING = StackMark("RUNNING")
"""The mark of the iterator of a running loop."""


@node
class Method:
    """``owner.name``, the callee of a following call."""

    owner: Operand
    name: str


@node
class NotStarted:
    """``iter(iterable)``, which a loop calls itself."""

    iterable: Operand


@node
class LoopItem:
    """The current item of a ``for`` loop."""

    cycle: Cycle


@node
class Unchecked:
    """A variable that may be unassigned; pushing it raises Python's error."""

    var: Var


@node
class OuterVariable:
    """The content of a variable's slot outside a comprehension that uses the same name."""

    var: Var | None
    cell: Var | None


Entry: TypeAlias = (
    "Operand | StackMark | Method | NotStarted | LoopItem | Unchecked | OuterVariable"
)


@dataclass(slots=True)
class Frame:
    """The stack at one point of the code, and the plain variable or cell in each variable's
    slot."""

    stack: list[Entry]
    plain: dict[int, Var]
    cells: dict[int, Var]

    def copy(self) -> Frame:
        return Frame([*self.stack], {**self.plain}, {**self.cells})
