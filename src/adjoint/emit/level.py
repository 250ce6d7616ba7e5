"""The function that runs on a level, as Python source: active calls go through the runtime,
unrecorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from adjoint.emit.forward_function import ForwardEmitter
from adjoint.emit.python import Source, keeps_result, names_of
from adjoint.emit.writer import Names, Writer
from adjoint.ir.nodes import Function, Operand, While, Yield
from adjoint.ir.sweeps import ForwardOp, Mark, Slot, Traced
from adjoint.ir.walk import walk


class LevelEmitter(ForwardEmitter):
    """Write the forward regions with one slot for all calls, because no sweep reads the record."""

    def place(self, slot: Slot) -> str:
        return f"{self.record}, 1"

    def _op(self, op: ForwardOp) -> None:
        if not isinstance(op, Mark):
            super()._op(op)

    def region(self, region: Iterable[ForwardOp]) -> None:
        before = len(self._writer.lines)
        super().region(region)
        if len(self._writer.lines) == before:
            self._writer.line("pass")  # the region held only marks

    def _traced(self, op: Traced) -> None:
        loop = op.loop
        if isinstance(loop, While):
            self._while(loop, ())
            return
        iterable = self._names.operand(loop.iterable)
        if op.made is not None:  # drop the reference to an unnamed iterable
            iterable = f"({iterable}, {iterable} := None)[0]"
        if op.items is not None:
            iterable = f"{self._runtime_name('iterate')}({self.place(op.items)}, {iterable})"
        with self._writer.block(f"for {loop.target.name} in {iterable}:", loop.span):
            self.region(loop.body)
        self._else(loop.orelse)

    def _call_of(self, call: Any) -> str:
        return "call"


def emit_level(
    function: Function,
    forward: tuple[ForwardOp, ...],
    entries: Mapping[Any, Callable[..., Any]],
    runtime: dict[str, Callable[..., Any]],
    namespace: dict[str, Any],
    is_active: Callable[[Operand], bool],
    make: Callable[..., LevelEmitter] = LevelEmitter,
) -> Source:
    """Write the function that ``build(*bound)`` returns; the parameters are those of `emit`, and
    `make` makes the emitter."""
    names = Names(names_of(function))
    writer = Writer(function.filename, indent=1)
    emitter = make(
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
