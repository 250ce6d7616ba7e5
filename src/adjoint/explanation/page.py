"""An explanation as a page: source, values and cotangents, generated code, graph, contributions."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path

from adjoint.explanation.events import MOST_EVENTS
from adjoint.explanation.page_data import events_of, inputs_data, section_data
from adjoint.explanation.program_listing import in_sections, program_of
from adjoint.explanation.run import Run
from adjoint.explanation.run_graph import graph_of
from adjoint.explanation.sections import Section, sections_of
from adjoint.explanation.text import bad_text, left_out
from adjoint.explanation.value_text import text_of
from adjoint.pictures import graph_drawing as graphs
from adjoint.pictures.html import page

MOST_BYTES = 950_000
MOST_LINES, MOST_CODE, MOST_SECTIONS, MOST_INPUTS = 200, 300, 40, 40
HEADS = ("", "source", "value", "local derivative", "cotangent")


def page_of(run: Run) -> str:
    """Return the page, smaller than `MOST_BYTES`."""
    most = MOST_EVENTS
    while True:
        found = _page(run, most)
        if len(found.encode()) < MOST_BYTES or most < 10:
            return found
        most //= 2


def _page(run: Run, most: int) -> str:
    sections = sections_of(run)[:MOST_SECTIONS]
    events = events_of(sections, most)
    inputs = inputs_data(run, sections)
    program = in_sections(program_of(run), sections)
    kept = sum(event.is_kept for event in run.tape.events)
    notes = left_out(run)
    if len(events) < kept:
        notes.append(f"values are on this page for the first {len(events)} operations")
    data = {
        "sections": [section_data(section) for section in sections],
        "events": events,
        "inputs": inputs,
    }
    body = "\n".join(
        [
            _head(run, notes),
            *(_section(i, one, () if i else program) for i, one in enumerate(sections)),
            _graph(run),
            _contributions([str(one["name"]) for one in inputs]),
        ]
    )
    style = _file("page.css") + graphs.STYLE
    title = f"{run.function}: value and derivative"
    return page(title, body, style=style, script=_file("page.js"), data=data)


def _file(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")


def _head(run: Run, notes: list[str]) -> str:
    rows = [
        f"<tr><td>{escape(one.name)}</td><td>{escape(one.snapshot.text)}</td>"
        f"<td>{escape('0' if bar is None else text_of(bar))}</td></tr>"
        for one, bar in [*zip(run.tape.inputs, run.bars, strict=True)][:MOST_INPUTS]
    ]
    rest = len(run.tape.inputs) - MOST_INPUTS
    more = [f'<p class="note">… and {rest} more inputs</p>'] if rest > 0 else []
    bad = run.first_bad()
    warn = ""
    if bad is not None:
        number = (
            "" if bad.event is None else f' <button data-event="{bad.event.number}">show</button>'
        )
        warn = f'<div class="card warn" id="bad">{escape(bad_text(bad))}{number}</div>'
    return (
        f'<h1>{escape(run.function)} = <span id="value">{escape(text_of(run.value))}</span></h1>'
        + "".join(f'<p class="note">{escape(note)}</p>' for note in notes)
        + f'{warn}<div class="card"><div class="scroll"><table id="gradient"><thead><tr>'
        "<th>input</th><th>value</th><th>cotangent: d result / d input</th></tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table></div>{''.join(more)}</div>"
    )


def _section(number: int, section: Section, program: Sequence[tuple[str, int, int]]) -> str:
    is_open = " open" if not section.is_library and number < 6 else ""
    count = len(section.calls)
    calls = f", {count} calls" if count > 1 else ""
    lines = section.lines[:MOST_LINES] or [(0, "what runs outside of Python source")]
    rows = "".join(
        f'<tr class="line" data-section="{number}" data-line="{line}"><td class="no">{line or ""}'
        f'</td><td colspan="4">{escape(source)}<span class="calls"></span></td></tr>'
        for line, source in lines
    )
    heads = "".join(f"<th>{head}</th>" for head in HEADS)
    code = _code(number, section, program)
    return (
        f'<details class="card" id="s{number}"{is_open}><summary>{escape(section.name)}'
        f' <span class="note">{escape(section.place)}{calls}</span></summary>'
        f'<div class="controls"></div><div class="pair{"" if code else " alone"}">'
        f'<div class="scroll"><table class="lines"><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>{code}</div></details>"
    )


def _code(number: int, section: Section, program: Sequence[tuple[str, int, int]]) -> str:
    """Return the generated code: that of the program, if there is one, and of the generic tier."""
    generic = [
        (text, -1 if line is None else number, line or 0) for text, line in section.generated()
    ]
    if not generic:
        return ""
    blocks = [("generic tier", "generic", generic)]
    if program:
        blocks.insert(0, ("program of the fast tier", "program", [*program]))
    buttons = "".join(
        f'<button data-code="{key}" aria-pressed="{"false" if i else "true"}">{name}</button>'
        for i, (name, key, _) in enumerate(blocks)
    )
    switch = f'<span class="switch">{buttons}</span>' if program else "of the generic tier"
    shown = "".join(
        f'<div class="scroll tall" data-shown="{key}"{" hidden" if i else ""}>'
        f'<div class="code mono">{_lines(lines)}</div></div>'
        for i, (_, key, lines) in enumerate(blocks)
    )
    return f'<div><p class="note">generated code {switch}; hover over a line</p>{shown}</div>'


def _lines(lines: list[tuple[str, int, int]]) -> str:
    parts = []
    for text, section, line in lines[:MOST_CODE]:
        place = "" if section < 0 else f' data-section="{section}" data-line="{line}"'
        parts.append(
            f'<div{place}><span class="no">{line or ""}</span><span>{escape(text)}</span></div>'
        )
    if len(lines) > MOST_CODE:
        parts.append(f"<div><span></span><span>… and {len(lines) - MOST_CODE} more</span></div>")
    return "".join(parts)


def _graph(run: Run) -> str:
    graph, rest = graph_of(run)
    note = f'<p class="note">{rest} earlier operations are not drawn</p>' if rest > 0 else ""
    drawn = graphs.svg(graph, style=False)
    return (
        '<div class="card" id="graph"><h2>Graph</h2>'
        '<p class="note">each node: what is computed, its value, its cotangent; click for its line'
        f'</p>{note}<div class="scroll tall">{drawn}</div></div>'
    )


def _contributions(names: list[str]) -> str:
    if not names:
        return ""
    options = "".join(
        f'<option value="{i}">{escape(name)}</option>' for i, name in enumerate(names)
    )
    return (
        '<div class="card" id="parts"><h2>Contributions to one input</h2>'
        f'<label>input <select id="input">{options}</select></label>'
        ' <span class="note">cotangent</span> <span class="mono" id="total"></span>'
        '<div class="scroll"><table><thead><tr><th>line</th><th>operation</th>'
        '<th>adds</th><th></th></tr></thead><tbody id="contributions"></tbody></table></div></div>'
    )
