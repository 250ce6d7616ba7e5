"""The reverse of a loop.

Cotangents of what it carries are carried through its iterations from the last to the first; those
of what is outside are summed up on the way. What an iteration reads of its forward part comes from
the loop's tape.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from adjoint.fast import runtime
from adjoint.fast.covered import NotCovered
from adjoint.fast.evaluate.types import Row, bar_type, number
from adjoint.fast.reverse.fitting import whole
from adjoint.fast.reverse.reached import NO, YES, Reached, both, either, is_there
from adjoint.fast.reverse.regions import Branches, ForwardLoop, Region, marks, reset
from adjoint.fast.reverse.residuals import on_tape
from adjoint.fast.reverse.rows import add_item
from adjoint.fast.reverse.scope import Scope
from adjoint.fast.single.walk import operands, results
from adjoint.ir import single as ir
from adjoint.ir.single import Block, Call, Const, Loop, Operand, Unpack, Value

if TYPE_CHECKING:
    from adjoint.fast.reverse.sweep import Sweep

__all__ = ["loop_back"]

_Items: TypeAlias = "list[tuple[Value, Callable[[Scope], Operand | None]]]"


@dataclass
class _Slot:
    """What a loop carries that has a cotangent, of which is known: the value in front of an
    iteration and at its end, whether there is a cotangent behind the loop, and a path to it."""

    value: Value
    end: Operand
    has_bar: bool
    source: Reached
    parameter: Value = field(init=False)
    flag: Value | None = None


@dataclass
class _Flag:
    """A truth value that the reverse of a loop carries: whether there is a path to `of`."""

    of: Value
    start: Operand
    parameter: Value
    after: Operand
    result: Value


@dataclass
class _Iteration:
    """The reverse of an iteration; `after` and `reached` say what its slots are at its end."""

    inner: Scope
    ops: list[ir.Op]
    is_exact: bool
    after: list[Operand] = field(default_factory=list)
    reached: list[Reached] = field(default_factory=list)
    flags: list[_Flag] = field(default_factory=list)
    counter: Value | None = None
    index: Value | None = None
    is_steady: bool = True
    is_known: bool = True


def loop_back(sweep: Sweep, scope: Scope, made: ForwardLoop, tape: Value) -> None:
    """Write the reverse of a loop, whose residuals go on `tape`."""
    op, region = made.op, made.body
    bars, sources = scope.take_all(op.results[op.stops :])
    if all(bar is None for bar in bars) and not sweep.writes(op):
        return
    carried = region.parameters[len(region.parameters) - len(op.initial) :]
    ends = (region.results or [])[op.stops :]
    slots = _reached(sweep, op, region, carried, ends, bars)
    items = _items_back(sweep, scope, op)
    initial: list[Operand] = []
    for i in slots:
        bar = bars[i]
        of = op.results[op.stops + i]
        initial.append(scope.zeros(of) if bar is None else whole(sweep.ev, bar, of))
    base = _common(sources[i] for i in slots if bars[i] is not None)
    going = [_Slot(carried[i], ends[i], bars[i] is not None, sources[i]) for i in slots]
    back = _iteration_back(sweep, scope, made, going, items, base)
    inner, ops = back.inner, back.ops
    starts, next_ = list(initial), back.after
    inner_parameters = [slot.parameter for slot in going]
    results = [_bar(sweep, slot.value) for slot in going]
    for v, parameter in inner.accumulators.items():
        if not scope._is_inner(v):
            scope._begin(v)
        before = scope.bars.get(v)
        if before is not None and scope.reached.get(v) == YES and v in sweep.optional:
            scope.reached[v] = is_there(sweep.ev, before)
        starts.append(scope.zeros(v) if before is None else before)
        inner_parameters.append(parameter)
        next_.append(inner.bars[v])
        result = _bar(sweep, v)
        scope.bars[v] = result
        results.append(result)
    flags = _carried_flags(sweep, back, going)
    starts += [flag.start for flag in flags]
    inner_parameters += [flag.parameter for flag in flags]
    next_ += [flag.after for flag in flags]
    results += [flag.result for flag in flags]
    if items:
        assert back.index is not None and back.counter is not None
        inner_parameters.append(back.counter)
        next_.append(back.index)
        results.append(sweep.ev.value(number(int), name="i"))
    body = Block(tuple(inner_parameters), tuple(ops), tuple(next_))
    body, steps, count = on_tape(sweep.ev, made, body, tape, sweep.free)
    if items:
        starts.append(_length(sweep, tape, count))
    sweep.ev.write(Loop(tuple(results), tuple(starts), steps, None, body, False, op.span))
    base = YES if back.is_exact else base
    known = {flag.of: flag.result for flag in flags}
    rounds = tape if count else made.range  # and not what is read of it, an iterator is always true
    assert rounds is not None
    ran = _reached_in_loop(sweep, scope, back, base, rounds, known)
    for i, slot, result in zip(slots, going, results, strict=False):
        if back.is_exact:
            sweep.source = known.get(slot.value)
        else:
            sweep.source = base if slot.has_bar else both(sweep.ev, base, ran)
        scope.add(op.initial[i], result)


def _bar(sweep: Sweep, v: Value) -> Value:
    return sweep.ev.value(bar_type(sweep.ev.types[v]), name=f"{v.name}_bar")


def _iteration_back(
    sweep: Sweep,
    scope: Scope,
    made: ForwardLoop,
    going: list[_Slot],
    items: _Items,
    base: Reached,
) -> _Iteration:
    """The reverse of an iteration. At first it is taken for granted that there are paths to
    whatever has a cotangent, or none: `base`; where that is not so in the next iteration, it is
    written once more, with truth values that are carried."""
    if not sweep.is_exact and base is not None:
        noted, doubted = marks(made.body), set(sweep.doubted)
        back = _iteration_written(sweep, scope, made, going, items, base)
        if back.is_steady:
            return back
        reset(noted)
        sweep.doubted = doubted
    outer, sweep.is_exact = sweep.is_exact, True
    back = _iteration_written(sweep, scope, made, going, items, YES, is_exact=True)
    sweep.is_exact = outer
    return back


def _iteration_written(
    sweep: Sweep,
    scope: Scope,
    made: ForwardLoop,
    going: list[_Slot],
    items: _Items,
    base: Reached,
    is_exact: bool = False,
) -> _Iteration:
    region, ev = made.body, sweep.ev
    with ev.writing() as ops:
        inner = Scope(sweep, scope)
        inner.kind, inner.inner, inner.base = "loop", region.defined, base
        back = _Iteration(inner, ops, is_exact)
        if items:
            back.counter = ev.value(number(int), name="i")
            operands = (back.counter, Const(1))
            back.index = ev.operation(operator.sub, operands, number(int), name="i")
        for slot in going:
            slot.parameter = _bar(sweep, slot.value)
            slot.flag = None
            if is_exact and (slot.source is not None or not slot.has_bar):
                slot.flag = ev.value(number(bool), name="reached")
            sweep.source = slot.flag if is_exact else YES if slot.has_bar else None
            inner.add(slot.end, slot.parameter)
        sweep.reverse(region, inner)
        for source, columns in items:
            bar = columns(inner)
            if bar is not None:
                at = scope.buffer(source)
                inner.note(source)
                assert back.index is not None
                if isinstance(ev.types[source], Row):
                    add_item(inner, source, at, back.index, bar)
                else:
                    ev.write(Call(None, Const(runtime.add_at), (at, back.index, bar)))
        for slot in going:
            v = slot.value
            bar = inner.take(v)
            back.reached.append(NO if bar is None else sweep.source)
            back.after.append(inner.zeros(v) if bar is None else whole(ev, bar, v))
        outer = [x for v, x in inner.reached.items() if v not in inner.inner]
        back.is_steady = None not in outer and all(found == YES for found in back.reached)
        if is_exact or back.is_steady:
            _add_flags(sweep, back)
    return back


def _add_flags(sweep: Sweep, back: _Iteration) -> None:
    """Whether there was a path to an outer value in any iteration, where that is not the same
    in all of them."""
    for v, found in back.inner.reached.items():
        if v in back.inner.inner or not isinstance(found, Value):
            continue
        parameter = sweep.ev.value(number(bool), name="reached")
        after = either(sweep.ev, parameter, found)
        assert after is not None
        back.flags.append(
            _Flag(
                v,
                NO,
                parameter,
                after,
                _flag(
                    sweep,
                ),
            )
        )


def _flag(sweep: Sweep) -> Value:
    return sweep.ev.value(number(bool), name="reached")


def _carried_flags(sweep: Sweep, back: _Iteration, going: list[_Slot]) -> list[_Flag]:
    """The truth values that a loop carries; none of them is known if one is not."""
    flags = list(back.flags)
    if not back.is_exact:
        return flags
    for slot, found in zip(going, back.reached, strict=True):
        start = slot.source if slot.has_bar else NO
        if slot.flag is None:
            continue
        if start is None or found is None:
            back.is_known = False
            start, found = NO, NO
        flags.append(
            _Flag(
                slot.value,
                start,
                slot.flag,
                found,
                _flag(
                    sweep,
                ),
            )
        )
    return flags


def _reached_in_loop(
    sweep: Sweep,
    scope: Scope,
    back: _Iteration,
    base: Reached,
    rounds: Operand,
    known: dict[Value, Value],
) -> Reached:
    """Note whether there are paths to outer values after a loop, if there are in each iteration
    as far as there are to what it carries: `base`. Returns whether it ran."""
    inner = back.inner
    outer = [v for v in inner.reached if v not in inner.inner]
    if base != YES or not back.is_known:
        sweep.doubted.update(v for v in outer if isinstance(sweep.ev.types[v], Row))
    ran = sweep.ev.operation(operator.truth, (rounds,), number(bool), name="reached")
    sweep.ran[ran] = rounds
    for v in outer:
        found = inner.reached[v]
        if found == YES:
            found = both(sweep.ev, base, ran)
        elif back.is_known:
            found = both(sweep.ev, base, known.get(v, found))
        else:
            found = None
        scope.reached[v] = either(sweep.ev, scope.reached.get(v, NO), found)
    if not back.is_known:
        known.clear()
    return ran


def _length(sweep: Sweep, tape: Value, count: int) -> Value:
    """How many iterations a tape is of."""
    n = sweep.ev.operation(len, (tape,), number(int), name="i")
    if count == 1:
        return n
    return sweep.ev.operation(operator.floordiv, (n, Const(count)), number(int), name="i")


def _reached(
    sweep: Sweep,
    op: Loop,
    region: Region,
    carried: Sequence[Value],
    ends: Sequence[Operand],
    bars: Sequence[Operand | None],
) -> list[int]:
    """The carried values that a cotangent may reach: what the others carry, nothing that has
    one is made of."""
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


def _note_item(sweep: Sweep, source: Value, item: Value) -> None:
    if source in sweep.leaves and isinstance(sweep.ev.types[source], Row):
        sweep.items.add(item)


def _items_back(sweep: Sweep, scope: Scope, op: Loop) -> _Items:
    """For each active array that is iterated over: itself, and what finds the cotangent of the
    item."""
    if op.iterable is None or op.body.parameters[0] not in sweep.active:
        return []
    item = op.body.parameters[0]
    assert isinstance(op.iterable, Value)
    if op.iterable in sweep.active:
        _note_item(sweep, op.iterable, item)
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
            _note_item(sweep, source, column)
            found.append((source, _taking(column)))
        elif isinstance(source, Value) and sweep.iterates_over_active(source):
            raise NotCovered("nested iterators over what is active", op.span)
    return found


def _common(sources: Iterable[Reached]) -> Reached:
    """What several have in common; ``None`` if they are different."""
    found = [*sources]
    return found[0] if found and all(x == found[0] for x in found) else None


def _made_of(region: Region) -> dict[Value, tuple[Operand, ...]]:
    """Of each value in a forward block: the operands that it is made of."""
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
