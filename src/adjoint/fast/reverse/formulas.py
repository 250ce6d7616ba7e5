"""Tables of the reverse of operations, by callee."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from adjoint.fast.reverse.block_cotangents import Scope
from adjoint.fast.reverse.forward_blocks import Step
from adjoint.fast.reverse.sweep import Sweep
from adjoint.fast.support.tables import Registering, registering
from adjoint.ir.single import Call, Operand, Value

Formula = Callable[..., None]


formulas: dict[Any, Formula] = {}
"""``formulas[f](scope, op, y_bar)`` writes the contributions of `y_bar` to the operands."""


steps: dict[Any, Callable[[Sweep, Call], Step]] = {}
"""``steps[f](sweep, op)`` writes further forward operations, and returns the reverse."""

formula: Registering[Formula] = registering(formulas)
"""Register the decorated function as that of each of the given callees."""


def with_cotangent(scope: Scope, y: Value, use: Callable[[Operand], None]) -> None:
    y_bar = scope.take(y)
    if y_bar is not None:
        use(y_bar)
