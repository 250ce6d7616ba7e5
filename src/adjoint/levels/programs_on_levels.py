"""Programs inside nested derivatives: `in_program` as one operation of each level.

A level runs the call as an operation with rules, which call programs of the function: its pullback
on a tape, its pushforward on a forward level, and the product with the Hessian of a function that
weighs its results where a forward level follows a pullback. Deeper levels, and functions that reach
active values otherwise than by their arguments, are followed step by step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.levels.current import entered
from adjoint.levels.forward_level import Forward
from adjoint.levels.level import Level
from adjoint.primal.engine_object import EngineObject
from adjoint.primal.reachability import classes_of, globals_of, reached
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit import nested
from adjoint.rulekit.registry import entry, frule, leveled, primitive, rrule
from adjoint.runtime.dispatch.program_call import in_program

DEEPEST = 2
"""Most levels whose derivatives programs compute together."""


class Function(EngineObject):
    """A function that reaches no active values, as a constant operand."""

    def __init__(self, f: Callable[..., Any]) -> None:
        self.f = f


def _on_a_level() -> bool:
    return False


@primitive(_on_a_level)
def _(record: list[Any], slot: int) -> bool:
    return record[0].level is not None


def _pushed(function: Function, args: Any, dots: Any) -> Any:
    """Return the value and its tangent."""
    if _on_a_level():
        return nested.pushforward(function.f, args, dots)
    with entered(None):
        return nested.pushforward(function.f, args, dots)


def _bars_pushed(function: Function, given: Any, dots: Any) -> Any:
    """Return the cotangents of the arguments in `given`, a cotangent of the result and the
    arguments, and the product of the Hessian of the weighed result with `dots`."""
    f = function.f

    def weighed(given: Any) -> Any:
        y_bar, args = given
        return _weight(y_bar, f(*args))

    if _on_a_level():
        return nested.gradient_and_hvp(weighed, given, dots)
    with entered(None):
        return nested.gradient_and_hvp(weighed, given, dots)


def _weight(y_bar: Any, y: Any) -> Any:
    if isinstance(y, tuple):
        total = 0.0
        for part_bar, part in zip(y_bar, y):  # noqa: B905 (it is lowered)
            total = total + np.sum(part_bar * part)
        return total
    return np.sum(y_bar * y)


def _along(x: Any, dot: Any) -> Any:
    """Return a tangent in the form of `x`."""
    if dot is None or not isinstance(x, list | tuple):
        return dot
    return type(x)(map(_along, x, dot))


def value_of(function: Function, *args: Any) -> Any:
    """Return the result of a function that has programs."""
    with entered(None):
        return function.f(*args)


def bars_of(function: Function, y_bar: Any, *args: Any) -> Any:
    """Return the cotangents of the arguments of a function that has programs."""
    with entered(None):
        return nested.pullback(function.f, *args)[1](_unmarked(y_bar))[1:]


def _unmarked(y_bar: Any) -> Any:
    """Return a cotangent whose arrays are plain ones: the pullback keeps zeros by itself."""
    if isinstance(y_bar, tuple):
        return tuple(map(_unmarked, y_bar))
    return np.asarray(y_bar) if isinstance(y_bar, np.ndarray) else y_bar


@rrule.register(value_of, trusted=True)
def _(function: Any, *args: Any) -> Any:
    y = value_of(function, *args)

    def program_back(y_bar: Any) -> Any:
        return (None, None, *bars_of(function, _filled(y_bar, y), *args))

    return y, program_back


def _filled(y_bar: Any, y: Any) -> Any:
    """Return a cotangent with zeros for the parts of a tuple that have none."""
    if not isinstance(y, tuple):
        return y_bar
    pairs = zip(y_bar, y)  # noqa: B905 (it is lowered)
    return tuple([np.zeros(np.shape(part)) if bar is None else bar for bar, part in pairs])


@frule.register(value_of, trusted=True)
def _(dots: Any, function: Any, *args: Any) -> Any:
    return _pushed(function, args, _along(args, tuple(dots[1:])))


@rrule.register(bars_of, trusted=True)
def _(function: Any, y_bar: Any, *args: Any) -> Any:
    def bars_back(bars_bar: Any) -> Any:
        along = None, _along(args, tuple(bars_bar))
        moved = _bars_pushed(function, (y_bar, args), along)[1]
        return (None, None, moved[0], *moved[1])  # the Hessian is symmetric

    return bars_of(function, y_bar, *args), bars_back


@frule.register(bars_of, trusted=True)
def _(dots: Any, function: Any, y_bar: Any, *args: Any) -> Any:
    along = _along(y_bar, dots[1]), _along(args, tuple(dots[2:]))
    bars, moved = _bars_pushed(function, (y_bar, args), along)
    return bars[1], moved[1]


@leveled(in_program)
def _(level: Level, record: Any, slot: int, f: Any, *args: Any) -> Any:
    levels = [*level.down()]
    if len(levels) > DEEPEST or (len(levels) > 1 and type(level) is Forward):
        return NotImplemented
    if not _are_real(args) or _reaches_active(f, levels):
        return NotImplemented
    if not nested.has_program(f, args):
        return NotImplemented
    return level.operate(value_of, entry(value_of), Function(f), *args)


def _reaches_active(f: Any, levels: Sequence[Level]) -> bool:
    """Return whether a function, or a function that it calls, reaches an active value."""
    functions: list[FunctionType] = []
    held = [*reached((f,), functions, integers=True)]
    for _, _, value in globals_of(functions, every=True):
        held += reached((value,), functions, integers=True)
    held += reached((*classes_of(held), *functions), integers=True)
    return any(by_value(part) and one.is_active(part) for part in held for one in levels)


def _are_real(values: Iterable[Any]) -> bool:
    """Return whether values are real numbers, arrays, constants by value, or sequences of these."""
    for x in values:
        if type(x) in (list, tuple):
            if not _are_real(x):
                return False
        elif not by_value(x) or np.iscomplexobj(x):
            return False
    return True
