"""Derivatives of roots and minima by the implicit function theorem.

The search itself runs undifferentiated. An x with g(x, θ) = 0 has dx = −(∂g/∂x)⁻¹ (∂g/∂θ) dθ for
every method. Each correction with a constant ∂g/∂x makes one more order of derivatives exact,
because corrections contract at x.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.levels.distinct_objects import fresh
from adjoint.levels.foreign.search_state import INERT, Search, evaluate_at_end, repeated
from adjoint.primal.engine_object import EngineObject
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.projection import project
from adjoint.rulekit.registry import frule, non_differentiable, primitive, rrule
from adjoint.runtime.dispatch.program_call import in_program
from adjoint.runtime.foreign.unknown_call import run_unknown


def as_tuple(args: Any) -> tuple[Any, ...]:
    return args if isinstance(args, tuple) else (args,)


def refused_result(x: Any, find: Any, why: str, *given: Any) -> Any:
    """Return `x`, a result of `find` whose derivative in `given` is refused because of `why`."""
    return x


class _HiddenResult(EngineObject):
    """Holder of a result that hides it from scans for reachable objects."""

    def __init__(self, value: Any) -> None:
        self.value = value


@primitive(refused_result)
def _(record: list[Any], slot: int, x: Any, find: Any, why: str, *given: Any) -> Any:
    made = _HiddenResult(fresh(x) if by_value(x) else copy.deepcopy(x))

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


def refuse_rest(find: Any, found: Any, given: tuple[Any, ...], *known: str) -> Any:
    """Refuse the derivatives of parts of a report, except `known` ones, integers and strings."""
    for name in list(found):
        counts = getattr(found[name], "dtype", np.dtype(float)).kind in "biu"
        if name not in known and not counts and not isinstance(found[name], INERT):
            found[name] = refused_result(found[name], find, "says how it has searched", *given)
    return found


# ---- corrections ---------------------------------------------------------------------------------


def corrected(x: Any, residual: Any, slope: Any) -> Any:
    """Return `x` with the derivative of ``-residual / slope``, a solution for a matrix `slope`. The
    value stays `x`. Rules call this function by name, so that the levels below see it."""
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


def capturing(f: Callable[..., Any], g: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``f(g, ...)`` as a function of the rest. It has programs of its own for each `g`,
    because captured functions distinguish the programs of a function."""
    return lambda *args: f(g, *args)


def with_value(value: Any, y: Any) -> Any:
    """Return the value `value` with the derivative of `y`, a second computation of the same."""
    return corrected(value, y, -1.0)


def value_at(
    find: Any, f: Callable[..., Any], x: Any, value: Any, search: Search, given: tuple[Any, ...]
) -> Any:
    """Return `value`, the result of `f` at `x` as the search reported it, with its derivative."""
    _, why = evaluate_at_end(search, _given, f, x)
    if why:
        return refused_result(value, find, why, *given)
    return with_value(value, in_program(repeated(search, f), x))


def _given(f: Callable[..., Any], x: Any) -> tuple[Any, str]:
    return f(x), ""


NEAR = (1e-3, 1e-4)
"""Farthest end of a search from a solution, relative to the largest coordinate and absolute.
SciPy's methods that compare values stop at 1e-4."""

UNDETERMINED = 1e11
"""Condition number, after rows and columns are scaled, from which rounding decides the solution."""


def is_near(step: Any, x: Any) -> bool:
    """Return whether a Newton step from the end of a search is short enough to confirm it."""
    if not np.size(x):
        return True
    farthest = NEAR[0] * np.max(np.abs(x)) + NEAR[1]
    return bool(np.all(np.abs(step) <= farthest))


def is_determined(slope: Any) -> bool:
    """Return whether equations, or a least-squares problem, with this matrix are determined."""
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
    """Return a range with one entry per nested derivative."""
    return range(1)


@primitive(corrections)
def _(record: list[Any], slot: int) -> range:
    level = record[0].level
    return range(1 if level is None else len([*level.down()]))
