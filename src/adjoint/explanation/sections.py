"""The functions that a run went into, each with its source and its calls."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import CodeType, FunctionType
from typing import Any

from adjoint.errors import SourceError, UnsupportedSyntaxError, place_text
from adjoint.explanation.events import Call, Event
from adjoint.explanation.run import Run
from adjoint.primal.packages import is_of_a_library
from adjoint.runtime.cache.units import unit_of

_COMMENT = re.compile(r"  # \d+: .*$")
"""What generated code says of its origin; the numbers of lines say it, too."""


@dataclass(slots=True)
class Section:
    """One function of the run.

    Attributes
    ----------
    lines
        The lines of its source, with their numbers.
    loops
        The line of each loop.
    events
        The operations that are kept, of all calls.
    is_library
        Whether it belongs to a package, not to the user.
    """

    name: str
    filename: str
    code: CodeType | None
    unit: Any
    lines: list[tuple[int, str]]
    loops: list[int]
    is_library: bool = False
    calls: list[Call] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)

    @property
    def place(self) -> str:
        """Return the file, and the line where the function begins."""
        return place_text(self.filename, self.lines[0][0]) if self.lines else "outside of source"

    def generated(self) -> list[tuple[str, int | None]]:
        """Return the lines that the library generates for the function, in the generic tier, each
        with the line of the user's that it stands for."""
        f = next((call.function for call in self.calls if call.function is not None), None)
        if type(f) is not FunctionType:
            return []
        try:
            source = unit_of(f).source
        except (SourceError, UnsupportedSyntaxError):
            return []
        spans = [None if span is None else span.line for span in source.spans]
        lines = [_COMMENT.sub("", line) for line in source.text.splitlines()]
        return [*zip(lines, spans, strict=False)]


def sections_of(run: Run) -> list[Section]:
    """Return the functions of a run in the order of their first calls, those of the user first."""
    found: dict[int, Section] = {}
    for call in run.tape.calls:
        key = id(call.code)
        if key not in found:
            found[key] = _section(call)
        found[key].calls.append(call)
    for event in run.tape.events:
        if event.is_kept:
            found[id(event.call.code)].events.append(event)
    outside = found[id(None)]
    if not outside.events:
        found.pop(id(None))
    return sorted(found.values(), key=lambda section: section.is_library or section is outside)


def _section(call: Call) -> Section:
    unit = call.unit
    if unit is None:
        return Section("", "", None, None, [], [])
    code, filename = unit.function.code, unit.function.filename
    numbers = [*_lines_in(code)]
    lines = [
        (i, linecache.getline(filename, i).rstrip("\n"))
        for i in range(code.co_firstlineno, max(numbers, default=code.co_firstlineno) + 1)
    ]
    loops = [0 if loop.span is None else loop.span.line for loop in unit.loops]
    is_library = _is_library(unit.namespace.get("__name__"), filename)
    name = code.co_qualname.rpartition("<locals>.")[2]
    return Section(name, filename, code, unit, lines, loops, is_library)


def _lines_in(code: CodeType) -> Iterator[int]:
    yield from (line for _, _, line in code.co_lines() if line is not None)
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _lines_in(part)


def _is_library(module: Any, filename: str) -> bool:
    return is_of_a_library(module) or "site-packages" in filename


def first_run(events: list[Event]) -> list[Event]:
    """Return the operations of one line in the first call and iteration that reached it."""
    first = min(events, key=lambda event: event.call.number)
    return [event for event in events if event.call is first.call and event.path == first.path]
