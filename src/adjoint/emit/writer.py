"""Lines of generated Python, each with its place in the user's source."""

from __future__ import annotations

import linecache
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from adjoint.ir.nodes import Const, Global, Operand, Path, Span, Var


class Writer:
    """Source text under construction.

    Attributes
    ----------
    lines
        The generated lines.
    spans
        For each line, the place that it was generated from, or ``None``.
    """

    def __init__(self, filename: str, indent: int = 0) -> None:
        self._source = linecache.getlines(filename)
        self._indent = "    " * indent
        self._noted = 0
        self.lines: list[str] = []
        self.spans: list[Span | None] = []

    def line(self, text: str, span: Span | None = None) -> None:
        """Write one line; the first one generated from a source line carries that line as a
        comment."""
        text = self._indent + text
        if span is not None and span.line != self._noted:
            self._noted = span.line
            source = (
                self._source[span.line - 1].strip() if 0 < span.line <= len(self._source) else ""
            )
            if source:
                text = f"{text:<44}  # {span.line}: {source}"
        self.lines.append(text)
        self.spans.append(span)

    @contextmanager
    def block(self, header: str, span: Span | None = None) -> Iterator[None]:
        """Write an indented block; ``pass`` if it stays empty."""
        self.line(header, span)
        size = len(self.lines)
        outer, self._indent = self._indent, self._indent + "    "
        yield
        if len(self.lines) == size:
            self.line("pass")
        self._indent = outer


class Names:
    """The names of one generated pair of functions; they avoid the names in the user's code.

    Attributes
    ----------
    bound
        The objects that generated code refers to by name, in the order of first use.
    """

    def __init__(self, taken: set[str]) -> None:
        self._taken = taken
        self._names: dict[int, str] = {}
        self.bound: dict[str, Any] = {}
        self._indices = 0

    def fresh(self, name: str) -> str:
        """Return `name`, with underscores added until it is unused, and reserve it."""
        while name in self._taken:
            name += "_"
        self._taken.add(name)
        return name

    def of(self, value: Any, name: str) -> str:
        """Return the name of an object that generated code uses; `name` if it is free."""
        known = self._names.get(id(value))
        if known is None:
            known = self._names[id(value)] = self.fresh(name)
            self.bound[known] = value
        return known

    def operand(self, operand: Operand) -> str:
        """Return an operand as an expression that needs no parentheses."""
        if type(operand) is Var or type(operand) is Global:
            return operand.name
        if type(operand) is Const:
            return _literal(operand.value) or self._constant(operand.value)
        assert type(operand) is Path
        return ".".join(operand.names)

    def _constant(self, value: Any) -> str:
        if type(value) is slice or type(value) is tuple:
            if id(value) not in self._names:
                self._indices += 1
            return self.of(value, f"index{self._indices}")
        return self.of(value, _constant_name(value))


def _literal(value: Any) -> str | None:
    kind = type(value)
    if value is None or kind is bool or kind is str or kind is bytes:
        return repr(value)
    if kind is int:
        return (
            str(value)
            if 0 <= value < 1 << 64
            else (f"({value})" if -(1 << 64) < value < 0 else None)
        )
    if kind is float and math.isfinite(value):
        return repr(value) if math.copysign(1.0, value) > 0 else f"({value!r})"
    if kind is tuple and value:
        parts = [_literal(item) for item in value]
        if all(part is not None for part in parts):
            return f"({', '.join(map(str, parts))}{',' if len(parts) == 1 else ''})"
    return None


def _constant_name(value: Any) -> str:
    name = getattr(value, "__name__", None)
    if isinstance(name, str) and name.isidentifier():
        return name
    if type(value) is dict:
        return "namespace"  # the only mutable constant: the function's globals
    of = str(getattr(value, "co_name", type(value).__name__))
    return "code_" + "".join(c for c in of if c.isalnum() or c == "_")
