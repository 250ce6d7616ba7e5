"""Functions whose result type follows from the types of the operands."""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np

from adjoint.fast.evaluate.result_types import (  # noqa: F401  each registers its records
    creation,
    joining,
    linear_algebra,
    products,
    reductions,
    selection,
    shapes,
)
from adjoint.fast.evaluate.result_types.elementwise import BROADCASTING, OF_ONE_NUMBER, is_ufunc
from adjoint.fast.evaluate.result_types.records import Record, records

_MOST_OPERANDS = {"clip": 3, "repeat": 3, "swapaxes": 3, "trace": 4, "transpose": 99, "reshape": 99}
"""Number of operands of array methods before ``out``, the array itself included; else 2."""


@functools.cache
def most_operands(f: Any) -> int:
    """Return the number of positional operands of `f` before ``out`` or an ``overwrite_`` flag."""
    if isinstance(f, np.ufunc):
        return f.nin
    if getattr(f, "__module__", None) == "_operator":
        return 99
    if getattr(f, "__objclass__", None) is np.ndarray:
        return _MOST_OPERANDS.get(f.__name__, 2)
    try:
        parameters = list(inspect.signature(f).parameters.values())
    except (TypeError, ValueError):
        return 99
    by_position = [p.name for p in parameters if p.kind <= p.POSITIONAL_OR_KEYWORD]
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return 99
    writes = (name == "out" or name.startswith("overwrite_") for name in by_position)
    return next((i for i, one in enumerate(writes) if one), 99)


def record_of(f: Any) -> Record | None:
    """Return the record of `f`, or ``None``."""
    try:
        found = records.get(f)
    except TypeError:
        return None
    if found is None and is_ufunc(f):
        return BROADCASTING
    if found is None and getattr(f, "__module__", None) in ("_operator", "math", "cmath"):
        return OF_ONE_NUMBER
    return found


def is_inferable(f: Any) -> bool:
    """Return whether the result type of `f` follows from the types of the operands."""
    return record_of(f) is not None
