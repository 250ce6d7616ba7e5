"""Live variables of the named IR, and the ways by which its regions are left.

A set of variables is an integer with one bit per variable. Each region is summarised once, from the
inside out: the variables that it reads before it writes them, and those that reach each of its ends
unchanged. So the live set before a loop needs no fixed-point iteration, and the cost is linear in
the number of operations, also for nested loops.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from typing import Final, TypeAlias

from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.primitives import latest
from adjoint.ir.node import node
from adjoint.ir.nodes import (
    Break,
    Call,
    Const,
    Continue,
    Delete,
    For,
    If,
    Op,
    Raise,
    Region,
    Return,
    Var,
    While,
)
from adjoint.ir.walk import STRUCTURED, operands, targets, walk

Variables: TypeAlias = int
ALL: Final[Variables] = -1

DEEPEST = 100
"""Greatest depth of nested blocks: Python's limit for indentation."""


class Way(enum.Enum):
    """A way to leave a region, other than an exception."""

    FALL = enum.auto()
    CONTINUE = enum.auto()
    BREAK = enum.auto()
    RETURN = enum.auto()


Ways: TypeAlias = frozenset[Way]
FALLS: Final[Ways] = frozenset({Way.FALL})


@node
class Summary:
    """Reads, writes and exits of an operation or a region.

    Attributes
    ----------
    reads
        The variables that may be read before they are written.
    falls, continues, breaks
        The variables that may reach this end unwritten.
    writes, deletes
        The variables that are written, or deleted, anywhere inside.
    ways
        The ends that may be reached.
    """

    reads: Variables
    falls: Variables
    continues: Variables
    breaks: Variables
    writes: Variables
    deletes: Variables
    ways: Ways

    def live(self, fall: Variables, cont: Variables, brk: Variables) -> Variables:
        """Return the variables live before the region, given those live at each end."""
        return self.reads | fall & self.falls | cont & self.continues | brk & self.breaks


NOTHING: Final = Summary(0, ALL, 0, 0, 0, 0, FALLS)
NEVER: Final = Summary(0, 0, 0, 0, 0, 0, frozenset())


