"""Run a call without storing residuals, and run it again when the reverse sweep reaches it.

The sweep has then rewound memory to the state at the call; cotangents of objects from before the
call are in their shadows. Only a call that writes nothing, not even to its own objects, is run
again. Any other call keeps its residuals, which costs memory only.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from adjoint.diagnostics.no_derivative import name_of
from adjoint.primal.array_memory import root_of
from adjoint.primal.value_kinds import by_value
from adjoint.runtime.dispatch.call import call_keywords
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.poisoning import parts_have_cotangent
from adjoint.runtime.recompute.random_state import RandomStates
from adjoint.runtime.recompute.result_matching import can_move, move, roots_in

Back = Callable[[Any], tuple[Any, ...]]


def call_without_residuals(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Run ``f(*args, **kwargs)`` without residuals; the pullback returns the cotangents of the
    calling function, of `f` and of the arguments."""
    memory: Memory = record[0]
    kept = memory.caches.setdefault("kept", {})
    codes = tuple(map(_code_of, (f, *args)))
    place = tuple(map(id, codes))
    chance = None
    if memory.foreign_run is None and place not in kept:
        chance = RandomStates((f, *args, *kwargs.values()))
        if chance.cannot_restore:
            chance = None
    inner: list[Any] = [memory, None]
    n = len(args) + len(kwargs) + 2
    record[slot] = _residuals_back(inner, n)
    if chance is None:
        return call_keywords(inner, 1, f, args, kwargs)
    before = _Before(memory)
    if memory.owners is not None:
        # Inside a recomputation: the first run has shown that this call writes nothing.
        y = f(*args, **kwargs)
    else:
        try:
            y = call_keywords(inner, 1, f, args, kwargs)
        except BaseException:
            kept[place] = codes  # its writes before the exception count
            raise
        if not before.is_as_it_was() or not can_move(y):
            kept[place] = codes
            return y
    inner[1] = None
    chance.keep_used()
    before.forget_owners()
    record[slot] = _rerun_back(memory, f, args, kwargs, y, chance, n)
    return y


def _code_of(f: Any) -> Any:
    """Return the code of a function or method, which identifies a nested function across calls."""
    f = f.__func__ if type(f) is MethodType else f
    return f.__code__ if type(f) is FunctionType else None


def _residuals_back(inner: list[Any], n: int) -> Back:
    def kept_back(y_bar: Any) -> tuple[Any, ...]:
        bars = None if inner[1] is None else inner[1](y_bar)
        return (None,) * n if bars is None else (None, *bars)

    return kept_back


class _Before:
    """The size of log, notes and caches of a memory before a call."""

    def __init__(self, memory: Memory) -> None:
        self._memory, self._written = memory, len(memory.written)
        self._counts = self._counted()
        self._caches = set(memory.caches)

    def _counted(self) -> tuple[int, ...]:
        memory = self._memory
        caches = memory.caches
        ended = caches["evaluations"].ended if "evaluations" in caches else ()
        tape = caches["tape"].position if "tape" in caches else 0
        others = sum(key[0] not in _BY_OWNER for key in caches if type(key) is tuple)
        noted = memory.position, len(memory.written), len(memory.stored_functions)
        return (*noted, len(ended), tape, others, len(memory.globals_written))

    def is_as_it_was(self) -> bool:
        """Return whether nothing was written, or noted that a rerun would have to note again."""
        return self._counted() == self._counts

    def forget_written(self) -> None:
        """Forget arrays and containers noted since, which have been freed."""
        self._memory.forget_written(self._written)
        self.forget_owners()

    def forget_owners(self) -> None:
        """Forget containers noted since: their identities may be reused."""
        caches = self._memory.caches
        if len(caches) > len(self._caches):
            for key in caches.keys() - self._caches:
                del caches[key]


_BY_OWNER = ("keys", "slots")
"""First elements of the keys of caches that belong to one container."""


def _rerun_back(
    memory: Memory,
    f: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    y: Any,
    chance: RandomStates,
    n: int,
) -> Back:
    start = memory.position
    memory.runs_user_code = True  # a repeated sweep would run the call again

    def apart_back(y_bar: Any) -> tuple[Any, ...]:
        if y_bar is None and not _arrived(memory, y):
            return (None,) * n
        memory.rewind(start)
        with _separate_record(memory, chance) as inner:
            again = call_keywords(inner, 1, f, args, kwargs)
            move(memory, y, again, name_of(f))
            del again
            bars = None if inner[1] is None else inner[1](y_bar)
        return (None,) * n if bars is None else (None, *bars)

    return apart_back


def _arrived(memory: Memory, y: Any) -> bool:
    """Return whether memory holds a cotangent of a result."""
    if isinstance(y, np.ndarray):
        root = id(root_of(y))
        return root in memory.buffers or ("poison", root) in memory.shadows
    if by_value(y):
        return False
    return parts_have_cotangent(memory, (y,), ()) or any(
        ("poison", root) in memory.shadows for root in roots_in(y)
    )


@contextmanager
def _separate_record(memory: Memory, chance: RandomStates) -> Iterator[list[Any]]:
    """Give a rerun a record and a log of its own, and forget what they hold afterwards."""
    before = _Before(memory)
    log = memory.exchange_log(([], 0))
    owners, memory.owners = memory.owners, {}
    places = set(memory.shadows)
    inner: list[Any] = [memory, None]
    try:
        with chance.restored():
            yield inner
    finally:
        memory.rewind(0)
        memory.exchange_log(log)
        fresh, memory.owners = memory.owners, owners
        unknown = [place for place in memory.shadows.keys() - places if _owner(place) not in fresh]
        if not unknown:
            inner[1] = None
        before.forget_written()
        _forget_shadows(memory, fresh)
        if owners is not None:
            owners.update(fresh)
            if unknown:
                owners[id(inner)] = inner
        else:
            memory.alive.append((fresh, inner))


def _owner(place: Any) -> Any:
    return place[1] if type(place) is tuple and place[0] in _BY_OWNER else place


def _forget_shadows(memory: Memory, owners: dict[int, Any]) -> None:
    """Remove the shadows of objects that only `owners` holds: their identities may be reused."""
    more = True
    while more:
        more = False
        for place in [*owners]:
            if sys.getrefcount(owners[place]) <= _OWN_REFERENCES:
                del owners[place]
                memory.shadows.pop(place, None)
                memory.shadows.pop(("keys", place), None)
                more = True


def _references() -> int:
    owners = {0: [0]}
    return next(sys.getrefcount(owners[place]) for place in [*owners])


_OWN_REFERENCES = _references()
"""The reference count of an object that only such a dict holds."""
