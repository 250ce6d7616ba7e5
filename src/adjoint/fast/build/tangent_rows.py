"""Many tangents at once: the part of a program of tangents that depends on them, for all rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from adjoint.fast.batch.sweep import BatchSweep
from adjoint.fast.batch.values import note_rows
from adjoint.fast.build.program import Program, written_to
from adjoint.fast.evaluate.types import Array, Number, Symbol, number
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.passes.sequence import simplified
from adjoint.fast.single_assignment.printer import format_block
from adjoint.fast.single_assignment.walk import results, walk
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Block, Call, Const, Operand


def with_rows(program: Program) -> Program:
    """Return a program whose tangents have a leading axis, as have the derivatives."""
    ev, block = program.ev, program.reverse
    if not program.dots or block.results is None:
        raise NotCovered("tangents of nothing at once")
    _demand_worth(program)
    values, dots, more = program.parts(block.results)
    note_rows(ev, block)
    length = Symbol("rows", is_argument=False)
    count = ev.value(number(int), name="n")
    ev.dims[count] = length
    sweep = BatchSweep(ev, length, count)
    rows = tuple(ev.value(sweep.type_of_rows(ev.types[dot]), name=dot.name) for dot in program.dots)
    ops = sweep.run(block, dict(zip(program.dots, rows, strict=True)))
    with ev.writing(ops):
        ends = tuple(map(partial(_end, sweep), dots))
    first = Call(count, Const(runtime.length), (rows[0], Const(0)))
    made = Block(rows, (first, *ops), (*values, *ends, *more))
    program.stages("rows", partial(format_block, program.name, made))
    made = simplified(
        made, program.name, ev.types, written_to(ev), program.stages, Block((), (), ())
    )
    return replace(program, reverse=made, dots=rows, most_rows=ev.most_rows)


OF_ARRAYS = 20
"""How many times as long an operation of arrays takes as one of numbers, if they are small."""


def _demand_worth(program: Program) -> None:
    """Refuse tangents at once where a loop over them is faster: for few of them through numbers."""
    ev = program.ev
    made = [ev.types[y] for op in walk(program.reverse) for y in results(op)]
    arrays = sum(isinstance(t, Array) for t in made)
    numbers = sum(isinstance(t, Number) for t in made)
    count = sum(
        ev.size_of(t) if isinstance(t := leaf.type, Array) else 1 for leaf in program.wanted
    )
    if count * (numbers + OF_ARRAYS * arrays) < OF_ARRAYS * (numbers + arrays):
        raise NotCovered("few tangents, mostly of numbers, which are faster one by one")


def _end(sweep: BatchSweep, x: Operand) -> Operand:
    return x if x == Const(None) else sweep.full(x)
