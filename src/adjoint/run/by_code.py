"""What is found out about code once."""

from __future__ import annotations

from collections.abc import Callable
from types import CodeType
from typing import TypeVar

__all__ = ["by_code"]

T = TypeVar("T")


def by_code(find: Callable[[CodeType], T]) -> Callable[[CodeType], T]:
    """A function of code that remembers its results, by identity: to compare code takes long. The
    code is kept, so that no other takes its place."""
    known: dict[int, tuple[CodeType, T]] = {}

    def found(code: CodeType) -> T:
        one = known.get(id(code))
        if one is None:
            one = known[id(code)] = code, find(code)
        return one[1]

    return found
