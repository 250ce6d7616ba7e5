"""The reverse of a branch: both ways are reversed, and their cotangents joined."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING

from adjoint.fast import runtime
from adjoint.fast.evaluate.types import bar_type, number
from adjoint.fast.reverse.fitting import whole
from adjoint.fast.reverse.reached import NO, YES, Reached, is_there
from adjoint.fast.reverse.regions import Branches, Region
from adjoint.fast.reverse.residuals import with_values
from adjoint.fast.reverse.scope import Scope
from adjoint.ir import single as ir
from adjoint.ir.single import Block, Call, Const, If, Operand, Value

if TYPE_CHECKING:
    from adjoint.fast.reverse.sweep import Sweep

__all__ = ["if_back"]


def if_back(sweep: Sweep, scope: Scope, made: Branches) -> None:
    """Write the reverse of a branch."""
    op = made.op
    bars, sources = scope.take_all(op.results)
    if all(bar is None for bar in bars) and not sweep.writes(op):
        return
    sides = []
    for region in (made.body, made.orelse):
        with sweep.ev.writing() as ops:
            inner = Scope(sweep, scope)
            inner.kind, inner.inner = "if", region.defined
            into = zip(op.results, region.results or (), bars, sources, strict=False)
            for y, x, bar, source in into:
                if bar is not None:
                    if y in sweep.optional and isinstance(x, Value):
                        sweep.optional.add(x)
                    sweep.source = source
                    inner.add(x, bar, y in sweep.optional)
            if region.results is not None:
                sweep.reverse(region, inner)
        sides.append((inner, ops))
    touched = dict.fromkeys(v for inner, _ in sides for v in inner.bars if v not in inner.inner)
    results: list[Value] = []
    ends: tuple[list[Operand], list[Operand]] = ([], [])
    for v in touched:
        _join_reached(sweep, scope, v, sides, results, ends)
        if scope.has_buffer(v):
            buffer = scope.buffer(v)
            for inner, ops in sides:  # the buffer may be younger than what one side contributed
                mine = inner.bars.get(v)
                if mine is not None and mine != buffer:
                    ops.append(Call(None, Const(runtime.add_to), (buffer, mine)))
            continue
        _join_bars(sweep, scope, v, sides, results, ends)
    blocks = []
    for (_, ops), region, end in zip(sides, (made.body, made.orelse), ends, strict=True):
        block = Block((), tuple(ops), tuple(end))
        blocks.append(_with_residuals(sweep, scope, made, region, block))
    sweep.ev.write(If(tuple(results), op.condition, blocks[0], blocks[1], op.span))


def _join_reached(
    sweep: Sweep,
    scope: Scope,
    v: Value,
    sides: Sequence[tuple[Scope, list[ir.Op]]],
    results: list[Value],
    ends: tuple[list[Operand], list[Operand]],
) -> None:
    """Whether there is a path to an outer value after a branch."""
    is_leaf = v in sweep.leaves or v in sweep.items or v in sweep.chosen
    is_new = v not in scope.bars and (scope.kind != "loop" or scope._is_inner(v))
    without: Reached = scope.reached.get(v, NO)
    found: list[Reached] = []
    for inner, ops in sides:
        if v not in inner.bars:
            found.append(without)
            continue
        mine = inner.reached.get(v)
        with sweep.ev.writing(ops):
            if mine == YES and not is_new and v in sweep.optional:
                mine = is_there(sweep.ev, inner.bars[v])
            found.append(mine if v not in scope.reached else scope.joined(v, mine))
    certain = [YES if x == NO and is_new and is_leaf else x for x in found]
    if None in found:
        scope.reached[v] = None
    elif found[0] == found[1]:
        scope.reached[v] = found[0]
    elif is_new and is_leaf and not scope.has_buffer(v) and certain == [YES, YES]:
        scope.reached[v] = YES  # if it is there
    else:
        results.append(sweep.ev.value(number(bool), name="reached"))
        scope.reached[v] = results[-1]
        for (inner, ops), end, x in zip(sides, ends, found, strict=True):
            bar = inner.bars.get(v, scope.bars.get(v))
            if x == YES and v in sweep.optional and bar is not None:
                with sweep.ev.writing(ops):
                    x = is_there(sweep.ev, bar)
            assert x is not None
            end.append(x)


def _join_bars(
    sweep: Sweep,
    scope: Scope,
    v: Value,
    sides: Sequence[tuple[Scope, list[ir.Op]]],
    results: list[Value],
    ends: tuple[list[Operand], list[Operand]],
) -> None:
    """The cotangent of an outer value after a branch."""
    if not scope._is_inner(v):
        scope._begin(v)
    before = scope.bars.get(v)
    t = bar_type(sweep.ev.types[v])
    for (inner, ops), end in zip(sides, ends, strict=True):
        mine = inner.bars.get(v)
        if mine is None and before is None:
            if v in sweep.leaves or v in sweep.items or v in sweep.chosen:
                sweep.optional.add(v)
                mine = Const(None)
            else:
                with sweep.ev.writing(ops):
                    mine = inner.zeros(v)
        elif mine is None:
            mine = before
        elif before is not None:
            with sweep.ev.writing(ops):
                add = runtime.added if v in sweep.optional else operator.add
                mine = scope._sum(v, before, mine, add)
        assert mine is not None
        with sweep.ev.writing(ops):
            end.append(mine if mine == Const(None) else whole(sweep.ev, mine, v))
    result = sweep.ev.value(t, name=f"{v.name}_bar")
    results.append(result)
    scope.bars[v] = result


def _with_residuals(
    sweep: Sweep, scope: Scope, made: Branches, region: Region, block: Block
) -> Block:
    """The reverse of a branch, in which what it is given of the forward branch are results of
    the forward `If` that only this branch gives."""
    other = made.orelse if region is made.body else made.body
    block, names = with_values(sweep.ev, region, block, sweep.free if scope.is_repeated else None)
    for v, kept in names.items():
        made.results.append(kept)
        made.owner.defined.add(kept)
        assert region.results is not None
        region.results.append(v)
        if other.results is not None:
            other.results.append(Const(None))
    return block
