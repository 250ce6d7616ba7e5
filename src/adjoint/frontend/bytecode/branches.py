"""Conditional code: each arm of a conditional jump runs on a copy of the stack.

Arms without jumps of their own meet again behind the ``if``. Any other arm is written up to the end
of the function, so code that several arms lead to is written several times.
"""

from __future__ import annotations

import operator

import adjoint.frontend.bytecode.calls
import adjoint.frontend.bytecode.displays
import adjoint.frontend.bytecode.functions
import adjoint.frontend.bytecode.names
import adjoint.frontend.bytecode.operators  # noqa: F401  (each enters its opcodes in the table)
from adjoint.frontend.bytecode.instructions import Instruction
from adjoint.frontend.bytecode.machine import Machine
from adjoint.frontend.bytecode.stack_entries import Entry, Frame
from adjoint.ir.nodes import Assign, Const, Global, If, Op, Operand, Region, Var

_LEAVE = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS"})
_MOST = 10_000
"""The most instructions that are lowered, those that are written several times included."""


def region_of(machine: Machine, instructions: list[Instruction]) -> Region:
    """Return the IR of a whole function."""
    return tuple(_Lowering(machine, instructions).rest(0, machine.frame))


class _Lowering:
    def __init__(self, machine: Machine, instructions: list[Instruction]) -> None:
        self._machine, self._instructions, self._count = machine, instructions, 0

    def rest(self, index: int, frame: Frame) -> list[Op]:
        """Return the operations from an instruction up to the end of the function."""
        machine, items = self._machine, list[Op]()
        machine.items, machine.frame = items, frame
        while True:
            step = self._instructions[index]
            if step.target is None:
                self._run(step)
                index += 1
                if step.name in _LEAVE:
                    return items
                continue
            machine.span, machine.opcode = step.span, step.name
            if step.target <= index:
                machine.refuse("while")
            if step.name == "JUMP_FORWARD":
                index = step.target
                continue
            condition, jumps_if, staying, jumping = self._decide(step)
            end = self._joined(items, index, condition, jumps_if)
            if end is not None:
                index = end
                continue
            arms = self.rest(index + 1, staying), self.rest(step.target, jumping)
            body, orelse = reversed(arms) if jumps_if else arms
            if len(body) <= len(orelse):
                return [*items, If(condition, tuple(body), (), step.span), *orelse]
            return [*items, If(condition, (), tuple(orelse), step.span), *body]

    def _run(self, step: Instruction) -> None:
        self._count += 1
        self._machine.run(step)
        if self._count > _MOST:
            self._machine.refuse("too many branches")

    def _decide(self, step: Instruction) -> tuple[Operand, bool, Frame, Frame]:
        """Return the bool that a jump tests, the value of it that jumps, and the frames without and
        with the jump."""
        m, name = self._machine, step.name
        if "_OR_POP" in name:  # the value stays on the stack where it jumps (before 3.12)
            test = m.truth(m.top())
            jumping = m.frame.copy()
            m.pop()
            return test, name.startswith("JUMP_IF_TRUE"), m.frame, jumping
        if not name.startswith("POP_JUMP"):
            m.refuse()
        if name.endswith("NONE"):
            test = m.call(operator.is_, (m.pop(), Const(None)))
            return test, not name.endswith("NOT_NONE"), m.frame, m.frame.copy()
        return m.truth(m.pop()), name.endswith("TRUE"), m.frame, m.frame.copy()

    # ---- arms that meet again --------------------------------------------------------------------

    def _joined(self, items: list[Op], index: int, test: Operand, jumps_if: bool) -> int | None:
        """Write an ``if`` whose arms meet again; return the index behind it, ``None`` if they do
        not."""
        machine, given = self._machine, self._instructions
        middle = given[index].target
        assert middle is not None
        staying, end = given[index + 1 : middle], middle
        if staying and staying[-1].name == "JUMP_FORWARD":
            end = staying.pop().target or middle
        jumping = given[middle:end]
        if any(step.target is not None or step.name in _LEAVE for step in (*staying, *jumping)):
            return None
        before, span = machine.frame, given[index].span
        if "_OR_POP" in given[index].name:
            return None
        written: list[tuple[list[Op], Frame]] = []
        for steps in (staying, jumping):
            machine.items, machine.frame = [], before.copy()
            for step in steps:
                self._run(step)
            written.append((machine.items, machine.frame))
        (body, frame), (orelse, other) = written
        machine.items, machine.frame, machine.span = items, before, span
        if not self._meet(body, frame, orelse, other):
            return None
        machine.frame = frame
        if jumps_if:
            body, orelse = orelse, body
        items.append(If(test, tuple(body), tuple(orelse), span))
        return end

    def _meet(self, body: list[Op], frame: Frame, orelse: list[Op], other: Frame) -> bool:
        """Let the arms assign what differs on the stack to variables; return whether that is
        possible."""
        pairs = [*zip(frame.stack, other.stack, strict=False)]
        if len(frame.stack) != len(other.stack) or frame.plain != other.plain:
            return False
        if frame.cells != other.cells or not all(
            _same(a, b) or (isinstance(a, Operand) and isinstance(b, Operand)) for a, b in pairs
        ):
            return False
        for i, (a, b) in enumerate(pairs):
            if not _same(a, b) and isinstance(a, Operand) and isinstance(b, Operand):
                choice = self._machine.variable("choice")
                body.append(Assign(choice, a, self._machine.span))
                orelse.append(Assign(choice, b, self._machine.span))
                frame.stack[i] = choice
        return True


def _same(a: Entry, b: Entry) -> bool:
    """Return whether two entries are certainly the same value."""
    match a, b:
        case (Const(value=x), Const(value=y)):
            return x is y or (type(x) is type(y) and isinstance(x, int | str) and x == y)
        case (Var() | Global(), _):
            return a == b
    return a is b or (type(a) is type(b) and a == b)