class Liveness:
    """The live variables of one function.

    Attributes
    ----------
    after
        By the id of an `If`, `For` or `While`: the variables live after it.
    head
        By the id of a loop: the variables live where the loop decides on another iteration.
    tested
        By the id of a ``while`` loop: the variables live after its test, besides its condition.
    ended
        By the id of a loop: the variables live where it ends without ``break`` or ``return``.
    """

    def __init__(self, region: Region) -> None:
        self.after: dict[int, Variables] = {}
        self.head: dict[int, Variables] = {}
        self.tested: dict[int, Variables] = {}
        self.ended: dict[int, Variables] = {}
        self._masks: dict[str, Variables] = {}
        self._names: list[str] = []
        self._summaries: dict[int, Summary] = {}
        self._depth = 0
        self._one: dict[int, tuple[Variables, Variables]] = {}
        ops = walk(region)
        if STRUCTURED.isdisjoint(map(type, ops)):
            return  # straight-line code makes no queries
        for op in ops:
            self._one[id(op)] = self._read_by(op), self._written_by(op)
        self.summary(region)
        self._mark(region, 0, 0, 0)

    def names(self, variables: Variables) -> Iterator[str]:
        """Yield the variables of a set, in the order of their first mention."""
        while variables:
            lowest = variables & -variables
            yield self._names[lowest.bit_length() - 1]
            variables ^= lowest

    def mask(self, name: str) -> Variables:
        """Return the set with one variable."""
        mask = self._masks.get(name)
        if mask is None:
            mask = self._masks[name] = 1 << len(self._names)
            self._names.append(name)
        return mask

    # ---- from the inside out ---------------------------------------------------------------------

    def summary(self, region: Region) -> Summary:
        found = self._summaries.get(id(region)) if region else NOTHING
        if found is None:
            self._depth += 1
            if self._depth > DEEPEST:
                raise NotCovered(f"more than {DEEPEST} nested blocks", region[0].span)
            found = self._summaries[id(region)] = self._summary(region)
            self._depth -= 1
        return found

    def _summary(self, region: Region) -> Summary:
        reads, falls, continues, breaks, ways = 0, ALL, 0, 0, FALLS
        writes = deletes = 0
        for op in reversed(region):
            if isinstance(op, If | For | While):
                inner = self.of(op)
                reads = inner.reads | reads & inner.falls
                continues = inner.continues | continues & inner.falls
                breaks = inner.breaks | breaks & inner.falls
                falls &= inner.falls
                writes, deletes = writes | inner.writes, deletes | inner.deletes
                if Way.FALL not in inner.ways:
                    ways = inner.ways
                elif inner.ways is not FALLS:
                    ways = inner.ways - FALLS | ways
                continue
            if isinstance(op, Return | Raise | Break | Continue):
                reads = falls = 0
                breaks = ALL if isinstance(op, Break) else 0
                continues = ALL if isinstance(op, Continue) else 0
                ways = _LEAVES[type(op)]
            written = self._written(op)
            reads = reads & ~written | self._read(op)
            falls, continues, breaks = falls & ~written, continues & ~written, breaks & ~written
            writes |= written
            if isinstance(op, Delete):
                deletes |= written
        return Summary(reads, falls, continues, breaks, writes, deletes, ways)

    def of(self, op: If | For | While) -> Summary:
        """Return the summary of an operation with regions."""
        match op:
            case If(condition=Const()):
                return self.summary(chosen(op))
            case If():
                return self._either(op)
            case For(target=target):
                return self._loop(op, NOTHING, self.mask(target.name))
            case While(test=test):
                return self._loop(op, self.summary(test), 0)

    def _either(self, op: If) -> Summary:
        a, b = self.summary(op.body), self.summary(op.orelse)
        return Summary(
            self._read(op) | a.reads | b.reads,
            a.falls | b.falls,
            a.continues | b.continues,
            a.breaks | b.breaks,
            a.writes | b.writes,
            a.deletes | b.deletes,
            a.ways | b.ways if a.ways is not b.ways else a.ways,
        )

    def _loop(self, op: For | While, test: Summary, item: Variables) -> Summary:
        body, orelse = self.summary(op.body), self.summary(op.orelse)
        ended = NEVER if endless(op) and body.ways & _OUT else orelse
        again = (body.falls | body.continues) & ~item
        inside = body.reads & ~item | ended.reads | test.reads & again
        ways = ended.ways | body.ways & {Way.RETURN}
        if Way.BREAK in body.ways:
            ways |= FALLS
        iterable = self._read(op) if isinstance(op, For) else 0
        condition = self._read(op) if isinstance(op, While) else 0
        return Summary(
            iterable | test.reads | (condition | inside) & test.falls,
            test.falls & (ended.falls | body.breaks & ~item),
            test.falls & ended.continues,
            test.falls & ended.breaks,
            test.writes | body.writes | orelse.writes | item,
            test.deletes | body.deletes | orelse.deletes,
            FALLS if ways == FALLS else ways,
        )

    # ---- from the outside in ---------------------------------------------------------------------

    def _mark(self, region: Region, fall: Variables, cont: Variables, brk: Variables) -> None:
        live = fall
        for op in reversed(region):
            match op:
                case If():
                    self._note(self.after, op, live)
                    self._mark(op.body, live, cont, brk)
                    self._mark(op.orelse, live, cont, brk)
                    live = self.of(op).live(live, cont, brk)
                case For() | While():
                    self._note(self.after, op, live)
                    self._mark_loop(op, live, self.summary(op.orelse).live(live, cont, brk))
                    self._mark(op.orelse, live, cont, brk)
                    live = self.of(op).live(live, cont, brk)
                case Return() | Raise():
                    live = self._read(op)
                case Break():
                    live = brk
                case Continue():
                    live = cont
                case _:
                    live = live & ~self._written(op) | self._read(op)

    def _mark_loop(self, op: For | While, after: Variables, ended: Variables) -> None:
        body = self.summary(op.body)
        again = body.falls | body.continues
        if endless(op) and body.ways & _OUT:
            ended = 0
        if isinstance(op, For):
            item = self.mask(op.target.name)
            head = ended | (body.reads | after & body.breaks) & ~item
        else:
            test = self.summary(op.test)
            tested = body.reads | after & body.breaks | ended | test.reads & again
            self._note(self.tested, op, tested)
            tested |= self._read(op)
            head = test.reads | tested & test.falls
            self._mark(op.test, tested, 0, 0)
        self._note(self.ended, op, ended)
        self._note(self.head, op, head)
        self._mark(op.body, head, head, after)

    @staticmethod
    def _note(where: dict[int, Variables], op: Op, live: Variables) -> None:
        where[id(op)] = where.get(id(op), 0) | live

    # ---- one operation ---------------------------------------------------------------------------

    def _read(self, op: Op) -> Variables:
        known = self._one.get(id(op))
        return self._read_by(op) if known is None else known[0]

    def _written(self, op: Op) -> Variables:
        known = self._one.get(id(op))
        return self._written_by(op) if known is None else known[1]

    def _read_by(self, op: Op) -> Variables:
        read = 0
        if _passes_on(op):
            return self.mask(op.operands[0].name)  # type: ignore[union-attr]
        for operand in operands(op):
            if isinstance(operand, Var):
                read |= self.mask(operand.name)
        return read

    def _written_by(self, op: Op) -> Variables:
        written = 0
        if _passes_on(op):
            return written
        for target in targets(op):
            written |= self.mask(target.name)
        return written


def _passes_on(op: Op) -> bool:
    """Return whether an operation gives a variable a value on which it is live before if after."""
    return isinstance(op, Call) and isinstance(op.callee, Const) and op.callee.value is latest


_OUT: Final[Ways] = frozenset({Way.BREAK, Way.RETURN})
_LEAVES: Final[dict[type, Ways]] = {
    Return: frozenset({Way.RETURN}),
    Raise: frozenset(),
    Break: frozenset({Way.BREAK}),
    Continue: frozenset({Way.CONTINUE}),
}


def chosen(op: If) -> Region:
    """Return the region that a constant condition chooses."""
    assert isinstance(op.condition, Const)
    return op.body if op.condition.value else op.orelse


def endless(op: For | While) -> bool:
    """Return whether only a jump or an exception can end the loop."""
    return isinstance(op, While) and isinstance(op.condition, Const) and bool(op.condition.value)
