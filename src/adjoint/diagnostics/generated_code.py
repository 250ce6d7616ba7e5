"""Places in generated code, and the places of the source that they stand for."""

from __future__ import annotations

import linecache
import weakref
from functools import partial
from types import CodeType
from typing import Any

from adjoint.ir.nodes import Span


def place_of(code: CodeType, line: int) -> tuple[Any, Span] | None:
    """The user's place that a line of generated code stands for."""
    unit = unit_behind(code)
    if unit is None:
        return None
    if unit.places is None:
        unit.places = _places_in(unit)
    return unit, unit.places[min(line, len(unit.places)) - 1]


def _places_in(unit: Any) -> list[Span]:
    """By line of generated code, the last place that was written down above."""
    first = unit.function.code.co_firstlineno
    last = Span(first, 0, first, 0)  # a generator, before it has started
    return [last := last if span is None else span for span in unit.source.spans]


generated: dict[int, tuple[weakref.ref[CodeType], Any]] = {}
"""By the identity of generated code (code objects compare by value): what `unit_behind` finds."""


def note_generated(unit: Any, *functions: Any) -> None:
    """Remember what generated functions were made of, for as long as they are there; `unit` holds
    none of them."""

    def forget(key: int, _: Any) -> None:
        generated.pop(key, None)
        linecache.cache.pop(unit.filename, None)

    for f in functions:
        key = id(f.__code__)
        generated[key] = weakref.ref(f.__code__, partial(forget, key)), unit


def unit_behind(code: CodeType) -> Any:
    """The unit of generated code, without its functions: for tracebacks, and for the place of a
    call."""
    known = generated.get(id(code))
    return None if known is None else known[1]
