"""Tangents of results from pullbacks, for functions without a forward rule."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison

ndarray = np.ndarray


def swept(y: Any, back: Callable[[Any], Any], dots: tuple[Any, ...]) -> Any:
    """Return the tangent of `y` from its pullback, ⟨ē, ẏ⟩ = Σ⟨x̄, ẋ⟩ for each unit cotangent ē, or
    the poison that the pullback gives for an argument that moves."""
    if isinstance(y, list | tuple):
        n = len(y)
        return [swept(part, partial(_part_back, back, i, n), dots) for i, part in enumerate(y)]
    if not isinstance(y, float | complex | int | np.number | ndarray) or (
        isinstance(y, ndarray) and y.dtype.kind not in "fciu"
    ):
        return None
    units = (1.0, 1j) if np.iscomplexobj(y) else (1.0,)
    parts = []
    for place in np.ndindex(np.shape(y)):
        sums = [_inner(back(_unit(y, place, one))[1:], dots) for one in units]
        if (unknown := next((x for x in sums if type(x) is Poison), None)) is not None:
            return unknown
        parts.append(sums[0] if len(sums) == 1 else sums[0] + 1j * sums[1])
    if not isinstance(y, ndarray):
        return parts[0]
    return np.reshape(np.array(parts, _dtype_of(y)), np.shape(y))


def in_places(back: Callable[[Any], Any], n: int, names: tuple[str, ...], bar: Any) -> Any:
    """Run the pullback of a rule that returns keyword cotangents in a dict. Return the first `n`
    cotangents, then those of `names`."""
    *bars, by_name = back(bar)
    bars = [*bars[:n], *[None] * (n - len(bars))]
    return (*bars, *map(by_name.get, names))


def _part_back(back: Callable[[Any], Any], i: int, n: int, bar: Any) -> Any:
    """Run the pullback for the cotangent of part `i` of `n` parts of a result."""
    return back([bar if i == j else None for j in range(n)])


def _unit(y: Any, place: tuple[int, ...], one: Any) -> Any:
    if not isinstance(y, ndarray):
        return one if isinstance(y, int | np.integer) else type(y)(one)
    unit = np.zeros(y.shape, _dtype_of(y))
    unit[place] = one
    return unit


def _dtype_of(y: Any) -> Any:
    return y.dtype if y.dtype.kind in "fc" else float


def _inner(bars: Any, dots: Any) -> Any:
    total = 0.0
    for bar, dot in zip(bars, dots, strict=False):
        if bar is None or dot is None:
            continue
        if type(bar) is Poison:
            return bar
        if isinstance(bar, list | tuple) or isinstance(dot, list | tuple):  # either may be an array
            total = total + _inner(bar, dot)
        else:
            total = total + np.sum(np.real(np.conj(bar) * dot))
    return total
