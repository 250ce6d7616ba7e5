"""A generated program: a tree of statements that can be written out, compiled, traced and cut."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

LINE_BUDGET = 2500
"""Lines that one call may run: programs beyond it are thrown away."""


@dataclass
class Line:
    """A simple statement; `tag` names what it exercises."""

    text: str
    tag: str = ""


@dataclass
class Block:
    """A compound statement: a header and a body for each of its clauses."""

    clauses: list[tuple[str, list[Statement]]]
    tag: str = ""


Statement = Line | Block


def block(
    header: str, body: list[Statement], *more: tuple[str, list[Statement]], tag: str
) -> Block:
    """A compound statement of one clause, or of several."""
    return Block([(header, body), *more], tag)


@dataclass
class Program:
    """A function ``program`` in a module of its own, with the arguments at which it is checked."""

    name: str
    prelude: str
    parameters: str
    body: list[Statement]
    args: tuple[Any, ...]
    tags: dict[int, str] = field(default_factory=dict, init=False)

    @property
    def filename(self) -> str:
        """The name under which `linecache` holds the source."""
        return f"fuzz/{self.name}.py"

    def source(self) -> str:
        """The module's text; notes on which line each tag stands."""
        lines = [*self.prelude.strip().split("\n"), "", "", f"def program({self.parameters}):"]
        self.tags.clear()
        self._write(self.body, lines, 1)
        return "\n".join(lines) + "\n"

    def _write(self, body: list[Statement], lines: list[str], depth: int) -> None:
        indent = "    " * depth
        for statement in body:
            self.tags[len(lines) + 1] = statement.tag
            if isinstance(statement, Line):
                lines.append(indent + statement.text)
            else:
                for header, inner in statement.clauses:
                    lines.append(indent + header)
                    self._write(inner, lines, depth + 1)
        if not body:
            lines.append(indent + "pass")

    def compiled(self) -> Callable[..., Any]:
        """The function, with its source where `inspect` and `linecache` find it."""
        source = self.source()
        linecache.cache[self.filename] = (len(source), None, source.splitlines(True), self.filename)
        namespace: dict[str, Any] = {"__name__": self.name}
        exec(compile(source, self.filename, "exec"), namespace)
        return namespace["program"]

    def forget(self) -> None:
        """Take the source out of `linecache`."""
        linecache.cache.pop(self.filename, None)

    def size(self) -> int:
        """The number of statements."""
        return sum(1 for _ in places(self.body))


def places(body: list[Statement]) -> Iterator[tuple[list[Statement], int]]:
    """Every statement of a tree, as the list that holds it and its index there."""
    for index, statement in enumerate(body):
        yield body, index
        if isinstance(statement, Block):
            for _, inner in statement.clauses:
                yield from places(inner)


class TooLongError(Exception):
    """A program ran more lines than the budget allows."""


def traced(program: Program, f: Callable[..., Any], args: tuple[Any, ...]) -> set[str]:
    """Run ``f(*args)``; the tags of the statements that ran, or `TooLongError`."""
    ran: set[int] = set()
    count = 0

    def trace(frame: Any, event: str, arg: Any) -> Any:
        nonlocal count
        if frame.f_code.co_filename != program.filename:
            return None
        if event == "line":
            ran.add(frame.f_lineno)
            count += 1
            if count > LINE_BUDGET:
                raise TooLongError
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        f(*args)
    finally:
        sys.settrace(before)
    if count > LINE_BUDGET:
        raise TooLongError
    return {program.tags[line] for line in ran if program.tags.get(line)}
