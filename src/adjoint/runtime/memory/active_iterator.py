"""Base class of iterators whose elements carry derivatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.diagnostics.refusals import refused
from adjoint.primal.value_kinds import by_value
from adjoint.runtime.memory.memory import Memory

STAND_IN_CLASSES: set[type] = set()
"""Other classes whose instances report the class that they have in plain Python."""


class ActiveIterator:
    """An iterator whose elements carry derivatives.

    Subclasses define ``step(record, slot)``: compute the next element, leave its pullback (of one
    cotangent, with effects on memory only) in the slot, or raise `StopIteration`.

    Attributes
    ----------
    stands_for
        The type of the iterator in plain Python, which ``__class__`` reports.
    """

    stands_for: type | None = None

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self._foreign_steps: list[tuple[list[Any], Any]] = []

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self.stands_for or type(self)

    def __repr__(self) -> str:
        return f"<{self.__class__.__name__} object at {id(self):#x}>"

    def __iter__(self) -> ActiveIterator:
        return self

    def __next__(self) -> Any:
        """Advance for foreign code: the foreign run stores the pullback, or else `poison` uses
        it."""
        if self.memory.foreign_run is not None:
            return self.memory.foreign_run.step(self)
        step: list[Any] = [self.memory, None]
        value = self.step(step, 1)
        self._foreign_steps.append((step, value))
        return value

    def step(self, record: list[Any], slot: int) -> Any:
        raise NotImplementedError

    def __copy__(self) -> ActiveIterator:
        """Refuse the copy: its steps and those of the original would undo each other's."""
        kind = self.__class__
        if not hasattr(kind, "__copy__") and not hasattr(kind, "__setstate__"):
            raise TypeError(f"cannot pickle '{kind.__name__}' object")  # Python's own message
        raise refused(
            f"an iterator of type '{kind.__name__}' is copied inside differentiated code",
            "use itertools.tee, or make a list of the elements",
        )

    def poison(self, bar: Any, poison: Callable[[Any, Any, Any], None]) -> list[Any]:
        """Poison the consumed elements; return the objects held, which the caller poisons."""
        for step, value in reversed(self._foreign_steps):
            if not by_value(value):
                poison(self.memory, value, bar)
            if step[1] is not None:
                step[1](bar)
        return [
            value for name, value in vars(self).items() if name not in ("memory", "_foreign_steps")
        ]
