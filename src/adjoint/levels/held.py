"""What is held beyond an operation: its owner may change lists and indices meanwhile."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from adjoint.primal.container_contents import base_of, elements_of, entries_of
from adjoint.primal.rebuild import remade, remade_dict
from adjoint.rulekit.projection import SEQUENCES


def held(value: Any, made: dict[int, Any] | None = None) -> Any:
    """An operand, with lists and dicts as they are now; `made` are those that stand in it, for it
    may hold itself."""
    if not isinstance(value, (dict, *SEQUENCES)):
        return value
    made = {} if made is None else made
    if id(value) in made:
        return made[id(value)]
    if isinstance(value, dict):
        new = made[id(value)] = remade_dict(value, ())
        for key, part in entries_of(value):
            base_of(value).__setitem__(new, key, held(part, made))
        return new
    if isinstance(value, tuple):
        parts = [held(part, made) for part in elements_of(value)]
        same = all(a is b for a, b in zip(parts, elements_of(value), strict=True))
        return value if same and type(value) is tuple else remade(value, parts)
    new = made[id(value)] = remade(value, ())
    extend = list.extend if isinstance(value, list) else deque.extend
    extend(new, [held(part, made) for part in elements_of(value)])
    return new


def held_index(index: Any) -> Any:
    """An index, with lists and arrays as they are now."""
    if type(index) is tuple:
        return tuple(map(held_index, index))
    if isinstance(index, list):
        return np.array(index) if index else np.zeros(0, int)
    return index.copy() if isinstance(index, np.ndarray) else index
