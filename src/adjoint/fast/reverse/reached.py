"""Whether a path leads from the result to a value: what is said of each cotangent.

A zero and ``None`` are not the same to the user. Where branches decide which of them a cotangent
is, a truth value is computed beside it; it is dead code unless an argument needs it.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, TypeAlias

from adjoint.fast.evaluate.types import number
from adjoint.ir.single import Const, Operand

if TYPE_CHECKING:
    from adjoint.fast.evaluate.evaluator import Evaluator

__all__ = ["BOOL", "NO", "YES", "Reached", "both", "either", "is_there"]

Reached: TypeAlias = "Operand | None"
"""``None`` where it is not known; `YES` where there is a path if there is a cotangent."""
YES, NO = Const(True), Const(False)
BOOL = number(bool)


def either(ev: Evaluator, a: Reached, b: Reached) -> Reached:
    """Whether there is one of two paths."""
    if a is YES or b is YES or YES in (a, b):
        return YES
    if a is None or b is None:
        return None
    if a == b or b == NO:
        return a
    return b if a == NO else ev.operation(operator.or_, (a, b), BOOL, name="reached")


def both(ev: Evaluator, a: Reached, b: Reached) -> Reached:
    """Whether there is a path of two parts."""
    if NO in (a, b):
        return NO
    if a is None or b is None:
        return None
    if a == b or b == YES:
        return a
    return b if a == YES else ev.operation(operator.and_, (a, b), BOOL, name="reached")


def is_there(ev: Evaluator, bar: Operand) -> Reached:
    """Whether a cotangent is not ``None``."""
    if isinstance(bar, Const):
        return NO if bar.value is None else YES
    return ev.operation(operator.is_not, (bar, Const(None)), BOOL, name="reached")
