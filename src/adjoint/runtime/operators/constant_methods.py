"""Special methods with constant results, of user subclasses of numbers and arrays.

The caller drops the cotangent of the operand, so a derivative of what the method has stored of it
is refused.
"""

from __future__ import annotations

from typing import Any

from adjoint.cotangents.accumulate import is_needed
from adjoint.diagnostics.refusals import missing
from adjoint.primal.value_kinds import by_value


def refuse_stored(record: list[Any], slot: int, value: Any, special: str) -> None:
    """Make the pullback in the slot refuse cotangents of `value` and of the other operands."""
    if not by_value(value) or (back := record[slot]) is None:
        return
    error = missing(
        f"a derivative of what '{type(value).__name__}.{special}' has stored is needed",
        "store it in a method that is called by its own name",
    )

    def asked_back(y_bar: Any) -> Any:
        bars = back(y_bar)
        if any(map(is_needed, bars[1:])):
            raise error
        return bars

    record[slot] = asked_back
