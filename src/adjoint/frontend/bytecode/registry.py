"""The table from an opcode to its lowering: the place to add new opcodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from adjoint.frontend.bytecode.instructions import Instruction
    from adjoint.frontend.bytecode.stack_entries import Frame
    from adjoint.ir.nodes import Operand

F = TypeVar("F", bound="Callable[..., object]")


class Opcodes(Generic[F]):
    """An open dispatch on the name of an opcode."""

    def __init__(self) -> None:
        self.entries: dict[str, F] = {}

    def register(self, *names: str) -> Callable[[F], F]:
        """Register the decorated function for opcodes of these names."""

        def enter(function: F) -> F:
            for name in names:
                self.entries[name] = function
            return function

        return enter


opcode: Opcodes[Callable[[Any, Instruction], None]] = Opcodes()
"""The lowering of each opcode: it changes the stack and emits operations."""

jump: Opcodes[Callable[[Any, Instruction], tuple[Operand, bool, Frame, Frame]]] = Opcodes()
"""The lowering of each conditional jump. An entry returns the tested bool, the value of it that
jumps, and the frames without and with the jump."""
