"""The active values of a program: they depend on what the derivative is taken with respect to."""

from __future__ import annotations

from adjoint.fast.evaluate.types import is_inexact
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.passes.sequence import is_effect
from adjoint.fast.reverse.differentiate import is_carrier, is_rounded
from adjoint.fast.reverse.sweep import Sweep, is_write
from adjoint.fast.single_assignment.walk import (
    Carried,
    blocks,
    carried_values,
    is_call_of,
    operands,
    read_by,
    walk,
)
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.ir.single import Block, Call, Const, If, Loop, Operand, Unpack, Value

_PUSH, _SUM_OF = Const(runtime.push), Const(runtime.sum_of)
_DEMAND_VIEW = Const(runtime.demand_view)


def find_all_active(sweep: Sweep, block: Block) -> None:
    """Add dependent values to `active` until nothing changes: a write may make a value active
    that was read before."""
    sweep.used = _used(block) if sweep.ev.has_rows() else set()
    before = -1
    while before != len(sweep.active):
        before = len(sweep.active)
        _find_active(sweep, block)
        if not sweep.ev.written:
            break
    if sweep.taped:
        _demand_unread(sweep, block)


def _demand_unread(sweep: Sweep, block: Block) -> None:
    """Refuse tapes of an inner derivative: their items carry derivatives, too. Lists of the
    terms of a sum are tapes that only `sum_of` reads, whose derivative is that of a total."""
    for op in walk(block):
        read = read_by(op)
        if isinstance(op, Call) and op.callee in (_PUSH, _SUM_OF):
            read = iter(op.operands[1:])
        if not sweep.taped.isdisjoint(read):
            raise NotCovered("a reverse sweep over that of a loop", op.span)


def _find_active(sweep: Sweep, block: Block) -> None:
    """Add the values in a block that depend on active ones to `active`."""
    for op in block.ops:
        if isinstance(op, Call):
            if op.result is not None:
                sweep.made_by[op.result] = op
                if op.keywords and sweep.is_active(x for _, x in op.keywords):
                    raise NotCovered("a keyword that carries a derivative", op.span)
                if carries(sweep, op):
                    sweep.active.add(op.result)
            elif is_write(op):
                if sweep.is_active(op.operands[1:]):
                    sweep.active.update(sweep.ev.owners(op.operands[0]))  # type: ignore[arg-type]
            elif op.callee == _PUSH and sweep.is_active(op.operands[1:]):
                sweep.taped.update(x for x in op.operands[:1] if isinstance(x, Value))
            elif op.callee == _DEMAND_VIEW:
                pass
            elif is_effect(op) and sweep.is_active(op.operands):
                raise NotCovered("a reverse sweep over that of a list", op.span)
        elif isinstance(op, Unpack):
            if isinstance(op.value, Value) and op.value in sweep.active:
                is_tuple = op.value in sweep.ev.several
                sweep.active.update(
                    x for x in op.results if not is_tuple or is_inexact(sweep.ev.types[x])
                )
        elif isinstance(op, If):
            for inner in (op.body, op.orelse):
                _find_active(sweep, inner)
                for result, x in zip(op.results, inner.results or (), strict=False):
                    if x in sweep.active:
                        sweep.active.add(result)
        elif isinstance(op, Loop):
            _loop_active(sweep, op)


def _loop_active(sweep: Sweep, op: Loop) -> None:
    if op.iterable is not None and sweep.iterates_over_active(op.iterable):
        sweep.active.add(op.body.parameters[0])
    carried = carried_values(op)
    _activate_carried(sweep, carried)
    is_settled = False
    while not is_settled:
        before = len(sweep.active)
        for block in blocks(op):
            _find_active(sweep, block)
        if not sweep.ev.written:  # only the carried values may ask for another pass
            before = len(sweep.active)
        _activate_carried(sweep, carried)
        is_settled = before == len(sweep.active)


def _activate_carried(sweep: Sweep, carried: Carried) -> None:
    for values, made_of in carried:
        if sweep.is_active(made_of):
            sweep.active.update(values)


def carries(sweep: Sweep, op: Call) -> bool:
    """Return whether the result of a call depends on active operands."""
    if not sweep.is_active(op.operands) or not is_carrier(sweep, op):
        return False
    return not is_rounded(sweep.ev, op, sweep.active, sweep.made_by)


def _used(block: Block) -> set[Operand]:
    """Return the operands that are read other than for a write or a length."""
    found: set[Operand] = set(block.results or ())
    for op in walk(block):
        if is_call_of(op, rows.count):
            continue
        writes = isinstance(op, Call) and op.result is None and is_write(op)
        # of a write, without the callee and what is written to
        found.update(operands(op)[2:] if writes else read_by(op))
    return found
