"""Sweeps with and without the correction of structural zeros.

A zero cotangent stays zero, also times the infinite slope of a branch that was not selected: rules
look for products that are not finite, and correct them. Most sweeps have none, so a sweep first
runs without looking (`adjoint.runtime.memory.memory.Memory.careful` is false). Rules are linear in
the cotangent, so anything not finite makes everything that depends on it not finite. Where all
results of a sweep are finite, they are those of the careful sweep; otherwise the careful sweep
runs, too.

A rule that branches on a cotangent, instead of calculating with it, must call `doubt`. User
functions must not see the cotangents of a discarded sweep, nor be called twice: a sweep that runs
any is careful at once (`Memory.shown`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from math import isfinite
from types import CodeType, FunctionType
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy import ndarray

from adjoint.errors import AdjointError
from adjoint.primal.value_kinds import FLOAT64, REALS

UNFIT = (AdjointError, ArithmeticError, ValueError, RuntimeError, np.linalg.LinAlgError)
"""Errors that rules raise for numbers that are not finite."""

doubts: list[int] = [0]
"""How often `doubt` was called. Calls of other threads only cost an unneeded careful sweep."""


def doubt(bar: Any) -> None:
    """Note that code branches on whether `bar`, a number or an array, is zero, which may be wrong
    where `bar` is not finite."""
    if not all_finite(bar):
        doubts[0] += 1


def all_finite(bar: Any) -> bool:
    """Return whether all numbers in a cotangent are finite and nothing else is in it."""
    stack = [bar]  # structures may be nested deeper than calls
    while stack:
        bar = stack.pop()
        if bar is None or (type(bar) is np.ndarray and bar.dtype.kind in "fc" and finite(bar)):
            continue
        if isinstance(bar, np.ndarray | np.generic | int | float | complex):
            if np.asarray(bar).dtype.kind not in "fciub" or not np.all(np.isfinite(bar)):
                return False
        elif isinstance(bar, Mapping):
            stack += bar.values()
        elif isinstance(bar, list | tuple | deque):
            stack += bar
        else:
            return False
    return True


_delicate: WeakSet[CodeType] = WeakSet()
"""Functions of which a sweep was discarded: the next one probably would be, too."""


def is_delicate(f: Any) -> bool:
    """Return whether the sweeps of `f` are careful from the start."""
    return bool(_delicate) and type(f) is FunctionType and f.__code__ in _delicate


def note_delicate(f: Any) -> None:
    """Make the sweeps of `f` careful from the start."""
    if type(f) is FunctionType:
        _delicate.add(f.__code__)


def finite(bar: Any) -> bool:
    """Return whether all entries are finite. It may be false where only squares overflow, so a
    false needs a closer look."""
    if type(bar) is ndarray:
        if bar.dtype is FLOAT64 and bar.ndim == 1 and bar.size <= _FEW_NUMBERS:
            return isfinite(sum(bar.tolist()))
        # a sum of squares is finite only if every term is; `dot` would warn of terms that are not
        return isfinite(np.vdot(bar, bar).real)
    if type(bar) in REALS:
        return isfinite(bar)
    return bool(np.all(np.isfinite(bar)))


_FEW_NUMBERS = 16
"""For up to this many numbers, Python's sum is faster."""
