"""What the script of a page knows: events, calls and contributions, as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from adjoint.explanation.contributions import Contribution, contributions, entries_of
from adjoint.explanation.events import Event
from adjoint.explanation.run import Run
from adjoint.explanation.sections import Section
from adjoint.explanation.source_text import shortened
from adjoint.explanation.text import local_text
from adjoint.explanation.value_text import text_of

ELEMENTS = 16
"""The largest array each element of which can be chosen."""
CHOICES, WORK = 120, 20_000_000
"""The number of inputs that can be chosen, and a limit to what is computed for them."""


def events_of(sections: list[Section], most: int) -> list[list[Any]]:
    """Return the first operations, as the script reads them."""
    found = [(event, number) for number, section in enumerate(sections) for event in section.events]
    found.sort(key=lambda pair: pair[0].number)
    index = {id(call): i for section in sections for i, call in enumerate(section.calls)}
    return [_event(event, number, index[id(event.call)]) for event, number in found[:most]]


def _event(event: Event, section: int, call: int) -> list[Any]:
    value = "" if event.value is None else event.value.text
    is_bad = (not event.is_finite) + 2 * (event.bar is not None and not event.bar.is_finite)
    given = [
        [one.label, one.value.text, "" if one.bar is None else one.bar.text]
        for one in event.operands
    ]
    return [
        event.number, section, call, event.line, [[*pair] for pair in event.path],
        shortened(event.text), value, shortened(local_text(event), 90),
        "0" if event.bar is None else event.bar.text, is_bad, given,
    ]  # fmt: skip


def section_data(section: Section) -> dict[str, Any]:
    """Return name, loops and calls of a function."""
    calls = [
        {
            "number": call.number,
            "parent": None if call.parent is None else call.parent.number,
            "line": call.line,
            "path": [[*pair] for pair in call.path],
        }
        for call in section.calls
    ]
    return {"name": section.name, "loops": section.loops, "calls": calls}


def inputs_data(run: Run, sections: list[Section]) -> list[dict[str, Any]]:
    """Return for each input that can be chosen which lines add how much."""
    if run.tape.journal is None:
        return []
    work, found = WORK, list[dict[str, Any]]()
    number = {id(section.code): i for i, section in enumerate(sections)}
    for one, bar in zip(run.tape.inputs, run.bars, strict=True):
        work -= entries_of(run.tape, one) + len(run.tape.steps_of(one.value)) ** 2
        if len(found) >= CHOICES or work < 0:
            break
        parts = contributions(run.tape, one.name)
        total = np.zeros(np.shape(one.value)) if bar is None else bar
        for name, index in _choices(one.name, one.value):
            chosen = parts if index is None else [_at(part, index) for part in parts]
            whole = text_of(total if index is None else total[index])
            lines = [*_by_line(chosen, number)]
            found.append({"name": name, "total": whole, "parts": lines})
    return found


def _choices(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    yield name, None
    if isinstance(value, np.ndarray) and value.ndim and value.size <= ELEMENTS:
        for index in np.ndindex(value.shape):
            yield f"{name}[{', '.join(map(str, index))}]", index


def _at(one: Contribution, index: tuple[int, ...]) -> Contribution:
    return Contribution(one.event, one.amount[index])


def _by_line(found: list[Contribution], number: dict[int, int]) -> Iterator[dict[str, Any]]:
    """Yield the sum of the contributions of each line, in the order of the run."""
    lines: dict[Any, list[Contribution]] = {}
    for one in found:
        if np.any(np.asarray(one.amount) != 0):
            lines.setdefault(None if one.event is None else one.event.place, []).append(one)
    for ones in lines.values():
        event = ones[0].event
        amount = sum(one.amount for one in ones)
        times = f" ({len(ones)} times)" if len(ones) > 1 else ""
        yield {
            "event": None if event is None else event.number,
            "section": -1 if event is None else number.get(id(event.call.code), -1),
            "line": 0 if event is None else event.line,
            "place": "result" if event is None else f"{event.call.name}:{event.line}",
            "text": "returned" if event is None else shortened(event.text or event.name) + times,
            "amount": text_of(amount),
            "size": _size(amount),
        }


def _size(amount: Any) -> float:
    size = float(np.linalg.norm(amount)) if np.ndim(amount) else float(np.real(amount))
    return size if np.isfinite(size) else 0.0
