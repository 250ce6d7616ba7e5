"""Reads the grammar: tables of productions, each a piece of Python with holes.

A file of the folder ``grammar`` looks like this::

    [statement]
    6   $num! = 0.9 * $num
    3   @loop for ?k:int, ?v:num in enumerate($nums):
            $body

A table's name stands in brackets; a production begins with its weight in column 0, and its text
in column 4. In the text,

``$num``        is an expression of the kind ``num``: a production of that table or, where no such
                table exists, a variable of that kind; ``$num_name`` is always a variable;
``$num!``       something of that kind that can be assigned to (table ``num!``, or a variable);
``$num+v``      an expression in which ``?v`` may occur as well;
``$body``       a line of its own: a block of statements (``$calm``: one that is not left early);
``?v``          a fresh name, the same throughout the production; ``?v:num`` says its kind, which
                makes it visible in the suite whose header it stands in; ``?v:num!`` makes it
                visible to what follows the production;
``@loop``       in front: only where the flag is set; ``@-loop``: only where it is not.

Simple productions stand first in their tables: that is the direction in which examples shrink.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

GRAMMAR = Path(__file__).parent / "grammar"
FILES = (
    "numbers", "control", "exceptions", "functions", "generators", "lists", "containers",
    "arrays", "memory", "callees", "objects", "classes", "choices",
)  # fmt: skip
BLOCKS = ("body", "calm")

Need = tuple[str, bool, frozenset[str]]

_TOKEN = re.compile(
    r"\$(?P<kind>[a-z]\w*)(?P<place>!)?(?P<seen>(?:\+[a-z]\w*)*)"
    r"|\?(?P<stem>[a-zA-Z]\w*)(?::(?P<type>[a-z]\w*))?(?P<export>!)?"
)
_HEADER = re.compile(r"(?:async )?(\w+)\b.*:$")
_HEADERS = frozenset("if elif else for while try except finally with def class match case".split())


@dataclass(frozen=True)
class Hole:
    """``$kind``, ``$kind!`` or ``$kind+v``."""

    kind: str
    place: bool
    seen: tuple[str, ...]


@dataclass(frozen=True)
class Fresh:
    """``?stem``, ``?stem:kind`` or ``?stem:kind!``."""

    stem: str
    kind: str | None
    export: bool


@dataclass(frozen=True)
class Line:
    """One line of a production.

    Attributes
    ----------
    header
        The keyword, if the line opens a suite.
    pure
        Whether names must not be bound within the expressions of the line.
    """

    indent: int
    parts: tuple[str | Hole | Fresh, ...]
    header: str
    pure: bool

    @property
    def block(self) -> str | None:
        """``body`` or ``calm`` if the line stands for statements."""
        match self.parts:
            case (Hole(kind=kind),) if kind in BLOCKS:
                return kind
        return None


@dataclass(frozen=True, eq=False)
class Production:
    """One way to expand a table's name.

    Attributes
    ----------
    needs
        The kinds of its holes, whether they are assigned to, and the kinds that the production
        itself declares before: all must be available.
    flags, without
        Flags of the scope that must be set, and that must not.
    binds
        Whether it contains an assignment expression.
    """

    table: str
    weight: int
    text: str
    lines: tuple[Line, ...]
    needs: frozenset[Need]
    flags: frozenset[str]
    without: frozenset[str]

    @functools.cached_property
    def kinds(self) -> dict[str, str]:
        """The kinds of the fresh names."""
        return _kinds(self.lines)

    @functools.cached_property
    def compound(self) -> bool:
        """Whether it has suites of statements."""
        return any(line.block for line in self.lines)

    @functools.cached_property
    def binds(self) -> bool:
        return ":=" in self.text

    def concerns(self, kind: str) -> bool:
        """Whether it uses something of a kind, or makes it."""
        used = (need.removesuffix("_name").removesuffix("_mem") for need, *_ in self.needs)
        return kind in used or kind in self.kinds.values()

    def __str__(self) -> str:
        return f"{self.table}: {' / '.join(line.strip() for line in self.text.splitlines())}"


def _line(text: str) -> Line:
    stripped = text.strip()
    parts: list[str | Hole | Fresh] = []
    end = 0
    for token in _TOKEN.finditer(stripped):
        if token.start() > end:
            parts.append(stripped[end : token.start()])
        if token["kind"]:
            seen = tuple(token["seen"].split("+")[1:])
            parts.append(Hole(token["kind"], bool(token["place"]), seen))
        else:
            parts.append(Fresh(token["stem"], token["type"], bool(token["export"])))
        end = token.end()
    if end < len(stripped):
        parts.append(stripped[end:])
    header = _HEADER.match(stripped)
    keyword = header[1] if header and header[1] in _HEADERS else ""
    pure = bool(re.search(r"\blambda\b|[^\s] for \?", stripped))
    return Line(len(text) - len(text.lstrip()), tuple(parts), keyword, pure)


def _kinds(lines: tuple[Line, ...]) -> dict[str, str]:
    return {
        part.stem: part.kind
        for line in lines
        for part in line.parts
        if isinstance(part, Fresh) and part.kind
    }


def _needs(lines: tuple[Line, ...]) -> Iterator[Need]:
    declared: list[tuple[int, str]] = []
    here = _kinds(lines)
    pending: list[tuple[int, str]] = []
    for line in lines:
        declared = [(indent, kind) for indent, kind in declared if indent <= line.indent]
        declared += [(indent, kind) for indent, kind in pending if indent >= line.indent]
        pending = [(indent, kind) for indent, kind in pending if indent < line.indent]
        visible = frozenset(kind for _, kind in declared)
        for part in line.parts:
            if isinstance(part, Hole) and not line.block:
                yield part.kind, part.place, visible.union(here[stem] for stem in part.seen)
            elif isinstance(part, Fresh) and part.kind and (part.export or line.header):
                if line.header and part.export:
                    pending.append((line.indent, part.kind))
                else:
                    inside = line.indent + 4 if line.header else line.indent
                    declared.append((inside, part.kind))


def _production(table: str, weight: int, lines: list[str]) -> Production:
    flags, without = set(), set()
    first = lines[0]
    while first.startswith("@") and re.match(r"@-?[a-z]+ ", first):
        flag, first = first.split(" ", 1)
        (without if flag[1] == "-" else flags).add(flag.lstrip("@-"))
    lines = [first, *lines[1:]]
    made = tuple(_line(line) for line in lines)
    needs = frozenset(_needs(made))
    if any(kind in RARE for kind, *_ in needs) and table in ("statement", "num"):
        weight *= 3
    return Production(
        table,
        weight,
        "\n".join(lines),
        made,
        needs,
        frozenset(flags),
        frozenset(without),
    )


def parsed(text: str) -> dict[str, list[Production]]:
    """The tables of one file."""
    tables: dict[str, list[Production]] = {}
    table, weight, lines = "", 0, list[str]()

    def finish() -> None:
        if lines:
            tables[table].append(_production(table, weight, lines))
            lines.clear()

    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if line.startswith("["):
            finish()
            table = line.strip("[] ")
            tables.setdefault(table, [])
        elif line[0].isdigit():
            finish()
            weight = int(line[:4])
            lines.append(line[4:])
        else:
            lines.append(line[4:].rstrip())
    finish()
    return tables


RARE = frozenset(
    "fn fun afn gen gen_name plain endless vgen ctx cls reccls it deck rows book couple rec slot"
    " guard two_name three_name".split()
)
"""Kinds that exist only where the program made one: what uses them is favoured."""


TOPICS = (
    "nums", "rows", "book", "table", "deck", "couple", "rec", "slot", "obj", "cls", "fn", "fun",
    "gen", "plain", "endless", "it", "ctx", "afn", "vgen", "vecs", "named", "mat", "tall", "two",
    "reccls",
)  # fmt: skip
"""Kinds that a program may be about: its statements make and use such things."""


@functools.cache
def grammar() -> dict[str, list[Production]]:
    """All tables."""
    tables: dict[str, list[Production]] = {}
    for name in FILES:
        for table, productions in parsed((GRAMMAR / f"{name}.grammar").read_text()).items():
            tables.setdefault(table, []).extend(productions)
    tables["statement"] += tables["definition"]
    for kind in TOPICS:
        tables[f"about {kind}"] = [p for p in tables["statement"] if p.concerns(kind)]
    return tables
