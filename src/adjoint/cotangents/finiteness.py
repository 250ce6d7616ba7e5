"""Sweeps with and without what keeps structural zeros zero.

A zero cotangent stays zero, also times the infinite slope of a branch that was not selected: rules
look for products that are not finite, and correct them. In most sweeps there are none, so that a
sweep first runs without looking (`adjoint.runtime.memory.memory.Memory.careful` is false). Rules
are linear in the cotangent: what is not finite makes everything that depends on it not finite, so
where all that a sweep gives is finite, it is what the careful one would give. Otherwise that one
runs, too.

A rule that decides by a cotangent which is not finite, instead of calculating with it, has to say
so (`doubt`). Functions of the user's must not see the cotangents of a sweep in vain, nor be called
twice: where a sweep runs any, it is careful at once (`Memory.shown`).
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
"""What rules raise that are given numbers they cannot do with."""

doubts: list[int] = [0]
"""How many times `doubt` was called. Another thread's only cost a careful sweep more."""


def doubt(bar: Any) -> None:
    """Say that something is decided by whether `bar`, a number or an array, is zero: of one that is
    not finite that may be wrong."""
    if not all_finite(bar):
        doubts[0] += 1


def all_finite(bar: Any) -> bool:
    """Whether all numbers in a cotangent are finite; not if it holds what is no number."""
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
"""Functions of which a sweep was in vain: most likely the next one would be, too."""


def is_delicate(f: Any) -> bool:
    """Whether the sweeps of `f` begin with care."""
    return bool(_delicate) and type(f) is FunctionType and f.__code__ in _delicate


def note_delicate(f: Any) -> None:
    """Let the sweeps of `f` begin with care from now on."""
    if type(f) is FunctionType:
        _delicate.add(f.__code__)


def finite(bar: Any) -> bool:
    """Whether all entries are finite; may say no where squares overflow, so a no asks for a closer
    look."""
    if type(bar) is ndarray:
        if bar.dtype is FLOAT64 and bar.ndim == 1 and bar.size <= _FEW_NUMBERS:
            return isfinite(sum(bar.tolist()))
        # a sum of squares is finite only if every term is; `dot` would warn of those that are not
        return isfinite(np.vdot(bar, bar).real)
    if type(bar) in REALS:
        return isfinite(bar)
    return bool(np.all(np.isfinite(bar)))


_FEW_NUMBERS = 16
"""Of so many Python's sum is quicker."""
