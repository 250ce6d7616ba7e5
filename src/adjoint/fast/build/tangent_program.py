"""Programs of tangents: a pushforward, and the product of a Hessian and a vector."""

from __future__ import annotations

import operator
from dataclasses import replace

import numpy as np

from adjoint.fast.build.program import Program, Task, written_to, written_together
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.leaves import Leaf
from adjoint.fast.evaluate.types import LOW_KINDS, Array, Number, Row, bar_type, number
from adjoint.fast.evaluate.writes.views import check_views, with_aliases
from adjoint.fast.forward.sweep import ForwardSweep
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.passes.array_copies import has_copies, without_needless_copies
from adjoint.fast.passes.split import split
from adjoint.fast.reverse.block_cotangents import Scope
from adjoint.fast.reverse.forward_sweep import both_sweeps
from adjoint.fast.reverse.result import finished
from adjoint.fast.single_assignment.substitution import free_values
from adjoint.fast.single_assignment.walk import is_call_of, results, walk
from adjoint.fast.support import functions as runtime
from adjoint.fast.support import rows
from adjoint.ir.single import Block, Const, Op, Operand, Value


def pushed_forward(task: Task, primal: Block, count: int, *, has_tangents: bool) -> Program:
    """Return the program of a pushforward from the computation of a function with `count` results
    and others without tangents. Without `has_tangents`, only the values are wanted."""
    return _made(task, primal, primal, count, has_tangents=has_tangents)


def hessian_product(
    task: Task, forward: Block, reverse: Block, *, has_opaque_rules: bool
) -> Program:
    """Return the program of a gradient and its tangent from the sweeps of the gradient."""
    bars = reverse.results or ()
    ends = (*bars, *(forward.results or ())[1:])
    whole = Block(forward.parameters, (*forward.ops, *reverse.ops), ends)
    task = replace(task, is_tuple=True)
    return _made(task, whole, forward, len(bars), has_opaque_rules=has_opaque_rules)


def product_over_forward(task: Task, primal: Block) -> Program:
    """Return the program of a gradient and its tangent by a reverse sweep over the pushforward.

    With ``y_dot = g · v``, the gradient `g` is the cotangent of `v`, and that of the point is the
    product of the Hessian and `v`.
    """
    ev, moving = task.ev, task.moving
    note_negations(ev, primal)
    tangents = ForwardSweep(ev, moving)
    dots, ops = tangents.run(primal, moving)
    assert primal.results is not None
    with ev.writing(ops):
        y_dot = _tangent(tangents, primal.results[0])
    block = Block((*primal.parameters, *dots), tuple(ops), (y_dot, *primal.results[1:]))
    block = task.simplified(block, primal)
    if ev.written:
        block = check_views(ev, with_aliases(ev, block))
    note_negations(ev, block)

    def taken(scope: Scope) -> list[Operand]:
        pairs = [_pair(scope, *one) for one in zip(task.wanted, dots, strict=True)]
        return [*(bar for bar, _ in pairs), *(product for _, product in pairs)]

    assert block.results is not None
    forward, reverse = both_sweeps(
        ev, block, (*moving, *dots), [(block.results[0], Const(1.0))], taken
    )
    assert forward.results is not None and reverse.results is not None
    ends = (*reverse.results, *forward.results[1:])
    made = Block(block.parameters, (*forward.ops, *reverse.ops), ends)
    task.show("tangents", made)
    made = task.simplified(made, primal)
    return _program(replace(task, is_tuple=True), primal, made, dots, len(moving))


def _pair(scope: Scope, leaf: Leaf, dot: Value) -> tuple[Operand, Operand]:
    """Return the gradient by a leaf, and the product: ``None`` for both without a path."""
    gradient, product = scope.take(dot), scope.take(leaf.value)
    if gradient is None and product is None and leaf.source.kind != "argument":
        return Const(None), Const(None)
    found = (
        finished(scope.ev, scope.zeros(leaf.value) if bar is None else bar, leaf.value)
        for bar in (gradient, product)
    )
    return next(found), next(found)


def _made(
    task: Task,
    block: Block,
    own: Block,
    count: int,
    *,
    has_opaque_rules: bool = False,
    has_tangents: bool = True,
) -> Program:
    ev, moving = task.ev, task.moving
    note_negations(ev, block)
    sweep = ForwardSweep(ev, moving, is_last=True, has_opaque_rules=has_opaque_rules)
    dots, ops = sweep.run(block, moving)
    assert block.results is not None
    ends, more = block.results[:count], block.results[count:]
    with ev.writing(ops):
        end_dots = tuple(_tangent(sweep, x) if has_tangents else Const(None) for x in ends)
    made = Block((*block.parameters, *dots), tuple(ops), (*ends, *end_dots, *more))
    task.show("tangents", made)
    return _program(task, block, task.simplified(made, own), dots, count)


def _program(task: Task, block: Block, made: Block, dots: list[Value], count: int) -> Program:
    """Return the program of the operations `made`, whose results are `count` values, their tangents
    and others; `block` has the parameters for the leaves."""
    ev = task.ev
    assert made.results is not None
    values = made.results[:count]
    written = written_to(ev)
    at_point, along = split(made.ops, dots, written_together(ev))
    if has_copies(made.ops):
        kept = free_values(Block((), along, made.results))  # each tangent reads them anew
        at_point = without_needless_copies(at_point, kept, ev.types, written)
        along = without_needless_copies(along, made.results, ev.types, written)
    along, ends = _with_own_results(ev, along, made.results, count)
    return Program(
        task,
        Block(block.parameters, at_point, ()),
        Block(tuple(dots), along, ends),
        values,
        definite=tuple(None if x == Const(None) else True for x in values),
        has_tangents=True,
        dots=tuple(dots),
        count=count,
        most_rows=ev.most_rows,
    )


def _with_own_results(
    ev: Evaluator, along: tuple[Op, ...], ends: tuple[Operand, ...], count: int
) -> tuple[tuple[Op, ...], tuple[Operand, ...]]:
    """Copy tangents that do not depend on those given: each call returns arrays of its own."""
    made = {y for op in along for y in results(op)}
    outs = list(ends)
    with ev.writing([*along]) as ops:
        for i, x in enumerate(ends[count : 2 * count], count):
            if isinstance(x, Value) and x not in made:
                t = ev.types[x]
                if isinstance(t, Array):
                    outs[i] = ev.operation(runtime.own, (x,), t, name=x.name)
                elif isinstance(t, Row):
                    outs[i] = ev.operation(rows.part, (x, Const(slice(None))), t, name=x.name)
    return tuple(ops), tuple(outs)


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
    dot = sweep.settle(sweep.full(x), x)
    t = sweep.ev.types[x]
    if isinstance(t, Number) and len(t.kinds) > 1 and t.kinds & LOW_KINDS:
        # the precision is that of the result, which is known at run time only
        return sweep.ev.operation(runtime.present, (dot, x), bar_type(t), name=f"{x.name}_dot")
    if t == number(np.float64):
        return sweep.ev.operation(np.float64, (dot,), number(np.float64), name=f"{x.name}_dot")
    return dot


def note_negations(ev: Evaluator, block: Block) -> None:
    """Collect the negations again after passes, which replace operations."""
    ev.negated.clear()
    for op in walk(block):
        if is_call_of(op, operator.neg) and op.result is not None:
            ev.note_negated(op.result, op.operands[0])
