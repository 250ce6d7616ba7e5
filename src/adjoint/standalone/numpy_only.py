"""Functions of the engine in a form that needs NumPy alone, for standalone files.

Each stands for a function of the same name that has tables of types and errors of the engine.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.cotangents import finiteness
from adjoint.cotangents.poison import Poison
from adjoint.diagnostics import numpy_warnings, user_place
from adjoint.levels import bases
from adjoint.rulekit import projection, row_sums
from adjoint.rulekit.partials import as_strong
from adjoint.rulekit.projection import unbroadcast
from adjoint.rules.numpy.linalg import matrices
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
    if isinstance(primal, list | tuple):
        return type(primal)([project(part, x) for part, x in zip(bar, primal, strict=True)])
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


def reports_underflow() -> bool:
    """Return whether NumPy's underflows are raised, warned of or called."""
    return np.geterr()["under"] != "ignore"


def array_rule(rule: Any, places: tuple[int, ...], nested: bool) -> Any:
    """Return a rule of NumPy's array functions from one that returns cotangents of the operands,
    which stand at `places` among the arguments."""

    def placed(*args: Any, **kwargs: Any) -> Any:
        values = list(args)
        for place in places if nested else ():
            if place < len(values):
                values[place] = as_numeric(values[place])
        y, back = rule(*values, **kwargs)
        is_low = any(getattr(x, "dtype", np.dtype(float)).char in "efF" for x in values)

        def placed_back(y_bar: Any) -> tuple[Any, ...]:
            if is_low:
                y_bar = as_strong(y_bar, type(y))
            bars: list[Any] = [None] * (len(args) + 1)
            for place, bar in zip(places, back(y_bar)[1:], strict=False):
                if bar is not None and place < len(args):
                    bars[place + 1] = project(bar, args[place]) if nested else bar
            return tuple(bars)

        return y, placed_back

    return placed


def doubt(bar: Any) -> None:
    """Raise an error where code branches on numbers that are not finite."""
    if bar is not None and not np.all(np.isfinite(bar)):
        raise FloatingPointError("a derivative is not finite")


def poisoned(back: Any) -> Any:
    """Return a pullback as it is: its errors are raised at once."""
    return back


def poison(error: Exception) -> Any:
    """Raise the error of a derivative that does not exist."""
    raise error


def nothing(*_: Any, **_named: Any) -> None:
    """Return what the engine says where nothing else runs."""


SUBSTITUTES: dict[int, Any] = {
    id(projection.project): project,
    id(results.with_zeros): with_zeros,
    id(projection.projector): projector,
    id(projection.as_numeric): as_numeric,
    id(projection.SEQUENCES): (list, tuple),
    id(row_sums._ones): {np.dtype(float): {}, np.dtype(np.float32): {}},
    id(finiteness.doubt): doubt,
    id(matrices.poisoned): poisoned,
    id(Poison): poison,
    id(numpy_warnings.reports_underflow): reports_underflow,
    id(user_place.current_place): nothing,
    id(bases.trial_now): nothing,
    id(bases.can_try): nothing,
    id(bases.note_missed): nothing,
}
"""What is copied, by the identity of what it stands for."""
