"""The functions of lists of numbers that specialised code calls."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from adjoint.fast.not_covered import Deoptimize


def item(xs: Any, index: int) -> Any:
    """``xs[index]``"""
    return xs[index]


def part(xs: Any, index: slice) -> Any:
    """``xs[index]``, a list or a tuple of its own."""
    return xs[index]


def count(xs: Any) -> int:
    """``len(xs)``"""
    return len(xs)


def total(xs: Any) -> Any:
    """``sum(xs)``"""
    if not xs:
        raise Deoptimize("a sum of nothing")
    return sum(xs)


def greatest(xs: Any) -> Any:
    """``max(xs)``"""
    return max(xs)


def least(xs: Any) -> Any:
    """``min(xs)``"""
    return min(xs)


def exact_total(xs: Any) -> float:
    """``math.fsum(xs)``"""
    return math.fsum(xs)


def array_of(xs: Any, dtype: Any) -> Any:
    """The numbers of a list as an array."""
    if not xs and dtype != np.float64:
        raise Deoptimize("an array of nothing")  # to NumPy that is one of doubles
    return np.array(xs, dtype)


def ties(xs: Any, y: Any) -> list[int]:
    """Where the greatest or the least number of a list stands."""
    found = [i for i, x in enumerate(xs) if x == y]
    if not found:
        raise Deoptimize("an extremum that is no number")
    return found


def append(xs: Any, value: Any) -> None:
    """``xs.append(value)``"""
    xs.append(value)


def put_item(xs: Any, index: int, value: Any) -> None:
    """``xs[index] = value``"""
    xs[index] = value


def take_last(xs: Any) -> Any:
    """``xs.pop()``"""
    return xs.pop()


def repeated(xs: Any, n: int) -> Any:
    """``xs * n``"""
    return xs * n


def add_folded(bars: Any, contributions: Any) -> None:
    """The reverse of ``xs * n``."""
    k = len(bars)
    for i in range(k):
        bars[i] += sum(contributions[i::k])


def zeros_of(xs: Any) -> list[float]:
    """The zero cotangent of a list."""
    return [0.0] * len(xs)


def complex_zeros_of(xs: Any) -> list[complex]:
    """The zero cotangent of a list of complex numbers."""
    return [0j] * len(xs)


def complex_items(bars: list[Any]) -> list[Any]:
    """Cotangents of complex numbers, of which some are real so far."""
    return [*map(complex, bars)]


def real_items(bars: list[Any]) -> list[Any]:
    """Cotangents of real numbers, of which some are complex so far."""
    return [bar.real for bar in bars]


def add_to_all(bars: Any, bar: float) -> None:
    """Add the same to the cotangents of all items."""
    bars[:] = [known + bar for known in bars]


def add_each(bars: Any, contributions: Any) -> None:
    """Add the elements of an array to the cotangents of the items."""
    pairs = zip(bars, contributions.tolist(), strict=True)
    bars[:] = [known + bar for known, bar in pairs]


def add_part(bars: Any, index: slice, contributions: Any) -> None:
    """Add to the cotangents of some items."""
    for i, bar in zip(range(*index.indices(len(bars))), contributions, strict=True):
        bars[i] += bar


def add_shared(bars: Any, places: list[int], bar: float) -> None:
    """Share a cotangent among the items at some places."""
    for i in places:
        bars[i] += bar / len(places)


EFFECTS: frozenset[Any] = frozenset({add_to_all, add_each, add_part, add_shared, add_folded})
"""Each writes to the cotangent of a list, its first operand."""
