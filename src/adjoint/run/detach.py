"""Constants made of active values."""

from __future__ import annotations

import copy
from contextlib import suppress
from types import CellType, FunctionType, MethodType
from typing import Any

import numpy as np

from adjoint.run.kinds import by_value, fields_of, is_objects, is_record

__all__ = ["detached"]


def detached(x: Any) -> Any:
    """A copy of `x`, so that nothing that is added to its cotangent reaches that of `x`.

    Numbers are detached by the missing pullback; an array and a container may carry their cotangent
    by identity, so they are copied, each once, as are the objects of Python's own classes.
    """
    return _detached(x, {})


def _detached(x: Any, made: dict[int, Any]) -> Any:
    """`detached`; `made` holds the copies by the identity of what they are copies of."""
    if by_value(x) and not (hasattr(x, "base") and hasattr(x, "strides") and x.ndim):
        return x
    if id(x) in made:
        return made[id(x)]
    if is_objects(x):
        twin = made[id(x)] = x.copy()
        for index in np.ndindex(x.shape):
            twin[index] = _detached(x[index], made)
    elif by_value(x):
        twin = x.copy()
    elif isinstance(x, list):
        twin = made[id(x)] = []
        twin.extend(_detached(item, made) for item in x)
    elif isinstance(x, dict):
        twin = made[id(x)] = {}
        twin.update((key, _detached(item, made)) for key, item in x.items())
    elif isinstance(x, tuple):
        parts = [_detached(item, made) for item in x]
        twin = x._make(parts) if hasattr(x, "_make") else tuple(parts)
    elif type(x) is FunctionType and x.__closure__:
        cells = tuple(CellType() for _ in x.__closure__)
        twin = FunctionType(x.__code__, x.__globals__, x.__name__, x.__defaults__, cells)
        twin.__kwdefaults__ = x.__kwdefaults__
        made[id(x)] = twin
        for cell, other in zip(cells, x.__closure__, strict=True):
            with suppress(ValueError):  # an empty one stays empty
                cell.cell_contents = _detached(other.cell_contents, made)
    elif isinstance(x, MethodType):
        twin = MethodType(x.__func__, _detached(x.__self__, made))
    elif is_record(x) and fields_of(x) is not None:
        twin = made[id(x)] = copy.copy(x)
        twin.__dict__ = {key: _detached(item, made) for key, item in vars(x).items()}
    else:
        return x
    made[id(x)] = twin
    return twin
