"""What each operation contributes to the cotangent of one input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from adjoint.errors import ArgumentError
from adjoint.explanation.argument_expressions import Index, named
from adjoint.explanation.events import Added, Event, Input, Taken
from adjoint.explanation.observed_tape import ObservedTape
from adjoint.levels.sweep import Sweep


@dataclass(frozen=True, slots=True)
class Contribution:
    """A part of an input's cotangent, and the operation that adds it; ``None``: the function
    returns the input."""

    event: Event | None
    amount: Any


MOST_ENTRIES = 10_000_000
"""The largest number of entries of all contributions to one array."""


def contributions(tape: ObservedTape, path: str) -> list[Contribution]:
    """Return the contributions to an input, in the order of the operations; zeros are left out.

    Raises
    ------
    ArgumentError
        There is no such input, or they are not kept.
    """
    one, index = named(tape.inputs, path)
    if tape.journal is None:
        raise ArgumentError(
            f"there are no contributions to {path!r}: {tape.why_no_journal}",
            hint="explain the function at smaller arguments, or without that",
        )
    if index is None and entries_of(tape, one) > MOST_ENTRIES:
        raise ArgumentError(
            f"the parts of {path!r} are too many arrays", hint=f"name one element: {path}[0]"
        )
    return [*_found(tape, one, index)]


def entries_of(tape: ObservedTape, one: Input) -> int:
    """Return the number of entries of all contributions to an input."""
    return len(tape.steps_of(one.value)) * int(np.size(one.value))


def _found(tape: ObservedTape, one: Input, index: Index) -> Iterator[Contribution]:
    steps = tape.steps_of(one.value)
    writes, sweep = _Writes(steps), Sweep(tape, None)
    wanted = None if index is None else _element(one.value, index)
    for start in reversed(range(len(steps))):  # the sweep goes backwards
        step = steps[start]
        if not isinstance(step, Added) or (wanted and _is_elsewhere(step, one, wanted)):
            continue
        amount = _left_of(sweep, one, index, step, writes.after(start, step))
        if amount is not None and np.any(np.asarray(amount) != 0):
            yield Contribution(step.event, amount)


def _left_of(sweep: Sweep, one: Input, index: Index, step: Added, writes: list[Taken]) -> Any:
    """Return what is left of one addition where the sweep ends: in the shape of the input, or of
    its element at `index`. An empty sweep is used, and left empty."""
    if not isinstance(step.value, np.ndarray):
        return step.bar
    sweep.add_part(step.value, step.index, step.bar)
    for write in writes:
        sweep.take_part(write.value, write.index)
    if index is None:
        amount = sweep.read(one.value)
    else:
        taken = sweep.take_part(one.value, index)
        amount = None if taken is None else taken[()]
    sweep.take_part(step.value, step.index)
    return amount


Element = tuple[int, tuple[int, ...]]
"""One element of an array: identity of the array, and indices from 0."""


class _Writes:
    """The writes to one memory; those to single elements can be found by the element."""

    def __init__(self, steps: list[Added | Taken]) -> None:
        self._all: list[tuple[int, Taken]] = []
        self._others: list[tuple[int, Taken]] = []
        self._by_element: dict[Element, list[tuple[int, Taken]]] = {}
        arrays = {id(step.value) for step in steps}
        for i, step in enumerate(steps):
            if isinstance(step, Taken):
                self._all.append((i, step))
                element = _element(step.value, step.index) if len(arrays) == 1 else None
                if element is None:
                    self._others.append((i, step))
                else:
                    self._by_element.setdefault(element, []).append((i, step))

    def after(self, start: int, step: Added) -> list[Taken]:
        """Return the later writes that may be to what an addition is to."""
        element = _element(step.value, step.index)
        found = self._all
        if element is not None:
            found = sorted([*self._others, *self._by_element.get(element, ())], key=_position)
        return [write for i, write in found if i > start]


def _position(pair: tuple[int, Taken]) -> int:
    return pair[0]


def _is_elsewhere(step: Added, one: Input, wanted: Element) -> bool:
    """Return whether an addition is certainly to another element than the wanted one."""
    return step.value is one.value and _element(step.value, step.index) not in (None, wanted)


def _element(value: Any, index: Any) -> Element | None:
    """Return the element that an index made of integers names, ``None`` for other indices."""
    given = index if type(index) is tuple else (index,)
    shape = np.shape(value)
    if len(given) != len(shape) or not all(type(i) is int for i in given):
        return None
    return id(value), tuple(i % n for i, n in zip(given, shape, strict=True))
