"""Results of cached functions that a level uses again."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from adjoint.diagnostics.no_derivative import name_of
from adjoint.diagnostics.refusals import missing
from adjoint.levels.level import Level
from adjoint.primal.array_memory import root_of
from adjoint.primal.value_kinds import ATOMS, by_value
from adjoint.runtime.foreign.snapshot import Snapshot
from adjoint.runtime.memory.integers import is_integer
from adjoint.runtime.memory.memory import Memory


class Evaluation:
    """One call of a cached function: its result and arguments.

    Equal arguments may depend on different inputs. For arguments that are not the very same
    objects, the function is run again to get the derivative, and the effects of this run are
    undone.
    """

    def __init__(
        self, level: Level, f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        self._f, self._given = f, (*args, *kwargs.values())
        self.y: Any = level.run(f, *args, **kwargs)

    def used_again(self, level: Level, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Return the result for arguments that are equal to the first ones."""
        given = (*args, *kwargs.values())
        if all(a is b for a, b in zip(given, self._given, strict=True)):
            return self.y
        if not level.knows(given, self._given):
            return self.y
        before = Snapshot()
        reached = before.add([self._f, *given])
        code = getattr(self._f, "__code__", None)
        for name in code.co_names if code is not None else ():
            before.add_variable(self._f.__globals__, name)
        with level.memory.undone() as touched:
            y = level.run(self._f, *args, **kwargs)
        if any(isinstance(x, np.ndarray) and id(root_of(x)) in touched for x in reached):
            raise missing(
                f"the cached function '{name_of(self._f)}', which writes into an array, is called"
                " again with arguments that are equal to earlier ones",
                hint="take the cache off, or let it make a new array",
            )
        undo = Memory()
        for kept in before.changes():
            kept.log(undo)
        undo.rewind(0)
        return self._merged(self.y, y)

    def _merged(self, first: Any, again: Any) -> Any:
        """Return the first result with the numbers and arrays of the second run."""
        if type(first) is tuple and type(again) is tuple and len(first) == len(again):
            return tuple(map(self._merged, first, again))
        if not by_value(first):
            return first if type(first) in ATOMS else again
        if not np.array_equal(first, again, equal_nan=True):
            if is_integer(first):
                return first  # a count that has changed since
            raise missing(
                f"a derivative of the cached function '{name_of(self._f)}' is needed at arguments"
                " that are equal to earlier ones, while its result depends on what has changed"
                " since",
                hint="take the cache off, or hand over what the result depends on",
            )
        return again
