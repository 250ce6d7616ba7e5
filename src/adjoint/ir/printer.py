"""The IR of a function as text, indented like Python, with source line numbers at the right."""

from __future__ import annotations

from types import CodeType
from typing import Any, assert_never

from adjoint.ir import primitives
from adjoint.ir.nodes import (
    Assign,
    Break,
    Call,
    Const,
    Continue,
    Delete,
    For,
    Function,
    Global,
    If,
    Op,
    Operand,
    Parameter,
    Path,
    Raise,
    Region,
    Return,
    Span,
    Try,
    Unpack,
    Var,
    While,
    Yield,
)

_MARGIN = 48
_LONGEST_CONSTANT = 60


def format_function(function: Function) -> str:
    """Return the text of a function's IR.

    Parameters
    ----------
    function : Function

    Returns
    -------
    str
        One operation per line. A call is written with the name of its callee (``add``,
        ``getitem``, …); methods and attributes look as in Python. The number at the right is the
        source line.
    """
    printer = Printer()
    cells = "".join(f"    [{name}: {var.name}]" for name, var in function.free)
    keyword = "generator" if function.is_generator else "def"
    printer.line(
        f"{keyword} {function.name}({format_signature(function.parameters)}):{cells}", function.span
    )
    printer.block(function.body)
    return "\n".join(printer.lines) + "\n"


def format_operand(operand: Operand) -> str:
    """Return the name of a variable or global, or the text of a constant."""
    match operand:
        case Var(name=name) | Global(name=name):
            return name
        case Path(names=names):
            return ".".join(names)
        case Const(value=value):
            return _constant(value)
        case _:
            assert_never(operand)


def _constant(value: Any) -> str:
    if isinstance(value, CodeType):
        return f"<code {value.co_name}>"
    if value is primitives.MISSING:
        return "MISSING"
    if isinstance(value, type) or (callable(value) and hasattr(value, "__name__")):
        return str(value.__name__)
    if type(value) is slice:
        ends = [value.start, value.stop] + ([] if value.step is None else [value.step])
        return ":".join("" if end is None else _constant(end) for end in ends)
    if type(value) is tuple:
        return f"({', '.join(map(_constant, value))}{',' if len(value) == 1 else ''})"
    text = repr(value)
    return text if len(text) <= _LONGEST_CONSTANT else text[: _LONGEST_CONSTANT - 1] + "…"


def format_signature(parameters: tuple[Parameter, ...]) -> str:
    """Return the parameter list as in a ``def``, without defaults."""
    parts: list[str] = []
    kinds = [parameter.kind for parameter in parameters]
    for index, parameter in enumerate(parameters):
        if parameter.kind == 3 and 2 not in kinds and 3 not in kinds[:index]:
            parts.append("*")
        parts.append({2: "*", 4: "**"}.get(parameter.kind, "") + parameter.name)
        if parameter.kind == 0 and 0 not in kinds[index + 1 :]:
            parts.append("/")
    return ", ".join(parts)


class Printer:
    """Lines of text, indented by the blocks around them."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._depth = 0
        self._last_line: int | None = None

    def line(self, text: str, span: Span | None = None) -> None:
        """Add a line, with the number of the user's where that is another than the last one."""
        text = "    " * self._depth + text
        if span is not None and span.line != self._last_line:
            self._last_line = span.line
            text = f"{text:<{_MARGIN}}  # {span.line}"
        self.lines.append(text)

    def block(self, region: Region) -> None:
        """Add a region, indented."""
        self._depth += 1
        for op in region:
            self.op(op)
        if not region:
            self.line("pass")
        self._depth -= 1

    def headed(
        self, head: str, region: Region, span: Span | None = None, *, always: bool = False
    ) -> None:
        """Add a region with a line above it, if there is anything in it."""
        if region or always:
            self.line(head, span)
            self.block(region)

    def op(self, op: Op) -> None:
        """Add the lines of an operation."""
        text = format_operand
        match op:
            case Call(target=target, span=span):
                self.line(_bound(target, format_call(op)), span)
            case Assign(target=target, source=source, span=span):
                self.line(f"{target.name} = {text(source)}", span)
            case Unpack(targets=targets, value=value, starred=starred, span=span):
                names = [
                    ("*" if i == starred else "") + target.name for i, target in enumerate(targets)
                ]
                self.line(
                    f"{', '.join(names)}{',' if len(names) == 1 else ''} = {text(value)}", span
                )
            case Delete(target=target, span=span):
                self.line(f"del {target.name}", span)
            case Return(value=value, span=span):
                self.line(f"return {text(value)}", span)
            case Raise(exception=exception, cause=cause, span=span):
                self.line(
                    "raise"
                    + (f" {text(exception)}" if exception is not None else "")
                    + (f" from {text(cause)}" if cause is not None else ""),
                    span,
                )
            case Yield(target=target, value=value, span=span):
                self.line(_bound(target, f"yield {text(value)}"), span)
            case Break(span=span):
                self.line("break", span)
            case Continue(span=span):
                self.line("continue", span)
            case If() | For() | While() | Try():
                self._structure(op)
            case _:
                assert_never(op)

    def _structure(self, op: If | For | While | Try) -> None:
        text = format_operand
        match op:
            case If(condition=condition, body=body, orelse=orelse, span=span):
                if orelse and not body:
                    self.headed(f"if not {text(condition)}:", orelse, span)
                else:
                    self.headed(f"if {text(condition)}:", body, span, always=True)
                    self.headed("else:", orelse)
            case For(target=target, iterable=iterable, body=body, orelse=orelse, span=span):
                self.headed(f"for {target.name} in {text(iterable)}:", body, span, always=True)
                self.headed("else:", orelse)
            case While(test=test, condition=condition, body=body, orelse=orelse, span=span):
                if test:
                    # The operations before `do` run before every iteration.
                    self.headed("while:", test, span)
                    self.headed(f"do {text(condition)}:", body, always=True)
                else:
                    self.headed(f"while {text(condition)}:", body, span, always=True)
                self.headed("else:", orelse)
            case Try(
                body=body, caught=caught, handler=handler, orelse=orelse, final=final, span=span
            ):
                self.headed("try:", body, span, always=True)
                if caught is not None:
                    self.headed(f"except {caught.name}:", handler, always=True)
                self.headed("else:", orelse)
                self.headed("finally:", final)
            case _:
                assert_never(op)


def _bound(target: Var | None, text: str) -> str:
    return text if target is None else f"{target.name} = {text}"


def format_call(op: Call) -> str:
    """Return the text of a call without its target."""
    operands = [format_operand(operand) for operand in op.operands]
    keywords = [f"{name}={format_operand(operand)}" for name, operand in op.keywords]
    match op.callee, op.operands:
        case Const(value=primitives.call_method), (_, Const(value=str(name)), *_):
            return f"{operands[0]}.{name}({', '.join([*operands[2:], *keywords])})"
        case Const(value=builtin), (_, Const(value=str(name))) if builtin is getattr:
            return f"{operands[0]}.{name}"
        case Const(value=builtin), (_, Const(value=str(name)), _) if builtin is setattr:
            return f"{operands[0]}.{name} = {operands[2]}"
    return f"{format_operand(op.callee)}({', '.join([*operands, *keywords])})"
