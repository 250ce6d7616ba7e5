"""Things that can be changed, as they were.

What was changed unseen is afterwards logged as the write that it was, so that a sweep finds memory
as it should; `Kept.take` gives the cotangents that arrived at what was put there.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from adjoint.runtime.memory.memory import Memory


class Kept:
    """One thing that can be changed, as it was."""

    __slots__ = ("owner", "position", "saved")

    def __init__(self, owner: Any, saved: Any) -> None:
        self.owner, self.saved = owner, saved

    def differs(self) -> bool:
        """Whether it was changed."""
        raise NotImplementedError

    def is_of_contents(self) -> bool:
        """Whether what `pairs` gives as new was there before, with other contents."""
        return False

    def has_changed(self) -> bool:
        """Whether it differs, and is not only taken for changed."""
        return True

    def is_unfilled(self) -> bool:
        """Whether it is an array that is not taken for one that was written."""
        return False

    def forget(self, name: str | None, twice: dict[int, Any]) -> None:
        """Take the numbers of `twice` for others, or the one under a name: the very number that
        stands there may be put there again."""
        saved = self.saved
        if type(saved) is dict:
            self.saved = {
                key: anew(value, twice) if name is None or key == name else value
                for key, value in saved.items()
            }
        else:
            several = type(saved) is list
            self.saved = [anew(one, twice) for one in saved] if several else anew(saved, twice)

    def hashes(self) -> bool:
        """Whether to put back what was changed asks objects for their hash, which needs their
        fields."""
        return False

    def is_in(self, logged: list[list[Any]]) -> bool:
        """Whether the change is what some entries of the log say already, whose owner wrote it."""
        return bool(logged)

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        """What stood, and what stands, where there is a difference; `ABSENT` for nothing."""
        raise NotImplementedError

    def log(self, memory: Memory) -> None:
        """Log the change as a write."""
        raise NotImplementedError

    def take(self, memory: Memory) -> Iterator[tuple[Any, Any]]:
        """Undo the change; gives what was put there, with the cotangents that arrived at it."""
        raise NotImplementedError


NUMBERS_KEPT: frozenset[type] = frozenset(
    {float, complex, *np.floating.__subclasses__(), *np.complexfloating.__subclasses__()}
)
"""Types of what is told from an equal number by its identity."""


def anew(value: Any, places: Mapping[int, Any]) -> Any:
    """A number as another object, if it is one of some, by identity."""
    if id(value) not in places or type(value) not in NUMBERS_KEPT:
        return value
    if type(value) is float:
        return value * 1.0
    if type(value) is complex:
        return complex(value.real, value.imag)
    return type(value)(value)


def same_items(xs: Any, ys: Any) -> bool:
    """Whether the same objects stand in the same order."""
    return len(xs) == len(ys) and all(map(operator.is_, xs, ys))
