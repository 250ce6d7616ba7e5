"""Comparison of values, and the resolution of their numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.derivatives.differences import leaves
from adjoint.primal.value_kinds import is_objects
from adjoint.rulekit.projection import is_numeric


def same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        if np.shape(a) != np.shape(b) or np.asarray(a).dtype != np.asarray(b).dtype:
            return False
        if is_objects(a):
            return all(map(same, a.flat, b.flat))
        return np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind in "fc")
    if type(a) is not type(b):
        return bool(is_numeric(a) and is_numeric(b) and a == b)
    if isinstance(a, list | tuple):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    if is_numeric(a):
        return bool(a == b) or bool(a != a and b != b)
    if hasattr(a, "__dict__") and not callable(a):
        return same(vars(a), vars(b))
    return True  # files, generators, functions: nothing to compare


def shared(y: Any, args: tuple[Any, ...]) -> bool:
    """Return whether writing to the result would write to an argument."""
    results, operands = (
        [leaf.value for leaf in leaves(x) if isinstance(leaf.value, np.ndarray)] for x in (y, args)
    )
    return any(np.may_share_memory(a, b) for a in results for b in operands)


def has_reals(x: Any) -> bool:
    return any(is_inexact(leaf.value) for leaf in leaves(x))


def is_inexact(x: Any) -> bool:
    return bool(np.asarray(x).dtype.kind in "fc")


def resolution_of(x: Any) -> float:
    dtype = np.asarray(x).dtype
    return float(np.finfo(dtype if dtype.kind in "fc" else float).eps)
