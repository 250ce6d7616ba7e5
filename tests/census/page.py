"""The page of the census: what it says, and how it is read again."""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import numpy as np
import scipy

from tests.census.entries import KINDS, REFUSED, Entry

PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"
VERSIONS = f"NumPy {'.'.join(np.__version__.split('.')[:2])}, SciPy " + ".".join(
    scipy.__version__.split(".")[:2]
)
WRITTEN_FOR = "NumPy 2.4, SciPy 1.17"
"""What CPython 3.11 installs. Other versions have other names."""

Census = dict[str, list[Entry]]
"""Entries by the title of their section."""

INTRODUCTION = f"""\
# Coverage

How each public function of NumPy and SciPy is differentiated ({WRITTEN_FOR}). This page is written
by `python -m tests.census`, which asks for a gradient of every function that is said to have one
and compares it with finite differences; a test fails when the page is not current.

* **rule, both modes**: a formula, in reverse and in forward mode; **rule, reverse mode**: in one.
* **its own source**: the Python that it is made of is differentiated, down to functions with rules.
* **non-differentiable**: its derivative is zero, or it returns no reals.
* **refused**: needing the derivative is an error, with this reason. The value may be used.
"""


def counts(census: Census) -> dict[str, int]:
    """How many functions there are of each kind; names of one function count once."""
    functions: dict[str, set[object]] = defaultdict(set)
    seen: set[object] = set()
    for entries in census.values():
        for entry in entries:
            if entry.key not in seen:
                functions[entry.kind].add(entry.key)
                seen.add(entry.key)
    return {kind: len(functions[kind]) for kind in KINDS}


def text(census: Census) -> str:
    """The whole page."""
    parts = [INTRODUCTION + "\n" + table(census)]
    parts += [section(title, entries) for title, entries in census.items()]
    return "\n".join(parts)


def table(census: Census) -> str:
    """How many there are of each kind."""
    total = counts(census)
    kinds = [kind for kind in KINDS if any(e.kind == kind for es in census.values() for e in es)]
    lines = [
        f"| | {' | '.join(kinds)} |",
        f"|---|{'---:|' * len(kinds)}",
        *(
            f"| {title} | {' | '.join(str(_number(entries, kind)) for kind in kinds)} |"
            for title, entries in census.items()
        ),
        f"| **functions**, each once | {' | '.join(f'**{total[kind]}**' for kind in kinds)} |",
    ]
    return "\n".join(lines) + "\n"


def section(title: str, entries: list[Entry]) -> str:
    """What the page says of the names of one section."""
    lines = [f"## {title}", ""]
    for kind in KINDS:
        lines += _kind(kind, [entry for entry in entries if entry.kind == kind])
    return "\n".join(lines) + "\n"


def _number(entries: list[Entry], kind: str) -> int | str:
    return sum(entry.kind == kind for entry in entries) or ""


def _kind(kind: str, entries: list[Entry]) -> list[str]:
    """The names of one kind, those with one reason together."""
    by_reason: dict[str, list[str]] = defaultdict(list)
    for entry in entries:
        by_reason[entry.why].append(f"`{entry.name}`")
    return [
        f"* **{kind}**{f' ({why})' if why else ''}: {' '.join(names)}"
        for why, names in sorted(by_reason.items())
    ]


def read(page: str) -> dict[str, dict[str, tuple[str, str]]]:
    """The kind of each name and why, by section, as the page says."""
    found: dict[str, dict[str, tuple[str, str]]] = {}
    for line in page.splitlines():
        if line.startswith("## "):
            found[line[3:]] = {}
        elif match := re.match(r"\* \*\*([^*]+)\*\*(?: \((.*)\))?: `", line):
            kind, why, names = match.group(1), match.group(2) or "", line.rpartition(": ")[2]
            if found:
                names = re.findall("`([^`]+)`", names)
                found[list(found)[-1]] |= dict.fromkeys(names, (kind, why))
    return found


def differences(census: Census, page: str) -> list[str]:
    """Where the page says another thing of a name that both have."""
    told = read(page)
    return [
        f"{title}: {entry.name} is {entry.kind} ({entry.why}), the page says {said[0]}"
        for title, entries in census.items()
        for entry in entries
        if (said := told.get(title, {}).get(entry.name)) and said[0] != entry.kind
    ]


__all__ = [
    "INTRODUCTION",
    "PAGE",
    "REFUSED",
    "VERSIONS",
    "WRITTEN_FOR",
    "counts",
    "differences",
    "read",
    "section",
    "table",
    "text",
]
