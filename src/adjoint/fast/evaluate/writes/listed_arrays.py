"""Arrays in lists of unknown length, which the program must not write to.

A list of the program holds the arrays themselves: a write to one would show in the list, and a
write to an item in whatever else refers to it. So nothing that may share memory with an array in a
list is written to, but for an array that is new in each iteration before it is put into a list::

    for i in n with y = y0
        d = copy(y)
        put(d, 0, x)
        append(ys, d)
        -> d
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import Array, Number, Row, holds_arrays
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.walk import (
    blocks,
    callee_of,
    carried_values,
    operands,
    results,
    walk,
    walk_ops,
)
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.ir import primitives
from adjoint.ir.single import Block, Call, If, Loop, Op, Operand, Unpack, Value

_WRITES = runtime.WRITES | runtime.BUFFER_WRITES
_PUTTING = frozenset({*rows.PUTTING, rows.put_item})
_READING = frozenset({rows.item, rows.part, *rows.TAKING})


def demand_listed_unwritten(ev: Evaluator, block: Block) -> None:
    """Refuse a block that writes to an array which a list of arrays may hold."""
    if any(map(holds_arrays, ev.types.values())):
        _Writes(ev, ListedMemory(ev, block)).block(block)


class ListedMemory:
    """Values that may share memory, in groups by union and find: a list is in the group of the
    arrays that it holds.

    Attributes
    ----------
    ranks
        By value: its place in the order of definitions.
    """

    def __init__(self, ev: Evaluator, block: Block) -> None:
        self._ev = ev
        self._above: dict[Value, Value] = {}
        self.ranks: dict[Value, int] = dict.fromkeys(block.parameters, -1)
        for view, owners in ev.aliases.items():
            self._join(view, owners)
        self._block(block)
        self._lists = {self._root(x) for x, t in ev.types.items() if holds_arrays(t)}

    def holds(self, x: Value) -> bool:
        """Return whether a list of arrays may hold an array, or what shares memory with it."""
        return self._root(x) in self._lists

    def _root(self, x: Value) -> Value:
        while (above := self._above.get(x)) is not None:
            x = above
        return x

    def _join(self, x: Operand, others: Iterable[Operand]) -> None:
        """Unite the group of `x` with those of others, but for numbers."""
        if not self._has_memory(x):
            return
        for other in filter(self._has_memory, others):
            a, b = self._root(x), self._root(other)  # type: ignore[arg-type]
            if a is not b:
                self._above[a] = b

    def _has_memory(self, x: Operand) -> bool:
        t = self._ev.types.get(x) if isinstance(x, Value) else None
        if isinstance(t, Row):
            return holds_arrays(t)
        return t is not None and not isinstance(t, Number)

    def _block(self, block: Block) -> None:
        for x in block.parameters:
            self.ranks.setdefault(x, len(self.ranks))
        for op in block.ops:
            if isinstance(op, Loop):
                if op.iterable is not None:
                    self._join(op.body.parameters[0], (op.iterable,))
                for values, made_of in carried_values(op):
                    for x in values:
                        self._join(x, made_of)
            for inner in blocks(op):
                self._block(inner)
                if isinstance(op, If):
                    for x, y in zip(op.results, inner.results or (), strict=False):
                        self._join(x, (y,))
            for x in results(op):
                self.ranks[x] = len(self.ranks)
            self._op(op)

    def _op(self, op: Op) -> None:
        if isinstance(op, Unpack):
            for x in op.results:
                self._join(x, (op.value,))
        elif isinstance(op, Call):
            f, result = callee_of(op), op.result
            if f in _PUTTING:
                self._join(op.operands[0], op.operands[-1:])
            elif result is not None and (f in _READING or result not in self._ev.fresh):
                self._join(result, operands(op))


class _Writes:
    """The writes of a block."""

    def __init__(self, ev: Evaluator, memory: ListedMemory) -> None:
        self._ev, self._memory = ev, memory

    def block(self, block: Block, outer: frozenset[Value] = frozenset()) -> None:
        """Check a block; `outer` are the arrays of the blocks around it that are checked there."""
        made = {op.result: i for i, op in enumerate(block.ops) if isinstance(op, Call)}
        last: dict[Value, int] = {}
        for i, op in enumerate(block.ops):
            for target in self._written(op):
                owner = self._ev.owners(target)[-1]
                if owner in made and owner in self._ev.fresh:
                    last[owner] = i
                elif owner not in outer and not self._is_made_in(op, owner):
                    raise NotCovered(_REASON, op.span)
            for inner in blocks(op):
                self.block(inner, outer.union(last))
        for owner, end in last.items():
            for op in block.ops[made[owner] : end + 1]:
                if any(self._may_hold(x, owner) for x in _listed_by(op)):
                    raise NotCovered(_REASON, op.span)

    def _written(self, op: Op) -> Iterator[Value]:
        """Yield the arrays that an operation writes to, and that a list may hold."""
        for one in walk_ops((op,)):
            if isinstance(one, Call) and callee_of(one) in _WRITES:
                target = one.operands[0]
                assert isinstance(target, Value)
                if isinstance(self._ev.types[target], Array):
                    if self._memory.holds(target):
                        yield target

    def _is_made_in(self, op: Op, owner: Value) -> bool:
        """Return whether an operation of a block of `op` makes an array."""
        return any(owner in results(one) for inner in blocks(op) for one in walk(inner))

    def _may_hold(self, x: Operand, owner: Value) -> bool:
        """Return whether what is put into a list may show an array: not if it was made before."""
        if not isinstance(x, Value) or not self._memory.holds(x):
            return False
        return self._memory.ranks.get(x, -1) >= self._memory.ranks[owner]


def _listed_by(op: Op) -> Iterator[Operand]:
    """Yield what an operation and its blocks put into lists."""
    for one in walk_ops((op,)):
        if isinstance(one, Call):
            f = callee_of(one)
            if f in _PUTTING:
                yield one.operands[-1]
            elif f is primitives.build_list:
                yield from one.operands


_REASON = "a write to an array that a list of unknown length may hold"
