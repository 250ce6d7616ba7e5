"""From blocks to structured code: each block runs at its place, on the stack that reaches it."""

from __future__ import annotations

import sys
from collections.abc import Callable

import adjoint.frontend.bytecode.calls
import adjoint.frontend.bytecode.displays
import adjoint.frontend.bytecode.jumps
import adjoint.frontend.bytecode.names
import adjoint.frontend.bytecode.nested_functions
import adjoint.frontend.bytecode.operators  # noqa: F401  (each enters its opcodes in the tables)
from adjoint.frontend.bytecode.flow_graph import Block, Graph
from adjoint.frontend.bytecode.instructions import Instruction
from adjoint.frontend.bytecode.machine import Machine
from adjoint.frontend.bytecode.registry import jump
from adjoint.frontend.bytecode.stack_entries import (
    NULL,
    RUNNING,
    Entry,
    Frame,
    LoopItem,
    NotStarted,
)
from adjoint.frontend.bytecode.tree import Branch, Cycle, Goto, Item, Labelled
from adjoint.ir.nodes import Assign, Const, Global, Operand, Var


def structured(graph: Graph, machine: Machine) -> list[Item]:
    """Return the structured code of a whole function."""
    items: list[Item] = []
    _Walk(graph, machine).place(graph.entry, items, machine.frame)
    return items


_Rest = tuple[Block, list[Item], Frame]
"""A block to write next, the list that it is written to, and its initial frame."""


