"""Expands the grammar into programs: every choice is drawn, so that examples shrink."""

from __future__ import annotations

import contextlib
import functools
import itertools
from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from tests.fuzz.choices import ImpossibleError, chosen, table_of
from tests.fuzz.program import Program, SourceLine
from tests.fuzz.scope import Scope
from tests.fuzz.templates import TOPICS, Fresh, Hole, Line, Production

DEEPEST = 4
SIZE = 20
WORDS = (
    "item result held pair going ended returned x_bar y_bar bars attempt iterator stop right "
    "length record slots entry point back forward y_dot cell source leaf frame op"
).split()
"""Names in generated code that no production has."""
PARAMETERS = ("xs", "x", "m", "items", "named", "table", "thing", "y")
RARER = ("rows", "book", "couple", "rec")
KINDS = {
    "a": "num", "b": "num", "c": "num", "xs": "nums", "x": "vec", "y": "vec", "m": "mat",
    "items": "vecs", "named": "named", "table": "table", "thing": "obj", "level": "num",
    "work": "vec", "tape": "nums", "rows": "rows", "book": "book", "couple": "couple", "rec": "rec",
}  # fmt: skip
DATA = frozenset(
    "num nums vec mat tall two three vecs named table deck couple rows book obj rec slot".split()
)
WRITTEN = frozenset({"slot"})
"""What definitions of the module make and the program would write to: the next call would find it
changed."""
GLOBALS = {
    "level": ("0.2", "0.4 * a"),
    "work": ("np.ones(4)", "np.array([a, 0.3, 0.5 * b, -0.2])"),
    "tape": ("[0.1, 0.2, 0.3]", "[b, 0.2, a]"),
}
"""What the module's variables are first, and when the program begins."""

Draw = Callable[[st.SearchStrategy[Any]], Any]


@functools.cache
def below(n: int) -> st.SearchStrategy[int]:
    """The integers from 0 to n - 1."""
    return st.integers(0, n - 1)


# ---- the writer ----------------------------------------------------------------------------------


Suite = tuple[int, Scope, list[tuple[str, str]]]
"""The indentation of a suite, its scope, and the names that its header defines outside it."""


@st.composite
def _statement(draw: Draw, writer: Writer) -> None:
    """The statement that a writer has come to; a strategy, so that it has a span."""
    writer.drawn_statement(draw)


