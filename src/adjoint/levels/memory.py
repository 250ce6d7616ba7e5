"""The memory of a level: nothing is kept, for nobody will sweep back over it, but what may change
something when it goes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from adjoint.run.lifetimes import with_effects
from adjoint.run.memory import Memory

__all__ = ["LevelMemory"]


class LevelMemory(Memory):
    """What the functions of the runtime take for the memory when a level runs."""

    __slots__ = ("_writes", "level", "touched")

    def __init__(self, level: Any) -> None:
        super().__init__()
        self.level = level
        self._writes = 0
        self.touched: dict[int, Any] | None = None

    def log(self, entry: list[Any]) -> int:
        self._writes += 1
        if self.touched is not None:
            return super().log(entry)
        self._log += [[value] for value in with_effects(entry[-1])]
        return 0

    def writes(self) -> int:
        return self._writes

    def mark_written(self, array: np.ndarray[Any, Any]) -> bool:
        carries = super().mark_written(array)
        self.written.clear()
        return carries

    @contextmanager
    def undone(self) -> Iterator[dict[int, Any]]:
        """What is written meanwhile is undone at the end, but for arrays: gives those, by identity
        of the one that owns the memory."""
        log, touched = self.exchange_log(([], 0)), self.touched
        self.touched = {}
        try:
            yield self.touched
        finally:
            self.rewind(0)
            self.touched = touched
            self.exchange_log(log)