class _Walk:
    """A walk through the dominator tree. The frame of a label is known from the jumps to it, all of
    which are written before the label."""

    def __init__(self, graph: Graph, machine: Machine) -> None:
        self._graph, self._machine = graph, machine
        self._jumps: dict[Block, list[tuple[Goto, Frame]]] = {}
        self._heads: dict[Block, Frame] = {}

    def place(self, block: Block, items: list[Item], frame: Frame) -> None:
        """Write a block and everything after it."""
        rest: _Rest | None = (block, items, frame)
        while rest is not None:
            rest = self._place_one(*rest)

    def _place_one(self, block: Block, items: list[Item], frame: Frame) -> _Rest | None:
        """Write a block; return what follows, so that long functions need no deep recursion."""
        graph = self._graph
        is_head = block in graph.loops
        labels = graph.labels_behind(block) if is_head else graph.labels_inside(block)
        write = self._loop if is_head else self._block
        if not labels:
            return write(block, items, frame)

        def whole(inner: list[Item]) -> None:
            rest = write(block, inner, frame)
            if rest is not None:
                self.place(*rest)

        last = self._labelled(items, labels, whole)
        return last, items, self._frame_at(last)

    def _labelled(
        self, items: list[Item], labels: list[Block], write: Callable[[list[Item]], None]
    ) -> Block:
        """Write a piece of code and the labels after it, except the last one, which is returned."""
        inner: list[Item] = []
        write(inner)
        for label in labels[:-1]:
            outer: list[Item] = [Labelled(inner, label)]
            self.place(label, outer, self._frame_at(label))
            inner = outer
        items.append(Labelled(inner, labels[-1]))
        return labels[-1]

    # ---- one block -------------------------------------------------------------------------------

    def _block(self, block: Block, items: list[Item], frame: Frame) -> _Rest | None:
        machine = self._machine
        machine.items, machine.frame = items, frame
        for step in block.steps:
            machine.run(step)
        if block.jump is not None:
            return self._choose(block, block.jump, items)
        if block.following:
            return self._go(block, block.following[0], items, machine.frame)
        return None

    def _choose(self, block: Block, step: Instruction, items: list[Item]) -> _Rest | None:
        """Write the branch at the end of a block."""
        machine = self._machine
        machine.span, machine.opcode = step.span, step.name
        if step.name not in jump.entries:
            machine.refuse()
        condition, jumps_if, staying, jumping = jump.entries[step.name](machine, step)
        branch = Branch(condition, step.span)
        items.append(branch)
        arms = (branch.orelse, branch.body) if jumps_if else (branch.body, branch.orelse)
        rest = self._go(block, block.following[0], arms[0], staying)
        if rest is not None:
            self.place(*rest)
        machine.span = step.span
        return self._go(block, block.following[1], arms[1], jumping)

    def _go(self, source: Block, target: Block, items: list[Item], frame: Frame) -> _Rest | None:
        """Write a jump if the target is placed elsewhere; otherwise return the target as the next
        block."""
        span = self._machine.span
        if self._graph.closes(source, target):
            self._check_head(self._heads[target], frame)
            items.append(Goto(target, span))
        elif target in self._graph.labels:
            goto = Goto(target, span)
            items.append(goto)
            self._jumps.setdefault(target, []).append((goto, frame))
        else:
            return target, items, frame
        return None

    # ---- loops -----------------------------------------------------------------------------------

    def _loop(self, block: Block, items: list[Item], frame: Frame) -> _Rest | None:
        machine = self._machine
        machine.items, machine.frame = items, frame
        if block.is_for:
            cycle, body, end = self._for(block)
        else:
            machine.span = next((step.span for step in block.steps), machine.span)
            machine.enter_loop(0)
            cycle = Cycle(block, None, machine.span)
            self._heads[block] = frame.copy()
        items.append(cycle)

        def write(inner: list[Item]) -> None:
            if block.is_for:
                machine.arriving = cycle
                rest = self._go(block, block.following[0], inner, body)
            else:
                rest = self._block(block, inner, frame)
            if rest is not None:
                self.place(*rest)

        labels = self._graph.labels_inside(block)
        if labels:
            last = self._labelled(cycle.body, labels, write)
            self.place(last, cycle.body, self._frame_at(last))
        else:
            write(cycle.body)
        if not block.is_for:
            return None
        machine.span = cycle.span
        rest = self._go(block, block.following[1], cycle.orelse, end)
        if rest is not None:
            self.place(*rest)
        return None

    def _for(self, block: Block) -> tuple[Cycle, Frame, Frame]:
        """Start a ``for`` loop; return it and the initial frames of its body and of the code after
        it."""
        machine, frame, step = self._machine, self._machine.frame, block.jump
        assert step is not None
        machine.span, machine.opcode = step.span, step.name
        machine.enter_loop(1)
        entry = machine.pop_entry()
        iterable = entry.iterable if isinstance(entry, NotStarted) else machine.operand(entry)
        cycle = Cycle(block, iterable, step.span)
        end = frame.copy()
        machine.push(RUNNING)
        self._heads[block] = frame.copy()
        machine.push(LoopItem(cycle))
        if sys.version_info >= (3, 12):
            end.stack += [RUNNING, NULL]  # for the following END_FOR
        return cycle, frame, end

    def _check_head(self, head: Frame, frame: Frame) -> None:
        """Refuse a loop that does not leave the stack as it found it."""
        same = len(head.stack) == len(frame.stack) and all(map(_same, head.stack, frame.stack))
        if not same or head.plain != frame.plain or head.cells != frame.cells:
            self._machine.refuse()

    # ---- labels ----------------------------------------------------------------------------------

    def _frame_at(self, label: Block) -> Frame:
        """Return the frame at a label; where stacks differ, each jump assigns its value to a
        variable."""
        jumps = self._jumps[label]
        frame = jumps[0][1].copy()
        for _, other in jumps[1:]:
            if (
                len(other.stack) != len(frame.stack)
                or other.plain != frame.plain
                or other.cells != frame.cells
            ):
                self._machine.refuse()
        for i, entry in enumerate(frame.stack):
            entries = [other.stack[i] for _, other in jumps]
            same = all(_same(entry, other) for other in entries)
            if not same or (self._machine.is_temporary(entry) and self._is_of_loop(label, i)):
                frame.stack[i] = self._moved(entries, [goto for goto, _ in jumps])
        return frame

    def _is_of_loop(self, label: Block, i: int) -> bool:
        """Return whether an entry comes out of the loop that the label follows. Temporaries do not
        outlive the iteration that makes them."""
        loop = self._graph.behind.get(label)
        return loop is not None and i >= len(self._heads[loop.head].stack)

    def _moved(self, entries: list[Entry], gotos: list[Goto]) -> Var:
        choice = self._machine.variable("choice")
        for entry, goto in zip(entries, gotos, strict=True):
            if not isinstance(entry, Operand):
                self._machine.refuse()
            goto.moves.append(Assign(choice, entry, goto.span))
        return choice


def _same(a: Entry, b: Entry) -> bool:
    """Return whether two entries are certainly the same value."""
    match a, b:
        case (Const(value=x), Const(value=y)):
            return x is y or (type(x) is type(y) and isinstance(x, int | str) and x == y)
        case (Var() | Global(), _):
            return a == b
    return a is b or (type(a) is type(b) and a == b)
