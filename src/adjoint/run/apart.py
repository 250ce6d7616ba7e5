"""Calls whose values are not kept: they are made once more when the sweep comes to them.

The sweep has rewound memory by then to what it was at the call. What the second call writes is kept
in a log of its own, and undone when its part of the sweep has been run; cotangents of what was
there before the call are in the shadows as ever. Only a call that leaves nothing behind but its
result can be treated so: any other keeps its values, which costs memory and nothing else.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from adjoint.run.accumulate import finish
from adjoint.run.chance import Chance
from adjoint.run.dispatch import call_keywords
from adjoint.run.kinds import by_value
from adjoint.run.memory import Memory, root_of
from adjoint.run.moving import can_move, mark_written, move, roots_in
from adjoint.run.unheld import is_unheld, writes_to
from adjoint.run.unknown import arrived_in, name_of

__all__ = ["call_apart"]

Back = Callable[[Any], tuple[Any, ...]]


def call_apart(
    record: list[Any], slot: int, f: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """``f(*args, **kwargs)``; its pullback gives the cotangents of `f` and the arguments after one
    more, of the function that calls it."""
    memory: Memory = record[0]
    kept = memory.caches.setdefault("kept", {})
    codes = tuple(map(_code_of, (f, *args)))
    place = tuple(map(id, codes))
    chance = None
    if memory.region is None and place not in kept:
        chance = Chance((f, *args, *kwargs.values()))
        if chance.steps:
            chance = None
    inner: list[Any] = [memory, None]
    n = len(args) + len(kwargs) + 2
    record[slot] = _kept(inner, n)
    if chance is None:
        return call_keywords(inner, 1, f, args, kwargs)
    before, start = _Before(memory), memory.position
    if memory.owners is not None:
        # The same call was made before, inside another one, and has left nothing behind.
        holder = [f(*args, **kwargs)]
    else:
        try:
            holder = [call_keywords(inner, 1, f, args, kwargs)]
        except BaseException:
            kept[place] = codes  # what it did before the exception counts
            raise
        written = writes_to(memory.entries()[start:], chance.seen)
        if written or not before.is_as_it_was() or not can_move(holder[0]):
            kept[place] = codes
            return holder[0]
    inner[1] = None
    chance.keep_used()
    if before.let_go(holder):
        y = holder[0]
        if memory.owners is not None:
            mark_written(memory, y)  # nobody has seen whether they were
        record[slot] = _apart(memory, f, args, kwargs, y, chance, n)
        return y
    # It has changed something: what it did is undone, and it runs again as any function does.
    kept[place] = codes
    holder.clear()
    before.undo()
    chance.restore()
    return call_keywords(inner, 1, f, args, kwargs)


def _code_of(f: Any) -> Any:
    """What tells functions apart, for those that are made anew each time; ``None`` for others."""
    f = f.__func__ if type(f) is MethodType else f
    return f.__code__ if type(f) is FunctionType else None


def _kept(inner: list[Any], n: int) -> Back:
    def kept_back(y_bar: Any) -> tuple[Any, ...]:
        bars = None if inner[1] is None else inner[1](y_bar)
        return (None,) * n if bars is None else (None, *bars)

    return kept_back


class _Before:
    """What there was before a call."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._position, self._written = memory.position, len(memory.written)
        self._others = self._counts()
        self._caches = set(memory.caches)

    def _counts(self) -> tuple[int, ...]:
        memory = self._memory
        caches = memory.caches
        ended = caches["evaluations"].ended if "evaluations" in caches else ()
        tape = caches["tape"].position if "tape" in caches else 0
        others = sum(key[0] not in _BY_OWNER for key in caches if type(key) is tuple)
        return len(ended), tape, others, len(memory.handed), len(memory.globals_written)

    def is_as_it_was(self) -> bool:
        """Whether nothing was noted that would have to be noted once more."""
        return self._counts() == self._others

    def let_go(self, holder: list[Any]) -> bool:
        """Forget what the call did, if all that it leaves is the result in `holder`."""
        memory = self._memory
        if not is_unheld(memory, self._position, self._written, holder):
            return False
        memory.forget(self._position)
        memory.forget_written(self._written)
        self._forget_owners()
        return True

    def undo(self) -> None:
        """Put everything back."""
        memory = self._memory
        memory.rewind(self._position)
        memory.forget(self._position)
        memory.forget_written(self._written)
        self._forget_owners()

    def let_go_of_all(self) -> None:
        """Forget what was noted of arrays and containers, which are gone."""
        self._memory.forget_written(self._written)
        self._forget_owners()

    def _forget_owners(self) -> None:
        """They may be gone, and something else have their identity."""
        caches = self._memory.caches
        if len(caches) > len(self._caches):
            for key in caches.keys() - self._caches:
                del caches[key]


_BY_OWNER = ("keys", "slots")
"""Caches of which there is one for each container."""


def _apart(
    memory: Memory,
    f: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    y: Any,
    chance: Chance,
    n: int,
) -> Back:
    start = memory.position
    memory.shown = True  # a sweep in vain would run it once more

    def apart_back(y_bar: Any) -> tuple[Any, ...]:
        if y_bar is None and not _arrived(memory, y):
            return (None,) * n
        memory.rewind(start)
        with _apart_from(memory, chance) as inner:
            again = call_keywords(inner, 1, f, args, kwargs)
            written = isinstance(again, np.ndarray) and memory.is_written(again)
            move(memory, y, again, name_of(f))
            if written:
                memory.add_array(again, finish(y_bar))
                y_bar = None
            del again
            bars = None if inner[1] is None else inner[1](y_bar)
        return (None,) * n if bars is None else (None, *bars)

    return apart_back


def _arrived(memory: Memory, y: Any) -> bool:
    """Whether memory holds a cotangent of a result."""
    if isinstance(y, np.ndarray):
        root = id(root_of(y))
        return root in memory.buffers or ("poison", root) in memory.shadows
    if by_value(y):
        return False
    return arrived_in(memory, (y,), ()) or any(
        ("poison", root) in memory.shadows for root in roots_in(y)
    )


@contextmanager
def _apart_from(memory: Memory, chance: Chance) -> Iterator[list[Any]]:
    """Run forwards and backwards in a record of its own."""
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
        before.let_go_of_all()
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
    """The shadows of what is gone with the record: something else may get its identity."""
    more = True
    while more:
        more = False
        for place in [*owners]:
            if sys.getrefcount(owners[place]) <= _BY_US:
                del owners[place]
                memory.shadows.pop(place, None)
                memory.shadows.pop(("keys", place), None)
                more = True


def _references() -> int:
    owners = {0: [0]}
    return next(sys.getrefcount(owners[place]) for place in [*owners])


_BY_US = _references()
"""References to an object that nobody but such a dict holds."""
