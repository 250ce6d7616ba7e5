"""A run that is recorded once and replayed with any number of tangents.

While the function runs, every operation with a derivative is noted with its operands. A replay goes
through these notes in order with other tangents and applies only the forward rules, not the
function itself. Rules read the contents that arrays had when the rules were applied, so writes are
undone before a replay and made again during it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np

from adjoint.cotangents.poison import Poison
from adjoint.diagnostics.refusals import missing
from adjoint.errors import ArgumentError
from adjoint.levels.arguments.list_parts import parts_of
from adjoint.levels.forward_level import Forward
from adjoint.levels.level import Level, assign_shape_on, write_on
from adjoint.levels.memory import forget_undone_writes, written_on
from adjoint.levels.mirror import Mirrors, Same
from adjoint.levels.operand_copies import copied_containers, held_index
from adjoint.levels.other_names import contents, others, put_back
from adjoint.levels.pullback_tangents import swept
from adjoint.levels.random_functions import redrawing
from adjoint.primal.array_memory import root_of
from adjoint.rulekit.registry import Rules
from adjoint.runtime.dispatch.linked import DECLINED
from adjoint.runtime.memory.log_entries import writable

ndarray = np.ndarray
Node = Callable[["Replay"], None]
Change = Callable[[Level | None], None]


class Recording(Forward):
    """Forward mode along tangents without zeros, noting each operation."""

    replays = True

    def __init__(self, outer: Level | None) -> None:
        super().__init__(outer)
        self.nodes: list[Node] = []
        self.same: _NotedSame = _NotedSame(self.nodes, self.memory.exposed)
        self._mirrors = Mirrors(self.same)
        self.writes: list[tuple[Change, Change]] = []
        """Per write: a function that undoes it on a level, and one that makes it again."""
        self._made = False
        self._back: tuple[Callable[[Any], Any], tuple[Any, ...]] | None = None
        """The pullback that gave the tangent, and its operands."""

    def apply(
        self,
        record: Any,
        slot: int,
        f: Any,
        rules: Rules,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        self._made, self._back = False, None
        as_now = redrawing(f, args)
        y = super().apply(record, slot, f, rules, args, kwargs)
        if y is not DECLINED and self._made:
            self._note(y, f, rules, args, kwargs, as_now)
        return y

    def _note(
        self,
        y: Any,
        f: Any,
        rules: Rules,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        as_now: Callable[[], Any] | None,
    ) -> None:
        """Note an operation and its result."""
        y, args, back = copied_containers(y), tuple(map(copied_containers, args)), self._back
        kwargs = {name: copied_containers(x) for name, x in kwargs.items()}

        def node(replay: Replay) -> None:
            if back is not None:
                replay.put(y, replay.pulled(y, *back))
                return
            with as_now() if as_now is not None else nullcontext():
                dot = replay.found(f, rules, args, kwargs)
            replay.put(y, dot)

        self.nodes.append(node)

    def _bind_all(
        self, y: Any, dot: Any, args: tuple[Any, ...], dots: Any = (), *, users: bool = False
    ) -> Any:
        looks = isinstance(y, ndarray) and not users and self.is_active(y)
        self._made = dot is not None and not looks
        return super()._bind_all(y, dot, args, dots, users=users)

    def _pulled(self, y: Any, back: Callable[[Any], Any], operands: tuple[Any, ...]) -> Any:
        self._back = back, tuple(map(copied_containers, operands))
        return super()._pulled(y, back, operands)

    def take_over(self, new: Any, old: Any) -> None:
        super().take_over(new, old)
        self.nodes.append(lambda replay: replay.put(new, replay.tangent(old)))

    def poison_value(self, value: Any, error: Exception) -> Any:
        value = super().poison_value(value, error)
        if self.is_active(value):
            self.nodes.append(lambda replay: replay.put(value, Poison(error)))
        return value

    def read(self, x: Any, index: Any) -> Any:
        y = super().read(x, index)
        if not self.is_active(x) or (isinstance(y, ndarray) and root_of(y) is root_of(x)):
            return y
        index = held_index(index)

        def node(replay: Replay) -> None:
            dot = replay.tangent(x)
            if dot is not None and type(dot) is not Poison:
                dot = replay.below(operator.getitem, dot, index)
            replay.put(y, dot)

        self.nodes.append(node)
        return y

    def reshaped(self, x: Any, old: tuple[int, ...]) -> None:
        super().reshaped(x, old)
        new = x.shape
        self.writes.append((partial(_assign_shape, x, old), partial(_assign_shape, x, new)))
        self.nodes.append(Replay.redo_change)

    def write(self, x: Any, index: Any, value: Any, *, alone: bool = False) -> None:
        index, value = held_index(index), copied_containers(value)
        names = (x,) if self.outer is None else (x, *others(self, x))
        saved = contents(self.below, names, index)
        super().write(x, index, value, alone=alone)
        undo = partial(put_back, names=names, index=index, held=saved)
        self.writes.append((undo, partial(_put, x, index, value, alone)))
        self.nodes.append(lambda replay: replay.redo_write(x, index, value, alone))


def _put(x: Any, index: Any, value: Any, alone: bool, level: Level | None) -> None:
    with writable(x):
        write_on(level, x, index, value, alone=alone)


def _assign_shape(x: Any, shape: tuple[int, ...], level: Level | None) -> None:
    assign_shape_on(level, x, shape)


class _NotedSame(Same):
    """A `Same` that also notes each join."""

    __slots__ = ("_nodes",)

    def __init__(self, nodes: list[Node], outside: dict[int, Any]) -> None:
        super().__init__(outside)
        self._nodes = nodes

    def join(self, new: Any, old: Any) -> None:
        super().join(new, old)
        self._nodes.append(lambda replay: replay.same.join(new, old))


class Replay(Forward):
    """The tangents of one replay."""

    names: Any

    def __init__(self, recording: Recording, outer: Level | None) -> None:
        super().__init__(outer)
        self._recording, self.names = recording, recording.names
        self.memory.exposed.update(recording.memory.exposed)
        self._found: Any = None
        self._written = 0

    def deposit(self, value: Any, dot: Any) -> None:
        """Store the tangent of an input."""
        known = self._numbers.get(id(value))
        if known is not None and known[1] is not dot:
            raise ArgumentError(
                "the same number is given with two different tangents",
                hint="a container that occurs twice has one tangent; give None at one place",
            )
        if isinstance(value, ndarray):
            self.seed(value, dot)
        else:
            self.put(value, dot)

    def run_all(self) -> None:
        """Push the tangents through the recorded operations."""
        writes, before = self._recording.writes, written_on(self.outer)
        for undo, _ in reversed(writes):
            undo(self.outer)
        try:
            with np.errstate(all="ignore"):
                for node in self._recording.nodes:
                    node(self)
        finally:
            for _, redo in writes[self._written :]:
                redo(self.outer)
            forget_undone_writes(self.outer, before)

    def found(self, f: Any, rules: Rules, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the tangent of the result of an operation."""
        self._found = None
        if self.apply(None, 1, f, rules, args, kwargs) is DECLINED:
            raise missing(
                f"a derivative of '{getattr(f, '__name__', f)}' is needed along one of its"
                " arguments alone, and no rule gives it",
                hint="write an frule that takes None for tangents",
            )
        return self._found

    def pulled(self, y: Any, back: Callable[[Any], Any], args: tuple[Any, ...]) -> Any:
        """Return the tangent of a result from its pullback."""
        dots = tuple(map(self.tangent, args))
        bad = next((dot for dot in dots if type(dot) is Poison), None)
        if bad is not None or all(dot is None for dot in dots):
            return bad
        return self.below(swept, y, back, dots)

    def put(self, y: Any, dot: Any) -> None:
        """Store the tangent of a recorded value."""
        if dot is None:
            return
        if isinstance(y, list | tuple):
            dots = parts_of(self.below, dot, len(y))
            made: set[int] = set()
            for part, part_dot in zip(y, dots, strict=True):
                if isinstance(part, ndarray):
                    self._bind_part(part, part_dot, made)
                else:
                    self.put(part, part_dot)
        elif isinstance(y, ndarray):
            self._bind_array(y, dot)
        elif isinstance(y, float | complex | int | np.number):
            self._numbers[id(y)] = (y, dot)

    def redo_change(self) -> None:
        """Make a recorded change that moves no tangent again."""
        self._recording.writes[self._written][1](self.outer)
        self._written += 1

    def redo_write(self, x: Any, index: Any, value: Any, alone: bool) -> None:
        """Make a recorded write again, in the array and in its tangent."""
        with writable(x):
            self.write(x, index, value, alone=alone)
        self._written += 1

    def _bind_all(
        self, y: Any, dot: Any, args: tuple[Any, ...], dots: Any = (), *, users: bool = False
    ) -> Any:
        self._found = dot
        return y

    def inactive(self, f: Any, rules: Rules, args: Any, kwargs: Any) -> Any:
        return None  # zero tangents need no value
