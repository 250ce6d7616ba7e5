"""The global variables around a function that is differentiated inside generated code.

Generated code gives the function what it has captured by hand; what its global variables hold is
given, too, where generated code has changed it, and what it stores in them is looked for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from functools import partial
from types import BuiltinMethodType, FunctionType
from typing import Any

import numpy as np

from adjoint.primal.array_memory import original_of
from adjoint.primal.reachability import globals_of, reached
from adjoint.primal.value_kinds import fields_of, is_record
from adjoint.runtime.foreign.snapshot import Snapshot
from adjoint.runtime.memory.memory import Memory

_HOLD = (list, dict, tuple, deque, np.ndarray)


class Surroundings:
    """The global variables that functions among some values name, as they are now."""

    def __init__(self, values: Sequence[Any]) -> None:
        functions: list[FunctionType] = []
        self._parts = [*reached(values, functions)]
        self._variables = [*globals_of(functions, every=True)]

    def changed(self, memory: Memory) -> tuple[Any, ...]:
        """The containers, objects and arrays in them that generated code has changed."""
        found = {
            id(value): value
            for _, _, value in self._variables
            if isinstance(value, _HOLD) or (is_record(value) and not callable(value))
        }
        if not found:
            return ()  # the log is long, and need not be looked at
        changed = _changed(memory)
        return tuple(value for value in found.values() if _holds_one(value, changed))

    def snapshot(self) -> tuple[Snapshot, set[int]]:
        """They and what they hold, to be compared, and by identity."""
        found, known = Snapshot(), set[int]()
        for namespace, name, value in self._variables:
            found.add_variable(namespace, name)
            known |= {*map(id, found.add((value,)))}
        return found, known


def _changed(memory: Memory) -> set[int]:
    """What generated code has written to so far, by identity."""
    found = {id(original_of(array)) for array in memory.written.values()}
    for _, owner, *_ in (entry for entry in memory.entries() if len(entry) > 1):
        if isinstance(owner, BuiltinMethodType):
            owner = owner.__self__
        found |= {*map(id, owner.args)} if type(owner) is partial else {id(owner)}
    return found


def _holds_one(value: Any, changed: set[int]) -> bool:
    """Whether something is in `value`, or the fields of something, that was changed."""
    for part in (value, *reached((value,))):
        place = original_of(part) if isinstance(part, np.ndarray) else part
        fields = fields_of(part)
        if id(place) in changed or (fields is not None and id(fields) in changed):
            return True
    return False
