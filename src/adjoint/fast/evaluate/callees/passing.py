"""Calls that take operands as they are: numbers that may be ``None``."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from adjoint.fast.evaluate.callees.numpy_definitions import definitions
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.handlers.table import handlers
from adjoint.fast.evaluate.values import Abstract, Bound, Closure, Known, Partial
from adjoint.fast.single_assignment import primitives as single_primitives
from adjoint.ir import primitives

_KEEPING: frozenset[Any] = frozenset(
    {primitives.store_cell, primitives.call_method, setattr, operator.truth, operator.not_, bool}
    | {single_primitives.assigned, single_primitives.same}
    | {single_primitives.wrote, single_primitives.latest}
)
_OF_IDENTITY = (operator.is_, operator.is_not)


def takes_none(ev: Evaluator, callee: Abstract, args: Sequence[Abstract]) -> bool:
    """Return whether a call has a meaning for operands that may be ``None``."""
    match callee:
        case Closure(function=f):
            has_handler = f is not None and (f in handlers or f in definitions)
            return not has_handler and callee.code not in ev.outside.compiled
        case Bound() | Partial():
            return True
        case Known(value=f) if f in _OF_IDENTITY:
            return any(isinstance(x, Known) and x.value is None for x in args)
        case Known(value=f):
            return any(f is one for one in _KEEPING)
    return False
