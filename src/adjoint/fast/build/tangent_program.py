"""Programs of tangents: a pushforward, and the product of a Hessian and a vector."""

from __future__ import annotations

import operator

from adjoint.diagnostics.dump import Stages
from adjoint.fast.build.program import Program, written_to
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.outside_values import Leaf
from adjoint.fast.evaluate.types import Array, Number, Row
from adjoint.fast.forward.sweep import ForwardSweep
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.passes.sequence import with_tangents
from adjoint.fast.single_assignment.walk import is_call_of, walk
from adjoint.ir.single import Block, Const, Operand, Value


def pushed_forward(
    ev: Evaluator,
    name: str,
    primal: Block,
    wanted: list[Leaf],
    is_tuple: bool,
    apart: set[Value],
    stages: Stages,
) -> Program:
    """Return the program of a pushforward from the computation of a function; the values `apart`
    have calls of their own."""
    return _made(ev, name, primal, primal, wanted, is_tuple, apart, stages)


def hessian_product(
    ev: Evaluator,
    name: str,
    forward: Block,
    reverse: Block,
    wanted: list[Leaf],
    apart: set[Value],
    stages: Stages,
) -> Program:
    """Return the program of a gradient and its tangent from the sweeps of the gradient."""
    whole = Block(forward.parameters, (*forward.ops, *reverse.ops), reverse.results)
    return _made(ev, name, whole, forward, wanted, True, apart, stages)


def _made(
    ev: Evaluator,
    name: str,
    block: Block,
    own: Block,
    wanted: list[Leaf],
    is_tuple: bool,
    apart: set[Value],
    stages: Stages,
) -> Program:
    moving = [leaf.value for leaf in wanted]
    note_negations(ev, block)
    sweep = ForwardSweep(ev, moving)
    dots, ops = sweep.run(block, moving)
    ends = block.results or ()
    with ev.writing(ops):
        end_dots = tuple(_tangent(sweep, x) for x in ends)
    made = Block((*block.parameters, *dots), tuple(ops), (*ends, *end_dots))
    made = with_tangents(made, own, name, ev.types, written_to(ev) | apart, stages)
    assert made.results is not None
    return Program(
        name,
        ev.outside,
        ev,
        ev.outside.leaves,
        wanted,
        made,
        Block((), (), ()),
        made.results[: len(ends)],
        is_tuple,
        (),
        stages,
        (True,) * len(wanted),
        tuple(dots),
        len(ends),
    )


def _tangent(sweep: ForwardSweep, x: Operand) -> Operand:
    """Return the tangent of a result, as it is returned."""
    if isinstance(x, Const):
        if x.value is None or type(x.value) is str:
            return Const(None)
        if type(x.value) not in (int, float):
            raise NotCovered("a constant result of another kind")
        return Const(0.0)
    assert isinstance(x, Value)
    if not isinstance(sweep.ev.types[x], Array | Number | Row):
        raise NotCovered("a result of another kind")
    return sweep.settle(sweep.full(x), x)


def note_negations(ev: Evaluator, block: Block) -> None:
    """Collect the negations again after passes, which replace operations."""
    ev.negated.clear()
    for op in walk(block):
        if is_call_of(op, operator.neg) and op.result is not None:
            ev.note_negated(op.result, op.operands[0])
