"""Tangents of conversions between real and complex numbers."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

import numpy as np

from adjoint.fast.forward.formulas import formula
from adjoint.fast.reverse.arithmetic import inferred, product, sum_of
from adjoint.fast.reverse.cotangent_types import conjugated, part_of
from adjoint.fast.single_assignment.walk import callee_of
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Call, Const, Operand, Value

if TYPE_CHECKING:
    from adjoint.fast.forward.tangent_values import TangentValues


@formula(runtime.real_part, runtime.imaginary_part)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    name = "real" if callee_of(op) is runtime.real_part else "imag"
    dot = sweep.full(op.operands[0])
    return part_of(sweep.ev, dot, name, f"{y.name}_dot")


@formula(runtime.conjugate, np.conjugate)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    return None if op.keywords else conjugated(sweep.ev, sweep.full(op.operands[0]))


@formula(complex)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    """The tangent of ``real + 1j * imag``, whose operands may be complex."""
    ev, name, (real, *rest) = sweep.ev, f"{y.name}_dot", op.operands
    found = sweep.of(real)
    for imag in rest:
        dot = sweep.of(imag)
        if dot is not None:
            term = inferred(ev, operator.mul, (Const(1j), dot), name)
            found = term if found is None else sum_of(ev, found, term, name)
    return found


@formula(runtime.direction)
def _(sweep: TangentValues, op: Call, y: Value) -> Operand | None:
    """The tangent of x / y, where y is the modulus of x: (x_dot - x / y * y_dot) / y."""
    ev, name, (x, modulus) = sweep.ev, f"{y.name}_dot", op.operands
    term = product(ev, sweep.full(modulus), y, name)
    change = inferred(ev, operator.sub, (sweep.full(x), term), name)
    return ev.operation(runtime.direction, (change, modulus), ev.types[y], name=name)
