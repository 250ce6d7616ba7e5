"""The reverse sweep of a program, written in the same IR.

A block is differentiated in two steps. The forward step goes through the operations in order and
plans the reverse of each active one. The reverse step carries out the plan in opposite order and
accumulates cotangents per value. A value of an inner block that it reads becomes a residual: a
further result of a branch, or an item on the tape of a loop.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any

from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import ANYTHING, Array
from adjoint.fast.evaluate.values import Origin
from adjoint.fast.reverse.activity import carries, find_all_active
from adjoint.fast.reverse.block_cotangents import Scope
from adjoint.fast.reverse.branches import if_back
from adjoint.fast.reverse.contents import Place
from adjoint.fast.reverse.cotangent_types import whole
from adjoint.fast.reverse.differentiate import differentiated
from adjoint.fast.reverse.forward_blocks import (
    Branches,
    ForwardBlock,
    ForwardLoop,
    Planned,
    Step,
    freeze,
)
from adjoint.fast.reverse.loops import loop_back
from adjoint.fast.reverse.rows import with_item
from adjoint.fast.reverse.sweep import Sweep, is_write, writes_in
from adjoint.fast.reverse.writes import written_back
from adjoint.fast.single_assignment.walk import callee_of, results
from adjoint.fast.support import functions as runtime
from adjoint.ir import primitives
from adjoint.ir import single as ir
from adjoint.ir.single import Block, Call, Const, If, Loop, Operand, Unpack, Value


def both_sweeps(
    ev: Evaluator,
    block: Block,
    wanted: Iterable[Value],
    seeds: Iterable[tuple[Operand, Operand | None]],
    taken: Callable[[Scope], Iterable[Operand]],
    later: Iterable[Value] = (),
) -> tuple[Block, Block]:
    """Return the forward and the reverse sweep of a block.

    Parameters
    ----------
    wanted
        The values that the derivative is taken with respect to.
    seeds
        Results of the block, each with its cotangent.
    taken
        Writes and returns the results of the reverse sweep.
    later
        Arrays that may be written to between the sweeps.
    """
    sweep = Sweep(ev, wanted)
    find_all_active(sweep, block)
    region = forward_sweep(sweep, block)
    sweep.primal = set(ev.fresh)
    sweep.contents.note_later_writes(later)
    with ev.writing() as back:
        scope = Scope(sweep)
        for y, y_bar in seeds:
            scope.add(y, y_bar)
        region.reverse(scope)
        ends = tuple(taken(scope))
    return freeze(region), Block((), tuple(back), ends)


def forward_sweep(sweep: Sweep, block: Block) -> ForwardBlock:
    """Write the forward sweep of a block, with the plan of its reverse."""
    region = ForwardBlock(block.parameters, is_outermost=not sweep.depth)
    if region.is_outermost:
        sweep.of_function = set(sweep.ev.types)
    region.results = None if block.results is None else list(block.results)
    region.defined.update(block.parameters)
    outer, sweep.ev.block = sweep.ev.block, region.ops
    try:
        for op in block.ops:
            _plan(sweep, op, region)
    finally:
        sweep.ev.block = outer
    for op in region.ops:
        is_branch = isinstance(op, Branches)
        inner = op.op if isinstance(op, ForwardLoop) else op
        region.defined.update(op.results if is_branch else results(inner))
    if region.is_outermost:
        sweep.free |= region.defined
    return region


def _plan(sweep: Sweep, op: ir.Op, region: ForwardBlock) -> None:
    """Write an operation, and plan its reverse."""
    contents = sweep.contents
    contents.next_operation(not sweep.depth)
    sweep.depth += 1
    back = _forward_op(sweep, op, region)
    sweep.depth -= 1
    if back is not None:
        place, has_blocks = len(region.ops), isinstance(op, If | Loop)
        made = Place(region, place, contents.number, contents.outer, has_blocks)
        region.plan.append(Planned(back, made))


def _forward_op(sweep: Sweep, op: ir.Op, region: ForwardBlock) -> Step | None:
    match op:
        case Call(result=Value() as y) if y not in sweep.ev.shown:
            # An array may be active because of a later write only.
            if y in sweep.active and (not sweep.ev.written or carries(sweep, op)):
                sweep.ev.span = op.span
                return _at(sweep, sweep.ev.origins.get(y), differentiated, op)
        case Call() if _is_scaled_by_active(sweep, op):
            for part in _scaled(sweep, op):
                _plan(sweep, part, region)
            return None
        case Call() if is_write(op) and op.operands[0] in sweep.active:
            sweep.ev.span = op.span
            op = with_item(sweep.ev, op)
            sweep.ev.block.append(op)
            _note_writes(sweep, op)
            target = op.operands[0]
            place = sweep.ev.origins.get(target) if isinstance(target, Value) else None
            if place is not None and op.span is not None:
                place = place[0], op.span.line, place[2]
            return _at(sweep, place, written_back, op)
        case Unpack(value=Value() as v) if v in sweep.active:
            sweep.ev.block.append(op)
            return lambda scope: _unpack_back(scope, op)
        case If() if sweep.holds_active(op):
            return _forward_if(sweep, op, region)
        case Loop() if sweep.holds_active(op):
            return _forward_loop(sweep, op)
    sweep.ev.block.append(op)
    _note_writes(sweep, op)
    return None


_SCALING: dict[Any, Any] = {runtime.scale: operator.mul, runtime.divide: operator.truediv}


def _is_scaled_by_active(sweep: Sweep, op: Call) -> bool:
    """Return whether an array is multiplied in place by something active."""
    return callee_of(op) in _SCALING and op.operands[1] in sweep.active


def _scaled(sweep: Sweep, op: Call) -> tuple[Call, Call]:
    """Return ``y *= c`` as ``t = y * c; y[...] = t``: the cotangent of `c` needs the incoming
    contents of `y`, which are kept as for any product."""
    (y, c), ev = op.operands, sweep.ev
    t = ev.value(ev.array_type(y), name="t")
    ev.fresh.add(t)
    sweep.active.add(t)
    sweep.of_function.add(t)
    made = Call(t, Const(_SCALING[callee_of(op)]), (y, c), (), op.span)
    sweep.made_by[t] = made
    return made, Call(None, Const(runtime.put), (y, Const(...), t), (), op.span)


def _at(sweep: Sweep, origin: Origin | None, plan: Callable[[Sweep, Call], Step], op: Call) -> Step:
    """Plan the reverse of an operation; what that makes belongs to the place `origin`."""
    ev = sweep.ev
    ev.origin = origin
    back = plan(sweep, op)
    ev.origin = None

    def placed_back(scope: Scope) -> None:
        ev.origin = origin
        back(scope)
        ev.origin = None

    return placed_back


def _note_writes(sweep: Sweep, op: ir.Op) -> None:
    for write in writes_in(op):
        target = write.operands[0]
        assert isinstance(target, Value)
        sweep.contents.note_write(target)


def _forward_if(sweep: Sweep, op: If, region: ForwardBlock) -> Step:
    made = Branches(
        op, forward_sweep(sweep, op.body), forward_sweep(sweep, op.orelse), list(op.results), region
    )
    sweep.ev.block.append(made)  # type: ignore[arg-type]
    return lambda scope: if_back(sweep, scope, made)


def _forward_loop(sweep: Sweep, op: Loop) -> Step:
    tape = sweep.ev.value(ANYTHING, name="tape")
    sweep.ev.block.append(Call(tape, Const(runtime.new_tape), ()))
    steps = sweep.made_by.get(op.iterable) if isinstance(op.iterable, Value) else None
    is_range = steps is not None and steps.callee == Const(range) and not op.stops
    if is_range:
        sweep.free.add(op.body.parameters[0])
    made = ForwardLoop(op, forward_sweep(sweep, op.body), op.iterable if is_range else None)
    sweep.ev.block.append(made)  # type: ignore[arg-type]
    return lambda scope: loop_back(sweep, scope, made, tape)


def _zero_of(scope: Scope, y: Value) -> Operand:
    """Write the cotangent of a result that is not used."""
    zero, t = Const(0.0), scope.ev.types.get(y)
    return whole(scope.ev, zero, y) if isinstance(t, Array) else zero


def _unpack_back(scope: Scope, op: Unpack) -> None:
    """Contribute to the cotangent of an unpacked list; the loop takes the columns of ``zip``."""
    assert isinstance(op.value, Value)
    if op.value not in scope.sweep.made_by:
        return
    bars = [*map(scope.take, op.results)]
    if all(bar is None for bar in bars):
        return
    if op.value in scope.ev.several:
        given = tuple(
            Const(None) if bar is None else whole(scope.ev, bar, y)
            for y, bar in zip(op.results, bars, strict=True)
        )
    else:
        given = tuple(
            _zero_of(scope, y) if bar is None else bar
            for y, bar in zip(op.results, bars, strict=True)
        )
    packed = scope.ev.operation(primitives.build_list, given, ANYTHING, name="parts")
    scope.ev.packs[packed] = given
    scope.add(op.value, packed)
