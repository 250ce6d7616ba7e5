"""Many tangents at once: the part of a program of tangents that depends on them, for all rows."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from adjoint.fast.batch.sweep import BatchSweep
from adjoint.fast.build.program import Program, written_to
from adjoint.fast.evaluate.types import Symbol, number
from adjoint.fast.not_covered import NotCovered
from adjoint.fast.passes.sequence import simplified
from adjoint.fast.single_assignment.printer import format_block
from adjoint.fast.support import functions as runtime
from adjoint.ir.single import Block, Call, Const, Operand


def with_rows(program: Program) -> Program:
    """Return a program whose tangents have a leading axis, as have the derivatives."""
    ev, block = program.ev, program.reverse
    if not program.dots or block.results is None:
        raise NotCovered("tangents of nothing at once")
    length = Symbol("rows", is_argument=False)
    count = ev.value(number(int), name="n")
    ev.dims[count] = length
    sweep = BatchSweep(ev, length, count)
    rows = tuple(ev.value(sweep.type_of_rows(ev.types[dot]), name=dot.name) for dot in program.dots)
    ops = sweep.run(block, dict(zip(program.dots, rows, strict=True)))
    with ev.writing(ops):
        ends = tuple(map(partial(_end, sweep), block.results[program.count :]))
    first = Call(count, Const(runtime.length), (rows[0], Const(0)))
    made = Block(rows, (first, *ops), (*block.results[: program.count], *ends))
    program.stages("rows", partial(format_block, program.name, made))
    made = simplified(
        made, program.name, ev.types, written_to(ev), program.stages, Block((), (), ())
    )
    return replace(program, reverse=made, dots=rows)


def _end(sweep: BatchSweep, x: Operand) -> Operand:
    return x if x == Const(None) else sweep.full(x)
