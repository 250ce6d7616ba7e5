"""Copies of lists, dicts and index arrays that outlive an operation, because user code may change
them."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from adjoint.primal.container_contents import base_of, elements_of, entries_of
from adjoint.primal.rebuild import rebuild, rebuild_dict
from adjoint.rulekit.projection import SEQUENCES


def copied_containers(value: Any, made: dict[int, Any] | None = None) -> Any:
    """Copy the lists and dicts in an operand. `made` maps those that are already copied, since a
    container may hold itself."""
    if not isinstance(value, (dict, *SEQUENCES)):
        return value
    made = {} if made is None else made
    if id(value) in made:
        return made[id(value)]
    if isinstance(value, dict):
        new = made[id(value)] = rebuild_dict(value, ())
        for key, part in entries_of(value):
            base_of(value).__setitem__(new, key, copied_containers(part, made))
        return new
    if isinstance(value, tuple):
        parts = [copied_containers(part, made) for part in elements_of(value)]
        same = all(a is b for a, b in zip(parts, elements_of(value), strict=True))
        return value if same and type(value) is tuple else rebuild(value, parts)
    new = made[id(value)] = rebuild(value, ())
    extend = list.extend if isinstance(value, list) else deque.extend
    extend(new, [copied_containers(part, made) for part in elements_of(value)])
    return new


def held_index(index: Any) -> Any:
    """Copy the lists and arrays in an index."""
    if type(index) is tuple:
        return tuple(map(held_index, index))
    if isinstance(index, list):
        return np.array(index) if index else np.zeros(0, int)
    return index.copy() if isinstance(index, np.ndarray) else index
