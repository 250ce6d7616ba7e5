"""What iterators are to the engine."""

from __future__ import annotations

from typing import Any

from adjoint.run.memory import Memory

__all__ = ["Iterator"]


class Iterator:
    """An iterator whose elements carry derivatives.

    Subclasses define ``step(record, slot)``: compute the next element, leave its pullback (of one
    cotangent, with effects on memory only) in the slot, or raise `StopIteration`.
    """

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        """Consumption by code that is not differentiated."""
        return self.step([self.memory, None], 1)

    def step(self, record: list[Any], slot: int) -> Any:
        raise NotImplementedError

    def poison(self, bar: Any) -> list[Any]:
        """Poison what the elements are made of; returns the objects of which it holds parts."""
        return [value for name, value in vars(self).items() if name != "memory"]
