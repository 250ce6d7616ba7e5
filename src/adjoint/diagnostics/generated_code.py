"""Places in generated code and the user's places that they stand for."""

from __future__ import annotations

import linecache
import weakref
from collections.abc import Iterator
from functools import partial
from types import CodeType, FrameType, TracebackType
from typing import Any

from adjoint.ir.nodes import Span


def place_of(code: CodeType, line: int) -> tuple[Any, Span] | None:
    """Return the unit and the user's place that a line of generated code stands for."""
    unit = unit_behind(code)
    if unit is None:
        return None
    if unit.places is None:
        unit.places = _places_in(unit)
    return unit, unit.places[min(line, len(unit.places)) - 1]


def _places_in(unit: Any) -> list[Span]:
    """Return, by line of generated code, the last span noted at or above the line."""
    first = unit.function.code.co_firstlineno
    last = Span(first, 0, first, 0)  # for a generator before its start
    return [last := last if span is None else span for span in unit.source.spans]


generated: dict[int, tuple[weakref.ref[CodeType], Any]] = {}
"""Units by the identity of generated code (code objects compare by value)."""


def note_generated(unit: Any, *functions: Any) -> None:
    """Note the unit of generated functions while they live; `unit` must not refer to them."""

    def forget(key: int, _: Any) -> None:
        generated.pop(key, None)
        linecache.cache.pop(unit.filename, None)

    for f in functions:
        key = id(f.__code__)
        generated[key] = weakref.ref(f.__code__, partial(forget, key)), unit


def unit_behind(code: CodeType) -> Any:
    """Return the unit of generated code, without its functions, for tracebacks and places."""
    known = generated.get(id(code))
    return None if known is None else known[1]


def walk_stack(frame: FrameType | None) -> Iterator[tuple[FrameType, int]]:
    """Yield a frame and its callers, each with its line (`traceback` is slow to import)."""
    while frame is not None:
        yield frame, frame.f_lineno
        frame = frame.f_back


def walk_tb(trace: TracebackType | None) -> Iterator[tuple[FrameType, int]]:
    """Yield the frames of a traceback, the outermost first, each with its line."""
    while trace is not None:
        yield trace.tb_frame, trace.tb_lineno
        trace = trace.tb_next
