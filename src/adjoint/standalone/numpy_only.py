"""Functions of the engine in a form that needs NumPy alone, for standalone files.

Each stands for a function of the same name that has tables of types and errors of the engine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.rulekit import projection
from adjoint.rulekit.partials import as_strong
from adjoint.rulekit.projection import unbroadcast
from adjoint.runtime import results


def project(bar: Any, primal: Any) -> Any:
    """Return a cotangent in the shape, realness and dtype of a number or an array."""
    if bar is None:
        return None
    is_array = isinstance(primal, np.ndarray)
    if isinstance(bar, np.ndarray) and bar.shape != np.shape(primal):
        bar = unbroadcast(bar, np.shape(primal))
    if np.iscomplexobj(bar) and not np.iscomplexobj(primal):
        bar = bar.real
    if is_array:
        dtype = primal.dtype if primal.dtype.kind in "fc" else np.dtype(float)
        if np.shape(bar) != primal.shape:
            bar = np.broadcast_to(bar, primal.shape)
        return np.asarray(bar).astype(dtype, copy=False)
    bar = bar[()] if isinstance(bar, np.ndarray) else bar
    if isinstance(primal, np.inexact):
        return primal.dtype.type(bar)
    return complex(bar) if isinstance(primal, complex) else float(bar)


def projector(primal: Any) -> Any:
    """Return `project` for one primal."""

    def to_primal(bar: Any) -> Any:
        return project(bar, primal)

    return to_primal


def as_numeric(x: Any) -> Any:
    """Return a number or an array; of a list or tuple the array."""
    return np.asarray(x) if isinstance(x, list | tuple) else x


def with_zeros(value: Any, bar: Any) -> Any:
    """Return a cotangent of numbers, arrays and containers with zeros in place of ``None``."""
    if type(value) in (list, tuple):
        bars = [None] * len(value) if bar is None else bar
        return type(value)([with_zeros(x, x_bar) for x, x_bar in zip(value, bars, strict=True)])
    if type(value) is dict:
        return {key: with_zeros(x, None if bar is None else bar[key]) for key, x in value.items()}
    if bar is not None or value is None or type(value) is str:
        return bar
    if isinstance(value, np.ndarray):
        return np.zeros(value.shape, value.dtype if value.dtype.kind in "fc" else float)
    if isinstance(value, np.inexact):
        return value.dtype.type(0)
    if isinstance(value, int | float | np.integer | np.bool_):
        return 0.0
    if isinstance(value, complex):
        return 0j
    raise TypeError(f"a {type(value).__name__} is not known to this file")


def array_rule(rule: Any, places: tuple[int, ...], projects: bool) -> Any:
    """Return a rule of NumPy's array functions from one that returns cotangents of the operands,
    which stand at `places` among the arguments."""

    def placed(*args: Any, **kwargs: Any) -> Any:
        y, back = rule(*args, **kwargs)
        is_low = any(getattr(x, "dtype", np.dtype(float)).char in "efF" for x in args)

        def placed_back(y_bar: Any) -> tuple[Any, ...]:
            if is_low:
                y_bar = as_strong(y_bar, type(y))
            bars: list[Any] = [None] * (len(args) + 1)
            for place, bar in zip(places, back(y_bar)[1:], strict=False):
                if bar is not None and place < len(args):
                    bars[place + 1] = project(bar, args[place]) if projects else bar
            return tuple(bars)

        return y, placed_back

    return placed


SUBSTITUTES: dict[int, Any] = {
    id(projection.project): project,
    id(results.with_zeros): with_zeros,
    id(projection.projector): projector,
    id(projection.as_numeric): as_numeric,
    id(projection.SEQUENCES): (list, tuple),
}
"""What is copied, by the identity of what it stands for."""
