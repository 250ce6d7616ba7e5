"""The reverse of a branch: each side is reversed, and their cotangents are joined."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint.fast.evaluate.types import bar_type
from adjoint.fast.reverse.block_cotangents import Scope
from adjoint.fast.reverse.cotangent_types import whole
from adjoint.fast.reverse.forward_blocks import Branches, ForwardBlock
from adjoint.fast.reverse.residuals import with_values
from adjoint.fast.reverse.sweep import Sweep
from adjoint.fast.support import functions as runtime
from adjoint.ir import single as ir
from adjoint.ir.single import Block, Call, Const, If, Operand, Value


def if_back(sweep: Sweep, scope: Scope, made: Branches) -> None:
    """Write the reverse of a branch."""
    op = made.op
    bars = [*map(scope.take, op.results)]
    if all(bar is None for bar in bars) and not sweep.writes(op):
        return
    sides = []
    for region in (made.body, made.orelse):
        with sweep.ev.writing() as ops:
            inner = Scope(sweep, scope)
            inner.kind, inner.inner = "if", region.defined
            for x, bar in zip(region.results or (), bars, strict=False):
                inner.add(x, bar)
            if region.results is not None:
                region.reverse(inner)
        sides.append((inner, ops))
    touched = dict.fromkeys(v for inner, _ in sides for v in inner.bars if v not in inner.inner)
    results: list[Value] = []
    ends: tuple[list[Operand], list[Operand]] = ([], [])
    for v in touched:
        if scope.has_buffer(v):
            buffer = scope.buffer(v)
            for inner, ops in sides:  # a side may have contributed before the buffer existed
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


def _join_bars(
    sweep: Sweep,
    scope: Scope,
    v: Value,
    sides: Sequence[tuple[Scope, list[ir.Op]]],
    results: list[Value],
    ends: tuple[list[Operand], list[Operand]],
) -> None:
    """Join the cotangents of an outer value after a branch."""
    if not scope._is_inner(v):
        scope._begin(v)
    before = scope.bars.get(v)
    t = bar_type(sweep.ev.types[v])
    for (inner, ops), end in zip(sides, ends, strict=True):
        mine = inner.bars.get(v)
        with sweep.ev.writing(ops):
            if mine is None:
                mine = inner.zeros(v) if before is None else before
            elif before is not None:
                mine = scope.sum(v, before, mine)
            end.append(whole(sweep.ev, mine, v))
    result = sweep.ev.value(t, name=f"{v.name}_bar")
    results.append(result)
    scope.bars[v] = result


def _with_residuals(
    sweep: Sweep, scope: Scope, made: Branches, region: ForwardBlock, block: Block
) -> Block:
    """Return the reverse of a side, with its residuals as further results of the forward `If`
    (``None`` on the other side)."""
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
