"""Pullbacks that were made on no level, called with cotangents that a level follows.

Such a pullback was made before the level began, so it is a linear and constant map. Its matrix is
computed, with one sweep per entry of the result, and applied on the level.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from adjoint.levels.arguments.flat_leaves import Form, on_level
from adjoint.levels.current import current, entered
from adjoint.primal.value_kinds import by_value
from adjoint.tangent import tangent_of


def follows(y_bar: Any) -> bool:
    """Return whether the current level, or one below, knows a derivative in `y_bar`."""
    return current.level is not None and current.level.knows(y_bar)


def pulled(back: Callable[[Any], Any], y: Any, y_bar: Any) -> Any:
    """Return ``back(y_bar)``, where `back` is the pullback of a function whose result was `y`."""
    form = Form(y)
    bars = form.split(y_bar, "the cotangent")
    given = {j: bar for j, bar in enumerate(bars) if bar is not None}
    with entered(None):
        rows = [back(form.build({j: e})) for j in given for e in _units(form.leaves[j])]
    kept = [np.iscomplexobj(form.leaves[j]) for j in given]
    return _combined(rows, on_level(_weights, list(given.values()), kept))


def _units(leaf: Any) -> Iterator[Any]:
    """Yield the unit cotangents of a leaf, then those times the imaginary unit if it is complex."""
    dtype = np.asarray(leaf).dtype
    for unit in (1.0, 1j) if dtype.kind == "c" else (1.0,):
        for place in np.ndindex(np.shape(leaf)):
            bar = np.zeros(np.shape(leaf), dtype if dtype.kind in "fc" else float)
            bar[place] = unit
            yield bar if isinstance(leaf, np.ndarray) else bar[()]


def _weights(bars: list[Any], are_complex: list[bool]) -> Any:
    """Return the weights of all units, as one vector."""
    parts = []
    for bar, is_complex in zip(bars, are_complex, strict=True):
        flat = np.ravel(bar)
        parts.append(np.real(flat))
        if is_complex:
            parts.append(np.imag(flat))
    return np.concatenate(parts)


def _combined(rows: list[Any], weights: Any) -> Any:
    """Return the weighted sum of structures; ``None`` if all are ``None``."""
    like = next((row for row in rows if row is not None), None)
    if like is None:
        return None
    if by_value(like):
        zero = np.zeros(np.shape(like), np.asarray(like).dtype)
        return on_level(_sum, weights, np.stack([zero if r is None else r for r in rows]), like)
    if isinstance(like, Mapping):
        keys = dict.fromkeys(key for row in rows for key in row or ())
        parts = {
            key: _combined([None if row is None else row.get(key) for row in rows], weights)
            for key in keys
        }
        return parts if isinstance(like, dict) else tangent_of(like, parts)
    found = [
        _combined([None if row is None else row[i] for row in rows], weights)
        for i in range(len(like))
    ]
    return like._make(found) if hasattr(like, "_make") else type(like)(found)


def _sum(weights: Any, rows: Any, like: Any) -> Any:
    flat = weights @ np.reshape(rows, (len(rows), -1))
    if isinstance(like, np.ndarray):
        return np.reshape(flat, like.shape).astype(like.dtype)
    if isinstance(like, np.generic):
        return flat.astype(like.dtype)[0]
    return complex(flat[0]) if isinstance(like, complex) else float(flat[0])
