"""What iterators are to the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.diagnostics.refusals import refused
from adjoint.primal.value_kinds import by_value
from adjoint.runtime.memory.memory import Memory

STAND_INS: set[type] = set()
"""Other classes whose instances say of what class they would be without us."""


class Iterator:
    """An iterator whose elements carry derivatives.

    Subclasses define ``step(record, slot)``: compute the next element, leave its pullback (of one
    cotangent, with effects on memory only) in the slot, or raise `StopIteration`.

    Attributes
    ----------
    stands_for
        The type that it has without us, which is what ``isinstance`` and ``type`` are told.
    """

    stands_for: type | None = None

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._unseen: list[tuple[list[Any], Any]] = []

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self.stands_for or type(self)

    def __repr__(self) -> str:
        return f"<{self.__class__.__name__} object at {id(self):#x}>"

    def __iter__(self) -> Iterator:
        return self

    def __next__(self) -> Any:
        """Consumption by code that is not differentiated: the pullbacks belong to the run of that
        code, or are kept for `poison`."""
        if self.memory.region is not None:
            return self.memory.region.step(self)
        step: list[Any] = [self.memory, None]
        value = self.step(step, 1)
        self._unseen.append((step, value))
        return value

    def step(self, record: list[Any], slot: int) -> Any:
        raise NotImplementedError

    def __copy__(self) -> Iterator:
        """Another iterator over the rest, whose steps would undo each other's."""
        kind = self.__class__
        if not hasattr(kind, "__copy__") and not hasattr(kind, "__setstate__"):
            raise TypeError(f"cannot pickle '{kind.__name__}' object")  # Python's own message
        raise refused(
            f"an iterator of type '{kind.__name__}' is copied inside differentiated code",
            "use itertools.tee, or make a list of the elements",
        )

    def poison(self, bar: Any, poison: Callable[[Any, Any, Any], None]) -> list[Any]:
        """Poison what the elements are made of; returns the objects of which it holds parts."""
        for step, value in reversed(self._unseen):
            if not by_value(value):
                poison(self.memory, value, bar)
            if step[1] is not None:
                step[1](bar)
        return [value for name, value in vars(self).items() if name not in ("memory", "_unseen")]
