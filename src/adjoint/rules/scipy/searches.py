"""What is found by searching: roots and minima, which move as the equations say that they solve.

The search itself is run as it is. An x with g(x, θ) = 0 moves by dx = −(∂g/∂x)⁻¹ (∂g/∂θ) dθ (the
implicit function theorem), whatever finds it. Corrections with a constant ∂g/∂x have one more order
of derivatives right each: they contract at x.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.levels.operations import fresh
from adjoint.primal.engine_object import Hidden
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.projection import project
from adjoint.rulekit.registry import frule, non_differentiable, primitive, rrule
from adjoint.rules.scipy.stored import INERT, Search, looked, repeated
from adjoint.runtime.foreign.unknown_call import run_unknown


def as_tuple(args: Any) -> tuple[Any, ...]:
    """What SciPy takes for further arguments: one alone need not be in a tuple."""
    return args if isinstance(args, tuple) else (args,)


def unfollowed(x: Any, find: Any, why: str, *given: Any) -> Any:
    """`x`, which was made of what was given: a derivative in that is refused."""
    return x


class _Made(Hidden):
    """What a search gives, where nobody finds it before."""

    def __init__(self, value: Any) -> None:
        self.value = value


@primitive(unfollowed)
def _(record: list[Any], slot: int, x: Any, find: Any, why: str, *given: Any) -> Any:
    made = _Made(fresh(x) if by_value(x) else copy.deepcopy(x))

    def search(*given: Any) -> Any:
        return made.value

    search.__name__ = search.__qualname__ = find.__name__
    search.__module__ = find.__module__
    inner = [record[0], None]
    y = run_unknown(record[0], inner, 1, search, given, {}, why, trusted=True)
    back = inner[1]
    if back is not None:

        def unfollowed_back(y_bar: Any) -> tuple[Any, ...]:
            own, *bars = back(y_bar)
            return own, None, None, None, *bars

        record[slot] = unfollowed_back
    return y


def rest_of(find: Any, found: Any, given: tuple[Any, ...], *known: str) -> Any:
    """What a report says besides what is known of it: integers and words are constants."""
    for name in list(found):
        counts = getattr(found[name], "dtype", np.dtype(float)).kind in "biu"
        if name not in known and not counts and not isinstance(found[name], INERT):
            found[name] = unfollowed(found[name], find, "says how it has searched", *given)
    return found


# ---- corrections ---------------------------------------------------------------------------------


def corrected(x: Any, residual: Any, slope: Any) -> Any:
    """`x`, which moves against a residual: by ``-residual / slope``, or the solution of the
    equations with the matrix `slope`. Its value does not show that: rules ask for it by name, so
    that levels below learn of it."""
    return fresh(x)


def _solved(slope: Any, residual: Any) -> Any:
    if np.ndim(slope) == 0:
        return residual / slope
    solution = np.linalg.solve(slope, np.reshape(residual, (len(slope),)))
    return np.reshape(solution, np.shape(residual))


@rrule.register(corrected)
def _(x, residual, slope):
    def corrected_back(y_bar):
        bar = -_solved(np.conj(np.transpose(slope)), y_bar)
        return None, project(y_bar, x), project(bar, residual), None

    return corrected(x, residual, slope), corrected_back


@frule.register(corrected)
def _(dots, x, residual, slope):
    y, (x_dot, residual_dot, _) = corrected(x, residual, slope), dots
    if residual_dot is None:
        return y, x_dot
    moved = -_solved(slope, residual_dot)
    return y, moved if x_dot is None else x_dot + moved


def with_value(value: Any, y: Any) -> Any:
    """`value`, which is known, moving as `y` does, which was computed again."""
    return corrected(value, y, -1.0)


def value_there(
    find: Any, f: Callable[..., Any], x: Any, value: Any, search: Search, given: tuple[Any, ...]
) -> Any:
    """The value of `f` where the search has ended, which it has told."""
    _, why = looked(search, _given, f, x)
    if why:
        return unfollowed(value, find, why, *given)
    return with_value(value, repeated(search, f)(x))


def _given(f: Callable[..., Any], x: Any) -> tuple[Any, str]:
    return f(x), ""


NEAR = (1e-3, 1e-4)
"""How far a search may have ended from what it looked for: beside the largest coordinate, and in
all. SciPy's methods that compare values stop at 1e-4."""

UNDETERMINED = 1e11
"""The condition number of equations, with rows and columns of one size, that rounding decides."""


def is_near(step: Any, x: Any) -> bool:
    """Whether a step of Newton's from where a search ended tells that it found what it looked
    for: a longer one leads elsewhere."""
    if not np.size(x):
        return True
    farthest = NEAR[0] * np.max(np.abs(x)) + NEAR[1]
    return bool(np.all(np.abs(step) <= farthest))


def is_determined(slope: Any) -> bool:
    """Whether equations with this matrix, or in the least squares, have a solution that is more
    than rounding."""
    if not np.all(np.isfinite(slope)):
        return False
    rows, columns = np.shape(slope)
    for axis in (0, 1) if rows == columns else (0,):
        largest = np.max(np.abs(slope), axis=axis, keepdims=True, initial=0.0)
        if not np.all(largest):
            return False
        slope = slope / largest
    return not np.size(slope) or bool(np.linalg.cond(slope) < UNDETERMINED)


non_differentiable(is_near)
non_differentiable(is_determined)


def corrections() -> range:
    """As many as there are derivatives nested."""
    return range(1)


@primitive(corrections)
def _(record: list[Any], slot: int) -> range:
    level = record[0].level
    return range(1 if level is None else len([*level.down()]))
