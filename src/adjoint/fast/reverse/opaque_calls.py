"""The reverse of opaque operations: a pullback of the generic tier."""

from __future__ import annotations

from adjoint.fast.evaluate.types import ANYTHING, Array
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.reverse.forward_blocks import Step
from adjoint.fast.reverse.registered_rules import called_back, new_pair
from adjoint.fast.reverse.sweep import Sweep
from adjoint.fast.single_assignment.walk import result_of
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import opaque
from adjoint.ir.single import Call, Const, Operand, Unpack, Value


def opaque_back(sweep: Sweep, op: Call) -> Step:
    """Write ``y, back = pullback(f, *operands)``; the reverse calls ``back``.

    Operands that the program writes to are copied: the pullback reads what it was given.
    """
    assert isinstance(op.callee, Const) and isinstance(op.callee.value, opaque.Opaque)
    ev, y, f = sweep.ev, result_of(op), op.callee.value
    if f.problem is not None:
        raise NotCovered(f.problem, op.span)
    operands = tuple(_kept(sweep, x) for x in op.operands)
    pair, back, _ = new_pair(sweep, op, f, op.operands)
    ev.block.append(Call(pair, Const(opaque.pullback), (Const(f), *operands), (), op.span))
    copies = [x for x, given in zip(operands, op.operands, strict=True) if x is not given]
    if copies and not f.is_alias:  # the program compares the result with what these are copies of
        raw, pair = pair, ev.value(ANYTHING, name=pair.name)
        ev.block.append(Call(pair, Const(opaque.apart_from), (raw, *copies), (), op.span))
    ev.block.append(Unpack((y, back), pair, None, op.span))
    return called_back(sweep, op, back, y, op.operands)


def _kept(sweep: Sweep, x: Operand) -> Operand:
    """Return a copy of an array that the program writes to, and else the operand."""
    ev = sweep.ev
    if ev.aliased_by(x).isdisjoint(ev.written):
        return x
    if not isinstance(x, Value) or not isinstance(t := ev.types[x], Array):
        raise NotCovered("a list of arrays that the program writes to", ev.span)
    return ev.operation(runtime.own, (x,), t, name=x.name)
