"""Keys of the shadows of slot attributes."""

from __future__ import annotations

from collections import deque
from typing import Any

from adjoint.runtime.memory.memory import Memory


class _Slots:
    """Owner of the slot attributes of a container, whose own shadow holds its elements."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner  # kept alive, so that no other object gets its identity


def slot_owner(memory: Memory, obj: Any) -> Any:
    """Return the owner of the shadow of the slot attributes of `obj`."""
    if not issubclass(type(obj), list | dict | set | frozenset | deque):
        return obj
    return memory.caches.setdefault(("slots", id(obj)), _Slots(obj))
