"""What is held beyond an operation: its owner may change lists and indices meanwhile."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rules.projection import SEQUENCES
from adjoint.run.contents import elements_of, entries_of
from adjoint.run.remaking import remade, remade_dict

__all__ = ["held", "held_index"]


def held(value: Any) -> Any:
    """An operand, with lists and dicts as they are now."""
    if isinstance(value, dict):
        return remade_dict(value, [(key, held(part)) for key, part in entries_of(value)])
    if isinstance(value, SEQUENCES):
        parts = [held(part) for part in elements_of(value)]
        if type(value) is tuple and all(
            a is b for a, b in zip(parts, elements_of(value), strict=True)
        ):
            return value
        return remade(value, parts)
    return value


def held_index(index: Any) -> Any:
    """An index, with lists and arrays as they are now."""
    if type(index) is tuple:
        return tuple(map(held_index, index))
    if isinstance(index, list):
        return np.array(index) if index else np.zeros(0, int)
    return index.copy() if isinstance(index, np.ndarray) else index
