"""The substitute of `dict.fromkeys` for subclasses."""

from __future__ import annotations

from typing import Any


def fromkeys_of(kind: Any, keys: Any, value: Any = None, /) -> Any:
    """Run ``fromkeys`` of a subclass by its own methods, as C does."""
    made = kind()
    for key in keys:
        made[key] = value
    return made
