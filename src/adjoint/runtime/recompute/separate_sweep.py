"""Separate sweeps of one evaluation, and the cotangents that they leave in memory."""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np

from adjoint.cotangents.accumulate import accumulate, finish
from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.refusals import refused
from adjoint.runtime.memory.memory import Memory


@contextmanager
def separate_sweep(memory: Memory, position: int, *, trial: bool = False) -> Iterator[None]:
    """Rewind memory to `position` and use empty shadows within a ``with`` statement.

    `trial` says that the cotangent does not come from the caller of the pullback.
    """
    now, trying = memory.position, memory.trial
    shadows = memory.exchange_shadows()
    memory.trial = trial or trying
    try:
        memory.rewind(position)
        yield
    finally:
        memory.replay(now)
        of_tape = memory.exchange_shadows(shadows)[0].get("tape")
        if of_tape is not None:
            of_tape.restore()
        memory.trial = trying


def scaled(bar: Any, scale: Any) -> Any:
    """Return a plain structured cotangent times a number."""
    if bar is None or type(bar) is Poison:
        return bar
    if isinstance(bar, Mapping):
        return {name: scaled(part, scale) for name, part in bar.items()}
    if isinstance(bar, list | tuple | deque):
        return [scaled(part, scale) for part in bar]
    return finish(bar) * scale


_TOTALS = "totals"


class Totals:
    """Cotangents of reused results in one sweep, by the number of their evaluation."""

    def __init__(self) -> None:
        self.bars: dict[int, list[Any]] = {}
        self._last: list[int] = []

    @classmethod
    def of(cls, memory: Memory) -> Totals:
        """Return the totals of the running sweep."""
        known: Totals | None = memory.shadows.get(_TOTALS)
        if known is None:
            known = memory.shadows[_TOTALS] = cls()
        return known

    def add(self, number: int, bars: list[Any]) -> None:
        """Add the cotangents of the parts of a result."""
        if number in self.bars:
            self.bars[number] = [*map(accumulate, self.bars[number], bars)]
        else:
            self.bars[number] = bars
            heapq.heappush(self._last, -number)

    def take(self, number: int) -> list[Any] | None:
        """Remove and return the cotangents of one result, or ``None``."""
        return self.bars.pop(number, None)

    def last_since(self, number: int) -> int | None:
        """Return the highest number, from `number` on, of a result with cotangents."""
        while self._last and -self._last[0] >= number:
            last = -heapq.heappop(self._last)
            if last in self.bars:
                return last
        return None


class Rest:
    """The cotangents that a separate sweep has left in memory for earlier operations."""

    def __init__(self, memory: Memory) -> None:
        shadows = {**memory.shadows}
        totals = shadows.pop(_TOTALS, None)
        self._totals = {} if totals is None else totals.bars
        self._shadows = {
            place: scaled(shadow, 1)
            for place, shadow in shadows.items()
            if type(shadow) is Poison or any(bar is not None for bar in _parts(shadow))
        }
        self._buffers = {place: x for place, x in memory.buffers.items() if x.any()}

    @property
    def size(self) -> int:
        """The total size of the cotangents."""
        bars = [bar for shadow in self._shadows.values() for bar in _parts(shadow)]
        return sum(np.size(bar) for bar in (*bars, *self._buffers.values(), *self._totals))

    def add(self, memory: Memory, scale: Any) -> None:
        """Add the cotangents, times `scale`, to the shadows of a sweep at the same point."""
        for place, shadow in self._shadows.items():
            known = memory.shadows.get(place)
            if known is None or type(shadow) is Poison:
                memory.shadows[place] = scaled(shadow, scale)
                continue
            for key, bar in shadow.items() if isinstance(shadow, dict) else enumerate(shadow):
                before = known.get(key) if isinstance(known, dict) else known[key]
                known[key] = accumulate(before, scaled(bar, scale))
        for place, buffer in self._buffers.items():
            memory.add_array(memory.written[place], scaled(buffer, scale))
        for number, bars in self._totals.items():
            Totals.of(memory).add(number, scaled(bars, scale))


def _parts(shadow: Any) -> Any:
    if type(shadow) is Poison:
        return ()
    if isinstance(shadow, dict):
        return shadow.values()
    if isinstance(shadow, list | deque):
        return shadow
    raise refused(
        "a cached function has resumed a generator that was made outside it",
        "make the generator inside the cached function, or do not cache it",
    )
