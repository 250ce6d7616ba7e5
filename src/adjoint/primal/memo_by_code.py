"""What is found out about code once."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import CodeType
from typing import Any, TypeVar

T = TypeVar("T")


def by_code(find: Callable[[CodeType], T]) -> Callable[[CodeType], T]:
    """A function of code that remembers its results for as long as the code is there, by identity:
    to compare code takes long. The results hold nothing of the code."""
    known = CodeTable[T]()

    def found(code: CodeType) -> T:
        one = known.get(id(code))
        return known.put(code, find(code)) if one is None else one[1]

    return found


class CodeTable(dict[int, tuple[Any, T]]):
    """Something for each code (or class), by its identity, with a reference that does not keep
    it."""

    __slots__ = ()

    def put(self, code: CodeType | type, value: T) -> T:
        key = id(code)
        self[key] = weakref.ref(code, lambda _: self.pop(key, None)), value
        return value
