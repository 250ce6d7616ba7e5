"""The function that runs on a level, as Python source: the user's control flow, each active call
through the runtime, and no record of what was done."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from adjoint.emit.forward import TEMPLATES, ForwardEmitter
from adjoint.emit.python import Source, keeps_result, names_of
from adjoint.emit.writer import Names, Writer
from adjoint.ir.nodes import Call, Const, Function, Op, Operand, Var, While, Yield
from adjoint.ir.sweeps import ForwardOp, Mark, Recorded, Slot, Traced
from adjoint.ir.walk import STRUCTURED, operands, regions, targets, walk

__all__ = ["emit_level"]


class LevelEmitter(ForwardEmitter):
    """Writes the forward regions with one slot for everything: nobody pulls back.

    Nameless results are let go when they have been read, and so is what the slot holds: with them
    may go what does something when it goes.
    """

    last_reads: Mapping[int, set[str]] = {}

    def place(self, slot: Slot) -> str:
        return f"{self.record}, 1"

    def _op(self, op: ForwardOp) -> None:
        if isinstance(op, Mark):
            return
        super()._op(op)
        call = op.op if isinstance(op, Recorded) else None
        if isinstance(call, Call) and not _is_arithmetic(call):
            let_go = sorted(self.last_reads.get(id(call), set()) - _bound_by(call))
            self._writer.line(" = ".join([*let_go, f"{self.record}[1]", "None"]))

    def region(self, region: Iterable[ForwardOp]) -> None:
        before = len(self._writer.lines)
        super().region(region)
        if len(self._writer.lines) == before:
            self._writer.line("pass")  # there were only marks

    def _traced(self, op: Traced) -> None:
        loop = op.loop
        if isinstance(loop, While):
            self._while(loop, ())
            return
        iterable = self._names.operand(loop.iterable)
        if op.made is not None:  # a nameless result: with the loop goes what it runs over
            iterable = f"({iterable}, {iterable} := None)[0]"
        if op.items is not None:
            iterable = f"{self._runtime_name('iterate')}({self.place(op.items)}, {iterable})"
        with self._writer.block(f"for {loop.target.name} in {iterable}:", loop.span):
            self.region(loop.body)
        self._else(loop.orelse)

    def _call_of(self, call: Any) -> str:
        return "call"


def _bound_by(op: Op) -> set[str]:
    return {target.name for target in targets(op)}


def _is_arithmetic(call: Call) -> bool:
    return isinstance(call.callee, Const) and call.callee.value in TEMPLATES


def _let_go(function: Function) -> dict[int, set[str]]:
    """By operation: the nameless results that it is the last one to read."""
    own = {*function.code.co_varnames, *function.code.co_cellvars, *function.code.co_freevars}
    elsewhere: set[str] = set()  # read in another region than the one where they are bound
    found: dict[int, set[str]] = {}
    structured = [op for op in walk(function.body) if type(op) in STRUCTURED]
    for region in (function.body, *(inner for op in structured for inner in regions(op))):
        last: dict[str, Op | None] = {}
        for op in region:
            for value in operands(op):
                if isinstance(value, Var) and value.name not in own:
                    if value.name not in last or type(op) is While:
                        elsewhere.add(value.name)
                    last[value.name] = op
            for target in targets(op):
                _note_last(found, target.name, last.get(target.name))
                last[target.name] = None
        for name, reader in last.items():
            _note_last(found, name, reader)
    return {key: names - elsewhere for key, names in found.items()}


def _note_last(found: dict[int, set[str]], name: str, reader: Op | None) -> None:
    if reader is not None:
        found.setdefault(id(reader), set()).add(name)


def emit_level(
    function: Function,
    forward: tuple[ForwardOp, ...],
    entries: Mapping[Any, Callable[..., Any]],
    runtime: dict[str, Callable[..., Any]],
    namespace: dict[str, Any],
    is_active: Callable[[Operand], bool],
) -> Source:
    """Write the function: ``build(*bound)`` returns it; the parameters are as those of `emit`."""
    names = Names(names_of(function))
    writer = Writer(function.filename, indent=1)
    emitter = LevelEmitter(
        writer,
        names,
        entries,
        runtime,
        lambda _: (),
        names.fresh("mem"),
        namespace,
        is_active,
        keeps_result(function),
    )
    emitter.last_reads = _let_go(function)
    cells, head = names.fresh("cells"), names.fresh("run")
    parameters = [parameter.name for parameter in function.parameters]
    with writer.block(f"def {head}({', '.join([emitter.record, cells, *parameters])}):"):
        for i, (_, var) in enumerate(function.free):
            writer.line(f"{var.name} = {cells}[{i}]")
        emitter.region(forward)
        if function.is_generator and not any(isinstance(op, Yield) for op in walk(function.body)):
            writer.line("if False: yield")
    writer.line("")
    writer.line(f"return {head}")
    build = f"def build({', '.join(names.bound)}):"
    text = "\n".join([build, *writer.lines, ""])
    return Source(text, (None, *writer.spans), dict(names.bound))
