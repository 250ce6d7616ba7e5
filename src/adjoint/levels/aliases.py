"""The names (aliases) under which a level knows an array.

An array that is given or captured several times (itself or as a view) is several variables, each
with an alias of its own. A write through one alias has the same effect under all.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.levels.operations import write_on
from adjoint.primal.array_memory import original_of, owners_of, part_of, root_of
from adjoint.runtime.memory.log_entries import writable

if TYPE_CHECKING:
    from adjoint.levels.level import Level


class Aliases:
    """The aliases of the arrays that one level was given."""

    __slots__ = ("_found",)

    def __init__(self) -> None:
        self._found: dict[int, list[tuple[Any, list[Any]]]] = {}

    def __bool__(self) -> bool:
        return bool(self._found)

    def add(self, made: Any, root: Any) -> None:
        """Note that `made` is an alias of `root`."""
        names = owners_of(root)
        self._found.setdefault(id(names[-1]), []).append((made, names))

    def all_of(self, x: Any) -> list[tuple[Any, list[Any]]]:
        """Return the aliases of the memory of `x`, each with the arrays that it was made of."""
        return self._found.get(id(original_of(x)), [])

    def of(self, x: Any) -> list[Any]:
        """Return the aliases of the memory of `x`."""
        return [made for made, _ in self.all_of(x)]


def others(level: Level, x: Any) -> list[Any]:
    """Return the views that correspond to `x` under the other aliases of its memory. The aliases of
    lower levels are included."""
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
    """Return a copy of one place of a memory under each of `names`, on a lower level."""
    return [below(np.array, below(operator.getitem, name, index)) for name in names]


def put_back(level: Level | None, names: Sequence[Any], index: Any, held: Sequence[Any]) -> None:
    """Write the copies that `contents` returned into the memory."""
    for name, part in zip(names, held, strict=True):
        with writable(name):
            write_on(level, name, index, part, alone=True)
