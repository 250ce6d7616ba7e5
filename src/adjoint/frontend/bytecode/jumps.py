"""Conditional jumps: the operand that each tests, and the stack after it."""

from __future__ import annotations

import operator

from adjoint.frontend.bytecode.instructions import Instruction
from adjoint.frontend.bytecode.machine import Machine
from adjoint.frontend.bytecode.registry import jump
from adjoint.frontend.bytecode.stack_entries import Frame
from adjoint.ir.nodes import Const, Operand

Decision = tuple[Operand, bool, Frame, Frame]


@jump.register(
    "POP_JUMP_IF_TRUE",
    "POP_JUMP_IF_FALSE",
    "POP_JUMP_FORWARD_IF_TRUE",
    "POP_JUMP_FORWARD_IF_FALSE",
    "POP_JUMP_BACKWARD_IF_TRUE",
    "POP_JUMP_BACKWARD_IF_FALSE",
)
def _if_true(m: Machine, step: Instruction) -> Decision:
    test = m.truth(m.pop())
    return test, step.name.endswith("TRUE"), m.frame, m.frame.copy()


@jump.register(
    "POP_JUMP_IF_NONE",
    "POP_JUMP_IF_NOT_NONE",
    "POP_JUMP_FORWARD_IF_NONE",
    "POP_JUMP_FORWARD_IF_NOT_NONE",
    "POP_JUMP_BACKWARD_IF_NONE",
    "POP_JUMP_BACKWARD_IF_NOT_NONE",
)
def _if_none(m: Machine, step: Instruction) -> Decision:
    test = m.call(operator.is_, (m.pop(), Const(None)))
    return test, not step.name.endswith("NOT_NONE"), m.frame, m.frame.copy()


@jump.register("JUMP_IF_TRUE_OR_POP", "JUMP_IF_FALSE_OR_POP")
def _or_pop(m: Machine, step: Instruction) -> Decision:
    """Lower a jump that keeps the value on the stack where it jumps (before 3.12)."""
    test = m.truth(m.top())
    jumping = m.frame.copy()
    m.pop()
    return test, step.name.startswith("JUMP_IF_TRUE"), m.frame, jumping
