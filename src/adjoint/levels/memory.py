"""The memory of a level: nothing is kept, for nobody will sweep back over it."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.run.memory import Memory

__all__ = ["LevelMemory"]


class LevelMemory(Memory):
    """What the functions of the runtime take for the memory when a level runs."""

    __slots__ = ("level",)

    def __init__(self, level: Any) -> None:
        super().__init__()
        self.level = level

    def log(self, entry: list[Any]) -> int:
        return 0

    def mark_written(self, array: np.ndarray[Any, Any]) -> bool:
        carries = super().mark_written(array)
        self.written.clear()
        return carries
