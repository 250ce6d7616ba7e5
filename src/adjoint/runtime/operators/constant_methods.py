"""Special methods whose results carry no derivative, of numbers and arrays of the user's classes.

Nobody takes a cotangent of what such a method was asked of, so what it has stored of it is refused
where its derivative is needed.
"""

from __future__ import annotations

from typing import Any

from adjoint.cotangents.accumulate import is_needed
from adjoint.diagnostics.refusals import missing
from adjoint.primal.value_kinds import by_value


def refuse_kept(record: list[Any], slot: int, value: Any, special: str) -> None:
    """Refuse cotangents of `value`, and of what else is an operand of what is in the slot."""
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
