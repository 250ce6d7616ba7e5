"""Rules of levels for functions that have no rule in closure form."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from adjoint.diagnostics.no_derivative import needed
from adjoint.levels.distinct_objects import fresh
from adjoint.levels.level import Level
from adjoint.primal.array_memory import note_flag_change
from adjoint.primal.flat_iterators import flattening, places_of
from adjoint.primal.value_kinds import are_numbers
from adjoint.rulekit.partials import is_constant
from adjoint.rulekit.refusal import may_be_nonzero, refused_dot, refused_zeros
from adjoint.rulekit.registry import entry, frule, leveled, rrule
from adjoint.runtime.memory.detached_copy import detached
from adjoint.runtime.steering import hook, stop_gradient, with_name

# ---- sum, min, max of numbers --------------------------------------------------------------------


def total(xs: Any, start: Any) -> Any:
    """Return ``sum(xs, start)`` of numbers, in Python's order of addition."""
    return sum(xs, start)


@rrule.register(total, trusted=True)
def _(xs: Any, start: Any) -> Any:
    n = len(xs)
    return sum(xs, start), lambda y_bar: (None, [y_bar] * n, y_bar)


@frule.register(total, trusted=True)
def _(dots: Any, xs: Any, start: Any) -> Any:
    parts = [dot for dot in (*(dots[0] or ()), dots[1]) if dot is not None]
    y_dot = parts[0]
    for part in parts[1:]:
        y_dot = y_dot + part
    return sum(xs, start), y_dot


_FLOATING = (np.float16, np.float32, np.float64, np.longdouble)
_REAL = float | int | np.floating | np.integer | np.bool_


@leveled(sum)
def _(level: Level, record: Any, slot: int, xs: Any, start: Any = 0) -> Any:
    if not are_numbers(xs, start):
        return NotImplemented
    if not any(map(level.is_active, xs)) and not level.is_active(start):
        return level.below(sum, xs, start)
    return level.operate(total, entry(total), list(xs), start)


def _best(best: Any) -> Any:
    """Define ``min`` or ``max`` of a list of numbers; equal numbers share the derivative."""

    def chosen(xs: Any) -> Any:
        return best(xs)

    @rrule.register(chosen, trusted=True)
    def _(xs: Any) -> Any:
        y = best(xs)
        ties = [x == y for x in xs]
        count = sum(ties)
        y = _new_object(y) if count > 1 else y
        return y, lambda y_bar: (None, [y_bar / count if tie else None for tie in ties])

    @frule.register(chosen, trusted=True)
    def _(dots: Any, xs: Any) -> Any:
        y = best(xs)
        ties = [i for i, x in enumerate(xs) if x == y]
        if len(ties) == 1:
            return y, dots[0][ties[0]]
        y_dot = None
        for i in ties:
            if dots[0][i] is not None:
                part = dots[0][i] / len(ties)
                y_dot = part if y_dot is None else y_dot + part
        return _new_object(y), y_dot

    @leveled(best)
    def _(level: Level, record: Any, slot: int, /, *args: Any, **options: Any) -> Any:
        xs = args[0] if len(args) == 1 else args
        if options or type(xs) not in (list, tuple) or not xs:
            return NotImplemented
        if not all(isinstance(x, _REAL) for x in xs) or not any(map(level.is_active, xs)):
            return NotImplemented
        return level.operate(chosen, entry(chosen), list(xs))

    return chosen


def _new_object(y: Any) -> Any:
    """Return the same number as a new object. One of several equal numbers may be a constant, which
    would lose the shared derivative."""
    is_plain = type(y) is float or type(y) in _FLOATING
    return y + type(y)(-0.0) if is_plain else y  # keeps the sign of zero


least: Callable[..., Any] = _best(min)
greatest: Callable[..., Any] = _best(max)


@leveled((float, "as_integer_ratio"), *((kind, "as_integer_ratio") for kind in _FLOATING))
def _(level: Level, record: Any, slot: int, x: Any) -> Any:
    """Refuse an active number, because levels do not follow the integers of the ratio."""
    if any(one.holds(x) for one in level.down()):
        raise needed(x.as_integer_ratio, "gives integers, which forward mode cannot follow", (x,))
    return x.as_integer_ratio()


# ---- arrays --------------------------------------------------------------------------------------


