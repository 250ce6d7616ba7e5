"""Values under a hook, told apart from the same numbers and arrays elsewhere.

Cotangents are keyed by the identity of numbers and by the memory of arrays. A hook has to see only
the cotangents that later operations send to its operand. So these operations get new number objects
and array aliases, in the same containers and objects.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.levels.arguments.seeds import alias_of
from adjoint.primal.part_exchange import slots_in
from adjoint.primal.rebuild import rebuild
from adjoint.primal.value_kinds import by_value
from adjoint.rulekit.refusal import demand_known
from adjoint.runtime.leaves import Leaves, Places


class Hooked:
    """One value under a hook.

    Attributes
    ----------
    y
        The value to use from now on; its containers and objects are the original ones.
    """

    def __init__(self, tape: Any, x: Any) -> None:
        self._tape = tape
        self._before: dict[int, tuple[Any, Any]] = {}
        self._seen: dict[int, tuple[Any, Any]] = {}
        self.y: Any = self._told_apart(x)
        self._leaves, self._places = Leaves(self.y), Places(self.y)

    def _told_apart(self, x: Any) -> Any:
        if by_value(x):
            return self._leaf(x)
        if id(x) in self._seen:
            return self._seen[id(x)][1]
        self._seen[id(x)] = x, x
        if isinstance(x, tuple):
            parts = [self._told_apart(part) for part in x]
            if any(new is not old for new, old in zip(parts, x, strict=True)):
                made = rebuild(x, parts)
                self._seen[id(x)] = x, made
            return self._seen[id(x)][1]
        for read, write in slots_in(x):
            old = read()
            new = self._told_apart(old)
            if new is not old:
                self._tape.seeds.exchanges.put(read, write, old, new)
        return x

    def _leaf(self, x: Any) -> Any:
        if not self._tape.is_active(x):
            return x
        if isinstance(x, np.ndarray):
            if id(x) in self._seen:
                return self._seen[id(x)][1]
            new = alias_of(self._tape, x)
            self._seen[id(x)] = x, new
        else:
            new = self._tape.own(x)
        new = self._tape.note(new)
        self._before[id(new)] = new, x
        return new

    def pull(self, on_cotangent: Any, sweep: Any) -> None:
        """Pass the collected cotangents to the hook, and its result to the original values."""
        bar = self._leaves.read(sweep.take)
        if bar is None:
            return
        demand_known(bar)
        for new, part in self._places.pairs(sweep.below(on_cotangent, bar)):
            sweep.add(self._before.get(id(new), (new, new))[1], part)
