"""What is found by searching: roots and minima, which move as the equations say that they solve.

The search itself is run as it is. An x with g(x, θ) = 0 moves by dx = −(∂g/∂x)⁻¹ (∂g/∂θ) dθ (the
implicit function theorem), whatever finds it. Corrections with a constant ∂g/∂x have one more order
of derivatives right each: they contract at x.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.levels.current import entered
from adjoint.levels.operations import fresh
from adjoint.rules.projection import project
from adjoint.rules.registry import frule, non_differentiable, primitive, rrule
from adjoint.run.contents import ABSENT
from adjoint.run.hidden import Hidden
from adjoint.run.holding import classes_of, globals_of, reached
from adjoint.run.kept import Kept
from adjoint.run.kinds import by_value
from adjoint.run.memory import Memory
from adjoint.run.native import Changes
from adjoint.run.roots import variables_asked_for
from adjoint.run.snapshot import Snapshot
from adjoint.run.unknown import needed, run_unknown

__all__ = [
    "CHANGES",
    "INERT",
    "State",
    "as_tuple",
    "corrected",
    "corrections",
    "is_determined",
    "is_near",
    "put_back",
    "refuse_stored",
    "searched",
    "unfollowed",
    "with_value",
    "without_levels",
]

CHANGES = "runs a function that stores something while it searches"


class State(Snapshot):
    """What can be changed through some values, and through the functions that they reach."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        super().__init__()
        functions: list[FunctionType] = []
        held = [*reached(values, functions)]
        kept = self.add(values)
        for namespace, name, value in globals_of(functions, every=True):
            self.add_variable(namespace, name)
            kept += self.add((value,))
            held += reached((value,), functions)
        for f in functions:
            for namespace, name in variables_asked_for(f):
                self.add_variable(namespace, name)
                kept += self.add((namespace.get(name),))
        # What objects do is in their classes.
        kept += self.add((*classes_of(held), *functions))
        self.known = {id(value) for value in kept}
        self.drawing = [(set_state, get_state()) for get_state, set_state in _drawing(kept)]
        self._of_scipy = {id(vars(value)) for value in kept if _is_of_scipy(value)}

    def stored(self) -> list[Kept]:
        """What has been stored since, but for counters and what SciPy's own objects keep, as
        `Bounds` do arrays of the shape of x."""
        return [
            kept
            for kept in self.changes()
            if id(kept.owner) not in self._of_scipy and not _is_counter(kept)
        ]


def _is_of_scipy(value: Any) -> bool:
    return str(type(value).__module__).startswith("scipy.") and hasattr(value, "__dict__")


def _drawing(values: list[Any]) -> Iterator[tuple[Callable[[], Any], Callable[[Any], Any]]]:
    """How states of random generators are got and set: of the common ones, and those of values."""
    yield random.getstate, random.setstate
    yield np.random.get_state, np.random.set_state
    for value in values:
        if isinstance(value, random.Random):
            yield value.getstate, value.setstate
        elif isinstance(value, np.random.RandomState):
            yield value.get_state, value.set_state
        elif isinstance(value, np.random.Generator | np.random.BitGenerator):
            bits = getattr(value, "bit_generator", value)
            yield partial(getattr, bits, "state"), partial(setattr, bits, "state")


def as_tuple(args: Any) -> tuple[Any, ...]:
    """What SciPy takes for further arguments: one alone need not be in a tuple."""
    return args if isinstance(args, tuple) else (args,)


def searched(find: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, State | None]:
    """``find(*args, **kwargs)``, a search, and what it has left, for `put_back`, if the functions
    that it was given have changed nothing but counters: then they may be called again."""
    return find(*args, **kwargs), State((*args, *kwargs.values()))


@primitive(searched)
def _(
    record: list[Any], slot: int, find: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, State | None]:
    given = (*args, *kwargs.values())
    before = State(given)
    try:
        found = copy.deepcopy(find(*args, **kwargs))  # its parts are apart, and nobody else's
    except BaseException:  # by which a function may have ended the search
        refuse_stored(record, slot, 3, needed(find, CHANGES, given), given, before)
        raise
    if not before.stored():
        return found, State(given)
    refuse_stored(record, slot, 3, needed(find, CHANGES, given), given, before)
    return found, None


def refuse_stored(
    record: list[Any],
    slot: int,
    n: int,
    error: Exception,
    given: tuple[Any, ...],
    before: State,
) -> None:
    """Let there be an `error` where the derivative is needed of what an operation of `n` operands
    has stored, but for counters."""
    if not before.stored():
        return
    memory, changes = record[0], before.changes()
    if memory.level is not None:
        _spoil(memory.level, changes, given, error)
        return
    event = Changes(memory, changes, given, before.known, error)

    def stored_back(_: Any) -> tuple[Any, ...]:
        event.back(memory, None)
        return (None,) * (n + 1)

    record[slot] = stored_back


def _spoil(level: Any, changes: list[Kept], given: tuple[Any, ...], error: Exception) -> None:
    """What was stored depends on what was given in a way that no level knows."""
    values = list(reached(given))
    stored = [new for kept in changes for _, new in kept.pairs() if new is not ABSENT]
    for one in level.down():
        if any(map(one.holds, values)):
            for part in filter(by_value, reached(stored)):
                if isinstance(part, np.ndarray) or not one.holds(part):
                    one.spoil(part, error)


INERT = (int, bool, str, type(None), np.integer, np.bool_)
"""Types of what has no derivative and holds nothing."""


def _is_counter(kept: Kept) -> bool:
    """Whether nothing was put there, and nothing taken away, but integers and words."""
    return all(part is ABSENT or isinstance(part, INERT) for pair in kept.pairs() for part in pair)


def put_back(before: State) -> None:
    """Undo what has changed since."""
    log = Memory()
    for kept in before.changes():
        kept.log(log)
    log.rewind(0)
    for set_state, state in before.drawing:
        set_state(state)


non_differentiable(put_back)


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


def without_levels(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives plain numbers, which are constants, also where it is called on a
    level; it may differentiate others."""

    def plain(*args: Any) -> Any:
        with entered(None):
            return f(*args)

    non_differentiable(plain)
    return plain