@leveled(as_strided)
def _(level: Level, record: Any, slot: int, /, x: Any, *args: Any, **kwargs: Any) -> Any:
    """Return a view of the same memory."""
    return as_strided(x, *args, **kwargs)


@leveled(np.broadcast_arrays)
def _(level: Level, record: Any, slot: int, *args: Any, subok: bool = False) -> Any:
    """Broadcast each array separately, so that constants among active arrays stay constants."""
    of_any = np.asanyarray if subok else np.asarray
    arrays = [level.run(of_any, x) for x in args]
    shape = np.broadcast_shapes(*map(np.shape, arrays))
    made = [x if x.shape == shape else _stretched(level, x, shape, subok) for x in arrays]
    return type(np.broadcast_arrays(0.0))(made)


def _stretched(level: Level, x: Any, shape: tuple[int, ...], subok: bool) -> Any:
    """Broadcast to a view that is writable with a warning, as NumPy's own result."""
    y = level.run(np.broadcast_to, x, shape, subok)
    if x.flags._writeable_no_warn:
        y.flags.writeable = True
        y.flags._warn_on_write = True
    return y


@leveled((np.ndarray, "setflags"))
def _(level: Level, record: Any, slot: int, x: Any, write: Any = None, **others: Any) -> None:
    """Leave an alias of a writable array as it is: before Python 3.12 NumPy would refuse."""
    note_flag_change(x)
    x.setflags(write=None if write and x.flags.writeable else write, **others)


def _at_least(f: Any) -> None:
    @leveled(f)
    def _(level: Level, record: Any, slot: int, *args: Any) -> Any:
        """Apply `f` to each operand separately, so that constants stay constants."""
        if len(args) < 2:
            return NotImplemented
        return type(f(0.0, 0.0))([level.run(f, x) for x in args])


for _f in (np.atleast_1d, np.atleast_2d, np.atleast_3d):
    _at_least(_f)


@leveled((np.ndarray, "flat"))
def _(level: Level, record: Any, slot: int, a: Any) -> Any:
    return a.flat


@leveled((np.generic, "flat"))
def _(level: Level, record: Any, slot: int, a: Any) -> Any:
    return level.run(np.array, a).flat


@leveled((np.flatiter, "__getitem__"))
def _(level: Level, record: Any, slot: int, flat: Any, index: Any) -> Any:
    if not flat.base.ndim and not isinstance(index, int | np.integer):
        return NotImplemented
    places = places_of(flat, index)
    np.flatiter.__getitem__(flat, index)
    y = level.read(flat.base, places)
    if flat.base.dtype.kind in "OV":
        level.hide_row(flat.base, index, y)
    return y


@leveled((np.flatiter, "__array__"))
def _(level: Level, record: Any, slot: int, flat: Any) -> Any:
    return level.run(getattr(np.ndarray, flattening(flat)), flat.base)


# ---- refusals ------------------------------------------------------------------------------------


@leveled(is_constant)
def _(level: Level, record: Any, slot: int, x: Any) -> bool:
    return not level.knows(x)


@leveled(may_be_nonzero)
def _(level: Level, record: Any, slot: int, bar: Any) -> bool:
    """Return whether a cotangent is nonzero, or zero but dependent on a level's inputs."""
    return bool(level.below(may_be_nonzero, bar) or level.moves(bar))


@leveled(refused_dot)
def _(level: Level, record: Any, slot: int, f: Any, missing: Any, dot: Any, y: Any) -> Any:
    """Add zeros whose derivative is refused if `dot` is zero but depends on the level's inputs."""
    if asked := level.below(refused_dot, f, missing, dot, y):
        return asked
    return level.run(refused_zeros, f, missing, dot, y) if level.moves(dot) else None


# ---- steering ------------------------------------------------------------------------------------


@leveled(stop_gradient)
def _(level: Level, record: Any, slot: int, x: Any) -> Any:
    return detached(x, _unknown)


@leveled(hook)
def _(level: Level, record: Any, slot: int, on_cotangent: Any, x: Any, *, name: Any = None) -> Any:
    hooked = with_name(on_cotangent, name)
    if level.outer is not None and not level.sees_in(x):
        return level.outer.run(hook, on_cotangent, x, name=name)  # a constant on this level
    return level.hooked(lambda bar: None if bar is None else hooked(bar), x)


def _unknown(x: Any) -> Any:
    """Return a number as a new object that no level knows."""
    return fresh(x) if isinstance(x, float | complex | int | np.number) else x
