"""Context variables, which are not differentiated: setting one to a number is refused."""

from __future__ import annotations

from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from adjoint.diagnostics.refusals import refused
from adjoint.primal.container_contents import ABSENT
from adjoint.primal.value_kinds import by_value
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.saved import Saved
from adjoint.runtime.memory.saved_containers import SAVERS


def current(variable: ContextVar[Any]) -> Any:
    """Return the value of a context variable; ``None`` if it has none."""
    return variable.get(None)


def demand_no_number(value: Any) -> None:
    """Refuse to set a context variable to a number or an array."""
    if by_value(value) and type(value) is not bool:
        raise refused(
            "a context variable is set to a number inside differentiated code",
            "let it hold a list or an object that holds the number",
        )


class _Variable(Saved):
    """The saved value of a context variable, which foreign code may set."""

    __slots__ = ()

    def differs(self) -> bool:
        return self.owner.get(ABSENT) is not self.saved

    def pairs(self) -> Iterator[tuple[Any, Any]]:
        yield self.saved, self.owner.get(ABSENT)

    def log(self, memory: Memory) -> None:
        demand_no_number(self.owner.get(ABSENT))

    def collect(self, memory: Memory) -> Iterator[tuple[Any, Any]]:
        yield self.owner.get(None), None


SAVERS[ContextVar] = lambda variable: _Variable(variable, variable.get(ABSENT))
