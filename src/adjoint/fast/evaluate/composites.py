"""Operations that stand for programs of their own, until these are written in their place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.single_assignment.primitives import same
from adjoint.fast.single_assignment.walk import walk, with_blocks
from adjoint.ir.single import Block, Call, Const, Op, Operand, Unpack


class Composite:
    """The callee of an operation that stands for a program, and whose derivatives are known as a
    whole.

    Passes see one call without effects. Its result is a tuple that an `Unpack` reads. The class is
    no `ABC`, because each sweep asks of each callee whether it is one.
    """

    def write(self, ev: Evaluator, op: Call) -> Sequence[Operand]:
        """Write the program in place of the operation, and return the parts of its result."""
        raise NotImplementedError

    def tangent(self, sweep: Any, op: Call) -> Operand:
        """Write the operation, and return the tangent of its result (`sweep`: `TangentValues`)."""
        raise NotImplementedError

    def back(self, sweep: Any, scope: Any, op: Call) -> None:
        """Write the reverse of the operation (`sweep`: `Sweep`, `scope`: `Scope`)."""
        raise NotImplementedError


def composite_of(op: Op) -> Composite | None:
    """Return the composite that an operation calls, or ``None``."""
    if isinstance(op, Call) and isinstance(op.callee, Const):
        found = op.callee.value
        return found if isinstance(found, Composite) else None
    return None


def expanded(ev: Evaluator, block: Block) -> Block:
    """Return a block with the programs of composites in place of their calls."""
    if not any(map(composite_of, walk(block))):
        return block
    parts: dict[Operand, Sequence[Operand]] = {}
    with ev.writing() as ops:
        for op in block.ops:
            composite = composite_of(op)
            if isinstance(op, Call) and composite is not None and op.result is not None:
                parts[op.result] = composite.write(ev, op)
            elif isinstance(op, Unpack) and op.value in parts:
                for x, part in zip(op.results, parts[op.value], strict=True):
                    ev.note_alias(x, (part,))
                    ev.write(Call(x, Const(same), (part,), (), op.span))
            else:
                ev.write(with_blocks(op, lambda inner: expanded(ev, inner)))
    return replace(block, ops=tuple(ops))
