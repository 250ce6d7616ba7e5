"""State that the functions called by a search have stored.

The engine calls the function of a search again where the search ended. A function that stores only
counters may run on; its counters are restored at the end. A function that stores more (a
history, a best value, its own work arrays) is called with all state as before the search and leaves
it unchanged, so derivatives are known. Its values must not depend on what it stored. At the end the
stored state is restored, and its derivatives are refused.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from adjoint.diagnostics.no_derivative import needed
from adjoint.diagnostics.refusals import refused
from adjoint.levels.current import entered
from adjoint.primal.array_memory import original_of, root_of
from adjoint.primal.container_contents import ABSENT
from adjoint.primal.engine_object import EngineObject
from adjoint.primal.reachability import classes_of, globals_of, reached
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit import nested
from adjoint.rulekit.registry import non_differentiable, primitive
from adjoint.runtime.foreign.logged_changes import Changes
from adjoint.runtime.foreign.roots import variables_asked_for
from adjoint.runtime.foreign.snapshot import Snapshot
from adjoint.runtime.memory.log_entries import put
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.saved import Saved
from adjoint.runtime.memory.saved_arrays import SavedArray

CHANGES = "runs a function that stores something while it searches"
MOST = 200_000
"""Most objects that are scanned for stored state."""
MANY = f"runs a function that reaches more than {MOST} objects, any of which it may change"

INERT = (int, bool, str, type(None), np.integer, np.bool_)
"""Types of values without derivative and without parts."""


class State(Snapshot):
    """A snapshot of all that can change through some values and the functions they reach."""

    def __init__(self, values: tuple[Any, ...]) -> None:
        super().__init__(MOST)
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
        # Methods are found in the classes of the objects.
        kept += self.add((*classes_of(held), *functions))
        for value in kept:
            if isinstance(value, np.ndarray) and value.dtype.kind in "iub":
                root = root_of(value)  # integers have no derivative but may steer the function
                self._kept[id(value)] = [SavedArray(root, np.array(root))]
        self.known: set[int] = {id(value) for value in kept}
        self.drawing: Any = [(set_state, get_state()) for get_state, set_state in _drawing(kept)]
        self._of_scipy = {id(vars(value)) for value in kept if _is_of_scipy(value)}

    def stored(self) -> list[Saved]:
        """Return what was stored since, except counters and attributes of SciPy's own objects.
        `Bounds`, for example, store arrays of the shape of x."""
        return [
            kept
            for kept in self.changes()
            if id(kept.owner) not in self._of_scipy and not _is_counter(kept)
        ]


def _is_of_scipy(value: Any) -> bool:
    return str(type(value).__module__).startswith("scipy.optimize.") and hasattr(value, "__dict__")


def _drawing(values: list[Any]) -> Iterator[tuple[Callable[[], Any], Callable[[Any], Any]]]:
    """Yield getters and setters of the states of NumPy's, Python's and the reachable generators."""
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


class Search(EngineObject):
    """The state that a search has left behind.

    Attributes
    ----------
    given
        All arguments of the search.
    before, after : State
        Snapshots from before and after the search.
    stores : bool
        Whether the functions have stored more than counters. If so, the state is that from before
        the search until `restore_after` is called.
    stays
        Whether the state is left unchanged: it cannot be restored, or is too large to scan.
    why
        The reason for a missing derivative.
    arrays
        Arrays that the functions write to.
    error
        The error for a derivative of what they stored.
    can_repeat
        Whether the functions may be called again if they store: generated code does not tell
        operators about the global variables that it has assigned.
    """

    after: State
    before: State
    given: tuple[Any, ...]

    def __init__(
        self, find: Any, given: tuple[Any, ...], before: State, can_repeat: bool = True
    ) -> None:
        self.can_repeat = can_repeat
        self.given, self.before, self.after = given, before, State(given)
        self.stays: bool = before.is_cut or self.after.is_cut
        self.why: str = MANY if self.stays else CHANGES
        self.error: Any = needed(find, self.why, given)
        self.stores: bool = self.stays or bool(before.stored())
        self.arrays: list[Any] = []
        if self.stores and not self.stays:
            self.note_arrays()
            restore_before(before)
            if before.changes():  # a context variable that was unset cannot be restored
                restore_before(self.after)
                self.stays = True
            before.count_as_changed({id(original_of(array)) for array in self.arrays})

    def note_arrays(self) -> None:
        """Note the arrays that differ from the snapshot before the search."""
        known = {*map(id, self.arrays)}
        self.arrays += [
            kept.owner for kept in self.before.changes()
            if type(kept) is SavedArray and id(kept.owner) not in known
        ]  # fmt: skip


class PureSearch(Search):
    """A search whose function has a program, so that it stores nothing."""

    def __init__(self) -> None:
        self.stores, self.stays, self.why = False, True, CHANGES


def run_search(
    find: Any, args: tuple[Any, ...], kwargs: dict[str, Any], f: Any = None, *point: Any
) -> tuple[Any, Search]:
    """Run the search ``find(*args, **kwargs)`` and return its result and a `Search` for
    `restore_after`. `f` calls the function of the search, and `point` is where it may be called."""
    given = (*args, *kwargs.values())
    before = State(given)
    return find(*args, **kwargs), Search(find, given, before)


def _count_functions(values: Any) -> int:
    return sum(
        _count_functions(value) if type(value) in (list, tuple) else callable(value)
        for value in values
    )


@primitive(run_search)
def _(
    record: list[Any],
    slot: int,
    find: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    f: Any = None,
    *point: Any,
) -> tuple[Any, Search]:
    given = (*args, *kwargs.values())
    is_one = f is not None and _count_functions(given) == 1 and not record[0].globals_written
    if is_one and nested.has_program(f, point):
        return copy.deepcopy(find(*args, **kwargs)), PureSearch()
    before = State(given)
    try:
        found = copy.deepcopy(find(*args, **kwargs))  # the parts must share no memory
    except BaseException:  # the function may have ended the search by raising
        refuse_stored(record, slot, 3, needed(find, CHANGES, given), given, before)
        raise
    memory = record[0]
    can_repeat = memory.level is not None or not memory.globals_written
    return found, Search(find, given, before, can_repeat)


def restore_after(search: Search) -> None:
    """Restore the state after the search, once its functions have been called again."""
    if not search.stays:
        restore_before(search.after)


@non_differentiable
def go_back(search: Search) -> None:
    """Restore the state before the search, so that its steps can be followed instead."""
    if not search.stores and not search.stays:
        restore_before(search.before)


@primitive(restore_after)
def _(record: list[Any], slot: int, search: Search) -> None:
    if not search.stays:
        restore_before(search.after)
    if search.stores:
        level = record[0].level
        if level is not None:
            _write_again(level, search.before)
        refuse_stored(record, slot, 1, search.error, search.given, search.before)


def _write_again(level: Any, before: State) -> None:
    """Repeat on a level the writes that the search has made to arrays."""
    for kept in before.changes():
        if type(kept) is SavedArray:
            now = np.array(kept.owner)
            put(kept.owner, ..., kept.saved)
            level.write(kept.owner, ..., now)


# ---- calling the functions again -----------------------------------------------------------------


def without_levels(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return `f` as a function to constants, called outside all levels. `f` may use derivatives of
    other functions."""

    def plain(*args: Any) -> Any:
        with entered(None):
            return f(*args)

    non_differentiable(plain)
    return plain


