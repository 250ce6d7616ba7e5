"""Both sweeps of a function as text.

``[0.3]`` is slot 3 of the function's own record, ``[1.2]`` slot 2 of that of an iteration::

    forward heat(x):
        [0.1] y = mul(x, x)                         # 3
        return y                                    # 4
    reverse:
        y_bar -> y
        pull [0.1]: y -> x, x
"""

from __future__ import annotations

from typing import Any

from adjoint.ir.nodes import Function, Span, Var
from adjoint.ir.printer import Printer, format_operand, format_signature
from adjoint.ir.sweeps import (
    Clear,
    Mark,
    Move,
    Pull,
    Recorded,
    Resume,
    Seed,
    Slot,
    Sweeps,
    Traced,
    Unwind,
    When,
)


def format_sweeps(function: Function, sweeps: Sweeps) -> str:
    """Text of the forward and the reverse sweep of `function`."""
    printer = _SweepPrinter()
    head = f"forward {function.name}({format_signature(function.parameters)}):"
    printer.line(head, function.span)
    printer.block(sweeps.forward)  # type: ignore[arg-type]
    printer.line("reverse:")
    printer.block(sweeps.reverse)  # type: ignore[arg-type]
    return "\n".join(printer.lines) + "\n"


class _SweepPrinter(Printer):
    """A printer that knows the operations of both sweeps, too."""

    def __init__(self) -> None:
        super().__init__()
        self._slot = ""

    def line(self, text: str, span: Span | None = None) -> None:
        super().line(self._slot + text, span)
        self._slot = ""

    def op(self, op: Any) -> None:
        match op:
            case Recorded(op=inner, slot=slot) | Traced(loop=inner, slot=slot):
                self._slot = f"{_place(slot)} "
                super().op(inner)
            case Mark(slot=slot, value=value, span=span):
                self.line(f"{_place(slot)} = {value}", span)
            case When(slot=slot, value=value, body=body):
                self.headed(f"if {_place(slot)} is {value}:", body, always=True)  # type: ignore[arg-type]
            case Unwind(loop=loop, target=target, iterable=iterable, body=body, span=span):
                names = "" if target is None else f": {target.name} -> {_name(iterable)}"
                self.headed(f"unwind {_place(loop.slot)}{names}", body, span, always=True)  # type: ignore[arg-type]
            case Pull() | Move() | Clear() | Seed() | Resume():
                self._reverse_op(op)
            case _:
                super().op(op)

    def _reverse_op(self, op: Pull | Move | Clear | Seed | Resume) -> None:
        match op:
            case Pull(slot=slot, results=results, operands=operands, reached=reached, span=span):
                where = "" if reached is None else f" if {_place(reached)}"
                text = f"{', '.join(map(_name, results))} -> {', '.join(map(_name, operands))}"
                self.line(f"pull {_place(slot)}{where}: {text}", span)
            case Move(target=target, source=source, span=span):
                self.line(f"{target.name} -> {source.name}", span)
            case Clear(target=target):
                self.line(f"clear {target.name}")
            case Seed(value=value, span=span):
                self.line(f"y_bar -> {_name(value)}", span)
            case Resume(target=target, value=value, slot=slot, span=span):
                self.line(f"resume {_place(slot)}: {_name(target)} -> {_name(value)}", span)


def _place(slot: Slot) -> str:
    return f"[{slot.depth}.{slot.index}]"


def _name(var: Var | None) -> str:
    return "_" if var is None else format_operand(var)
