"""Whether somebody can still see what was written: nobody can, where everything that holds it is
known and goes away with the log.

References are counted, as the garbage collector counts them: what is held by more than by the
things that go away is alive, and so is all that it holds.
"""

from __future__ import annotations

import functools
import gc
import sys
from collections import deque
from types import BuiltinMethodType, CellType, FunctionType, ModuleType
from typing import Any

import numpy as np

from adjoint.run.kinds import is_record
from adjoint.run.memory import Memory, root_of
from adjoint.run.snapshot import LEAVES
from adjoint.run.swaps import (
    swap_array,
    swap_cell,
    swap_contents,
    swap_end,
    swap_item,
    swap_slice,
    swap_slot,
)

__all__ = ["is_unheld", "writes_to"]

_WHERE: dict[Any, Any] = {
    swap_slice: lambda entry: entry[1],
    swap_item: lambda entry: entry[1],
    swap_end: lambda entry: entry[1].__self__,
    swap_cell: lambda entry: entry[1],
    swap_slot: lambda entry: entry[2],
    swap_array: lambda entry: entry[1],
    swap_contents: lambda entry: entry[1],
}
"""By what exchanges: what an entry of the log writes to."""

_LOOKED_INTO = (list, tuple, dict, set, frozenset, deque, CellType, BuiltinMethodType)
_PASSED_OVER = LEAVES | {FunctionType, type, ModuleType, np.dtype}
_MOST = 100_000
"""Objects beyond which it is not worth finding out."""


class _Graph:
    """Objects by identity, with how often they are held by each other and by what goes away."""

    def __init__(self) -> None:
        self.nodes: dict[int, list[Any]] = {}
        """Identity: the object, how often it is held, what it holds."""
        self._new: list[int] = []

    def hold(self, value: Any) -> int | None:
        """Count one reference to an object."""
        kind = type(value)
        if kind in _PASSED_OVER or issubclass(kind, Memory | type):
            return None
        node = self.nodes.get(id(value))
        if node is None:
            node = self.nodes[id(value)] = [value, 0, ()]
            self._new.append(id(value))
        node[1] += 1
        return id(value)

    def follow(self) -> bool:
        """Count what the objects hold; whether there are not too many."""
        while self._new:
            node = self.nodes[self._new.pop()]
            node[2] = [held for part in _held(node[0]) if (held := self.hold(part)) is not None]
            if len(self.nodes) > _MOST:
                return False
        return True

    def alive(self) -> set[int]:
        """Which are held by others."""
        found = {
            place
            for place, node in self.nodes.items()
            if sys.getrefcount(node[0]) - node[1] > _BY_US
        }
        stack = [*found]
        while stack:
            for place in self.nodes[stack.pop()][2]:
                if place not in found:
                    found.add(place)
                    stack.append(place)
        return found


def _held(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        return [] if value.base is None else [value.base]  # the collector does not follow arrays
    if isinstance(value, _LOOKED_INTO) or type(value) is functools.partial or is_record(value):
        return gc.get_referents(value)
    return []


def _references() -> int:
    graph = _Graph()
    graph.nodes[0] = [[], 0, ()]
    return next(sys.getrefcount(node[0]) for place, node in graph.nodes.items())


_BY_US = _references()
"""References to an object that nobody but a graph holds, while they are counted."""


def writes_to(entries: list[list[Any]], known: set[int]) -> bool:
    """Whether one of some entries of the log writes to something of known identity."""
    for entry in entries:
        if entry[0] in _WHERE and type(entry[1]) is not functools.partial:
            target = _WHERE[entry[0]](entry)
            if id(target) in known:
                return True
            if isinstance(target, np.ndarray) and id(root_of(target)) in known:
                return True
    return False


def is_unheld(memory: Memory, start: int, n: int, holder: list[Any]) -> bool:
    """Whether what was written since a position in the log is held by nothing but the log and what
    is in `holder`; all but the first `n` written arrays were written since then."""
    entries = memory.entries()[start:]
    if not entries:
        return True
    if any(entry[0] not in _WHERE or type(entry[1]) is functools.partial for entry in entries):
        return False
    graph = _Graph()
    for entry in entries:
        for part in entry[1:]:
            graph.hold(part)
    for value in holder:
        graph.hold(value)
    value = part = None  # they would count
    for place in [*memory.written][n:]:
        graph.hold(memory.written[place])
    if not graph.follow():
        return False
    alive = graph.alive()
    for entry in entries:
        target = _WHERE[entry[0]](entry)
        if id(target) in alive:
            return False
        if isinstance(target, np.ndarray):
            root = root_of(target)
            if root.base is not None or id(root) not in graph.nodes or id(root) in alive:
                return False
    return True
