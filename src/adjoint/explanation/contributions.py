"""What each operation contributes to the cotangent of one input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from adjoint.errors import ArgumentError
from adjoint.explanation.events import Added, Event, Input, Taken
from adjoint.explanation.inputs import Index, named
from adjoint.explanation.observed_tape import ObservedTape
from adjoint.levels.sweep import Sweep


@dataclass(frozen=True, slots=True)
class Contribution:
    """A part of an input's cotangent, and the operation that adds it; ``None``: the function
    returns the input."""

    event: Event | None
    amount: Any


def contributions(tape: ObservedTape, path: str) -> list[Contribution]:
    """Return the contributions to an input, in the order of the operations; zeros are left out.

    Raises
    ------
    ArgumentError
        There is no such input, or the run was too long to keep them.
    """
    one, index = named(tape.inputs, path)
    return [*_found(tape, one, index)]


def _found(tape: ObservedTape, one: Input, index: Index) -> Iterator[Contribution]:
    if tape.journal is None:
        raise ArgumentError(
            "what lines add to large arrays was too much to keep",
            hint="explain the function at smaller arguments",
        )
    key = tape.key(one.value)
    journal = [step for step in tape.journal if tape.key(step.value) == key]
    for start in reversed(range(len(journal))):  # the sweep goes backwards
        step = journal[start]
        if isinstance(step, Added):
            amount = _left_of(tape, one, step, journal[start + 1 :])
            amount = amount if index is None or amount is None else amount[index]
            if amount is not None and np.any(np.asarray(amount) != 0):
                yield Contribution(step.event, amount)


def _left_of(tape: ObservedTape, one: Input, step: Added, later: list[Added | Taken]) -> Any:
    """Return what is left of one addition where the sweep ends, in the shape of the input."""
    sweep = Sweep(tape, None)
    if isinstance(step.value, np.ndarray):
        sweep.add_part(step.value, step.index, step.bar)
    else:
        sweep.add(step.value, step.bar)
    for other in later:
        if isinstance(other, Taken):
            sweep.take_part(other.value, other.index)
    return sweep.read(one.value)
