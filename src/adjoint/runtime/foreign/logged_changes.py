"""Changes that user code makes during a foreign run."""

from __future__ import annotations

from typing import Any

from adjoint.cotangents.accumulate import is_needed
from adjoint.cotangents.poison import Poison
from adjoint.primal.container_contents import ABSENT
from adjoint.primal.reachability import reached
from adjoint.primal.value_kinds import ATOMS
from adjoint.runtime.memory.memory import Memory
from adjoint.runtime.memory.poisoning import parts_have_cotangent, poison
from adjoint.runtime.memory.saved import Saved


class Changes:
    """Changes that user code has made out of sight, logged as writes."""

    __slots__ = ("changes", "earlier", "error", "fresh", "known")

    changes: list[Saved]
    earlier: tuple[Any, ...]
    error: Exception
    known: set[int]

    def __init__(
        self,
        memory: Memory,
        changes: list[Saved],
        earlier: tuple[Any, ...],
        known: set[int],
        error: Exception,
    ) -> None:
        # putting entries back into a dict calls `__hash__`, which needs the fields of the key
        changes = sorted(changes, key=lambda kept: kept.hashes())
        self.changes, self.earlier, self.known, self.error = changes, earlier, known, error
        self.fresh: list[Any] = [
            new for kept in changes for _, new in kept.pairs()
            if new is not ABSENT and new is not kept.owner and id(new) not in known
        ]  # fmt: skip
        for kept in changes:
            kept.log(memory)

    def back(self, memory: Memory, _: Any) -> Poison | None:
        """Undo the changes. Poison that has arrived poisons what the code could reach, and is
        returned; any other derivative is an error."""
        taken = [pair for kept in reversed(self.changes) for pair in kept.collect(memory)]
        bars = [bar for value, bar in taken if type(value) not in ATOMS and is_needed(bar)]
        if any(type(bar) is not Poison for bar in bars):
            raise self.error
        if parts_have_cotangent(memory, self.fresh, self.known):
            # values that existed before have cotangents of other origin
            known = self.known | {id(owner) for owner in reached(self.earlier)}
            if parts_have_cotangent(memory, self.fresh, known):
                raise self.error
        for value in self.earlier if bars else ():
            poison(memory, value, bars[0])
        return bars[0] if bars else None
