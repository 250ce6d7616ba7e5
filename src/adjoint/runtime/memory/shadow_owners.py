"""What the shadows of slot attributes are keyed by."""

from __future__ import annotations

from collections import deque
from typing import Any

from adjoint.runtime.memory.memory import Memory


class _Slots:
    """Stands for the slots of a container, whose own shadow holds its elements."""

    def __init__(self, owner: Any) -> None:
        self.owner = owner  # kept alive, so that nothing else gets its identity


def slot_owner(memory: Memory, obj: Any) -> Any:
    """What the shadow of an object's slots is keyed by."""
    if not issubclass(type(obj), list | dict | set | frozenset | deque):
        return obj
    return memory.caches.setdefault(("slots", id(obj)), _Slots(obj))
