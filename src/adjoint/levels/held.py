"""What is held beyond an operation: its owner may change lists and indices meanwhile."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rules.projection import SEQUENCES

__all__ = ["held", "held_index"]


def held(value: Any) -> Any:
    """An operand, with lists as they are now."""
    if isinstance(value, SEQUENCES):
        parts = [held(part) for part in value]
        if type(value) is tuple and all(a is b for a, b in zip(parts, value, strict=True)):
            return value
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value


def held_index(index: Any) -> Any:
    """An index, with lists and arrays as they are now."""
    if type(index) is tuple:
        return tuple(map(held_index, index))
    if isinstance(index, list):
        return np.array(index) if index else np.zeros(0, int)
    return index.copy() if isinstance(index, np.ndarray) else index
