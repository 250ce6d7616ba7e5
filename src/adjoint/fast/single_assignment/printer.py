"""Printer of the single-assignment IR, with user line numbers at the right."""

from __future__ import annotations

from collections import Counter
from typing import assert_never

from adjoint.fast.single_assignment.walk import defined_values
from adjoint.ir import nodes as named
from adjoint.ir.printer import format_call, format_operand, format_signature
from adjoint.ir.single import (
    Block,
    Call,
    Function,
    If,
    Loop,
    Op,
    Operand,
    Raise,
    Undefined,
    Unpack,
    Value,
)

_MARGIN = 56


def format_function(function: Function) -> str:
    """Return a function as text.

    Parameters
    ----------
    function : Function

    Returns
    -------
    str
        One operation per line. Values of the same name are numbered in the order of their
        definitions (``x.1``, ``x.2``). ``-> a, b`` are the results of a block, and ``?x`` is a
        variable without a value. A loop lists its carried variables after ``with``, each with its
        initial value.
    """
    return "\n".join(_Printer(function).lines()) + "\n"


def format_block(name: str, block: Block) -> str:
    """Text of a block: its parameters are those of a function."""
    parameters = tuple(named.Parameter(value.name, 1) for value in block.parameters)
    return format_function(Function(name, parameters, (), block, ""))


class _Printer:
    def __init__(self, function: Function) -> None:
        self._function = function
        self._lines: list[str] = []
        self._depth = 0
        self._last_line: int | None = None
        values = list(defined_values(function.body))
        counts = Counter(map(_name_of, values))
        numbers: Counter[str] = Counter()
        self._names: dict[Value, str] = {}
        for value in values:
            name = _name_of(value)
            numbers[name] += 1
            self._names[value] = f"{name}.{numbers[name]}" if counts[name] > 1 else name

    def lines(self) -> list[str]:
        function = self._function
        given = zip(function.parameters, function.body.parameters, strict=False)
        parameters = tuple(named.Parameter(self._text(v), p.kind) for p, v in given)
        cells = function.body.parameters[len(parameters) :]
        free = "".join(
            f"    [{name}: {self._text(cell)}]"
            for name, cell in zip(function.free, cells, strict=True)
        )
        self._line(f"def {function.name}({format_signature(parameters)}):{free}", function.span)
        self._block(function.body, "return")
        return self._lines

    def _line(self, text: str, span: named.Span | None = None) -> None:
        text = "    " * self._depth + text
        if span is not None and span.line != self._last_line:
            self._last_line = span.line
            text = f"{text:<{_MARGIN}}  # {span.line}"
        self._lines.append(text)

    def _block(self, block: Block, word: str = "->") -> None:
        self._depth += 1
        for op in block.ops:
            self._op(op)
        if block.results:
            self._line(f"{word} {self._texts(block.results)}")
        elif not block.ops:
            self._line("pass")
        self._depth -= 1

    def _op(self, op: Op) -> None:
        match op:
            case Call(result=result, span=span):
                self._line(self._bound(() if result is None else (result,)) + self._call(op), span)
            case Unpack(results=values, value=value, starred=starred, span=span):
                parts = [
                    ("*" if i == starred else "") + self._text(v) for i, v in enumerate(values)
                ]
                comma = "," if len(parts) == 1 else ""
                self._line(f"{', '.join(parts)}{comma} = {self._text(value)}", span)
            case If(results=values, condition=condition, body=body, orelse=orelse, span=span):
                self._line(f"{self._bound(values)}if {self._text(condition)}", span)
                self._block(body)
                if orelse.ops or orelse.results:
                    self._line("else")
                    self._block(orelse)
            case Loop():
                self._loop(op)
            case Raise(exception=exception, cause=cause, span=span):
                text = "raise" if exception is None else f"raise {self._text(exception)}"
                self._line(text if cause is None else f"{text} from {self._text(cause)}", span)
            case _:
                assert_never(op)

    def _loop(self, op: Loop) -> None:
        bound = self._bound(op.results)
        body, carried = op.body, op.body.parameters
        if op.iterable is not None:
            item, *carried_ = body.parameters
            head = f"for {self._text(item)} in {self._text(op.iterable)}"
            self._line(bound + head + self._carried(tuple(carried_), op.initial), op.span)
            self._block(body)
            return
        assert op.test is not None
        self._line(f"{bound}while{self._carried(op.test.parameters, op.initial)}", op.span)
        self._block(op.test)
        self._line(f"do {self._texts(carried)}".rstrip())
        self._block(body)

    def _carried(self, parameters: tuple[Value, ...], initial: tuple[Operand, ...]) -> str:
        pairs = [
            f"{self._text(parameter)} = {self._text(first)}"
            for parameter, first in zip(parameters, initial, strict=True)
        ]
        return f" with {', '.join(pairs)}" if pairs else ""

    def _bound(self, values: tuple[Value, ...]) -> str:
        return f"{self._texts(values)} = " if values else ""

    def _call(self, op: Call) -> str:
        keywords = tuple((name, self._named(value)) for name, value in op.keywords)
        operands = tuple(map(self._named, op.operands))
        return format_call(named.Call(None, self._named(op.callee), operands, keywords))

    def _named(self, operand: Operand) -> named.Operand:
        match operand:
            case Value():
                return named.Var(self._names.get(operand, f"{operand.name}!"))
            case Undefined():
                return named.Var(f"?{_name_of(operand)}")
            case _:
                return operand

    def _text(self, operand: Operand) -> str:
        return format_operand(self._named(operand))

    def _texts(self, operands: tuple[Operand, ...]) -> str:
        return ", ".join(map(self._text, operands))


def _name_of(value: Value | Undefined) -> str:
    return value.name.removesuffix("()")
