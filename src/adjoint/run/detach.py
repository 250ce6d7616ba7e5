"""Constants made of active values."""

from __future__ import annotations

import copy
from types import CellType, FunctionType, MethodType
from typing import Any

from adjoint.run.kinds import by_value, fields_of, is_record

__all__ = ["detached"]


def detached(x: Any) -> Any:
    """`x` with an identity of its own, so that nothing that is added to its cotangent reaches that
    of `x`.

    Numbers and arrays that are not written are detached by the missing pullback; a written array
    and a container carry their cotangent by identity, so they are copied.
    """
    if by_value(x):
        return x.copy() if hasattr(x, "base") and hasattr(x, "strides") and x.ndim else x
    if isinstance(x, list):
        return [detached(item) for item in x]
    if isinstance(x, tuple):
        parts = [detached(item) for item in x]
        return x._make(parts) if hasattr(x, "_make") else tuple(parts)
    if isinstance(x, dict):
        return {key: detached(item) for key, item in x.items()}
    if type(x) is FunctionType and x.__closure__:
        cells = tuple(CellType(detached(cell.cell_contents)) for cell in x.__closure__)
        twin = FunctionType(x.__code__, x.__globals__, x.__name__, x.__defaults__, cells)
        twin.__kwdefaults__ = x.__kwdefaults__
        return twin
    if isinstance(x, MethodType):
        return MethodType(x.__func__, detached(x.__self__))
    if is_record(x) and fields_of(x) is not None:
        twin = copy.copy(x)
        twin.__dict__ = {key: detached(item) for key, item in vars(x).items()}
        return twin
    return x
