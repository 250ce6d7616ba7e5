"""Views of arrays that a program writes to.

A view shows every write, but its cotangent goes to that of its array where the view is made::

    v = getitem(a, 0)
    put(a, (0, 1), x)
    y = sum(v)              # after the write

The cotangent of a view that is read after a write is therefore the same view of the cotangent of
its array (`Scope.shown`), and so is that of a view that is written to. Making such a view has no
reverse.
"""

from __future__ import annotations

from collections import Counter

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import Number, Row
from adjoint.fast.evaluate.writes.listed_arrays import demand_listed_unwritten
from adjoint.fast.evaluate.writes.memory_sharing import Sharing
from adjoint.fast.evaluate.writes.own_arrays import reads_sizes, target_of, with_own_arrays
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.single_assignment.walk import (
    blocks,
    callee_of,
    operands,
    results,
    walk,
    with_blocks,
)
from adjoint.fast.support import functions as runtime
from adjoint.fast.support.result_memory import MAY_SHOW
from adjoint.ir import single as ir
from adjoint.ir.single import Block, Call, Const, Loop, Operand, Unpack, Value


def demand_view(ev: Evaluator, view: Value) -> None:
    """Write the check that what may be a copy of an array is a view of it."""
    op = ev.views[view]
    if callee_of(op) in MAY_SHOW:
        ev.write(Call(None, Const(runtime.demand_view), (view, op.operands[0]), (), op.span))


# ---- aliases -------------------------------------------------------------------------------------


def with_aliases(ev: Evaluator, block: Block) -> Block:
    """Record results of branches and loops, and loop parameters, as aliases of what they may show;
    return the block with copies of arrays that it writes to.

    What is made inside of a branch or a loop is written to there by its own name only: see
    `own_arrays`.
    """
    for op in walk(block):
        if isinstance(op, Loop) and op.iterable is not None:
            _note_result_alias(ev, op.body.parameters[0], op.iterable)
        elif isinstance(op, Unpack):
            for result in op.results:
                _note_result_alias(ev, result, op.value)
        elif isinstance(op, Call) and callee_of(op) in _ITERATING and op.result is not None:
            ev.note_alias(op.result, op.operands)
    demand_listed_unwritten(ev, block)
    block = with_own_arrays(ev, block)
    sharing = Sharing(ev, block)
    for x in sharing.joins:
        if not isinstance(ev.types[x], Number | Row):
            ev.note_alias(x, sharing.outer(x))
    return block


_ITERATING = (zip, enumerate, reversed)


def _note_result_alias(ev: Evaluator, result: Value, x: Operand) -> None:
    if not isinstance(ev.types[result], Number | Row):
        ev.note_alias(result, (x,))


# ---- reads after writes --------------------------------------------------------------------------


def check_views(ev: Evaluator, block: Block) -> Block:
    """Find the views that are read after a write to their array; return the block with checks that
    they are no copies.

    Raises
    ------
    NotCovered
        It is not known how an alias shows its array.
    """
    if not ev.written:
        return block
    for op in walk(block):
        if isinstance(op, Call) and op.result in ev.views:  # passes have replaced its operands
            ev.views[op.result] = op
    viewer = _Viewer(ev)
    viewer.block(block)
    ev.shown |= ev.written & ev.views.keys()
    return _checked(ev, block, viewer.uncertain) if viewer.uncertain else block


def _checked(ev: Evaluator, block: Block, uncertain: set[Value]) -> Block:
    with ev.writing() as ops:
        for op in block.ops:
            ev.write(with_blocks(op, lambda inner: _checked(ev, inner, uncertain)))
            for view in uncertain.intersection(results(op)):
                demand_view(ev, view)
    return Block(block.parameters, tuple(ops), block.results)


class _Viewer:
    """The aliases of arrays in a block while it is walked through.

    Attributes
    ----------
    writes
        By array: the number of writes to it so far.
    seen
        By alias: this number for each array that it may show, when the alias was made.
    iterated
        By iterable: those of whose items its items consist.
    uncertain
        The views that are read after a write, and may be copies.
    """

    def __init__(self, ev: Evaluator) -> None:
        self.ev = ev
        self.writes: Counter[Value] = Counter()
        self.seen: dict[Value, dict[Value, int]] = {}
        self.iterated: dict[Value, tuple[Operand, ...]] = {}
        self.uncertain: set[Value] = set()

    def block(self, block: Block) -> None:
        for parameter in block.parameters:
            self._define(parameter)
        for op in block.ops:
            self._op(op)
        for x in block.results or ():
            self._read(x)

    def _op(self, op: ir.Op) -> None:
        target = target_of(op)
        if not reads_sizes(op):
            for x in operands(op):
                if x is not target:
                    self._read(x)
        if isinstance(op, Loop):  # a later iteration reads what an earlier one has written
            for one in walk(Block((), (op,), None)):
                self._note_write(target_of(one))
            self._iterate(op.iterable)
        for inner in blocks(op):
            self.block(inner)
        self._note_write(target)
        for result in results(op):
            self._define(result)
            if isinstance(op, Call) and callee_of(op) in _ITERATING:
                self.iterated[result] = op.operands

    def _iterate(self, x: Operand | None) -> None:
        """Read the items of an iterable, one by one."""
        if isinstance(x, Value):
            for array in self.iterated.get(x, (x,)):
                if array is x:
                    self._read(x)
                else:
                    self._iterate(array)

    def _note_write(self, target: Value | None) -> None:
        if target is not None:
            self.writes.update(self.ev.owners(target))

    def _define(self, x: Value) -> None:
        if x in self.ev.aliases:
            owners = self.ev.aliased_by(x) & self.ev.written
            self.seen[x] = {owner: self.writes[owner] for owner in owners if owner is not x}

    def _is_stale(self, x: Operand) -> bool:
        seen = self.seen.get(x, {}) if isinstance(x, Value) else {}
        return any(self.writes[owner] != n for owner, n in seen.items())

    def _read(self, x: Operand) -> None:
        if not isinstance(x, Value) or not self._is_stale(x):
            return
        *views, owner = self.ev.owners(x)
        if not views or self._is_stale(owner):
            raise NotCovered(_REASON, self.ev.span)
        self.ev.written.update((*views, owner))
        self.uncertain.update(view for view in views if callee_of(self.ev.views[view]) in MAY_SHOW)


_REASON = "a view that is read after a write to what it looks at"
