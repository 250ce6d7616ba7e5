"""Operations on numbers and arrays, on a level or in plain Python."""

from __future__ import annotations

import copy
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.levels.distinct_integers import distinct_integer
from adjoint.primal.array_memory import assign_shape
from adjoint.rulekit.registry import entry

if TYPE_CHECKING:
    from adjoint.levels.level import Level

_OPERATORS = {name: (op, entry(op)) for name, op in (("add", operator.add), ("mul", operator.mul))}


def operate_on(level: Level | None, name: str, *operands: Any) -> Any:
    """Run the operator `name` on a level, or in plain Python."""
    op, rules = _OPERATORS[name]
    return op(*operands) if level is None else level.operate(op, rules, *operands)


def write_on(level: Level | None, x: Any, index: Any, value: Any, *, alone: bool = False) -> None:
    """Run ``x[index] = value`` on a level, or in plain Python. `alone`: other names of the memory
    keep their derivatives."""
    if level is None:
        x[index] = value
    else:
        level.write(x, index, value, alone=alone)


def assign_shape_on(level: Level | None, x: Any, shape: tuple[int, ...]) -> None:
    """Run ``x.shape = shape`` on a level, or in plain Python."""
    old = x.shape
    assign_shape(x, shape)
    if level is not None:
        level.reshaped(x, old)


def fresh(y: Any) -> Any:
    """Return a copy of a number or an array, as a new object."""
    if type(y) is float:
        return y * 1.0
    if type(y) is complex:
        return complex(y.real, y.imag)
    if type(y) is int or isinstance(y, np.integer):
        return distinct_integer(y)
    if isinstance(y, np.ndarray):
        return y.copy()
    return type(y)(y) if type(y).__module__ == "numpy" else copy.copy(y)
