"""An explanation as text for a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from adjoint.explanation.contributions import Contribution
from adjoint.explanation.events import Bad, Event
from adjoint.explanation.run import Run
from adjoint.explanation.sections import Section, first_run, sections_of
from adjoint.explanation.source_text import shortened
from adjoint.explanation.value_text import text_of

MOST_LINES, MOST_SECTIONS, MOST_INPUTS, MOST_OF_A_LINE = 80, 12, 12, 6
LONG_LOCAL = 60
"""From this length on, local derivatives of one operation stand below each other."""


def text(run: Run) -> str:
    """Return the inputs, the lines with what happens there, and what is not finite."""
    parts = [f"{run.function}: {text_of(run.value)}", "", *_inputs(run)]
    bad = run.first_bad()
    if bad is not None:
        parts += ["", bad_text(bad)]
    sections = sections_of(run)
    shown = [section for section in sections if not section.is_library][:MOST_SECTIONS]
    shown = shown or sections[:1]
    for section in shown:
        parts += ["", *_section(section)]
    others = [section.name for section in sections if section not in shown and section.name]
    if others:
        parts += ["", shortened(f"also in {', '.join(others)}", 100)]
    return "\n".join([*parts, *left_out(run)])


def left_out(run: Run) -> list[str]:
    """Return a sentence on what is not kept, if anything is not."""
    events = run.tape.events
    kept = sum(event.is_kept for event in events)
    if kept == len(events):
        return []
    return [
        f"{kept} of {len(events)} operations are shown, the first ones; the derivative is whole"
    ]


def _inputs(run: Run) -> list[str]:
    rows = [("input", "value", "cotangent")]
    pairs = [*zip(run.tape.inputs, run.bars, strict=True)]
    for one, bar in pairs[:MOST_INPUTS]:
        rows.append((one.name, one.snapshot.text, "0" if bar is None else text_of(bar)))
    rest = len(pairs) - MOST_INPUTS
    return _aligned(rows) + ([f"… and {rest} more"] if rest > 0 else [])


def bad_text(bad: Bad) -> str:
    """Return where something that is not finite arises first."""
    if bad.event is None:
        return bad.detail
    event, cell = bad.event, "NaN or infinity"
    where = f"line {event.line}" if event.line else "outside of source"
    what = "the values" if bad.sweep == "values" else "the cotangents"
    return f"first {cell} in {what}: {where}, {event.text or event.name} ({bad.detail})"


def _section(section: Section) -> list[str]:
    calls = (
        f", {len(section.calls)} calls, of each line the first" if len(section.calls) > 1 else ""
    )
    head = f"{section.name} ({section.place}{calls})" if section.name else "outside of source"
    by_line: dict[int, list[Event]] = {}
    for event in section.events:
        by_line.setdefault(event.line, []).append(event)
    lines: list[str] = [head]
    rows: list[tuple[str, ...]] = [("", "value", "local derivative", "cotangent")]
    for number, source in section.lines or [(0, "")]:
        here = by_line.get(number, [])
        if number:
            rows.append((f"{number:5}  {source}{_times(here)}", "", "", ""))
        first = first_run(here) if here else []
        rows += [row for event in first[:MOST_OF_A_LINE] for row in _rows(event)]
        if len(first) > MOST_OF_A_LINE:
            rows.append((f"         … and {len(first) - MOST_OF_A_LINE} more", "", "", ""))
        if len(rows) > MOST_LINES:
            rows.append(("  …", "", "", ""))
            break
    return lines + _aligned(rows)


def _times(events: list[Event]) -> str:
    runs = len({(event.call.number, event.path) for event in events})
    return f"  (1st of {runs} runs)" if runs > 1 else ""


def _rows(event: Event) -> list[tuple[str, ...]]:
    """Return the row of an operation; where its local derivatives are long, a row for each."""
    value = "" if event.value is None else event.value.text
    bar = "0" if event.bar is None else event.bar.text
    parts = _local_parts(event)
    if len(", ".join(parts)) <= LONG_LOCAL:
        parts = [local_text(event)]
    first, *rest = parts
    head = (f"         {shortened(event.text, 40)}", value, first, bar)
    return [head, *(("", "", one, "") for one in rest)]


def local_text(event: Event) -> str:
    """Return the local derivative of an operation in each operand that has one."""
    form = {"read": "read: 1", "write": "write: 1", "other": "copy: 1"}
    return ", ".join(_local_parts(event)) or form.get(event.form, "")


def _local_parts(event: Event) -> list[str]:
    return [
        f"∂/∂({one.label}) = {one.local.text}"
        if " " in one.label
        else f"∂/∂{one.label} = {one.local.text}"
        for one in event.operands
        if one.local is not None
    ]


def _aligned(rows: Sequence[tuple[str, ...]]) -> list[str]:
    """Return rows in columns; a cell that is wider than its column moves the next ones, and one
    that is alone in its row has room."""
    count = len(rows[0])
    most = (58, 34, 56, 40)
    widths = [
        min(max(len(row[i]) for row in rows if any(row[1:])), most[i if count == 4 else min(i, 2)])
        for i in range(count)
    ]
    return [
        "  ".join(f"{cell:<{w}}" for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]


def contribution_rows(
    found: list[Contribution],
) -> tuple[tuple[str, str, str], list[tuple[str, str, str]]]:
    """Return the heads and the rows of a table: which operation adds how much."""
    rows = []
    for one in found:
        event = one.event
        line = "" if event is None or not event.line else f"{event.call.name}:{event.line}"
        what = "the result itself" if event is None else shortened(event.text or event.name, 40)
        rows.append((line, what, text_of(one.amount)))
    return ("line", "operation", "adds"), rows


def contributions_text(path: str, total: str, found: list[Contribution]) -> str:
    """Return which lines contribute how much to the cotangent of one input."""
    heads, rows = contribution_rows(found)
    return "\n".join([f"cotangent of {path}: {total}", *_aligned([heads, *rows])])
