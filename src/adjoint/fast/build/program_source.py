"""The Python source of a program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from adjoint.diagnostics.numpy_warnings import begin_ignoring
from adjoint.fast.build.program import Program
from adjoint.fast.evaluate.draft import LARGE
from adjoint.fast.evaluate.evaluator import Evaluator
from adjoint.fast.evaluate.types import Dim
from adjoint.fast.single_assignment.walk import operands, read_by, walk, walk_ops
from adjoint.fast.source.expression_text import tuple_text
from adjoint.fast.source.writer import Writer
from adjoint.ir.single import Call, Op, Operand, Value

REVERSE = "# the reverse sweep"
"""The comment at the beginning of the reverse sweep of a gradient."""


def written(program: Program) -> Writer:
    """Write the source of a program that returns the value and the cotangents, the value and a
    pullback, or values and their tangents."""
    ev = program.ev

    def length_of(dim: Dim) -> int:
        """Return a length at specialisation; one that is not known counts as large."""
        return dim if isinstance(dim, int) else ev.outside.size_of(dim) or LARGE

    writer = Writer(ev.types, ev.places, ev.origins, length_of)
    writer.ignored = ev.ignored
    if program.has_tangents:
        _write_tangents(writer, program)
        return writer
    name = writer.new_name("forward" if program.y_bars else "gradient")
    back = writer.new_name("back") if program.y_bars else ""
    bar = writer.new_name("y_bar") if program.task.is_tuple else ""
    parameters = ", ".join(writer.name(leaf.value) for leaf in program.outside.leaves)
    forward, reverse = program.forward, program.reverse
    writer.count(forward, forward.results or ())
    writer.count(reverse, reverse.results or ())
    writer.line(f"def {name}({parameters}):", 0)
    last = _last_reads(program)
    writer.block(forward.ops, 1, last)
    writer.flush(1)
    if program.y_bars:
        _write_pullback(writer, program, back, bar)
        return writer
    if reverse.ops:
        writer.origin = None
        writer.line(REVERSE, 1)
        if program.ev.is_careful:  # the entry code restores the handling
            writer.line(f"{writer.bind(begin_ignoring, 'begin_ignoring')}()", 1)
        shift = len(forward.ops)
        writer.block(reverse.ops, 1, {v: i - shift for v, i in last.items() if i >= shift})
    bars = tuple_text([writer.text(x) for x in reverse.results or ()])
    more = _stored(writer, program)
    writer.flush(1)
    writer.origin = None
    writer.line(f"return {writer.text(program.results[0])}, {bars}{more}", 1)
    return writer


def _stored(writer: Writer, program: Program) -> str:
    """Return the source of the further result: what is stored outside, or printed."""
    if not program.commits:
        return ""
    values = (program.forward.results or ())[len(program.results) :]
    return f", {tuple_text([writer.text(x) for x in values])}"


def _last_reads(program: Program) -> dict[Value, int]:
    """Return, for each large array that the program makes, the operation that reads it last."""
    forward, reverse = program.forward, program.reverse
    taken = {leaf.value for leaf in program.outside.leaves}
    stay: set[Operand] = {*(forward.results or ()), *(reverse.results or ()), *taken}
    if program.y_bars:
        stay |= {x for op in walk(reverse) for x in operands(op)} | set(reverse.results or ())
    return _last_reads_of(program.ev, (*forward.ops, *reverse.ops), stay)


def _last_reads_of(ev: Evaluator, ops: Sequence[Op], stay: set[Operand]) -> dict[Value, int]:
    # An array made in a loop may not exist after it, or may share the name of a carried value.
    made = {op.result for op in ops if type(op) is Call and op.result is not None} - stay
    made = {x for x in made if ev.is_large(x)}
    if not made:
        return {}
    found: dict[Value, int] = {}
    for i, op in enumerate(ops):
        read: Iterable[Operand]
        if type(op) is Call and not op.keywords:
            read = op.operands
        else:
            read = (x for one in walk_ops((op,)) for x in read_by(one))
        for x in read:
            if type(x) is Value and x in made and found.get(x) != i:
                found.pop(x, None)  # in the order of the last reads
                found[x] = i
    return found


def _write_pullback(writer: Writer, program: Program, back: str, bar: str) -> None:
    """Write the reverse sweep as an inner function."""
    writer.line("", 0)
    names = ["_" if y_bar is None else writer.name(y_bar) for y_bar in program.y_bars]
    if program.task.is_tuple:
        writer.line(f"def {back}({bar}):", 1)
        writer.line(f"{tuple_text(names)[1:-1]} = {bar}", 2)
    else:
        writer.line(f"def {back}({names[0]}):", 1)
    reverse = program.reverse
    last = _last_reads_of(program.ev, reverse.ops, {*(reverse.results or ())})
    writer.block(reverse.ops, 2, last)
    writer.flush(2)
    bars = tuple_text([writer.text(x) for x in reverse.results or ()])
    writer.flush(2)
    writer.line(f"return {bars}", 2)
    writer.line("", 0)
    found = [writer.text(x) for x in program.results]
    value = tuple_text(found) if program.task.is_tuple else found[0]
    writer.line(f"return {value}, {back}{_stored(writer, program)}", 1)


def _write_tangents(writer: Writer, program: Program) -> None:
    """Write a program of tangents: a function of the point that returns one of tangents."""
    first, second = program.forward, program.reverse
    name, inner = writer.new_name("at_point"), writer.new_name("along")
    ends = second.results or ()
    writer.count(first, ())
    writer.count(second, ends)
    parameters = ", ".join(writer.name(leaf.value) for leaf in program.outside.leaves)
    writer.line(f"def {name}({parameters}):", 0)
    writer.block(first.ops, 1)
    writer.flush(1)
    writer.line("", 0)
    writer.line(f"def {inner}({', '.join(map(writer.name, program.dots))}):", 1)
    if program.written:  # by augmented assignments
        writer.line(f"nonlocal {', '.join(writer.name(x.value) for x in program.written)}", 2)
    writer.block(second.ops, 2, _last_reads_of(program.ev, second.ops, {*ends}))
    writer.flush(2)
    texts = [writer.text(x) for x in ends]
    writer.flush(2)
    parts = map(tuple_text, program.parts(texts)[: 3 if program.commits else 2])
    writer.line(f"return {', '.join(parts)}", 2)
    writer.line("", 0)
    writer.line(f"return {inner}", 1)
