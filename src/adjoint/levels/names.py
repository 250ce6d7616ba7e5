"""Under which names a level knows an array.

An array that is given, or captured, under several names (it and a view of it) is several variables,
each in an array of its own. What is written through one name is the same under any.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.levels.operations import write_on
from adjoint.primal.array_memory import names_of, original_of, part_of, root_of
from adjoint.runtime.memory.log_entries import writable

if TYPE_CHECKING:
    from adjoint.levels.level import Level


class Names:
    """The names of the arrays that one level was given."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[int, list[tuple[Any, list[Any]]]] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, made: Any, root: Any) -> None:
        """Note that `made` stands for `root`."""
        names = names_of(root)
        self._found.setdefault(id(names[-1]), []).append((made, names))

    def all_of(self, x: Any) -> list[tuple[Any, list[Any]]]:
        """What stands for the memory of `x`, each with the names that it was made of."""
        return self._found.get(id(original_of(x)), [])

    def of(self, x: Any) -> list[Any]:
        """What stands for the memory of `x`."""
        return [made for made, _ in self.all_of(x)]


def others(level: Level, x: Any) -> list[Any]:
    """What `x` is under the other names that a level knows its memory by; those below have names of
    their own for it, which are others here, too."""
    known = [one.names for one in level.down() if one.names]
    if not known:
        return []
    root, found = root_of(x), dict[int, Any]()
    for names in known:
        for made, before in names.all_of(x):
            found |= {id(same): same for same in map(level.same.of, (made, *before))}
    found.pop(id(level.same.of(root)), None)
    return [part_of(other, root, x) for other in found.values()]


def contents(below: Callable[..., Any], names: Sequence[Any], index: Any) -> list[Any]:
    """What is at a place of one memory, as a level below knows it under each of some names."""
    return [below(np.array, below(operator.getitem, name, index)) for name in names]


def put_back(level: Level | None, names: Sequence[Any], index: Any, held: Sequence[Any]) -> None:
    """Write `contents` into the memory again."""
    for name, part in zip(names, held, strict=True):
        with writable(name):
            write_on(level, name, index, part, alone=True)
