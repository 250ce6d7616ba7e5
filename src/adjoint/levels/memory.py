"""The memory of a level: nothing is kept, for nobody will sweep back over it, but what may change
something when it goes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from adjoint.primal.exposed_arrays import note_written
from adjoint.runtime.foreign.freed_objects import check_removed
from adjoint.runtime.memory.independence import Independent
from adjoint.runtime.memory.memory import Memory


def written_on(level: Any) -> list[set[int]]:
    """Which of the arrays that were given have been written on a level and those below."""
    return [] if level is None else [{*one.written} for one in level.down()]


def take_back(level: Any, before: list[set[int]], places: set[int] | None = None) -> None:
    """What was written since then, at some places, has been put back: nobody need hear of it."""
    for one, known in zip(() if level is None else level.down(), before, strict=True):
        for place in {*one.written} - known:
            if places is None or place in places:
                del one.written[place]


class LevelMemory(Memory):
    """What the functions of the runtime take for the memory when a level runs."""

    __slots__ = ("_writes", "apart", "level", "touched")

    def __init__(self, level: Any) -> None:
        super().__init__()
        self.level = level
        self._writes = 0
        self.apart: Independent | None = None
        self.touched: dict[int, Any] | None = None

    def log(self, entry: list[Any]) -> int:
        self._writes += 1
        if self.apart is not None:
            self.apart.refuse(entry)
        if self.touched is not None:
            return super().log(entry)
        check_removed(entry[-1])
        return 0

    def writes(self) -> int:
        return self._writes

    def mark_written(self, array: np.ndarray[Any, Any]) -> bool:
        carries = super().mark_written(array)
        for memory in [one.memory for one in self.level.down()][1:]:
            for place in self.written.keys() & self.outside.keys():
                note_written(memory, self.written[place])
            memory.written.clear()
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
