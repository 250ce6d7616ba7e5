"""The table from an opcode to its lowering: the place to add new opcodes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adjoint.frontend.bytecode.instructions import Instruction

Lowering = Callable[[Any, "Instruction"], None]


class Opcodes:
    """An open dispatch on the name of an opcode."""

    def __init__(self) -> None:
        self.entries: dict[str, Lowering] = {}

    def register(self, *names: str) -> Callable[[Lowering], Lowering]:
        """Register the decorated function for opcodes of these names."""

        def enter(function: Lowering) -> Lowering:
            for name in names:
                self.entries[name] = function
            return function

        return enter


opcode: Opcodes = Opcodes()
"""The lowering of each opcode: it changes the stack and emits operations."""
