"""The blocks of a function's bytecode, and the place of each in structured code.

Compiled Python is reducible: a backward jump goes to the head of a loop, the only entry of the
loop. So the dominator tree determines the nesting of blocks (Ramsey, "Beyond Relooper", ICFP 2022):
a block with one predecessor is placed where it is entered; a block with several, a *label*, is
placed after the code of the block that dominates it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from adjoint.frontend.bytecode.instructions import Instruction

LEAVE = frozenset({"RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE"})
GO = frozenset({"JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT"})
_SHORT = 8
"""The largest number of instructions of a repeated block; such a block ends the function."""


class IrreducibleError(Exception):
    """A loop has two entries; no Python compiles to this."""


@dataclass(eq=False, slots=True)
class Block:
    """Consecutive instructions.

    Attributes
    ----------
    start
        The index of the first instruction.
    jump
        The conditional jump at the end; it leads to ``following[1]`` if taken.
    number
        The position in an order in which all edges except those that close a loop go forward.
    """

    start: int
    steps: list[Instruction]
    jump: Instruction | None = None
    following: list[Block] = field(default_factory=list)
    entered_from: list[Block] = field(default_factory=list)
    number: int = 0
    dominator: Block | None = None
    loops: list[Loop] = field(default_factory=list)

    def dominates(self, other: Block) -> bool:
        while other.number > self.number and other.dominator is not None:
            other = other.dominator
        return other is self

    @property
    def is_for(self) -> bool:
        """Return whether the block is the head of a ``for`` loop."""
        return self.jump is not None and self.jump.name == "FOR_ITER"


@dataclass(eq=False, slots=True)
class Loop:
    """A loop: its head, its blocks, and the index of the first instruction after it."""

    head: Block
    blocks: set[Block]
    end: int


class Graph:
    """The blocks of a function and their places.

    Attributes
    ----------
    entry
        The first block.
    loops
        The loops, by head.
    labels
        The blocks that are jumped to.
    behind
        The loop after which a label is placed, by label.
    repeated
        Short blocks that are copied to each place that jumps to them.
    """

    def __init__(self, instructions: list[Instruction]) -> None:
        self.entry: Block = _blocks(instructions)
        self.blocks: list[Block] = _ordered(self.entry)
        _find_dominators(self.blocks)
        self.loops: dict[Block, Loop] = _find_loops(self.blocks)
        self.repeated: set[Block] = {block for block in self.blocks if self._is_repeated(block)}
        self.labels: set[Block] = set()
        self._inside: dict[Block, list[Block]] = {}
        self._behind: dict[Block, list[Block]] = {}
        self.behind: dict[Block, Loop] = {}
        for block in self.blocks[1:]:
            self._place(block)
        for loop in self.loops.values():
            self._place_else(loop)

    def closes(self, source: Block, target: Block) -> bool:
        """Return whether the edge goes back to the head of a loop."""
        return target in self.loops and target.number <= source.number

    def labels_behind(self, head: Block) -> list[Block]:
        """Return the labels after the loop of `head`, in order."""
        return self._behind.get(head, [])

    def labels_inside(self, block: Block) -> list[Block]:
        """Return the labels after the block itself, in order."""
        return self._inside.get(block, [])

    def _is_repeated(self, block: Block) -> bool:
        sources = self._forward(block)
        if block.following or len(block.steps) > _SHORT or len(sources) < 2:
            return False
        # Code after a loop is reached by leaving the loop.
        return not any(
            loop not in block.loops and block.start >= loop.end
            for source in sources
            for loop in source.loops
        )

    def _forward(self, block: Block) -> list[Block]:
        return [source for source in block.entered_from if not self.closes(source, block)]

    def _place(self, block: Block) -> None:
        """Find the loop after which a block is placed, if any.

        The dominator of a block may be in loops that the block does not belong to. The block stays
        inside those whose text contains it, as in the source.
        """
        if block in self.repeated:
            return
        above = block.dominator
        assert above is not None
        behind: Loop | None = None
        for loop in above.loops:  # innermost first
            if loop in block.loops or block.start < loop.end:
                break
            behind = loop
        joins = len(self._forward(block)) > 1
        if not joins and not block.following and not above.is_for:
            behind = None  # a ``return`` inside the loop needs no jump
        if behind is not None:
            self.labels.add(block)
            self.behind[block] = behind
            self._behind.setdefault(behind.head, []).append(block)
        elif joins:
            self.labels.add(block)
            self._inside.setdefault(above, []).append(block)

    def _place_else(self, loop: Loop) -> None:
        """Make a label that is reached only by the end of a ``for`` loop its ``else`` clause. This
        requires that a ``break`` goes elsewhere."""
        behind = self._behind.get(loop.head, [])
        if loop.head.is_for and len(behind) > 1:
            last = loop.head.following[1]
            if last in behind and len(self._forward(last)) == 1:
                behind.remove(last)
                self.labels.discard(last)
                del self.behind[last]


# ---- blocks --------------------------------------------------------------------------------------


def _blocks(instructions: list[Instruction]) -> Block:
    """Cut the instructions into blocks; return the first block."""
    starts = {0}
    for index, step in enumerate(instructions):
        if step.name == "FOR_ITER":
            starts.add(index)
        if step.target is not None:
            starts.add(step.target)
        if step.target is not None or step.name in LEAVE:
            starts.add(index + 1)
    ordered = sorted(start for start in starts if start < len(instructions))
    ends = [*ordered[1:], len(instructions)]
    blocks = {start: Block(start, []) for start in ordered}
    for start, end in zip(ordered, ends, strict=True):
        block, last = blocks[start], instructions[end - 1]
        block.steps = instructions[start:end]
        if last.target is not None:
            block.steps.pop()
            if last.name not in GO:
                block.jump = last
                block.following.append(blocks[end])
            block.following.append(blocks[last.target])
        elif last.name not in LEAVE and end in blocks:
            block.following.append(blocks[end])
    for block in blocks.values():
        block.following = [_past_jumps(target) for target in block.following]
    return _past_jumps(blocks[0])


def _past_jumps(block: Block) -> Block:
    """Follow jumps through blocks that only jump."""
    seen: set[Block] = set()
    while not block.steps and block.jump is None and block.following and block not in seen:
        seen.add(block)
        block = block.following[0]
    return block


def _ordered(entry: Block) -> list[Block]:
    """Return the reachable blocks in reverse postorder; set their numbers and predecessors."""
    finished: list[Block] = []
    seen = {entry}
    stack = [(entry, [*entry.following])]
    while stack:
        block, rest = stack[-1]
        if not rest:
            finished.append(block)
            stack.pop()
            continue
        target = rest.pop()
        if target not in seen:
            seen.add(target)
            stack.append((target, [*target.following]))
    finished.reverse()
    for number, block in enumerate(finished):
        block.number = number
        for target in block.following:
            target.entered_from.append(block)
    return finished


def _find_dominators(blocks: list[Block]) -> None:
    """Set the dominators (Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", 2001)."""
    entry = blocks[0]
    entry.dominator = entry
    changed = True
    while changed:
        changed = False
        for block in blocks[1:]:
            known = [source for source in block.entered_from if source.dominator is not None]
            found = known[0]
            for other in known[1:]:
                found = _meet(found, other)
            if block.dominator is not found:
                block.dominator, changed = found, True
    entry.dominator = None


def _meet(a: Block, b: Block) -> Block:
    while a is not b:
        while a.number > b.number:
            assert a.dominator is not None
            a = a.dominator
        while b.number > a.number:
            assert b.dominator is not None
            b = b.dominator
    return a


def _find_loops(blocks: list[Block]) -> dict[Block, Loop]:
    loops: dict[Block, Loop] = {}
    for block in blocks:
        sources = [source for source in block.entered_from if source.number >= block.number]
        if not all(map(block.dominates, sources)):
            raise IrreducibleError
        if sources or block.is_for:
            end = max(
                (source.start + len(source.steps) + 1 for source in sources), default=block.start
            )
            if block.is_for and block.jump is not None and block.jump.target is not None:
                end = block.jump.target
            loops[block] = Loop(block, _body(block, sources), end)
    for loop in sorted(loops.values(), key=lambda loop: len(loop.blocks)):
        for block in loop.blocks:
            block.loops.append(loop)
    return loops


def _body(head: Block, sources: Iterable[Block]) -> set[Block]:
    body = {head}
    pending = [*sources]
    while pending:
        block = pending.pop()
        if block not in body:
            body.add(block)
            pending += block.entered_from
    return body
