"""The generated pair of functions as Python source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from adjoint.emit.forward_function import ForwardEmitter
from adjoint.emit.reverse import ReverseEmitter
from adjoint.emit.writer import Names, Writer
from adjoint.ir.node import node
from adjoint.ir.nodes import Const, Function, Global, Operand, Path, Return, Span, Var, Yield
from adjoint.ir.sweeps import Blank, Sweeps
from adjoint.ir.walk import operands, targets, walk


@node
class Source:
    """Generated source: ``build(*bound)`` returns ``(forward, reverse)``.

    Attributes
    ----------
    text
        The module text: one function ``build``.
    spans
        The place in the user's source of each line of `text`.
    bound
        The arguments of ``build``, by name.
    """

    text: str
    spans: tuple[Span | None, ...]
    bound: Mapping[str, Any]


def emit(
    function: Function,
    sweeps: Sweeps,
    entries: Mapping[Any, Callable[..., Any]],
    runtime: dict[str, Callable[..., Any]],
    blanks: Callable[[tuple[Blank, ...]], Any],
    namespace: dict[str, Any],
    is_active: Callable[[Operand], bool],
) -> Source:
    """Write both sweeps.

    Parameters
    ----------
    entries
        The runtime function of each callee that the frontend names: ``operator.add`` → ``add``.
    runtime
        The other runtime functions, by name.
    blanks
        Makes the initial content of a record of a loop iteration.
    namespace
        The globals of the function.
    is_active
        Returns whether an operand may carry a derivative.
    """
    names = Names(names_of(function))
    writer = Writer(function.filename, indent=1)
    memory = names.fresh("mem")

    def can_be_active(operand: Operand) -> bool:
        is_loaded = isinstance(operand, Var) and operand.name in sweeps.loaded
        return not is_loaded and is_active(operand)

    forward = ForwardEmitter(
        writer,
        names,
        entries,
        runtime,
        blanks,
        memory,
        namespace,
        can_be_active,
        keeps_result(function),
    )
    cells = names.fresh("cells")
    parameters = [parameter.name for parameter in function.parameters]
    # A generator whose every yield is unreachable must still be a generator.
    never_yields = function.is_generator and not any(
        isinstance(op, Yield) for op in walk(function.body)
    )
    head = names.fresh("forward")
    with writer.block(f"def {head}({', '.join([forward.record, cells, *parameters])}):"):
        for i, (_, var) in enumerate(function.free):
            writer.line(f"{var.name} = {cells}[{i}]")
        forward.region(sweeps.forward)
        if never_yields:
            writer.line("if False: yield")
    if forward.has_loops:
        writer.lines.insert(1, f"        {memory} = {forward.record}[0]")
        writer.spans.insert(1, None)
    writer.line("")
    backward = Writer(function.filename, indent=1)
    tail = names.fresh("reverse")
    emitter = ReverseEmitter(backward, names, runtime)
    emitter.function(tail, sweeps.reverse, parameters, function.is_generator, never_yields)
    backward.line("")
    backward.line(f"return {head}, {tail}")
    build = f"def build({', '.join(names.bound)}):"
    text = "\n".join([build, *writer.lines, *backward.lines, ""])
    return Source(text, (None, *writer.spans, *backward.spans), dict(names.bound))


def keeps_result(function: Function) -> bool:
    """Return whether `function` is a generator function that returns a value."""
    return function.is_generator and any(
        type(op) is Return and (type(op.value) is not Const or op.value.value is not None)
        for op in walk(function.body)
    )


def names_of(function: Function) -> set[str]:
    """Return every name in the function's own code."""
    names = {parameter.name for parameter in function.parameters}
    names.update([var.name for _, var in function.free])
    for op in walk(function.body):
        for target in targets(op):
            names.add(target.name)
        for operand in operands(op):
            kind = type(operand)
            if kind is Var or kind is Global:
                names.add(operand.name)  # type: ignore[union-attr]
            elif kind is Path:
                names.add(operand.names[0])  # type: ignore[union-attr]
    return names
