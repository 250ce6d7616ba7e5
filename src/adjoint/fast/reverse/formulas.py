"""The table of formulas: what the reverse of an operation is, by its callee."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adjoint.ir.single import Call, Const, Operand, Value

if TYPE_CHECKING:
    from adjoint.fast.reverse.scope import Scope
    from adjoint.fast.reverse.sweep import Sweep

Step = Callable[["Scope"], None]


Formula = Callable[..., None]


formulas: dict[Any, Formula] = {}
"""``formula(scope, op, y_bar)`` adds what `y_bar` contributes to the operands of `op`."""


steps: dict[Any, Callable[[Sweep, Call], Step]] = {}
"""``steps[f](sweep, op)`` writes what the reverse of `op` needs besides, and gives that."""


def formula(*callees: Any) -> Callable[[Formula], Formula]:
    """The decorated function is the reverse of a call of each of `callees`."""

    def add(function: Formula) -> Formula:
        for callee in callees:
            formulas[callee] = function
        return function

    return add


def callee_of(op: Call) -> Any:
    assert isinstance(op.callee, Const)
    return op.callee.value


def use_taken(scope: Scope, y: Value, use: Callable[[Operand], None]) -> None:
    y_bar = scope.take(y)
    if y_bar is not None:
        use(y_bar)
