"""Table of the operations on all rows at once, by callee."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from adjoint.fast.support.tables import Registering, registering
from adjoint.ir.single import Call, Value

if TYPE_CHECKING:
    from adjoint.fast.batch.values import BatchValues

Formula = Callable[["BatchValues", Call], Value | None]

formulas: dict[Any, Formula] = {}
"""``formulas[f](sweep, op)`` writes the operation for all rows and returns its result, if it has
one; that of `np.ufunc` is for elementwise ufuncs without one of their own."""

formula: Registering[Formula] = registering(formulas)
"""Register the decorated function as that of each of the given callees."""
