"""Results cached per code object."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from types import CodeType
from typing import Any, TypeVar

T = TypeVar("T")


def by_code(find: Callable[[CodeType], T]) -> Callable[[CodeType], T]:
    """Cache the results of `find` for as long as the code lives, by identity, because comparing
    code is slow. The results must not refer to the code."""
    known = CodeTable[T]()

    def found(code: CodeType) -> T:
        one = known.get(id(code))
        return known.put(code, find(code)) if one is None else one[1]

    return found


class CodeTable(dict[int, tuple[Any, T]]):
    """A value for each code object (or class), by identity, which does not keep the key alive."""

    __slots__ = ()

    def put(self, code: CodeType | type, value: T) -> T:
        key = id(code)
        self[key] = weakref.ref(code, lambda _: self.pop(key, None)), value
        return value
