"""Cache of the units of functions.

A unit keeps a function's code and globals alive, which hold each other, so it cannot expire with
the function. Instead, units that were not used lately are dropped, and made again when needed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

from adjoint.errors import SourceError, UnsupportedSyntaxError
from adjoint.locks import give_way, make_lock
from adjoint.runtime.foreign.entry_monitor import unmonitored

NEW_UNITS = 512
"""The number of new units after which unused ones are dropped."""


CACHES: list[UnitCache[Any]] = []


class CachedUnit(Protocol):
    namespace: dict[str, Any]
    guards: tuple[tuple[str, Any], ...]

    def is_current(self) -> bool: ...


T = TypeVar("T", bound=CachedUnit)


class _Failed(NamedTuple):
    """The error of a function that cannot be compiled, without its traceback."""

    error: SourceError | UnsupportedSyntaxError
    code: CodeType
    namespace: dict[str, Any]


class UnitCache(Generic[T]):
    """Units made by `make`, by the identity of a function's code and globals."""

    def __init__(self, make: Callable[[FunctionType], T]) -> None:
        self._make = make
        self._lock = make_lock()
        self._made: dict[tuple[int, int], T | _Failed] = {}
        self._recent: dict[int, T] = {}
        self._room = NEW_UNITS
        CACHES.append(self)

    def known(self, f: FunctionType) -> T | None:
        """Return the unit of a recently called function, if its guards hold, else ``None``."""
        unit = self._recent.get(id(f.__code__))
        if (
            unit is not None
            and unit.namespace is f.__globals__
            and (not unit.guards or unit.is_current())
        ):
            return unit
        return None

    def of(self, f: FunctionType) -> T:
        """Return the unit of a function; make it on the first call.

        Raises
        ------
        SourceError
            There is no source that matches the function.
        UnsupportedSyntaxError
            The source contains a construct that cannot be differentiated.
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
                self._drop_unused()
            try:
                made = unmonitored(self._make, f)
            except (SourceError, UnsupportedSyntaxError) as error:
                self._made[key] = _Failed(copy.copy(error), code, namespace)
                raise
            self._made[key] = self._recent[id(code)] = made
        return made

    def _drop_unused(self) -> None:
        """Drop the units that were not used since the last call."""
        used = {*map(id, self._recent.values())}
        self._recent.clear()  # first, because `known` reads it without the lock
        self._made = {key: made for key, made in self._made.items() if id(made) in used}
        self._room = len(self._made) + NEW_UNITS
