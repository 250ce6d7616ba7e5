"""Slices, whose parts may be active: a class may use ``grid[0:x:5j]`` for anything."""

from __future__ import annotations

from typing import Any

from adjoint.runtime.dispatch.number_protocols import has_index
from adjoint.runtime.memory.memory import Memory

_BY_COUNT = (("stop",), ("start", "stop"), ("start", "stop", "step"))
_WITHOUT_DERIVATIVE = frozenset({int, bool, type(None)})


def build_slice(record: list[Any], slot: int, *parts: Any) -> slice:
    """``slice(*parts)``, or ``start:stop:step`` inside a subscript."""
    made, memory = slice(*parts), record[0]
    for part in parts:
        if type(part) not in _WITHOUT_DERIVATIVE:
            record[slot] = _back(memory, made, _BY_COUNT[len(parts) - 1])
            memory.has_index_objects |= has_index(made)
            break
    return made


def _back(memory: Memory, made: slice, names: tuple[str, ...]) -> Any:
    def slice_back(_: Any) -> tuple[Any, ...]:
        return (None, *(memory.take_entry(made, name) for name in names))

    return slice_back
