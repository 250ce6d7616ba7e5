"""Saved states of mutable things, compared after a foreign run.

A change by foreign code is logged afterwards as a write, so that a sweep can undo it.
`Saved.collect` undoes it and yields the cotangents of what was put in.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

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

    def hashes(self) -> bool:
        """Return whether undoing the change calls ``__hash__``, which needs the fields of keys."""
        return False

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        """Yield the old and the new value of each difference; `ABSENT` for no value."""
        raise NotImplementedError

    def log(self, memory: Memory) -> None:
        """Log the change as a write."""
        raise NotImplementedError

    def collect(self, memory: Memory) -> Iterator[tuple[Any, Any]]:
        """Undo the change, and yield each new value with its cotangent."""
        raise NotImplementedError


def same_items(xs: Any, ys: Any) -> bool:
    """Return whether two sequences hold the same objects in the same order."""
    return len(xs) == len(ys) and all(map(operator.is_, xs, ys))
