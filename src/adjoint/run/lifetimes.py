"""What would have gone by now without us.

Records keep what operations were given, for the reverse sweep; so objects go later inside
differentiated code than they would, and who could notice is asked here: a weak reference that finds
what would be gone, a generator that has something to do when it is let go, an object with a
``__del__`` that is let go. Of all that the engine holds, what would have gone if it held nothing
(`adjoint.run.holders`)?
"""

from __future__ import annotations

import dis
import weakref
from types import CodeType, FrameType
from typing import Any

import numpy as np

from adjoint.errors import MutationError
from adjoint.run.by_code import by_code
from adjoint.run.contents import ABSENT
from adjoint.run.generate import generated
from adjoint.run.going import has_effective_del
from adjoint.run.hidden import Hidden
from adjoint.run.holders import is_near, only_ours
from adjoint.run.kinds import is_objects
from adjoint.run.memory import Memory
from adjoint.run.refused import refused

__all__ = [
    "AT_THE_END",
    "ENTERING",
    "Lifetimes",
    "cleans_up",
    "is_due",
    "lifetimes_of",
    "settle",
    "with_effects",
]

FREE, EACH = 100_000, 200
"""How many objects are looked at for nothing, and how many more for each question."""

_OF_NUMBERS = frozenset({float, int, np.float64, np.ndarray, type(ABSENT)})
"""Types of most of what is overwritten."""


AT_THE_END = "at the end"
"""In the caches: what is to be asked when the call has come to its end."""


class Lifetimes(Hidden):
    """What is asked about the lifetimes of objects in one differentiated call.

    Attributes
    ----------
    late
        What has come to light when something went, at whatever time that was.
    """

    __slots__ = ("_allowed", "_asked", "_generators", "_kept", "_most", "late")

    def __init__(self) -> None:
        self.late: MutationError | None = None
        self._generators: list[weakref.ref[Any]] = []
        self._asked: dict[int, weakref.ref[Any]] = {}
        self._kept: list[BaseException] = []
        self._most = 64
        self._allowed = FREE

    def note(self, generator: Any) -> None:
        """Note a generator that has something to do when it is let go."""
        generators = self._generators
        if len(generators) >= self._most:
            generators[:] = [noted for noted in generators if noted() is not None]
            self._most = 64 + 2 * len(generators)
        generators.append(weakref.ref(generator))

    def keep(self, error: BaseException) -> None:
        """Note an exception that a record holds: its traceback holds all variables on its way."""
        self._kept.append(error)

    def would_go(self, generator: Any) -> bool:
        """Whether it was noted, and nobody holds it but the engine."""
        if not any(noted() is generator for noted in self._generators):
            return False
        return not is_near(generator) and bool(self._held_by_us_alone([generator])[0])

    def _held_by_us_alone(self, targets: list[Any]) -> tuple[list[Any], int]:
        for error in self._kept:
            error.__traceback__ = None
        self._kept.clear()
        return only_ours(targets)

    def ask(self, found: Any) -> None:
        """Something was found by a weak reference: refuse it if it would not be there any more.

        Most is held by a variable, or near to one. Else it takes long to find that out, so what was
        found is remembered, and the question put from time to time: what is there then, was there
        before.
        """
        if is_near(found):
            return
        self._asked[id(found)] = weakref.ref(found)
        self._allowed += EACH
        if self._allowed > 0:
            self.answer()

    def answer(self) -> None:
        """Refuse what was found by weak references and is held by nobody else."""
        asked = [reference() for reference in self._asked.values()]
        gone, looked_at = self._held_by_us_alone([value for value in asked if value is not None])
        self._allowed -= looked_at
        if gone or any(value is None for value in asked):
            kind = type(gone[0]).__name__ if gone else "thing"
            raise refused(
                f"a weak reference has found an object ('{kind}') that would have gone without"
                " differentiation",
                "keep the object in a variable for as long as it is asked for",
            )
        self._asked.clear()

    def settle(self) -> None:
        """At the end: put all questions."""
        alive = [generator for made in self._generators if (generator := made()) is not None]
        waiting = [generator for generator in alive if generator.gi_suspended]
        for generator in self._held_by_us_alone(waiting)[0] if waiting else ():
            generator.let_go()
        if self.late is not None:
            raise self.late
        if self._asked:
            self.answer()


def lifetimes_of(memory: Memory) -> Lifetimes:
    """Those of a call; made when they are first asked for."""
    if memory.lifetimes is None:
        memory.lifetimes = Lifetimes()
    return memory.lifetimes  # type: ignore[no-any-return]


def settle(memory: Memory, record: list[Any] | None = None) -> None:
    """At the end of a call: refuse it if something went, or should have gone, unseen.

    `record` is that of the call: what it holds is found as a variable of this function, as nothing
    else that is looked at here leads to it.
    """
    for demand in memory.caches.get(AT_THE_END, ()):
        demand()
    if memory.lifetimes is not None:
        memory.lifetimes.settle()
    removed = [
        value
        for entry in memory.entries()
        if type(entry[-1]) not in _OF_NUMBERS or is_objects(entry[-1])
        for value in with_effects(entry[-1])
    ]
    if removed:
        gone, _ = only_ours(removed)
        if gone:
            raise refused(
                f"'{type(gone[0]).__name__}.__del__' may change something when the object goes,"
                " which happens at another time inside differentiated code",
                "do it in a method that you call, or in '__exit__'; or keep the object",
            )


def is_due(frame: FrameType | None) -> bool:
    """Whether something that goes in this frame goes when it would without us: a variable of the
    user's held it, or one of a function that has come to its end."""
    return frame is not None and (id(frame.f_code) in generated or frame.f_code in ENTERING)


ENTERING: set[CodeType] = set()
"""What runs a generated function on a level, and holds nothing of what that has made."""


def with_effects(saved: Any) -> list[Any]:
    """Of what a write has put out of its place, what may change something when it goes."""
    if is_objects(saved):
        saved = [*saved.flat]
    held = saved if type(saved) is list else [saved]
    return [value for value in held if has_effective_del(type(value))]


# ---- generators ----------------------------------------------------------------------------------


@by_code
def cleans_up(code: CodeType) -> bool:
    """Whether a generator may have something to do when it is let go: one of its ``yield`` is in a
    ``try`` or a ``with``."""
    bytecode = dis.Bytecode(code)
    instructions = {instruction.offset: instruction.opname for instruction in bytecode}
    yields = [offset for offset, name in instructions.items() if name == "YIELD_VALUE"]
    return any(
        entry.start <= offset < entry.end and instructions.get(entry.target) == "PUSH_EXC_INFO"
        for entry in bytecode.exception_entries  # type: ignore[attr-defined]
        for offset in yields
    )
