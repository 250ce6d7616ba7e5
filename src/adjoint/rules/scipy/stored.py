"""What searches leave behind, beside what they find: what the functions have stored that they call.

Where a search has ended, its function is called again. One that counts its calls may go on counting
meanwhile, and has its counts back in the end. One that stores more (a history, a best value, arrays
of its own that it computes in) is called with all of that as it was before the search, and leaves
it so: there, derivatives are known. What it gives must be the same with what it has stored. That
stands there in the end, and a derivative of it is refused.
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
from adjoint.primal.engine_object import Hidden
from adjoint.primal.reachability import classes_of, globals_of, reached
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit import nested
from adjoint.rulekit.registry import non_differentiable, primitive
from adjoint.runtime.foreign.logged_changes import Changes
from adjoint.runtime.foreign.roots import variables_asked_for
from adjoint.runtime.foreign.snapshot import Snapshot
from adjoint.runtime.memory.log_entries import put
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.saved import Kept
from adjoint.runtime.memory.saved_arrays import KeptArray

CHANGES = "runs a function that stores something while it searches"
MOST = 200_000
"""Objects that are looked at, for what is stored in them."""
MANY = f"runs a function that reaches more than {MOST} objects, any of which it may change"

INERT = (int, bool, str, type(None), np.integer, np.bool_)
"""Types of what has no derivative and holds nothing."""


class State(Snapshot):
    """What can be changed through some values, and through the functions that they reach."""

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
        # What objects do is in their classes.
        kept += self.add((*classes_of(held), *functions))
        for value in kept:
            if isinstance(value, np.ndarray) and value.dtype.kind in "iub":
                root = root_of(value)  # nothing moves them, but they may say what to do
                self._kept[id(value)] = [KeptArray(root, np.array(root))]
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
    return str(type(value).__module__).startswith("scipy.optimize.") and hasattr(value, "__dict__")


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


class Search(Hidden):
    """What a search has left.

    Attributes
    ----------
    given
        All that it was given.
    before, after : State
        What there was before it and after it.
    stores : bool
        Whether its functions have stored more than counters. Then all is as it was before, until
        `leave`.
    stays
        Whether all stays as it is: it cannot be put back, or is so much that nobody looks at it.
    why
        What there is no derivative for then.
    arrays
        Those that its functions write to.
    error
        That there is no derivative of what they stored.
    can_repeat
        Whether they may be called again where they store: generated code does not tell operators of
        the global variables that it has assigned.
    """

    def __init__(
        self, find: Any, given: tuple[Any, ...], before: State, can_repeat: bool = True
    ) -> None:
        self.can_repeat = can_repeat
        self.given, self.before, self.after = given, before, State(given)
        self.stays = before.is_cut or self.after.is_cut
        self.why = MANY if self.stays else CHANGES
        self.error = needed(find, self.why, given)
        self.stores = self.stays or bool(before.stored())
        self.arrays: list[Any] = []
        if self.stores and not self.stays:
            self.note_arrays()
            put_back(before)
            if before.changes():  # a context variable that was not set
                put_back(self.after)
                self.stays = True
            before.forget_arrays_of({id(original_of(array)) for array in self.arrays})

    def note_arrays(self) -> None:
        """Take up the arrays that are not as they were before."""
        known = {*map(id, self.arrays)}
        self.arrays += [
            kept.owner for kept in self.before.changes()
            if type(kept) is KeptArray and id(kept.owner) not in known
        ]  # fmt: skip


def searched(find: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Search]:
    """``find(*args, **kwargs)``, a search, and what it has left, for `leave`."""
    given = (*args, *kwargs.values())
    before = State(given)
    return find(*args, **kwargs), Search(find, given, before)


@primitive(searched)
def _(
    record: list[Any], slot: int, find: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Search]:
    given = (*args, *kwargs.values())
    before = State(given)
    try:
        found = copy.deepcopy(find(*args, **kwargs))  # its parts are apart, and nobody else's
    except BaseException:  # by which a function may have ended the search
        refuse_stored(record, slot, 3, needed(find, CHANGES, given), given, before)
        raise
    memory = record[0]
    can_repeat = memory.level is not None or not memory.globals_written
    return found, Search(find, given, before, can_repeat)


def leave(search: Search) -> None:
    """Let all be as the search has left it, after its functions were called again."""
    if not search.stays:
        put_back(search.after)


@primitive(leave)
def _(record: list[Any], slot: int, search: Search) -> None:
    if not search.stays:
        put_back(search.after)
    if search.stores:
        level = record[0].level
        if level is not None:
            _write_again(level, search.before)
        refuse_stored(record, slot, 1, search.error, search.given, search.before)


def _write_again(level: Any, before: State) -> None:
    """Let a level know of the arrays that are others now."""
    for kept in before.changes():
        if type(kept) is KeptArray:
            now = np.array(kept.owner)
            put(kept.owner, ..., kept.saved)
            level.write(kept.owner, ..., now)


# ---- calling the functions again -----------------------------------------------------------------


def without_levels(f: Callable[..., Any]) -> Callable[..., Any]:
    """A function that gives plain numbers, which are constants, also where it is called on a
    level; it may differentiate others."""

    def plain(*args: Any) -> Any:
        with entered(None):
            return f(*args)

    non_differentiable(plain)
    return plain


@without_levels
def looked(search: Search, look: Callable[..., Any], f: Callable[[Any], Any], x: Any) -> Any:
    """What ``look(f, x)`` gives of a function of the search: numbers, and why there are none. With
    what the search has stored it has to be the same function."""
    if not search.stores:
        return look(f, x)
    if search.stays:
        return None, search.why
    same = search.can_repeat and _is_the_same(search, f, x)
    return look(repeated(search, f), x) if same else (None, CHANGES)


def _is_the_same(search: Search, f: Callable[[Any], Any], x: Any) -> bool:
    """Whether a function gives the same before and after a search, there and nearby: what it has
    seen, it may have kept."""
    rng = np.random.default_rng(0)
    put_back(search.before)
    steps = [s * (1 + np.abs(x)) * rng.normal(size=np.shape(x)) for s in (0.0, 1e-6, 1e-4, 1e-2)]
    for step in steps:
        values = []
        for state in (search.after, search.before):
            put_back(state)
            values.append(_given_by(f, np.array(x + step) if np.ndim(x) else float(x + step)))
            search.note_arrays()
            put_back(state)
        if not _agree(*values) or not (np.any(step) or np.all(np.isfinite(values[0]))):
            return False
    return True


def _given_by(f: Callable[[Any], Any], x: Any) -> Any:
    try:
        return np.array(f(x), dtype=float)
    except Exception:  # nearby may be outside of where it is defined
        return np.nan


def _agree(a: Any, b: Any) -> bool:
    """Whether two values are equal, but for sums whose order depends on addresses."""
    return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=1e-11, atol=0.0, equal_nan=True)


def repeated(search: Search, f: Callable[..., Any]) -> Callable[..., Any]:
    """A function of the search as one that leaves all as it was."""
    if not search.stores:
        return f
    arrays = search.arrays

    def undone(*args):
        state = _state_of(f)
        contents = [np.array(array) for array in arrays]
        y = f(*args)
        y = np.array(y) if isinstance(y, np.ndarray) else y
        for array, content in zip(arrays, contents, strict=True):
            array[...] = content
        _undo(state)
        return y

    def again(*args):
        # Generated code would keep a log of what is stored, and of its going.
        return undone(*args) if _on_a_level() else nested.pullback(undone, *args)[0]

    return again


def _state_of(f: Any) -> State:
    return State((f,))


def _undo(before: State) -> None:
    """`put_back` of all but arrays, which levels follow."""
    if any(kept.is_of_contents() for kept in before.changes()):
        raise refused(
            "a function that a search calls writes into an array that it has not written before",
            "let it compute in the same arrays each time, or in new ones",
        )
    put_back(before)


non_differentiable(_state_of)
non_differentiable(_undo)


def _on_a_level() -> bool:
    return False


@primitive(_on_a_level)
def _(record: list[Any], slot: int) -> bool:
    return record[0].level is not None


# ---- what is stored ------------------------------------------------------------------------------


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
    stored += [key for kept in changes for key in _keys_of(kept)]
    for one in level.down():
        if any(map(one.holds, values)):
            one.spoil_all(filter(by_value, reached(stored)), error)


def _is_counter(kept: Kept) -> bool:
    """Whether nothing was put there, nothing taken away, but integers and words, as keys, too."""
    parts = [*_keys_of(kept), *(part for pair in kept.pairs() for part in pair)]
    return all(part is ABSENT or isinstance(part, INERT) for part in parts)


def _keys_of(kept: Kept) -> list[Any]:
    """Keys of a dict that were put there, or taken away."""
    if not isinstance(kept.owner, dict):
        return []
    before, now = ({id(key): key for key in keys} for keys in (kept.saved, dict.keys(kept.owner)))
    return [(before | now)[place] for place in before.keys() ^ now.keys()]


def put_back(before: State) -> None:
    """Undo what has changed since."""
    log = Memory()
    for kept in before.changes():
        kept.log(log)
    log.rewind(0)
    for set_state, state in before.drawing:
        set_state(state)


non_differentiable(put_back)
