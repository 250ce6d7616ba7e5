"""Table of the operations on all rows at once, by callee."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adjoint.ir.single import Call, Value

if TYPE_CHECKING:
    from adjoint.fast.batch.values import BatchValues

Formula = Callable[["BatchValues", Call], Value | None]

formulas: dict[Any, Formula] = {}
"""``formulas[f](sweep, op)`` writes the operation for all rows and returns its result, if it has
one; that of `np.ufunc` is for elementwise ufuncs without one of their own."""


def formula(*callees: Any) -> Callable[[Formula], Formula]:
    """Register the decorated function as the formula of each of `callees`."""

    def add(function: Formula) -> Formula:
        for callee in callees:
            formulas[callee] = function
        return function

    return add
