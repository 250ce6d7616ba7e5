"""Context variables: beside each that is set goes one that says in which call it was set, for
contexts are copied and left behind, and what it says goes with them."""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import ContextVar
from functools import partial
from typing import Any

from adjoint.run.contents import ABSENT
from adjoint.run.keeping import KEEPERS
from adjoint.run.kept import Kept
from adjoint.run.kinds import ATOMS
from adjoint.run.memory import Memory
from adjoint.run.swaps import swap_with

__all__ = ["Assigned", "beside", "current"]


class Assigned:
    """One call of ``variable.set``: its shadow takes the cotangents of what is read."""

    def __init__(self, value: Any) -> None:
        self.value = None if type(value) in ATOMS else value


def beside(memory: Memory, variable: ContextVar[Any]) -> ContextVar[Assigned]:
    """The variable that says in which call another one was set."""
    known = memory.caches.get(("context", id(variable)))
    if known is None:
        made: ContextVar[Assigned] = ContextVar(variable.name)
        known = memory.caches["context", id(variable)] = variable, made
    return known[1]


def current(variable: ContextVar[Any]) -> Any:
    """Its value; ``None`` if it has none."""
    return variable.get(None)


class _Variable(Kept):
    """The value of a context variable."""

    __slots__ = ("call",)

    def differs(self) -> bool:
        return self.owner.get(ABSENT) is not self.saved

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        yield self.saved, self.owner.get(ABSENT)

    def log(self, memory: Memory) -> None:
        now = self.owner.get(ABSENT)
        self.call = Assigned(now)
        beside(memory, self.owner).set(self.call)
        before, after = (partial(_put, self.owner, value) for value in (self.saved, now))
        self.position = memory.note(swap_with, before, after)

    def take(self, memory: Memory) -> Iterator[tuple[Any, Any]]:
        memory.rewind(self.position)
        yield self.call.value, memory.take_entry(self.call, "value")


def _put(variable: ContextVar[Any], value: Any) -> None:
    if value is not ABSENT:  # nothing takes away what was set
        variable.set(value)


KEEPERS[ContextVar] = lambda variable: _Variable(variable, variable.get(ABSENT))
