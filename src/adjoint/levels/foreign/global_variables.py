"""The global variables of a function that is differentiated inside generated code.

Generated code passes the captured variables of the function explicitly. Contents of global
variables are passed too if generated code has changed them; the values that the function stores in
them are searched for.
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
from adjoint.primal.value_kinds import fields_of, is_plain_object
from adjoint.runtime.foreign.snapshot import Snapshot
from adjoint.runtime.memory.memory import Memory

_HOLD = (list, dict, tuple, deque, np.ndarray)


class Surroundings:
    """The present global variables that the functions among some values name."""

    def __init__(self, values: Sequence[Any]) -> None:
        functions: list[FunctionType] = []
        self._parts = [*reached(values, functions)]
        self._variables = [*globals_of(functions, every=True)]

    def note_bytes_changed(self, memory: Memory) -> tuple[Any, ...]:
        """Return the containers, objects and arrays in the variables that generated code has
        changed."""
        found = {
            id(value): value
            for _, _, value in self._variables
            if isinstance(value, _HOLD) or (is_plain_object(value) and not callable(value))
        }
        if not found:
            return ()  # reading the log would be slow
        changed = _changed(memory)
        return tuple(value for value in found.values() if _holds_one(value, changed))

    def snapshot(self) -> tuple[Snapshot, set[int]]:
        """Return a snapshot of the variables and their contents, and the identities of the
        contents."""
        found, known = Snapshot(), set[int]()
        for namespace, name, value in self._variables:
            found.add_variable(namespace, name)
            known |= {*map(id, found.add((value,)))}
        return found, known


def _changed(memory: Memory) -> set[int]:
    """Return the identities of the objects that generated code has written so far."""
    found = {id(original_of(array)) for array in memory.written.values()}
    for _, owner, *_ in (entry for entry in memory.entries() if len(entry) > 1):
        if isinstance(owner, BuiltinMethodType):
            owner = owner.__self__
        found |= {*map(id, owner.args)} if type(owner) is partial else {id(owner)}
    return found


def _holds_one(value: Any, changed: set[int]) -> bool:
    """Return whether `value` holds a changed object, or an object with changed fields."""
    for part in (value, *reached((value,))):
        place = original_of(part) if isinstance(part, np.ndarray) else part
        fields = fields_of(part)
        if id(place) in changed or (fields is not None and id(fields) in changed):
            return True
    return False
