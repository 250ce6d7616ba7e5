"""Derivatives along all unit vectors of the arguments, many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from adjoint.fast.build.modes import Kind
from adjoint.fast.programs.tangents import along_of
from adjoint.levels.current import current


def along_units(
    kind: Kind,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    places: Sequence[int],
) -> list[Any] | None:
    """Return derivatives along each unit vector of the arguments at `places`.

    Returns
    -------
    list of arrays or None
        One array for each number or array of the result (for ``hvp``: of the arguments), with a
        leading axis for the unit vectors: those of the first argument, then those of the next.
        ``None`` without a program.
    """
    xs = [args[place] for place in places]
    if current.level is not None or not all(map(is_simple, xs)):
        return None
    size = sum(map(np.size, xs))
    along = None
    if size > 1:
        along = along_of(kind, f, args, kwargs, tuple(places), has_rows=True)
    if along is None:
        return _one_by_one(kind, f, args, kwargs, places)
    found = []
    step = along.most_rows
    for first in range(0, size, step):
        part = along(_units(xs, first, min(first + step, size)))
        if part is None:
            return None
        found.append(part[1])
    along.commit()
    return [
        np.concatenate(parts) if len(parts) > 1 else parts[0] for parts in zip(*found, strict=True)
    ]


def _one_by_one(
    kind: Kind,
    f: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    places: Sequence[int],
) -> list[Any] | None:
    """Do the same with one product after the other."""
    along = along_of(kind, f, args, kwargs, tuple(places))
    if along is None:
        return None
    xs = [args[place] for place in places]
    dots: list[Any] = [None] * len(args)
    found = []
    for k in range(sum(map(np.size, xs))):
        for place, x, unit in zip(places, xs, _units(xs, k, k + 1), strict=True):
            dots[place] = unit[0] if isinstance(x, np.ndarray) else float(unit[0])
        product = along(dots)
        if product is None:
            return None
        parts = product[1] if type(product[1]) is tuple else (product[1],)
        if not all(isinstance(part, float | np.ndarray) for part in parts):
            return None  # a structure
        found.append(parts)
    along.commit()
    return [np.array(parts) for parts in zip(*found, strict=True)]


def is_simple(x: Any) -> bool:
    """Return whether an argument is a Python number or an array of double precision."""
    return type(x) in (float, int) or (type(x) is np.ndarray and x.dtype == np.float64)


def _units(xs: Sequence[Any], first: int, last: int) -> list[Any]:
    """Return the unit vectors `first` to `last` of all numbers, as one array per argument."""
    made, start = [], 0
    for x in xs:
        size = np.size(x)
        unit = np.zeros((last - first, size))
        inside = np.arange(max(first, start), min(last, start + size))
        unit[inside - first, inside - start] = 1.0
        made.append(np.reshape(unit, (last - first, *np.shape(x))))
        start += size
    return made


def as_matrix(found: Any, y: Any, x: Any, first: int) -> Any:
    """Return the derivatives of `y` by `x`, of shape ``y.shape + x.shape``, from the derivatives of
    `y` along all unit vectors, those of `x` beginning at `first`; a number if both are numbers."""
    part = found[first : first + np.size(x)]
    if not isinstance(x, np.ndarray) and not isinstance(y, np.ndarray):
        return float(part[0])
    shape = np.shape(y) + np.shape(x)
    return np.reshape(np.ascontiguousarray(np.reshape(part, (np.size(x), -1)).T), shape)
