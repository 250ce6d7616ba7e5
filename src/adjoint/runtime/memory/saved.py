"""Saved states of mutable things, compared after a foreign run.

A change by foreign code is logged afterwards as a write, so that a sweep can undo it.
`Saved.collect` undoes it and yields the cotangents of what was put in.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from adjoint.runtime.memory.memory import Memory


class Saved:
    """The saved state of one mutable thing."""

    __slots__ = ("owner", "position", "saved")

    owner: Any
    saved: Any

    def __init__(self, owner: Any, saved: Any) -> None:
        self.owner, self.saved = owner, saved

    def differs(self) -> bool:
        """Return whether the owner counts as changed."""
        raise NotImplementedError

    def is_of_contents(self) -> bool:
        """Return whether the new value of `pairs` is the owner itself, with other contents."""
        return False

    def has_changed(self) -> bool:
        """Return whether contents differ, rather than only being assumed to differ."""
        return True

    def is_unfilled(self) -> bool:
        """Return whether the owner is an array that is not assumed to be written."""
        return False

    def forget(self, name: str | None, twice: dict[int, Any]) -> None:
        """Treat the numbers in `twice`, or the one under `name`, as changed: foreign code may have
        written the same number object again."""
        saved = self.saved
        if type(saved) is dict:
            self.saved = {
                key: with_new_identity(value, twice) if name is None or key == name else value
                for key, value in saved.items()
            }
        else:
            several = type(saved) is list
            self.saved = (
                [with_new_identity(one, twice) for one in saved]
                if several
                else with_new_identity(saved, twice)
            )

    def hashes(self) -> bool:
        """Return whether undoing the change calls ``__hash__``, which needs the fields of keys."""
        return False

    def is_in(self, logged: list[list[Any]]) -> bool:
        """Return whether the log entries of the owner already cover the change."""
        return bool(logged)

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        """Yield the old and the new value of each difference; `ABSENT` for no value."""
        raise NotImplementedError

    def log(self, memory: Memory) -> None:
        """Log the change as a write."""
        raise NotImplementedError

    def collect(self, memory: Memory) -> Iterator[tuple[Any, Any]]:
        """Undo the change, and yield each new value with its cotangent."""
        raise NotImplementedError


COMPARED_BY_IDENTITY: frozenset[type] = frozenset(
    {float, complex, *np.floating.__subclasses__(), *np.complexfloating.__subclasses__()}
)
"""Types whose instances are compared by identity, not by value."""


def with_new_identity(value: Any, places: Mapping[int, Any]) -> Any:
    """Return `value`, or an equal number of another identity if ``id(value)`` is in `places`."""
    if id(value) not in places or type(value) not in COMPARED_BY_IDENTITY:
        return value
    if type(value) is float:
        return value * 1.0
    if type(value) is complex:
        return complex(value.real, value.imag)
    return type(value)(value)


def same_items(xs: Any, ys: Any) -> bool:
    """Return whether two sequences hold the same objects in the same order."""
    return len(xs) == len(ys) and all(map(operator.is_, xs, ys))
