"""What a statement may read and assign where it stands."""

from __future__ import annotations

from dataclasses import dataclass, field

Names = dict[str, tuple[str, ...]]

LEAVING = frozenset({"loop", "def", "gen", "array", "program"})
"""Flags that allow to leave a block early, or to yield from it."""


@dataclass
class Scope:
    """The names that are visible at one place of a program, by kind.

    Attributes
    ----------
    names
        What may be read.
    assigns
        What an assignment binds in this function.
    outer
        What could be declared, and the statement that does it.
    beneath
        What may be read in functions only: it does not exist yet when they are defined.
    flags
        What `@flag` in the grammar asks for: ``loop``, ``def``, ``gen``, ...
    """

    names: Names = field(default_factory=dict)
    assigns: Names = field(default_factory=dict)
    outer: dict[str, tuple[str, str]] = field(default_factory=dict)
    beneath: Names = field(default_factory=dict)
    flags: frozenset[str] = frozenset()
    depth: int = 0
    module: bool = False

    def declare(self, kind: str, name: str) -> None:
        """Make a name visible from here on."""
        for names in (self.beneath if self.module else self.names, self.assigns):
            names[kind] = (*names.get(kind, ()), name)

    def favour(self, kind: str, name: str) -> None:
        """Make a name visible that is read only, and likely to be read."""
        self.names[kind] = (name, name, name, *self.names.get(kind, ()))

    def borrow(self, name: str) -> None:
        """Declare a name of an enclosing function as ``nonlocal`` or ``global``."""
        kind, _ = self.outer[name]
        self.assigns[kind] = (*self.assigns.get(kind, ()), name)

    def inner(self, header: str = "") -> Scope:
        """The scope of a suite: what it defines is not seen outside."""
        made = Scope(
            dict(self.names), dict(self.assigns), self.outer, dict(self.beneath), self.flags,
            self.depth, self.module,
        )  # fmt: skip
        if header in ("def", "class"):
            statement = "global" if self.module else "nonlocal"
            mine = {name: (k, statement) for k, names in self.assigns.items() for name in names}
            made.outer = mine | self.outer
            made.assigns, made.flags, made.module = {}, frozenset(), False
        if header == "def":
            for kind, more in self.beneath.items():
                made.names[kind] = (*more, *made.names.get(kind, ()))
            made.beneath = {}
        return made

    def with_flags(self, flags: tuple[str, ...], calm: bool) -> Scope:
        """The scope of a block in this suite."""
        made = self.inner()
        made.flags = (self.flags - LEAVING if calm else self.flags).union(flags)
        made.depth += 1
        return made
