"""Structures moved along a direction: a tree of numbers and arrays beside that of the operand."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from adjoint.derivatives.differences import as_type_of

Rng = np.random.Generator


def is_carrier(x: Any) -> bool:
    """Whether something is a number or an array of such, and no truth value."""
    if type(x) in (float, complex, int):
        return True
    if isinstance(x, np.ndarray | np.number):
        return x.dtype.kind in "fciu"
    return False


def holds_only_numbers(x: Any) -> bool:
    """Whether the reals in a structure are in lists, tuples, dicts and arrays, not in objects."""
    if isinstance(x, list | tuple):
        return all(map(holds_only_numbers, x))
    if type(x) is dict:
        return all(map(holds_only_numbers, x.values()))
    return is_carrier(x) or isinstance(x, bool | np.bool_ | str | bytes | type(None))


def direction_of(x: Any, bar: Any, sizes: tuple[float, float], rng: Rng) -> Any:
    """A random direction for `x`: each number moves by about its own size, kept between `sizes`,
    zeros by the largest of these sizes that is not more than 1. ``None`` for what does not move:
    of integers, those without a cotangent, which count."""
    if isinstance(x, list | tuple):
        bars = bar if isinstance(bar, list | tuple) and len(bar) == len(x) else [None] * len(x)
        parts = [direction_of(*pair, sizes, rng) for pair in zip(x, bars, strict=True)]
        return parts if any(part is not None for part in parts) else None
    if type(x) is dict:
        named = bar if isinstance(bar, dict) else {}
        found = {key: direction_of(part, named.get(key), sizes, rng) for key, part in x.items()}
        return found if any(part is not None for part in found.values()) else None
    if not is_carrier(x):
        return None
    values = np.asarray(x)
    if values.dtype.kind in "iu" and (bar is None or not np.any(bar)):
        return None
    if not values.size:
        return None
    return _steps(values, sizes, rng)


def _steps(values: np.ndarray[Any, Any], sizes: tuple[float, float], rng: Rng) -> Any:
    wide = values.astype(np.result_type(values.dtype, np.float64))
    size = np.where(np.isfinite(wide), np.abs(wide), 0.0)
    largest = float(size.max())
    size = np.where(size == 0, min(largest or 1.0, 1.0), size).clip(*sizes)
    size = np.where(np.isfinite(wide), size, 0.0)
    steps = size * rng.uniform(0.5, 1.0, values.shape) * rng.choice([-1.0, 1.0], values.shape)
    if values.dtype.kind == "c":
        return steps * np.exp(2j * np.pi * rng.uniform(size=values.shape))
    return steps


def parts_of(direction: Any, rng: Rng) -> tuple[Any, Any]:
    """Two directions whose sum is `direction`."""
    if direction is None:
        return None, None
    if isinstance(direction, list):
        pairs = [parts_of(part, rng) for part in direction]
        return [first for first, _ in pairs], [second for _, second in pairs]
    if isinstance(direction, dict):
        found = {key: parts_of(part, rng) for key, part in direction.items()}
        first, second = ({key: pair[i] for key, pair in found.items()} for i in (0, 1))
        return first, second
    part = direction * rng.uniform(size=np.shape(direction))
    return part, direction - part


def moved(x: Any, direction: Any, step: float) -> Any:
    """A copy of `x`, in double precision, moved by ``step * direction``; nothing in it is shared,
    not even with itself."""
    if isinstance(x, list | tuple):
        directions = direction or [None] * len(x)
        parts = [moved(*pair, step) for pair in zip(x, directions, strict=True)]
        if isinstance(x, tuple):
            return as_type_of(x, parts) if type(x) is not tuple else tuple(parts)
        return parts if type(x) is list else copy.deepcopy(x)
    if type(x) is dict:
        return {key: moved(part, (direction or {}).get(key), step) for key, part in x.items()}
    if not is_carrier(x):
        return copy.deepcopy(x)
    if type(x) in (int, float, complex):
        return x if direction is None else x + step * direction.item()
    is_real = x.dtype.kind in "fc" or direction is not None
    dtype = np.result_type(x.dtype, np.float64) if is_real else x.dtype
    if not isinstance(x, np.ndarray):
        return dtype.type(x) if direction is None else dtype.type(x + step * direction[()])
    wide = x.astype(dtype)  # with the same order in memory, which some functions look at
    if direction is not None:
        wide += step * direction
    return wide


def terms(bar: Any, direction: Any) -> list[float]:
    """The parts of Re⟨bar, direction⟩, one for each number that moves."""
    if bar is None or direction is None:
        return []
    if isinstance(direction, list):
        pairs = zip(bar, direction, strict=True)
        return [term for pair in pairs for term in terms(*pair)]
    if isinstance(direction, dict):
        return [term for key, part in direction.items() for term in terms(bar.get(key), part)]
    return [float(term) for term in np.ravel((np.conj(bar) * direction).real)]


def without_integers(y_bar: Any, y: Any) -> Any:
    """A cotangent with ``None`` for what is integer in the result."""
    if isinstance(y_bar, list | tuple):
        parts = [without_integers(*pair) for pair in zip(y_bar, y, strict=True)]
        return parts if isinstance(y, list) else as_type_of(y, parts)
    if type(y_bar) is dict:
        return {key: without_integers(part, y[key]) for key, part in y_bar.items()}
    return y_bar if np.asarray(y).dtype.kind in "fc" else None


def holds_inexact(x: Any) -> bool:
    """Whether a structure of numbers has one that is no integer."""
    if isinstance(x, list | tuple):
        return any(map(holds_inexact, x))
    if type(x) is dict:
        return any(map(holds_inexact, x.values()))
    return is_carrier(x) and np.asarray(x).dtype.kind in "fc"


def size_of(y_bar: Any, y: Any) -> float:
    """Σ|y_bar·y| of everything in the result: what its rounding errors are relative to."""
    if isinstance(y_bar, list | tuple):
        return sum(size_of(*pair) for pair in zip(y_bar, y, strict=True))
    if isinstance(y_bar, dict):
        return sum(size_of(part, y[key]) for key, part in y_bar.items())
    return 0.0 if y_bar is None else float(np.sum(np.abs(y_bar) * np.abs(y)))


def resolution(x: Any) -> float:
    """The relative precision of the least precise number of a structure."""
    if isinstance(x, list | tuple):
        return max(map(resolution, x), default=0.0)
    if type(x) is dict:
        return max(map(resolution, x.values()), default=0.0)
    if isinstance(x, np.ndarray | np.inexact) and x.dtype.kind in "fc":
        return float(np.finfo(x.dtype).eps)
    return float(np.finfo(float).eps)
