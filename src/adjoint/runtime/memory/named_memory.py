"""Memory for arguments that share array memory, each a variable of its own.

A read through one array belongs to the cotangent of that array, so each has a shadow. A write
through one changes all of them: the reverse of a write takes its part out of all shadows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.primal.array_memory import part_of, root_of
from adjoint.runtime.memory.log_entries import swap_array, swap_contents
from adjoint.runtime.memory.memory import Memory

Names = dict[int, list[np.ndarray[Any, Any]]]
"""By the identity of an array that owns memory: the other arrays that own the same memory."""


class NamedMemory(Memory):
    """The memory of a call some of whose arguments are arrays of the same memory (`names`)."""

    __slots__ = ("names",)

    def __init__(self, arguments: tuple[Any, ...], names: Names) -> None:
        super().__init__(arguments)
        self.names: Names = names
        self.written: _Written = _Written(names)

    def rewind(self, position: int) -> None:
        while self.position > position:
            entry = self.entries()[self.position - 1]
            super().rewind(self.position - 1)
            self._gather(entry)

    def undo(self, position: int, entry: list[Any]) -> None:
        self.rewind(position)

    def _gather(self, entry: list[Any]) -> None:
        """Move cotangents of the written part from other names to the array that was written."""
        if entry[0] is not swap_array and entry[0] is not swap_contents:
            return
        x, index = entry[1], entry[2] if entry[0] is swap_array else ...
        root = root_of(x)
        for other in self.names.get(id(root), ()):
            if id(other) not in self.buffers:
                continue
            here, there = self.array_shadow(x), self.array_shadow(part_of(other, root, x))
            written = np.zeros(x.shape, bool)
            written[index] = True
            here[written] += there[written]
            there[written] = 0.0
            poison = self.shadows.get(("poison", id(other)))
            if poison is not None:
                self.shadows["poison", id(root)] = poison


class _Written(dict[int, Any]):
    """Written arrays, as owners of memory, under all their names."""

    def __init__(self, names: Names) -> None:
        super().__init__()
        self._names = names

    def __setitem__(self, key: int, root: Any) -> None:
        super().__setitem__(key, root)
        for other in self._names.get(key, ()):
            super().__setitem__(id(other), other)