@without_levels
def evaluate_at_end(
    search: Search, look: Callable[..., Any], f: Callable[[Any], Any], x: Any
) -> Any:
    """Return ``look(f, x)``, a pair of numbers and the reason why there are none. If the search has
    stored state, `f` must return the same with and without it."""
    if not search.stores:
        return look(f, x)
    if search.stays:
        return None, search.why
    same = search.can_repeat and _is_the_same(search, f, x)
    return look(repeated(search, f), x) if same else (None, CHANGES)


def _is_the_same(search: Search, f: Callable[[Any], Any], x: Any) -> bool:
    """Return whether `f` gives the same before and after a search, at `x` and near it. Points near
    `x` are needed because `f` may have cached its values."""
    rng = np.random.default_rng(0)
    restore_before(search.before)
    steps = [s * (1 + np.abs(x)) * rng.normal(size=np.shape(x)) for s in (0.0, 1e-6, 1e-4, 1e-2)]
    for step in steps:
        values = []
        for state in (search.after, search.before):
            restore_before(state)
            values.append(_given_by(f, np.array(x + step) if np.ndim(x) else float(x + step)))
            search.note_arrays()
            restore_before(state)
        if not _agree(*values) or not (np.any(step) or np.all(np.isfinite(values[0]))):
            return False
    return True


