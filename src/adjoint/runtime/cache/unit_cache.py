"""The units of functions: what was generated for each, kept for as long as the function is in use.

A unit is made of code and of the global variables that it reads, and keeps both. So it cannot be
forgotten when the function goes: functions and their global variables hold each other. Instead,
those that were not called lately are let go, and made again where they are needed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from adjoint.errors import SourceError, UnsupportedSyntaxError
from adjoint.locks import give_way, make_lock
from adjoint.runtime.foreign.entry_monitor import unwatched

ROOM = 512
"""Units that are made between two looks at which of them are in use."""


CACHES: list[UnitCache[Any]] = []


class Kept(Protocol):
    namespace: dict[str, Any]
    guards: tuple[tuple[str, Any], ...]

    def is_current(self) -> bool: ...


T = TypeVar("T", bound=Kept)


class _Failed(NamedTuple):
    """Why there is none, without the frames in which that was found out."""

    error: SourceError | UnsupportedSyntaxError
    code: CodeType
    namespace: dict[str, Any]


class UnitCache(Generic[T]):
    """The units that `make` has made, by the identity of a function's code and global variables."""

    def __init__(self, make: Callable[[FunctionType], T]) -> None:
        self._make = make
        self._lock = make_lock()
        self._made: dict[tuple[int, int], T | _Failed] = {}
        self._recent: dict[int, T] = {}
        self._room = ROOM
        CACHES.append(self)

    def known(self, f: FunctionType) -> T | None:
        """The unit of a function that was called lately and whose globals have not changed
        since."""
        unit = self._recent.get(id(f.__code__))
        if (
            unit is not None
            and unit.namespace is f.__globals__
            and (not unit.guards or unit.is_current())
        ):
            return unit
        return None

    def of(self, f: FunctionType) -> T:
        """The unit of a function, made on its first call.

        Raises
        ------
        SourceError
            There is no source, or it is not that of this function.
        UnsupportedSyntaxError
            It contains what is not differentiated.
        """
        code, namespace = f.__code__, f.__globals__
        key = id(code), id(namespace)
        known = self._made.get(key)
        if type(known) is _Failed:
            raise copy.copy(known.error)
        if known is not None and known.is_current():  # type: ignore[union-attr]
            self._recent[id(code)] = known  # type: ignore[assignment]
            return known  # type: ignore[return-value]
        give_way()
        with self._lock:
            if len(self._made) >= self._room:
                self._let_go()
            try:
                made = unwatched(self._make, f)
            except (SourceError, UnsupportedSyntaxError) as error:
                self._made[key] = _Failed(copy.copy(error), code, namespace)
                raise
            self._made[key] = self._recent[id(code)] = made
        return made

    def _let_go(self) -> None:
        """Forget what was not used since the last look."""
        used = {*map(id, self._recent.values())}
        self._recent.clear()  # first: it is asked without the lock
        self._made = {key: made for key, made in self._made.items() if id(made) in used}
        self._room = len(self._made) + ROOM
