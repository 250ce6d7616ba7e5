"""The reverse of opaque operations: a pullback of the generic tier."""

from __future__ import annotations

import operator

from adjoint.fast.evaluate.types import ANYTHING, Array
from adjoint.fast.evaluate.values import RulePair
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.reverse.block_cotangents import Scope
from adjoint.fast.reverse.cotangent_types import whole
from adjoint.fast.reverse.formulas import with_cotangent
from adjoint.fast.reverse.forward_blocks import Step
from adjoint.fast.reverse.sweep import Sweep
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import opaque
from adjoint.ir.single import Call, Const, Operand, Unpack, Value


def opaque_back(sweep: Sweep, op: Call) -> Step:
    """Write ``y, back = pullback(f, *operands)``; the reverse calls ``back``.

    Operands that the program writes to are copied: the pullback reads what it was given.
    """
    assert isinstance(op.callee, Const) and isinstance(op.callee.value, opaque.Opaque)
    ev, y, f = sweep.ev, op.result, op.callee.value
    assert y is not None
    if f.problem is not None:
        raise NotCovered(f.problem, op.span)
    operands = tuple(_kept(sweep, x) for x in op.operands)
    pair = ev.value(ANYTHING, name=f"{y.name}_and_back")
    back = ev.value(ANYTHING, name=f"{y.name}_back")
    pulled = [i for i, x in enumerate(op.operands) if isinstance(x, Value) and x in sweep.active]
    ev.rule_pairs[pair] = RulePair(f, y, pulled)
    given = (Const(f), *operands)
    ev.block.append(Call(pair, Const(opaque.pullback), given, (), op.span))
    copies = [x for x, given in zip(operands, op.operands, strict=True) if x is not given]
    if copies and not f.is_alias:  # the program compares the result with what these are copies of
        raw, pair = pair, ev.value(ANYTHING, name=pair.name)
        ev.block.append(Call(pair, Const(opaque.apart_from), (raw, *copies), (), op.span))
    ev.block.append(Unpack((y, back), pair, None, op.span))

    def use(scope: Scope, y_bar: Operand) -> None:
        if isinstance(ev.types[y], Array):
            y_bar = whole(ev, y_bar, y)
        found = ev.operation(operator.call, (back, y_bar), ANYTHING, name="bars")
        bars = tuple(ev.value(ANYTHING, name="bar") for _ in range(len(op.operands) + 1))
        ev.write(Unpack(bars, found))
        for x, bar in zip(op.operands, bars[1:], strict=True):
            scope.add_present(x, bar)

    return lambda scope: with_cotangent(scope, y, lambda bar: use(scope, bar))


def _kept(sweep: Sweep, x: Operand) -> Operand:
    """Return a copy of an array that the program writes to, and else the operand."""
    ev = sweep.ev
    if ev.aliased_by(x).isdisjoint(ev.written):
        return x
    if not isinstance(x, Value) or not isinstance(t := ev.types[x], Array):
        raise NotCovered("a list of arrays that the program writes to", ev.span)
    return ev.operation(runtime.own, (x,), t, name=x.name)
