"""A generated program: its source, its arguments, and what ran of it."""

from __future__ import annotations

import linecache
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.fuzz import kit
from tests.fuzz.templates import Production

LINE_BUDGET = 700
"""Lines that one call may run: programs beyond it are thrown away."""

IMPORTS = """\
import bisect
import collections
import contextlib
import copy
import dataclasses
import functools
import heapq
import itertools
import math
import operator
import types
from collections import OrderedDict, defaultdict, deque

import numpy as np

from tests.fuzz.kit import *
"""

ENDING = """

if __name__ == "__main__":
    check(program, arguments({names!r}, seed={seed}))
"""


@dataclass(frozen=True)
class SourceLine:
    """A line, and the productions that it was made by."""

    text: str
    tags: frozenset[Production] = frozenset()


@dataclass(frozen=True)
class Program:
    """A function ``program`` in a module of its own, with the arguments at which it is checked."""

    name: str
    lines: list[SourceLine]
    parameters: tuple[str, ...]
    seed: int
    globals: tuple[str, ...] = ()

    @property
    def filename(self) -> str:
        """The name under which `linecache` holds the source: every other program is installed."""
        folder = "lib/python3/site-packages/fuzz" if self.seed % 2 else "fuzz"
        return f"{folder}/{self.name}.py"

    @property
    def first_line(self) -> int:
        return IMPORTS.count("\n") + 3

    def source(self) -> str:
        """The module's text; it can be run."""
        text = "\n".join(line.text for line in self.lines)
        ending = ENDING.format(names=" ".join(self.parameters), seed=self.seed)
        return f"{IMPORTS}\n\n{text}\n{ending}"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """For hypothesis: it need not print every field."""
        printer.text(f"Program({self.name!r})")

    def args(self) -> tuple[Any, ...]:
        """New arguments."""
        return kit.arguments(" ".join(self.parameters), self.seed)

    def compiled(self) -> Callable[..., Any]:
        """The function, with its source where `inspect` and `linecache` find it."""
        source = self.source()
        linecache.cache[self.filename] = (len(source), None, source.splitlines(True), self.filename)
        module = types.ModuleType(self.name)
        sys.modules[self.name] = module  # dataclasses look there
        exec(compile(source, self.filename, "exec"), module.__dict__)
        return module.program

    def forget(self) -> None:
        """Take the module away again."""
        linecache.cache.pop(self.filename, None)
        sys.modules.pop(self.name, None)

    def kept(self) -> dict[str, Any]:
        """The module's own variables."""
        return {name: getattr(sys.modules[self.name], name) for name in self.globals}

    def tags(self, lines: set[int]) -> set[Production]:
        """The productions of the lines with these numbers."""
        first = self.first_line
        return {tag for n in lines if n >= first for tag in self.lines[n - first].tags}


class TooLongError(Exception):
    """A program ran more lines than the budget allows."""


def traced(program: Program, f: Callable[..., Any], args: tuple[Any, ...]) -> set[Production]:
    """Run ``f(*args)``; the productions of the lines that ran, or `TooLongError`."""
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
    if count > LINE_BUDGET:  # the program may have caught it
        raise TooLongError
    return program.tags(ran)
