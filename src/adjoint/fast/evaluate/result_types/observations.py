"""Result types of functions whose results the generic tier has noted."""

from __future__ import annotations

from collections.abc import Sequence
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.fast.evaluate.result_types.examples import Run
from adjoint.fast.evaluate.result_types.ones import Constant
from adjoint.fast.evaluate.types import Number, Symbol
from adjoint.runtime.dispatch.observed_results import observed


def observed_run(f: FunctionType, names: tuple[str, ...], types: Sequence[Any]) -> Run | None:
    """Return the last result that was noted for operands of these types, the last of which have
    `names`; ``None`` if there is none."""
    for one in reversed(observed.get(f.__code__, ())):
        symbols: dict[int, Any] = {}
        given = (*one.args, *one.kwargs.values())
        if tuple(one.kwargs) == names and _fit(types, given, symbols):
            known = {n: s for n, s in symbols.items() if s is not None}
            return Run(one.y, [], {}, known, one.is_alias)
    return None


def _fit(types: Sequence[Any], given: Sequence[Any], symbols: dict[int, Any]) -> bool:
    """Return whether values are of types; note the symbols of lengths, ``None`` for several."""
    return len(types) == len(given) and all(
        _fits(t, x, symbols) for t, x in zip(types, given, strict=True)
    )


def _fits(t: Any, x: Any, symbols: dict[int, Any]) -> bool:
    if isinstance(t, Constant):
        return type(x) is type(t.value) and bool(x == t.value)
    if isinstance(t, tuple):
        return isinstance(x, list | tuple) and _fit(t, x, symbols)
    if isinstance(t, Symbol):
        return type(x) is int
    if isinstance(t, Number):
        return type(x) in t.kinds
    if not isinstance(x, np.ndarray) or x.dtype != t.dtype or x.ndim != len(t.shape):
        return False
    for dim, n in zip(t.shape, x.shape, strict=True):
        if isinstance(dim, Symbol):
            symbols[n] = dim if symbols.get(n, dim) is dim else None
        elif dim != n:
            return False
    return True
