"""Numbers of classes of their own that are as good as plain ones."""

from __future__ import annotations

from typing import Any

from adjoint.primal.value_kinds import _PRECISE, plain_number
from adjoint.runtime.memory.memory import Memory


def plain_on(memory: Memory, value: Any, for_numpy: bool = False) -> Any:
    """`plain_number`, which has the derivative of `value` on a level, too. To NumPy only Python's
    own numbers are of any precision: one of a class derived from them has one."""
    plain = plain_number(value)
    if for_numpy and plain is not value and type(plain) in _PRECISE:
        if type(plain) is not int or -(2**63) <= plain < 2**63:
            plain = _PRECISE[type(plain)](plain)
    if plain is not value and memory.level is not None:
        return memory.level.link(plain, value)
    return plain
