"""HTML for notebooks and files: everything that comes from outside is escaped."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

STYLE = """
.ad-box{font:13px/1.5 system-ui,sans-serif;overflow-x:auto;max-width:100%}
.ad-box pre{font:12px/1.5 ui-monospace,monospace;margin:.3em 0;white-space:pre;text-align:left}
.ad-box table{border-collapse:collapse}.ad-box caption{text-align:left;font-weight:600}
.ad-box th,.ad-box td{text-align:left;vertical-align:top;padding:.1em .9em .1em 0;
font:12px/1.5 ui-monospace,monospace;border-top:1px solid #8884;background:none}
.ad-box thead th{font-weight:600;border-top:none}.ad-box .note{color:#787f8a}
"""


def boxed(*parts: str) -> str:
    """Return parts of HTML in a box with its style, for a cell of a notebook."""
    return f'<div class="ad-box"><style>{STYLE}</style>{"".join(parts)}</div>'


def text_html(title: str, text: str) -> str:
    """Return text that keeps its lines, under a title.

    Examples
    --------
    >>> "a &lt; b" in text_html("code", "a < b")
    True
    """
    return boxed(f"<b>{escape(title)}</b><pre>{escape(text)}</pre>")


def table_html(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of text; the first cell of a row names it."""
    head = "".join(f'<th scope="col">{escape(cell)}</th>' for cell in heads)
    body = [
        f'<tr><th scope="row">{escape(first)}</th>'
        + "".join(f"<td>{escape(cell)}</td>" for cell in rest)
        + "</tr>"
        for first, *rest in rows
    ]
    return boxed(
        f"<table><caption>{escape(title)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(body)}</tbody></table>"
    )


def page(title: str, body: str, *, style: str, script: str, data: Any) -> str:
    """Return a document that loads nothing: its style, its script, and data for it as JSON."""
    packed = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    packed = packed.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width,initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\';'
        " style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">\n"
        f'<link rel="icon" href="data:,">\n<title>{escape(title)}</title>\n'
        f"<style>{style}</style></head>\n<body>\n{body}\n"
        f'<script type="application/json" id="data">{packed}</script>\n'
        f"<script>{script}</script>\n</body></html>\n"
    )


def framed(document: str, height: int) -> str:
    """Return a document inside a frame of its own, for a cell of a notebook."""
    return (
        f'<iframe sandbox="allow-scripts" srcdoc="{escape(document)}" loading="lazy"'
        f' style="width:100%;height:{height}px;border:1px solid #8884;border-radius:6px"></iframe>'
    )
