"""Arrays that the program writes to, and that may have another name: they are copied where they are
made.

Before, after::

    a, b = for i in n with a = a0, b = b0      a, b = for i in n with a = a0, b = b0
        put(a, i, x)                               c = copy(a)
        d = solve(m, a)                            put(c, i, x)
        put(d, i, x)                               t = solve(m, c)
        -> b, d                                    d = apart(t, m, c)
                                                   put(d, i, x)
                                                   -> b, d

That is the same program if no other name shows the write. The result of a function is compared with
its operands (`runtime.apart`). What a branch chooses or a loop carries, a *join*, must be in memory
that the program has made, which nothing reads from there on by another name.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import Array, Number, Row
from adjoint.fast.evaluate.writes.memory_sharing import Sharing
from adjoint.fast.not_covered import SharedWrite
from adjoint.fast.single_assignment.substitution import free_values
from adjoint.fast.single_assignment.walk import (
    blocks,
    callee_of,
    is_call_of,
    operands,
    read_by,
    results,
    walk,
    with_blocks,
)
from adjoint.fast.support import functions as runtime
from adjoint.ir.nodes import Span
from adjoint.ir.single import Block, Call, Const, Loop, Op, Operand, Raise, Unpack, Value

_Copies: TypeAlias = Mapping[Value, Collection[Operand]]
"""By array to copy: the operands that it must not share memory with."""

_REASON = "a write to an array that may have another name"
_WRITES = runtime.WRITES | runtime.BUFFER_WRITES


def target_of(op: Op) -> Value | None:
    """Return what an operation writes to."""
    if isinstance(op, Call) and callee_of(op) in _WRITES:
        assert isinstance(op.operands[0], Value)
        return op.operands[0]
    return None


def reads_sizes(op: Op) -> bool:
    """Return whether an operation reads only the sizes of its operands."""
    return callee_of(op) in (runtime.length, runtime.shape_of)


def with_own_arrays(ev: Evaluator, block: Block) -> Block:
    """Return a block in which arrays that it writes to are copied where they are made, unless it is
    known that they have no other name.

    Raises
    ------
    SharedWrite
        Another name may show a write.
    """
    written: dict[Value, Span | None] = {}
    for op in walk(block):
        target = target_of(op)
        owner = target if target is None else ev.owners(target)[-1]
        if owner in ev.unsure:
            written.setdefault(owner, op.span)
    if not written:
        return block
    copies: dict[Value, Collection[Operand]] = dict(_results(ev, block, written))
    for x in copies:
        ev.aliases.pop(x, None)
    ev.fresh |= copies.keys()
    sharing = Sharing(ev, block)
    joins = {x: span for x, span in written.items() if x not in copies}
    for x, span in joins.items():
        roots = sharing.made_of(x)
        is_own = x in sharing.joins and ev.locked.isdisjoint(roots)
        if not is_own or any(y not in ev.fresh and y not in ev.aliases for y in roots):
            raise SharedWrite(ev.unsure[x], _REASON, span)
    _Reads(ev, sharing, joins).before(block, set())
    ev.fresh |= joins.keys()
    return _copying(ev, block, {**copies, **dict.fromkeys(joins, ())})


def _results(
    ev: Evaluator, block: Block, written: Collection[Value]
) -> Iterable[tuple[Value, Collection[Operand]]]:
    """Yield the results of functions of libraries among what `written` arrays are made of, each
    with the arrays that it may be an alias of."""
    sharing = Sharing(ev, block)
    made = {y: op for op in walk(block) for y in results(op)}
    for x in {root for y in written for root in (y, *sharing.made_of(y))}:
        if x in ev.fresh or x in ev.views or not isinstance(ev.types[x], Array):
            continue
        op = made.get(x)
        others = [y for y in results(op) if y is not x] if isinstance(op, Unpack) else []
        if isinstance(op, Unpack):
            op = made.get(op.value)  # type: ignore[arg-type]
        while op is not None and is_call_of(op, runtime.foreseen):
            op = made.get(op.operands[0])  # type: ignore[arg-type]
        if isinstance(op, Call) and (f := callee_of(op)) is not None:
            arrays = _arrays(ev, (*operands(op)[1:], *others))
            if arrays is not None and _is_of_library(f):
                yield x, arrays


def _is_of_library(f: Any) -> bool:
    home = f if hasattr(f, "__module__") else getattr(f, "__objclass__", f)
    return str(getattr(home, "__module__", "")).partition(".")[0] in ("numpy", "scipy")


def _arrays(ev: Evaluator, xs: Iterable[Operand]) -> list[Operand] | None:
    """Return the arrays among operands, and in their tuples and lists; ``None`` if others may be in
    them."""
    found: list[Operand] = []
    for x in xs:
        if isinstance(x, Const):
            continue
        t = ev.types[x] if isinstance(x, Value) else None
        if isinstance(t, Array):
            found.append(x)
        elif not isinstance(t, Number | Row):
            items = ev.packs.get(x, ev.indices.get(x))  # type: ignore[arg-type]
            inside = None if items is None else _arrays(ev, items)
            if inside is None:
                return None
            found += inside
    return found


def _copying(ev: Evaluator, block: Block, copies: _Copies) -> Block:
    """Return a block in which arrays are copies of what is made under new names."""

    def incoming(values: Iterable[Value]) -> dict[Value, Value]:
        return {x: ev.value(ev.types[x], x.name) for x in values if x in copies}

    def copied(made: Mapping[Value, Value]) -> Iterable[Op]:
        for y, x in made.items():
            f = Const(runtime.apart if copies[y] else np.copy)
            others = (made.get(z, z) for z in copies[y])  # type: ignore[arg-type]
            yield Call(y, f, (x, *others), (), None)

    given = incoming(block.parameters)
    at = int(bool(block.ops) and _unpacks_item(block))
    ops: list[Op] = [*block.ops[:at], *copied(given)]
    for op in block.ops[at:]:
        op = with_blocks(op, lambda inner: _copying(ev, inner, copies))
        made = incoming(results(op))
        if made and isinstance(op, Call):
            op = replace(op, result=made[op.result])  # type: ignore[index]
        elif made and not isinstance(op, Call | Raise):
            op = replace(op, results=tuple(made.get(y, y) for y in results(op)))
        ops += (op, *copied(made))
    return Block(tuple(given.get(x, x) for x in block.parameters), tuple(ops), block.results)


def _unpacks_item(block: Block) -> bool:
    """Return whether a block begins with that it unpacks its first parameter, an item."""
    first = block.ops[0]
    return isinstance(first, Unpack) and first.value in block.parameters[:1]


class _Reads:
    """The reads of a block, and what they demand of the joins `written`."""

    def __init__(self, ev: Evaluator, sharing: Sharing, written: Mapping[Value, Span | None]):
        self.unsure, self.sharing, self.written = ev.unsure, sharing, written

    def before(self, block: Block, later: set[Value]) -> set[Value]:
        """Return what is read in a block or, `later`, after it, without what the block makes.

        Raises
        ------
        NotCovered
            What may share memory with a join that is written to is read after the join is made.
        """
        read = later | _values(block.results or ())
        for op in reversed(block.ops):
            self._demand_own(results(op), read)
            read.difference_update(results(op))
            for inner in blocks(op):
                read |= self.before(inner, read | self._again(op))
            if not reads_sizes(op):
                read |= _values(operands(op))
        self._demand_own(block.parameters, read)
        return read.difference(block.parameters)

    def _again(self, op: Op) -> set[Value]:
        """Return the values from before a loop that each iteration reads."""
        if not isinstance(op, Loop):
            return set()
        read = {op.iterable} if isinstance(op.iterable, Value) else set()
        for inner in blocks(op):
            read |= _values(inner.results or ())
            read |= {
                x for one in walk(inner) if not reads_sizes(one) for x in _values(read_by(one))
            }
        return read.intersection(free_values(Block((), (op,), ())))

    def _demand_own(self, made: Iterable[Value], read: Collection[Value]) -> None:
        for x in made:
            if x in self.written:
                if any(y is not x and self.sharing.share(x, y) for y in read):
                    raise SharedWrite(self.unsure[x], _REASON, self.written[x])


def _values(xs: Iterable[Operand]) -> set[Value]:
    return {x for x in xs if isinstance(x, Value)}
