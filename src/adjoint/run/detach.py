"""Constants made of active values."""

from __future__ import annotations

import copy
from typing import Any

from adjoint.run.structure import by_value

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
    if hasattr(x, "__dict__") and not callable(x) and not isinstance(x, type):
        twin = copy.copy(x)
        twin.__dict__ = {key: detached(item) for key, item in vars(x).items()}
        return twin
    return x