def _given_by(f: Callable[[Any], Any], x: Any) -> Any:
    try:
        return np.array(f(x), dtype=float)
    except Exception:  # a point near x may be outside the domain
        return np.nan


def _agree(a: Any, b: Any) -> bool:
    """Return whether two values agree up to rounding: the order of sums may vary."""
    return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-11, atol=0.0, equal_nan=True)


def repeated(search: Search, f: Callable[..., Any]) -> Callable[..., Any]:
    """Return `f` as a function that restores all state after each call."""
    if not search.stores:
        return f
    arrays = search.arrays

    def undone(*args: Any) -> Any:
        state = _state_of(f)
        contents = [np.array(array) for array in arrays]
        y = f(*args)
        y = np.array(y) if isinstance(y, np.ndarray) else y
        for array, content in zip(arrays, contents, strict=True):
            array[...] = content
        _undo(state)
        return y

    def again(*args: Any) -> Any:
        # Generated code would log what is stored and what is restored.
        return undone(*args) if _on_a_level() else nested.pullback(undone, *args)[0]

    return again


def _state_of(f: Any) -> State:
    return State((f,))


def _undo(before: State) -> None:
    """Restore all state except arrays, whose writes the levels note."""
    if any(kept.is_of_contents() for kept in before.changes()):
        raise refused(
            "a function that a search calls writes into an array that it has not written before",
            "let it compute in the same arrays each time, or in new ones",
        )
    restore_before(before)


non_differentiable(_state_of)
non_differentiable(_undo)


def _on_a_level() -> bool:
    return False


@primitive(_on_a_level)
def _(record: list[Any], slot: int) -> bool:
    return record[0].level is not None


# ---- stored state --------------------------------------------------------------------------------


def refuse_stored(
    record: list[Any],
    slot: int,
    n: int,
    error: Exception,
    given: tuple[Any, ...],
    before: State,
) -> None:
    """Register `error` as the derivative of all that an operation of `n` operands has stored.
    Counters are excepted."""
    if not before.stored():
        return
    memory, changes = record[0], before.changes()
    if memory.level is not None:
        _poison_levels(memory.level, changes, given, error)
        return
    event = Changes(memory, changes, given, before.known, error)

    def stored_back(_: Any) -> tuple[Any, ...]:
        event.back(memory, None)
        return (None,) * (n + 1)

    record[slot] = stored_back


def _poison_levels(
    level: Any, changes: list[Saved], given: tuple[Any, ...], error: Exception
) -> None:
    """Poison what was stored on each level, because its dependence on `given` is unknown."""
    values = list(reached(given))
    stored = [new for kept in changes for _, new in kept.pairs() if new is not ABSENT]
    stored += [key for kept in changes for key in _keys_of(kept)]
    for one in level.down():
        if any(map(one.holds, values)):
            one.poison_all(filter(by_value, reached(stored)), error)


def _is_counter(kept: Saved) -> bool:
    """Return whether only integers and strings were added, replaced or removed, keys included."""
    parts = [*_keys_of(kept), *(part for pair in kept.pairs() for part in pair)]
    return all(part is ABSENT or isinstance(part, INERT) for part in parts)


def _keys_of(kept: Saved) -> list[Any]:
    """Return the keys that were added to or removed from a dict."""
    if not isinstance(kept.owner, dict):
        return []
    before, now = ({id(key): key for key in keys} for keys in (kept.saved, dict.keys(kept.owner)))
    return [(before | now)[place] for place in before.keys() ^ now.keys()]


def restore_before(before: State) -> None:
    """Undo the changes since the snapshot `before`."""
    log = Memory()
    for kept in before.changes():
        kept.log(log)
    log.rewind(0)
    for set_state, state in before.drawing:
        set_state(state)


non_differentiable(restore_before)
