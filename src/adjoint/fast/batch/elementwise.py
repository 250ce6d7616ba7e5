"""Elementwise operations on all rows at once."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from adjoint.fast.batch.arrays import written
from adjoint.fast.batch.formulas import formula
from adjoint.fast.evaluate.values import Known
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.reverse.cotangent_types import abstract_of
from adjoint.fast.single_assignment.walk import callee_of, result_of
from adjoint.fast.support import functions as runtime
from adjoint.fast.support.members import members
from adjoint.fast.support.result_memory import IDENTITIES
from adjoint.ir.single import Call, Value

if TYPE_CHECKING:
    from adjoint.fast.batch.values import BatchValues

_OF_NUMBERS: dict[Any, Any] = {
    **{
        getattr(math, name): getattr(np, of_arrays)
        for name, of_arrays in {
            "asin": "arcsin",
            "acos": "arccos",
            "atan": "arctan",
            "atan2": "arctan2",
            "asinh": "arcsinh",
            "acosh": "arccosh",
            "atanh": "arctanh",
            "fabs": "absolute",
            "pow": "power",
            **{name: name for name in "sin cos tan sinh cosh tanh exp expm1".split()},
            **{name: name for name in "log log1p log2 log10 sqrt hypot copysign".split()},
        }.items()
    },
    math.exp2: np.exp2,
    math.cbrt: np.cbrt,
    math.degrees: np.degrees,
    math.radians: np.radians,
    abs: np.absolute,
    pow: np.power,
}
"""Functions of numbers, and the same of arrays. Where one raises an error the other warns, which
programs turn into an error."""

_ELEMENTWISE = members(
    operator,
    "add sub mul truediv floordiv mod pow neg pos abs eq ne lt le gt ge and_ or_ xor invert",
) | {np.where, np.clip, runtime.direction}


def elementwise(sweep: BatchValues, op: Call) -> Value:
    """Write an elementwise operation for all rows."""
    f = callee_of(op)
    return apply(sweep, _OF_NUMBERS.get(f, f), op)


def apply(sweep: BatchValues, f: Any, op: Call) -> Value:
    """Write ``f`` of the operands of `op`, for all rows."""
    ev, y = sweep.ev, op.result
    if op.keywords or y is None:
        raise NotCovered(f"an option of {getattr(f, '__name__', f)} of rows", op.span)
    rank = sweep.rank(y)
    ev.hint = y.name
    args = [abstract_of(sweep.aligned(x, rank)) for x in op.operands]
    found = ev.call(Known(f), args, {})
    if not isinstance(found, Value):
        raise NotCovered("rows that are known", op.span)
    return found


formula(*_OF_NUMBERS, *_ELEMENTWISE, np.ufunc)(elementwise)


@formula(*IDENTITIES)
def _(sweep: BatchValues, op: Call) -> Value:
    """Functions that return their operand: their checks hold for arrays of all rows."""
    return sweep.full(op.operands[0])


@formula(runtime.share_of_greater, runtime.share_of_less)
def _(sweep: BatchValues, op: Call) -> Value:
    rank = sweep.rank(result_of(op))
    return written(sweep, op, callee_of(op), *[sweep.aligned(x, rank) for x in op.operands])


@formula(
    runtime.inner_derivative,
    runtime.constant,
    runtime.own,
    runtime.zeros_like,
    np.copy,
    np.ndarray.copy,
)
def _(sweep: BatchValues, op: Call) -> Value:
    return written(sweep, op, callee_of(op), sweep.full(op.operands[0]))