class Writer:
    """Writes one program.

    Parameters
    ----------
    draw
        Draws from a strategy of hypothesis.
    size
        How many statements there are at most, besides a few.
    """

    def __init__(self, draw: Draw, size: int = SIZE) -> None:
        self.draw = draw
        self.size = size
        self.lines: list[SourceLine] = []
        self.tags: set[Production] = set()
        self.fresh = itertools.count(1)
        self.words = [*WORDS]
        self.left = 0
        self.topics: list[str] = []
        self._place: tuple[Scope, int] = Scope(), 0
        self._one = _statement(self)

    def number(self, n: int) -> int:
        """An integer from 0 to n - 1; smaller ones stand for simpler programs."""
        return self.draw(below(n)) if n > 1 else 0

    def program(self, name: str) -> Program:
        """A program whose exceptions end inside it and whose loops are bounded."""
        self.left = 5 + self.number(self.size)
        self.topics = [TOPICS[self.number(len(TOPICS))] for _ in range(self.number(3))]
        mask, seed = self.number(1 << len(PARAMETERS)), self.number(256)
        parameters = [p for bit, p in enumerate(PARAMETERS) if mask >> bit & 1]
        parameters = ["a", "b", "c", *parameters, *(p for p in RARER if self.number(6) == 5)]
        module = Scope(module=True, flags=frozenset({"module"}))
        globals_ = [name for name in GLOBALS if self.number(20) == 19]
        for name_ in globals_:
            module.declare(KINDS[name_], name_)
            self.emit(f"{name_} = {GLOBALS[name_][0]}", 0)
        for _ in range((0, 0, 1, 2)[self.number(4)]):
            self.expand(self.chosen("definition", module), module, 0)
            self.emit("", 0)
        before, self.lines = self.lines, []

        scope = module.inner("def")
        scope.assigns = {}
        scope.outer = {name_: (KINDS[name_], "global") for name_ in globals_}
        for name_ in globals_:
            kind = KINDS[name_]
            scope.assigns[kind] = (*scope.assigns.get(kind, ()), name_)
        scope.flags = frozenset({"program"})
        for parameter in parameters:
            scope.declare(KINDS[parameter], parameter)
        known = [name for name in (*globals_, *parameters)]
        self.statements(scope, 0, most=max(14, self.size))
        body = self.guarded(before, known, scope)
        start = [SourceLine(f"def program({', '.join(parameters)}):")]
        if globals_:
            start.append(SourceLine(f"    global {', '.join(globals_)}"))
        start += [SourceLine(f"    {name_} = {GLOBALS[name_][1]}") for name_ in globals_]
        return Program(name, [*before, *start, *body], tuple(parameters), seed, tuple(globals_))

    def guarded(self, before: list[SourceLine], known: list[str], scope: Scope) -> list[SourceLine]:
        """The body, within a handler where it raises, and the result."""
        inside, self.lines = self.lines, []
        raises = any("raise" in line.text or ".throw(" in line.text for line in (*before, *inside))
        if raises:
            self.emit("try:", 4)
            self.lines += [SourceLine(f"        {line.text}", line.tags) for line in inside]
            self.emit("except Stop as last:", 4)
            self.emit("a = 0.5 * a + 0.3 * last.value", 8)
        else:
            self.lines += [SourceLine(f"    {line.text}", line.tags) for line in inside]
            visible = [name for kind in DATA for name in scope.names.get(kind, ())]
            known += sorted(set(visible) - set(known))
        whole = f"digest({', '.join(known)})"
        kept = [name for name in known if KINDS.get(name) in ("nums", "vec", "table", "named")]
        if self.number(2) == 0:  # else the result holds the containers themselves
            kept = [f"copy.copy({name})" for name in kept]
        parts = ", ".join(["a", *kept, whole])
        results = (whole,) * 6 + (f"[{parts}]", f"({parts})", f"{{'k': b, 'l': [{parts}]}}")
        self.emit(f"return {results[self.number(len(results))]}", 4)
        return self.lines

    # ---- statements ------------------------------------------------------------------------------

    def statements(self, scope: Scope, indent: int, most: int = 3) -> None:
        """One statement, and more of them while there is room."""
        self.statement(scope, indent)
        stops, of = (3, 8) if most == 3 else (1, max(8, self.size // 3))
        for _ in range(most - 1):
            if self.left <= 0 or self.number(of) < stops:
                break
            self.statement(scope, indent)

    def statement(self, scope: Scope, indent: int) -> None:
        """One statement, in a span of its own: examples shrink by leaving it out."""
        self._place = scope, indent
        self.draw(self._one)

    def drawn_statement(self, draw: Draw) -> None:
        (scope, indent), before = self._place, self.draw
        self.draw = draw
        self.left -= 1
        self.expand(self.production_of_statement(scope), scope, indent)
        self.draw = before

    def production_of_statement(self, scope: Scope) -> Production:
        """Half of the statements are about what the program is about, where that is possible."""
        if self.topics and self.number(2):
            topic = self.topics[self.number(len(self.topics))]
            with contextlib.suppress(ImpossibleError):
                return self.chosen(f"about {topic}", scope)
        return self.chosen("statement", scope)

    def block(self, kind: str, flags: tuple[str, ...], suite: Scope, indent: int) -> None:
        """The statements of a suite; perhaps one at the end that leaves it."""
        scope = suite.with_flags(flags, kind == "calm")
        self.statements(scope, indent)
        if self.number(8) > (3 if scope.flags & {"final", "except", "with"} else 5):
            self.expand(self.chosen("leave", scope), scope, indent)

    def expand(self, production: Production, scope: Scope, indent: int) -> None:
        """Write a production's lines."""
        names: dict[str, str] = {}
        suites: list[Suite] = [(0, scope, [])]
        for line in production.lines:
            self.close(suites, line.indent)
            suite = suites[-1][1]
            if line.block:
                hole = line.parts[0]
                assert isinstance(hole, Hole)
                self.block(line.block, hole.seen, suite, indent + line.indent)
                continue
            self.tags = {production}
            declared = self.declarations(line, names)
            self.emit(self.text(production, line, suite, names), indent + line.indent)
            exported = [(fresh.kind or "", name) for fresh, name in declared if fresh.export]
            if line.header:
                inside = suite.inner(line.header)
                for fresh, name in declared:
                    if not fresh.export:
                        inside.declare(fresh.kind or "", name)
                suites.append((line.indent + 4, inside, exported))
            else:
                for kind, name in exported:
                    if not (suite.module and kind in WRITTEN):
                        suite.declare(kind, name)
        self.close(suites, 0)

    @staticmethod
    def close(suites: list[Suite], indent: int) -> None:
        """End the suites that are deeper than a line: what their headers define is visible now."""
        while suites[-1][0] > indent:
            _, _, exported = suites.pop()
            for kind, name in exported:
                suites[-1][1].declare(kind, name)

    def declarations(self, line: Line, names: dict[str, str]) -> list[tuple[Fresh, str]]:
        """The fresh names of a line; those with a kind are declared by it."""
        found = []
        for part in line.parts:
            if isinstance(part, Fresh):
                if part.stem not in names:
                    names[part.stem] = self.fresh_name(part.stem)
                if part.kind:
                    found.append((part, names[part.stem]))
        return found

    def fresh_name(self, stem: str) -> str:
        """A name that nothing has yet; one of four is a word that generated code uses, too."""
        if self.words and self.number(4) == 3:
            return self.words.pop(self.number(len(self.words)))
        return f"{stem}{next(self.fresh)}"

    def text(
        self,
        production: Production,
        line: Line,
        scope: Scope,
        names: dict[str, str],
        depth: int = 2,
        pure: bool = False,
    ) -> str:
        """A line with its holes filled."""
        result = []
        for part in line.parts:
            match part:
                case str():
                    result.append(part)
                case Fresh(stem=stem):
                    result.append(names[stem])
                case Hole(kind="nonlocal"):
                    result.append(self.nonlocal_statement(scope))
                case Hole(kind=kind, place=place, seen=more):
                    visible = scope.inner() if more else scope
                    for stem in more:
                        visible.favour(production.kinds[stem], names[stem])
                    result.append(self.expression(kind, place, visible, depth, pure or line.pure))
        return "".join(result)

    def nonlocal_statement(self, scope: Scope) -> str:
        """Declare one or two variables of enclosing functions, which may then be assigned."""
        candidates = [
            name
            for name, (kind, _) in scope.outer.items()
            if kind in ("num", "vec", "nums") and name not in scope.assigns.get(kind, ())
        ]
        count = min(self.number(3), len(candidates))
        if not count:
            return "pass"
        first = self.number(len(candidates))
        names = [candidates[(first + k) % len(candidates)] for k in range(count)]
        statement = scope.outer[names[0]][1]
        names = [name for name in names if scope.outer[name][1] == statement]
        for name in names:
            scope.borrow(name)
        return f"{statement} {', '.join(names)}"

    # ---- expressions -----------------------------------------------------------------------------

    def expression(self, kind: str, place: bool, scope: Scope, depth: int, pure: bool) -> str:
        """An expression of a kind, or something of it that can be assigned to."""
        table = table_of(kind, place, depth <= 0)
        if table is None:
            base = kind.removesuffix("_name")
            names = (scope.assigns if place else scope.names).get(base)
            if not names:
                raise ImpossibleError(kind)
            return names[self.number(len(names))]
        production = self.chosen(table, scope, pure)
        self.tags.add(production)
        (line,) = production.lines
        fresh: dict[str, str] = {}
        self.declarations(line, fresh)
        return self.text(production, line, scope, fresh, depth - 1, pure)

    def chosen(self, table: str, scope: Scope, pure: bool = False) -> Production:
        """One of the productions that are possible here."""
        compound = scope.depth < DEEPEST and self.left > 0
        return chosen(table, scope, self.number, pure, compound)

    def emit(self, text: str, indent: int) -> None:
        self.lines.append(SourceLine(" " * indent + text, frozenset(self.tags)))
