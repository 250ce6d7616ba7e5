"""The reverse rule of an elementwise function for operands of any kind: the slowest lane."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy import float64, where

from adjoint.cotangents.finiteness import finite
from adjoint.primal.value_kinds import FLOAT64
from adjoint.rulekit.partials import Partials, Traits, as_precise, numeric_operands
from adjoint.rulekit.projection import projector


def general(
    f: Callable[..., Any], traits: Traits, slopes: Partials, operands: tuple[Any, ...]
) -> Any:
    values = numeric_operands(traits, operands)
    if values is None:
        return NotImplemented
    y = f(*operands)
    dtype, is_complex = _computing_dtype(y)
    partials, singular, selects = slopes.partials, slopes.singular, slopes.selects
    kept = tuple(
        [
            _computing(v, dtype, traits) if read else None
            for v, read in zip((y, *values), slopes.residuals, strict=True)
        ]
    )
    to_operands = [
        None if p is None else projector(x) for p, x in zip(partials, operands, strict=True)
    ]

    def back(y_bar: Any) -> Any:
        bars: list[Any] = [None]
        for p, to_operand in zip(partials, to_operands, strict=True):
            if to_operand is None:
                bars.append(None)
                continue
            if callable(p):
                slope = p(*kept)
                bar = y_bar * (np.conj(slope) if is_complex else slope)
                if (singular or selects) and not finite(bar):
                    bar = where(np.equal(slope if selects else y_bar, 0), 0, bar)
            else:
                bar = y_bar if p == 1 else p * y_bar
            bars.append(to_operand(bar))
        return tuple(bars)

    return y, back


def _computing_dtype(y: Any) -> tuple[np.dtype[Any], bool]:
    """Return the dtype in which partials are computed, and whether it is complex."""
    dtype: np.dtype[Any] = y.dtype if hasattr(y, "dtype") else np.dtype(type(y))
    return (dtype if dtype.kind in "fc" else FLOAT64), dtype.kind == "c"


def _computing(x: Any, dtype: np.dtype[Any], traits: Traits) -> Any:
    """Convert `x` for the partials: no Python numbers, which raise at a pole."""
    if traits.floats_only:
        return float64(float(x))
    if hasattr(x, "dtype"):
        return as_precise(x, dtype)
    return np.complex128(x) if isinstance(x, complex) else dtype.type(x)
