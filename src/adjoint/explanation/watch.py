"""A stand-in for the sweep that notes what one operation takes from it and adds to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.explanation.value_text import is_finite
from adjoint.levels.arguments.list_parts import parts_of
from adjoint.levels.foreign.concealed_values import INACTIVE
from adjoint.levels.sweep import Sweep
from adjoint.rulekit.projection import SEQUENCES

Node = Callable[[Sweep], None]


class Places:
    """Which operand a cotangent is for: by identity, else (of copied lists) by order."""

    def __init__(self, operands: tuple[Any, ...]) -> None:
        self._operands = operands
        self._free = dict.fromkeys(range(len(operands)))
        self._count = 0

    def of(self, value: Any) -> int:
        """Return the position of the operand that is `value`; each position once."""
        same = (i for i in self._free if self._operands[i] is value)
        found = next(same, self._count)
        self._count += 1
        self._free.pop(found, None)
        return found


class Watch:
    """Passes everything on to a sweep.

    Attributes
    ----------
    taken
        The cotangent of the result, ``None`` for zero.
    bars
        What was added, by the position of the operand.
    gives_finite
        Whether all that was added is finite.
    """

    def __init__(self, tape: Any, event: Any, operands: tuple[Any, ...], sweep: Sweep) -> None:
        self._tape, self._event, self._sweep = tape, event, sweep
        self._places = Places(operands)
        self.taken: Any = None
        self.bars: dict[int, Any] = {}
        self.gives_finite: bool = True

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sweep, name)

    def take(self, value: Any) -> Any:
        self.taken = self._sweep.take(value)
        self._note_taken(value, ...)
        return self.taken

    def take_part(self, x: Any, index: Any) -> Any:
        self.taken = self._sweep.take_part(x, index)
        self._note_taken(x, index)
        return self.taken

    def take_parts(self, names: tuple[Any, ...], index: Any) -> Any:
        self.taken = self._sweep.take_parts(names, index)
        for name in names:
            self._note_taken(name, index)
        return self.taken

    def _note_taken(self, value: Any, index: Any) -> None:
        if isinstance(value, list | tuple):
            for part in value:
                self._note_taken(part, index)
        else:
            self._tape.note_taken(value, index)

    def add(self, value: Any, bar: Any) -> None:
        place = self._places.of(value)
        if bar is not None and self._tape.moves(value):
            self._note(place, bar)
            self._add(value, bar)

    def _add(self, value: Any, bar: Any) -> None:
        if bar is None or type(value) in INACTIVE:
            return
        if isinstance(value, SEQUENCES):
            for part, part_bar in zip(
                value, parts_of(self._sweep.below, bar, len(value)), strict=True
            ):
                self._add(part, part_bar)
            return
        if self._tape.is_active(value):
            self._tape.note_added(self._event, value, ..., bar)
            self._sweep.add(value, bar)

    def add_part(self, x: Any, index: Any, bar: Any) -> None:
        self._note(self._places.of(x), bar)
        self._tape.note_added(self._event, x, index, bar)
        self._sweep.add_part(x, index, bar)

    def _note(self, place: int, bar: Any) -> None:
        self.bars[place] = bar
        self.gives_finite = self.gives_finite and is_finite(bar)


class Probe:
    """Gives an operation a cotangent of our choice, and collects what it would add."""

    def __init__(self, operands: tuple[Any, ...], given: Any, sweep: Sweep) -> None:
        self._sweep, self._given = sweep, given
        self._places = Places(operands)
        self.bars: dict[int, Any] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._sweep, name)

    def take(self, _: Any) -> Any:
        return self._given

    def add(self, value: Any, bar: Any) -> None:
        place = self._places.of(value)
        if bar is not None and type(value) not in INACTIVE:
            self.bars[place] = np.array(bar) if isinstance(bar, np.ndarray) else bar
