"""Integers and truth values as differentiated arguments."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np

from adjoint.primal.reachability import reached

_INTEGERS = "integers"
"""Key in the caches of a memory: the result of `has_integers`."""
_MOST = 256
"""The number of parts of the arguments that are searched."""


def is_integer(x: Any) -> bool:
    """Return whether `x` is an integer or an array of integers or truth values."""
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "iub"
    return isinstance(x, int | np.integer) and not isinstance(x, bool)


def has_integers(memory: Any) -> bool:
    """Return whether the differentiated arguments may hold an integer or an array of integers."""
    known: bool | None = memory.caches.get(_INTEGERS)
    if known is None:
        parts = [*islice(reached(memory.arguments, integers=True), _MOST)]
        known = memory.caches[_INTEGERS] = len(parts) == _MOST or any(map(is_integer, parts))
    return known


def stores_exactly(x: np.ndarray[Any, Any], value: Any) -> bool:
    """Return whether an array stores written numbers unrounded, so that they keep derivatives."""
    kind = x.dtype.kind
    return kind not in "iub" or np.asarray(value).dtype.kind in ("b" if kind == "b" else "iub")
