"""Which arrays of a block may share memory, whatever way its branches and loops take.

A result of a branch, or of a loop, and a value that a loop carries are *joins*: each way to one
gives it an operand. Two values share memory where the same way gives both what shares memory::

    u, w = if c: -> a, b       u and w are never one array, although both may be a
           else: -> b, a
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import TypeAlias

from adjoint.fast.evaluate.types import Number, Row
from adjoint.fast.evaluate.writes.aliases import Aliases
from adjoint.fast.single_assignment.walk import blocks, results
from adjoint.ir.node import node
from adjoint.ir.single import Block, Const, If, Loop, Operand, Value

_ELSEWHERE = Value("elsewhere")
_NUMBERS = (int, float, complex, str, type(None), slice)
_Pair: TypeAlias = "tuple[Value, Value]"


@node
class _Joins:
    """Joins that are made together.

    Attributes
    ----------
    ways
        For each way to the joins: their operands.
    begin
        The rank of the first value inside the branch or loop.
    """

    ways: tuple[Sequence[Operand], ...]
    begin: int


class Sharing:
    """The memory of the values of a block.

    Attributes
    ----------
    joins
        By join: the joins that are made with it, and its place among them.
    """

    def __init__(self, aliases: Aliases, block: Block) -> None:
        self._aliases = aliases.aliases
        self._types = aliases.types
        self.joins: dict[Value, tuple[_Joins, int]] = {}
        self._ranks: dict[Value, int] = {_ELSEWHERE: -1}
        self._roots: dict[Value, frozenset[Value]] = {}
        self._collect(block)

    def _collect(self, block: Block) -> None:
        self._rank(block.parameters)
        for op in block.ops:
            begin = len(self._ranks)
            for inner in blocks(op):
                if isinstance(op, Loop):
                    self._join(carried_by(inner, op), op, begin)
                self._collect(inner)
            self._rank(results(op))
            if isinstance(op, If | Loop):
                self._join(results(op)[isinstance(op, Loop) and op.stops :], op, begin)

    def _rank(self, values: Iterable[Value]) -> None:
        for x in values:
            self._ranks[x] = len(self._ranks)

    def _join(self, values: Iterable[Value], op: If | Loop, begin: int) -> None:
        joins = _Joins(_ways(op), begin)
        self.joins |= {x: (joins, i) for i, x in enumerate(values)}

    def rank(self, x: Value) -> int:
        """Return the place of a value in the order of definitions; -1 for one from outside."""
        return self._ranks.get(x, -1)

    def roots(self, x: Operand) -> frozenset[Value]:
        """Return the values whose memory `x` may show: itself, and what it is an alias of, up to
        joins."""
        if not isinstance(x, Value):
            is_number = isinstance(x, Const) and isinstance(x.value, _NUMBERS)
            return frozenset() if is_number else frozenset((_ELSEWHERE,))
        if x not in self._roots:
            found: set[Value] = set()
            pending = [x]
            while pending:
                one = pending.pop()
                if one not in found and not isinstance(self._types.get(one), Number | Row):
                    found.add(one)
                    pending += () if one in self.joins else self._aliases.get(one, ())
            self._roots[x] = frozenset(found)
        return self._roots[x]

    def made_of(self, x: Value, begin: int = 0) -> set[Value]:
        """Return the roots of `x`, those of joins in place of joins from rank `begin` on."""
        found: set[Value] = set()
        pending = {*self.roots(x)}
        while pending:
            one = pending.pop()
            if one in found:
                continue
            found.add(one)
            if one in self.joins and self.rank(one) >= begin:
                joins, i = self.joins[one]
                for way in joins.ways:
                    pending |= self.roots(way[i])
        return {one for one in found if one not in self.joins or self.rank(one) < begin}

    def outer(self, x: Value) -> set[Value]:
        """Return the values from before a branch or a loop whose memory its join `x` may show."""
        begin = self.joins[x][0].begin
        return {one for one in self.made_of(x, begin) if self.rank(one) < begin}

    def share(self, x: Operand, y: Operand) -> bool:
        """Return whether two values that are in sight at one place may share memory."""
        pending: list[_Pair] = [*product(self.roots(x), self.roots(y))]
        seen: set[_Pair] = set()
        while pending:
            pair = pending.pop()
            if pair in seen:
                continue
            seen.add(pair)
            earlier, later = sorted(pair, key=self.rank)
            if earlier is later:
                return True
            if later not in self.joins:  # made after the other one, in memory of its own
                continue
            joins, i = self.joins[later]
            others, j = self.joins.get(earlier, (None, 0))
            for way in joins.ways:
                left = self.roots(way[j]) if others is joins else (earlier,)
                pending += product(left, self.roots(way[i]))
        return False


def carried_by(block: Block, loop: Loop) -> tuple[Value, ...]:
    """Return the parameters of a block of a loop that stand for carried values."""
    return block.parameters[len(block.parameters) - len(loop.initial) :]


def _ways(op: If | Loop) -> tuple[Sequence[Operand], ...]:
    """Return the operands of the joins of a branch or loop, one sequence for each way to them."""
    if isinstance(op, If):
        return tuple(one.results for one in (op.body, op.orelse) if one.results is not None)
    ends = op.body.results
    return (op.initial,) if ends is None else (op.initial, ends[op.stops :])
