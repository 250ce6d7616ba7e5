"""The operands of an operation that its result depends on smoothly."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from adjoint.fast.reverse.differentiate import CONSTANT
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.fast.support.opaque import Opaque, apart_from
from adjoint.ir.single import Call, Const, Operand
from adjoint.rulekit.registry import lookup

_CONSTANT: frozenset[Any] = CONSTANT | {
    runtime.push,
    runtime.leave,
    rows.zeros_of,
    rows.array_zeros_of,
    rows.ties,
    np.zeros,
    np.ones,
    np.empty,
    operator.truth,
    operator.not_,
    operator.is_,
    operator.is_not,
}
_FIRST = (0,)
_CARRIERS: dict[Any, tuple[int, ...]] = {
    runtime.present: _FIRST,
    runtime.broadcast_like: _FIRST,
    runtime.summed_part: _FIRST,
    runtime.last_part: _FIRST,
    runtime.exactly: _FIRST,
    runtime.assigned: _FIRST,
    runtime.apart: _FIRST,
    apart_from: _FIRST,
    runtime.foreseen: _FIRST,
    runtime.fitting: _FIRST,
    runtime.foreseen_number: _FIRST,
    runtime.to_extremes: (2,),
    runtime.smaller_square: (),
    operator.getitem: _FIRST,
    np.where: (1, 2),
    np.array: _FIRST,
}
"""By function: the places of the operands that a tangent of the result depends on, if not all."""


def carriers(op: Call, constants: dict[Any, bool]) -> Sequence[Operand]:
    """Return the operands whose tangents the result of a call depends on; `constants` keeps
    `is_constant` of callees."""
    if not isinstance(op.callee, Const):
        return op.operands
    f = op.callee.value
    if f in _CARRIERS:
        return [op.operands[i] for i in _CARRIERS[f]]
    if f not in constants:
        constants[f] = is_constant(f)
    if constants[f] or (f is round and len(op.operands) == 1):
        return ()
    return (*op.operands, *(x for _, x in op.keywords)) if op.keywords else op.operands


def is_constant(f: Any) -> bool:
    """Return whether a function has derivative zero."""
    if f in _CONSTANT:
        return True
    if isinstance(f, Opaque):
        return f.is_constant
    rules = lookup(f)
    return rules is not None and rules.inactive and not has_rule_from_outside(f)


def has_rule_from_outside(f: Any) -> bool:
    """Return whether a user has registered a forward rule of a function."""
    rules = lookup(f)
    for rule in () if rules is None else rules.frules:
        if rule.foreign:
            return True
    return False
