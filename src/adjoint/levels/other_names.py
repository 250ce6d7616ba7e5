"""Places of a memory under the other names (aliases) by which levels know it."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint.levels.level import Level, write_on
from adjoint.primal.array_memory import part_of, root_of
from adjoint.runtime.memory.log_entries import writable


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
