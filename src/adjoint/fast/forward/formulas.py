"""Table of the tangents of operations, by callee."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adjoint.fast.support.tables import Registering, registering
from adjoint.ir.single import Call, Operand, Value

if TYPE_CHECKING:
    from adjoint.fast.forward.tangent_values import TangentValues

Formula = Callable[["TangentValues", Call, Value], Operand | None]

formulas: dict[Any, Formula] = {}
"""``formulas[f](sweep, op, y)`` writes and returns the tangent of the result `y` of `op`, which has
been written; ``None`` where it does not apply."""

formula: Registering[Formula] = registering(formulas)
"""Register the decorated function as that of each of the given callees."""
