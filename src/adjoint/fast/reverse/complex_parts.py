"""The reverse of conversions between real and complex numbers."""

from __future__ import annotations

import operator

import numpy as np

from adjoint.fast.evaluate.types import has_complex
from adjoint.fast.reverse.arithmetic import bar_name, inferred
from adjoint.fast.reverse.block_cotangents import Scope
from adjoint.fast.reverse.cotangent_types import conjugated, operand_type, part_of
from adjoint.fast.reverse.formulas import formula
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Call, Const, Operand


@formula(runtime.real_part)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    scope.add(op.operands[0], y_bar)


@formula(runtime.imaginary_part)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    (x,) = op.operands
    scope.add(x, inferred(scope.ev, operator.mul, (Const(1j), y_bar), bar_name(x)))


@formula(runtime.conjugate, np.conjugate)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    scope.add(op.operands[0], conjugated(scope.ev, y_bar))


@formula(complex)
def _(scope: Scope, op: Call, y_bar: Operand) -> None:
    ev, (real, *rest) = scope.ev, op.operands
    scope.add(real, y_bar)
    for imag in rest:
        if has_complex(operand_type(ev, imag)):
            bar = inferred(ev, operator.mul, (Const(-1j), y_bar), bar_name(imag))
        else:
            bar = part_of(ev, y_bar, "imag", bar_name(imag))
        scope.add(imag, bar)
