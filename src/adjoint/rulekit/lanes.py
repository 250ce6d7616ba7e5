"""Registration of lanes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.rulekit.registry import F, entry


def lane(key: Any, operands: int) -> Callable[[F], F]:
    """Register the decorated function, ``function(record, slot, *args)``, as the lane of `key` for
    this number of positional arguments. It returns `NotImplemented` to decline.

    A lane does what the newest rule does, in one step of the engine. Registering another rule
    removes it.
    """

    def add(function: F) -> F:
        entry(key).lane = (operands, function)
        return function

    return add
