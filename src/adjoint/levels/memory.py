"""The memory of a level: no sweep reads it, so it logs only the writes that have to be undone."""

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
    """Return the identities of the given arrays that were written, as one set per level."""
    return [] if level is None else [{*one.written} for one in level.down()]


def forget_undone_writes(
    level: Any, before: list[set[int]], places: set[int] | None = None
) -> None:
    """Forget the writes since `before` (those at `places`, if given), because they were undone."""
    for one, known in zip(() if level is None else level.down(), before, strict=True):
        for place in {*one.written} - known:
            if places is None or place in places:
                del one.written[place]


class LevelMemory(Memory):
    """The memory that the functions of the runtime use on a level."""

    __slots__ = ("_writes", "apart", "level", "touched")

    def __init__(self, level: Any) -> None:
        super().__init__()
        self.level: Any = level
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
            for place in self.written.keys() & self.exposed.keys():
                note_written(memory, self.written[place])
            memory.written.clear()
        self.written.clear()
        return carries

    @contextmanager
    def undone(self) -> Iterator[dict[int, Any]]:
        """Undo the writes inside this context at its end, except those to arrays. Yield the written
        arrays, by identity of their memory owners."""
        log, touched = self.exchange_log(([], 0)), self.touched
        self.touched = {}
        try:
            yield self.touched
        finally:
            self.rewind(0)
            self.touched = touched
            self.exchange_log(log)
