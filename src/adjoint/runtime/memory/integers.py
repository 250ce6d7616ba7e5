"""Integers and truth values, in which something is differentiated as in real numbers."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from adjoint.primal.reachability import reached

_INTEGERS = "integers"
"""In the caches: whether any integer is among what a call is differentiated in."""
_MOST = 256
"""So many parts of that are looked at."""


def is_integer(x: Any) -> bool:
    """Whether something is an integer or an array of integers or truth values."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "iub"
    return isinstance(x, int | np.integer) and not isinstance(x, bool)


def has_integers(memory: Any) -> bool:
    """Whether an integer, or an array of such, may be among what a call is differentiated in."""
    known: bool | None = memory.caches.get(_INTEGERS)
    if known is None:
        parts = [*islice(reached(memory.arguments, integers=True), _MOST)]
        known = memory.caches[_INTEGERS] = len(parts) == _MOST or any(map(is_integer, parts))
    return known


def takes(x: np.ndarray[Any, Any], value: Any) -> bool:
    """Whether the numbers that are written into an array are what it holds then: others are rounded
    to its integers or truth values, and have no derivative there."""
    kind = x.dtype.kind
    return kind not in "iub" or np.asarray(value).dtype.kind in ("b" if kind == "b" else "iub")
