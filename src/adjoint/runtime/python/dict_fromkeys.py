"""`dict.fromkeys` of a subclass."""

from __future__ import annotations

from typing import Any


def fromkeys_of(kind: Any, keys: Any, value: Any = None, /) -> Any:
    """``fromkeys`` of a subclass, by its own methods as in C."""
    made = kind()
    for key in keys:
        made[key] = value
    return made
