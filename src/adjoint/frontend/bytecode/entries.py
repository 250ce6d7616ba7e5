"""What is on the stack while bytecode is lowered: operands, and what becomes one only when it is
used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from adjoint.frontend.bytecode.tree import Cycle
from adjoint.ir.nodes import Operand, Var


@dataclass(frozen=True, slots=True)
class Mark:
    """Something that no operation sees."""

    name: str


NULL = Mark("NULL")
"""Stands where a call has no object that the method is bound to."""

RUNNING = Mark("RUNNING")
"""The iterator of a loop that is being run."""


@dataclass(frozen=True, slots=True)
class Method:
    """``owner.name``, about to be called."""

    owner: Operand
    name: str


@dataclass(frozen=True, slots=True)
class NotStarted:
    """``iter(iterable)``, which a loop calls by itself."""

    iterable: Operand


@dataclass(frozen=True, slots=True)
class LoopItem:
    """The item that a ``for`` loop has come to."""

    cycle: Cycle


@dataclass(frozen=True, slots=True)
class Unchecked:
    """A variable that may have no value; Python says so when it is pushed."""

    var: Var


@dataclass(frozen=True, slots=True)
class Saved:
    """What was in a slot around a comprehension that has a variable of the same name."""

    var: Var | None
    cell: Var | None


Entry: TypeAlias = "Operand | Mark | Method | NotStarted | LoopItem | Unchecked | Saved"


@dataclass(slots=True)
class Frame:
    """The stack at one point of the code, and what is in the slots of variables: each has a plain
    variable or a cell."""

    stack: list[Entry]
    plain: dict[int, Var]
    cells: dict[int, Var]

    def copy(self) -> Frame:
        return Frame([*self.stack], {**self.plain}, {**self.cells})
