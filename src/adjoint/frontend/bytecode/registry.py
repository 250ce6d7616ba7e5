"""The table from an opcode to the function that runs it: where new opcodes are added."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from adjoint.frontend.bytecode.entries import Frame
    from adjoint.frontend.bytecode.instructions import Instruction
    from adjoint.ir.nodes import Operand

F = TypeVar("F", bound="Callable[..., object]")


class Opcodes(Generic[F]):
    """An open dispatch on the name of an opcode."""

    def __init__(self) -> None:
        self.entries: dict[str, F] = {}

    def register(self, *names: str) -> Callable[[F], F]:
        """The decorated function runs the opcodes of these names."""

        def enter(function: F) -> F:
            for name in names:
                self.entries[name] = function
            return function

        return enter


opcode: Opcodes[Callable[[Any, Instruction], None]] = Opcodes()
"""What an instruction does: it changes the stack and emits operations."""

jump: Opcodes[Callable[[Any, Instruction], tuple[Operand, bool, Frame, Frame]]] = Opcodes()
"""What a conditional jump does: returns the bool that is looked at, for which of its values it
jumps, and the frames where it does not jump and where it does."""
