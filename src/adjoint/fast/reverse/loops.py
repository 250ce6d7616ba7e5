"""The reverse of a loop.

The reverse loop carries the cotangents of carried values from the last iteration to the first, and
accumulates those of outer values. The residuals of an iteration come from the tape of the loop.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from adjoint.fast.evaluate.types import Row, bar_type, number
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.reverse.block_cotangents import Scope
from adjoint.fast.reverse.cotangent_types import whole
from adjoint.fast.reverse.forward_blocks import Branches, ForwardBlock, ForwardLoop
from adjoint.fast.reverse.residuals import on_tape
from adjoint.fast.reverse.rows import add_item
from adjoint.fast.reverse.sweep import Sweep
from adjoint.fast.single_assignment.walk import operands, results
from adjoint.fast.support import functions as runtime
from adjoint.ir import single as ir
from adjoint.ir.single import Block, Call, Const, Loop, Operand, Unpack, Value

_Items: TypeAlias = "list[tuple[Value, Callable[[Scope], Operand | None]]]"


@dataclass(eq=False, repr=False)
class _Iteration:
    """The reverse of an iteration.

    Attributes
    ----------
    before, after
        The cotangents of the carried values at the end of the forward iteration (parameters), and
        at its beginning (results).
    counter, index
        The number of forward iterations up to this one, and its index from 0; ``None`` if no active
        array is iterated over.
    """

    inner: Scope
    ops: list[ir.Op]
    before: list[Value] = field(default_factory=list)
    after: list[Operand] = field(default_factory=list)
    counter: Value | None = None
    index: Value | None = None


def loop_back(sweep: Sweep, scope: Scope, made: ForwardLoop, tape: Value) -> None:
    """Write the reverse of a loop with residuals on `tape`."""
    op, region = made.op, made.body
    bars = [*map(scope.take, op.results[op.stops :])]
    if all(bar is None for bar in bars) and not sweep.writes(op):
        return
    carried = region.parameters[len(region.parameters) - len(op.initial) :]
    ends = (region.results or [])[op.stops :]
    slots = _reached(sweep, op, region, carried, ends, bars)
    items = _items_back(sweep, op)
    starts: list[Operand] = []
    for i in slots:
        bar = bars[i]
        of = op.results[op.stops + i]
        starts.append(scope.zeros(of) if bar is None else whole(sweep.ev, bar, of))
    back = _iteration_back(sweep, scope, region, [(carried[i], ends[i]) for i in slots], items)
    inner, parameters, next_ = back.inner, back.before, back.after
    results = [_bar(sweep, carried[i]) for i in slots]
    for v, parameter in inner.accumulators.items():
        if not scope._is_inner(v):
            scope._begin(v)
        before = scope.bars.get(v)
        starts.append(scope.zeros(v) if before is None else before)
        parameters.append(parameter)
        next_.append(inner.bars[v])
        result = _bar(sweep, v)
        scope.bars[v] = result
        results.append(result)
    if items:
        assert back.index is not None and back.counter is not None
        parameters.append(back.counter)
        next_.append(back.index)
        results.append(sweep.ev.value(number(int), name="i"))
    body = Block(tuple(parameters), tuple(back.ops), tuple(next_))
    body, steps, count = on_tape(sweep.ev, made, body, tape, sweep.free)
    if items:
        starts.append(_length(sweep, tape, count))
    sweep.ev.write(Loop(tuple(results), tuple(starts), steps, None, body, False, op.span))
    for i, result in zip(slots, results, strict=False):
        scope.add(op.initial[i], result)


def _bar(sweep: Sweep, v: Value) -> Value:
    return sweep.ev.value(bar_type(sweep.ev.types[v]), name=f"{v.name}_bar")


def _iteration_back(
    sweep: Sweep,
    scope: Scope,
    region: ForwardBlock,
    going: list[tuple[Value, Operand]],
    items: _Items,
) -> _Iteration:
    """Write the reverse of an iteration; `going` are the carried values, at its begin and end."""
    ev = sweep.ev
    with ev.writing() as ops:
        inner = Scope(sweep, scope)
        inner.kind, inner.inner = "loop", region.defined
        back = _Iteration(inner, ops)
        if items:
            back.counter = ev.value(number(int), name="i")
            operands = (back.counter, Const(1))
            back.index = ev.operation(operator.sub, operands, number(int), name="i")
        for v, end in going:
            back.before.append(_bar(sweep, v))
            inner.add(end, back.before[-1])
        region.reverse(inner)
        for source, columns in items:
            bar = columns(inner)
            if bar is not None:
                at = scope.buffer(source)
                assert back.index is not None
                if isinstance(ev.types[source], Row):
                    add_item(inner, source, at, back.index, bar)
                else:
                    ev.write(Call(None, Const(runtime.add_at), (at, back.index, bar)))
        for v, _ in going:
            bar = inner.take(v)
            back.after.append(inner.zeros(v) if bar is None else whole(ev, bar, v))
    return back


def _length(sweep: Sweep, tape: Value, count: int) -> Value:
    """Write the number of iterations on a tape with `count` items per iteration."""
    n = sweep.ev.operation(len, (tape,), number(int), name="i")
    if count == 1:
        return n
    return sweep.ev.operation(operator.floordiv, (n, Const(count)), number(int), name="i")


def _reached(
    sweep: Sweep,
    op: Loop,
    region: ForwardBlock,
    carried: Sequence[Value],
    ends: Sequence[Operand],
    bars: Sequence[Operand | None],
) -> list[int]:
    """Return the indices of the carried values that a cotangent may reach."""
    if sweep.writes(op):
        return [i for i, p in enumerate(carried) if sweep.is_active((p, ends[i]))]
    needed: set[Value] = set()
    slots: list[int] = []
    while True:
        more = [
            i
            for i, p in enumerate(carried)
            if i not in slots
            and (p in sweep.active or sweep.is_active((ends[i],)))
            and (bars[i] is not None or p in needed)
        ]
        if not more:
            return sorted(slots)
        slots += more
        pending: list[Operand] = [ends[i] for i in more]
        made_of = _made_of(region)
        while pending:
            x = pending.pop()
            if isinstance(x, Value) and sweep.may_carry(x) and x not in needed:
                needed.add(x)
                pending += made_of.get(x, ())


def _items_back(sweep: Sweep, op: Loop) -> _Items:
    """Return the active arrays that are iterated over, each with a function that takes the
    cotangent of its item."""
    if op.iterable is None or op.body.parameters[0] not in sweep.active:
        return []
    item = op.body.parameters[0]
    assert isinstance(op.iterable, Value)
    if op.iterable in sweep.active:
        return [(op.iterable, lambda inner: inner.take(item))]
    made = sweep.made_by[op.iterable]
    f = made.callee.value if isinstance(made.callee, Const) else None
    first = op.body.ops[0]
    if f not in (zip, enumerate) or not isinstance(first, Unpack) or first.value is not item:
        raise NotCovered("an iteration of another kind over what is active", op.span)
    sources = made.operands if f is zip else (Const(None), *made.operands[:1])
    found = []
    for source, column in zip(sources, first.results, strict=True):
        if isinstance(source, Value) and source in sweep.active:
            found.append((source, _taking(column)))
        elif isinstance(source, Value) and sweep.iterates_over_active(source):
            raise NotCovered("nested iterators over what is active", op.span)
    return found


def _made_of(region: ForwardBlock) -> dict[Value, tuple[Operand, ...]]:
    """Return, for each value in a forward block, the operands that it is made of."""
    found: dict[Value, tuple[Operand, ...]] = {}
    for op in region.ops:
        if isinstance(op, Branches):
            found |= _made_of(op.body) | _made_of(op.orelse)
            for side in (op.body, op.orelse):
                for result, x in zip(op.results, side.results or (), strict=False):
                    found[result] = (*found.get(result, ()), x)
        elif isinstance(op, ForwardLoop):
            found |= _made_of(op.body)
            loop, ends = op.op, (op.body.results or [])[op.op.stops :]
            first = len(op.body.parameters) - len(loop.initial)
            for i, (start, end) in enumerate(zip(loop.initial, ends, strict=True)):
                found[op.body.parameters[first + i]] = start, end
                found[loop.results[loop.stops + i]] = start, end
            if loop.iterable is not None:
                found[op.body.parameters[0]] = (loop.iterable,)
        else:
            found |= dict.fromkeys(results(op), operands(op))
    return found


def _taking(column: Value) -> Callable[[Scope], Operand | None]:
    return lambda inner: inner.take(column)
