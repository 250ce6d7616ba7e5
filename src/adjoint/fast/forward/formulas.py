"""Table of the tangents of operations, by callee."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adjoint.ir.single import Call, Operand

if TYPE_CHECKING:
    from adjoint.fast.forward.tangent_values import TangentValues

Formula = Callable[["TangentValues", Call], Operand | None]

formulas: dict[Any, Formula] = {}
"""``formulas[f](sweep, op)`` writes and returns the tangent of the result of `op`, which has been
written; ``None`` where it does not apply."""


def formula(*callees: Any) -> Callable[[Formula], Formula]:
    """Register the decorated function as the formula of each of `callees`."""

    def add(function: Formula) -> Formula:
        for callee in callees:
            formulas[callee] = function
        return function

    return add
