"""Functions as an observed run has them: as on any level, and each loop counts its iterations."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from types import FunctionType
from typing import Any

from adjoint.diagnostics.generated_code import unit_behind
from adjoint.emit.level import LevelEmitter, emit_level
from adjoint.ir.nodes import For, If, Operand, Span, Try, While
from adjoint.ir.sweeps import ForwardOp, Traced
from adjoint.levels.entries import ENTRIES, RUNTIME
from adjoint.levels.units import LevelUnit, compiled_unit
from adjoint.runtime.cache.ir import lowered
from adjoint.runtime.cache.unit_cache import UnitCache
from adjoint.transform.activity import Activity
from adjoint.transform.paths import join_paths
from adjoint.transform.reverse import reverse


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop, with the lines of generated code between which its body lies."""

    span: Span | None
    first: int
    last: int

    def holds(self, line: int) -> bool:
        return self.first <= line <= self.last


@dataclass(slots=True)
class ObservedUnit(LevelUnit):
    """A function in an observed run; an outer loop comes after the loops inside it."""

    loops: tuple[Loop, ...] = ()

    def around(self, line: int) -> list[int]:
        """Return the numbers of the loops around a line of generated code, the outermost first."""
        return [i for i, loop in enumerate(self.loops) if loop.holds(line)][::-1]


def begin_iteration(record: list[Any]) -> None:
    """Tell the run that the innermost loop around the caller's line begins an iteration."""
    begin = getattr(record[0].level, "begin_iteration", None)
    if begin is not None:
        frame = sys._getframe(1)
        begin(unit_behind(frame.f_code), frame.f_lineno)


class _Emitter(LevelEmitter):
    """Writes a call of `begin_iteration` at the head of each loop; notes in `found` where it is."""

    def __init__(self, found: list[Loop], *args: Any) -> None:
        super().__init__(*args)
        self._found = found
        self._heads: set[int] = set()

    def _traced(self, op: Traced) -> None:
        self._noted(op.loop, partial(super()._traced, op))

    def _control(self, op: If | Try | For | While) -> None:
        write = partial(super()._control, op)
        if isinstance(op, For | While):
            self._noted(op, write)
        else:
            write()

    def _noted(self, loop: For | While, write: Callable[[], None]) -> None:
        # A `while` iterates from its test on.
        head = (loop.test or loop.body) if isinstance(loop, While) else loop.body
        if not head:  # all empty regions are one object
            write()
            return
        self._heads.add(id(head))
        first = len(self._writer.lines) + _FIRST_LINE + 1  # behind the line ``for …:``
        write()
        last = len(self._writer.lines) + _FIRST_LINE - 1
        self._found.append(Loop(loop.span, first, last))

    def region(self, region: Iterable[ForwardOp]) -> None:
        if id(region) in self._heads:
            name = self._names.of(begin_iteration, "begin_iteration")
            self._writer.line(f"{name}({self.record})")
        super().region(region)


_FIRST_LINE = 2
"""The number of the first line in the list of a writer: line 1 is ``def build(…):``."""


def _compile(f: FunctionType) -> ObservedUnit:
    namespace, whole = f.__globals__, lowered(f)
    function, modules = join_paths(whole, namespace)
    activity = Activity(function, namespace)
    forward = reverse(function, activity).forward

    def is_active(operand: Operand) -> bool:
        return not activity.is_inactive(operand)

    found: list[Loop] = []
    make = partial(_Emitter, found)
    source = emit_level(function, forward, ENTRIES, RUNTIME, namespace, is_active, make)
    guards = {**modules, **activity.guards}
    return compiled_unit(ObservedUnit, f, whole, source, guards, "observed", loops=tuple(found))


_cache = UnitCache(_compile)
known_unit: Callable[[FunctionType], ObservedUnit | None] = _cache.known
unit_of: Callable[[FunctionType], ObservedUnit] = _cache.of
