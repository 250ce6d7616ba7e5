"""Callbacks: calls of user code out of foreign code, through the engine."""

from __future__ import annotations

from typing import Any

from adjoint.cotangents.accumulate import is_needed
from adjoint.primal.value_kinds import by_value
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.poisoning import poison


class Callback:
    """A callback through the engine; cotangents of its operands, made by foreign code, end here."""

    __slots__ = ("error", "inner", "value")

    def __init__(self, memory: Memory, error: Exception | None) -> None:
        self.inner: list[Any] = [memory, None]
        self.error: Exception | None = error
        self.value: Any = None

    def back(self, memory: Memory, bar: Any) -> None:
        if self.inner[1] is None:
            return
        given = bar is not None and by_value(self.value)
        if bar is not None and not given:
            poison(memory, self.value, bar)
        bars = self.inner[1](bar if given else None)
        if self.error is not None and not given and any(map(is_needed, bars)):
            raise self.error
