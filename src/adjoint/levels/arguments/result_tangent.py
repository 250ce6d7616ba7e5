"""The tangent of a result as a plain structure for the caller."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.levels.level import Level
from adjoint.primal.object_array_places import as_objects, elements_of
from adjoint.primal.value_kinds import by_value, is_objects, is_plain_object
from adjoint.runtime.leaves import object_fields
from adjoint.tangent import tangent_of


def read_tangent(level: Any, y: Any, within: tuple[int, ...] = ()) -> Any:
    """Return the tangent of `y`, zero where none is known; ``None`` for parts without a
    derivative."""
    if by_value(y):
        return _of_number(level, y)
    if id(y) in within:
        return None
    within = (*within, id(y))
    if isinstance(y, list | tuple | deque):
        parts = [read_tangent(level, part, within) for part in y]
        if not isinstance(y, tuple):
            return parts
        return y._make(parts) if hasattr(y, "_make") else tuple(parts)
    if isinstance(y, dict):
        return {key: read_tangent(level, part, within) for key, part in y.items()}
    if is_objects(y):
        level.demand_seen(y)
        parts = [read_tangent(level, part, within) for part in elements_of(y)]
        return as_objects(y.shape, parts)
    if is_plain_object(y):
        fields = object_fields(y)
        if not fields:
            return None
        return tangent_of(y, {k: read_tangent(level, part, within) for k, part in fields.items()})
    if not isinstance(y, str | bytes | bytearray):
        level.demand_seen(y)
    return None


def _of_number(level: Level, y: Any) -> Any:
    dot = level.tangent(y)  # type: ignore[attr-defined]
    if type(dot) is Poison:
        raise dot.error
    if isinstance(y, np.ndarray):
        if y.dtype.kind not in "fciub":
            return None
        dtype = y.dtype if y.dtype.kind in "fc" else float
        return np.zeros(y.shape, dtype) if dot is None else level.below(np.array, dot)
    if dot is not None:
        return dot
    return y * 0.0 if isinstance(y, complex | np.inexact) else 0.0
