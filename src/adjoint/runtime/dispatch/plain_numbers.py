"""Conversion of instances of number subclasses to plain numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from adjoint.primal.value_kinds import plain_number
from adjoint.runtime.memory.memory import Memory


def plain_on(memory: Memory, value: Any, for_numpy: bool = False) -> Any:
    """Return `plain_number` of `value`, linked to `value` on a level.

    With `for_numpy`, a subclass of a Python number becomes a NumPy scalar: NumPy gives it a fixed
    precision, unlike Python's own numbers.
    """
    plain = plain_number(value)
    if for_numpy and plain is not value and type(plain) in _PRECISE:
        if type(plain) is not int or -(2**63) <= plain < 2**63:
            plain = _PRECISE[type(plain)](plain)
    if plain is not value and memory.level is not None:
        return memory.level.link(plain, value)
    return plain


_PRECISE: dict[type, Any] = {int: np.int64, float: np.float64, complex: np.complex128}
