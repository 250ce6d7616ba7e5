"""Keyword arguments that every ufunc takes, as Python that the engine reads."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["ufunc_as"]


def ufunc_as(f: Any, dtype: Any, args: Any) -> Any:
    """``f(*args, dtype=dtype)``: NumPy casts the operands, then computes."""
    return f(*[np.asarray(arg, dtype=dtype) for arg in args])
