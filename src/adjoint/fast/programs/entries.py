"""One specialised program, and the programs of a function in one mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import CodeType
from typing import Any

from adjoint.errors import place_text
from adjoint.fast.programs.call_kinds import kinds_of
from adjoint.fast.programs.failures import Failures
from adjoint.fast.programs.owners import Owner
from adjoint.ir.nodes import Span
from adjoint.runtime.dispatch.observed_results import observed

MOST_NOT_COVERED = 12
"""Number of kinds not covered after which a function is no longer specialised."""


@dataclass(slots=True, eq=False, repr=False)
class Entry:
    """One specialised program.

    Attributes
    ----------
    run
        ``run(f, args)`` of `entry_source`, or `MISS` or `FAILED`.
    cost
        The time of specialising and compiling, in seconds.
    filename
        The name of `source` in tracebacks.
    failures
        The counter of failed calls.
    inlined
        The names of the inlined user functions.
    opaque
        The opaque operations, each with its place and the reason.
    once
        ``once(f, args, dots)`` of `tangent_entry`, in programs of tangents.
    acts
        Whether it prints, or writes to arrays, containers or objects from outside.
    has_taken_apart
        Whether it is for the lengths of small arrays alone.
    most_rows
        How many rows to take at once; see `Program.most_rows`.
    """

    source: str
    run: Callable[..., Any]
    cost: float
    filename: str
    failures: Failures
    inlined: tuple[str, ...] = ()
    opaque: tuple[str, ...] = ()
    once: Callable[..., Any] | None = None
    acts: bool = False
    has_taken_apart: bool = False
    most_rows: int = 0

    def call(self, f: Any, args: tuple[Any, ...], dots: Sequence[Any] | None) -> Any:
        """Call `run`, or `once` with tangents."""
        if dots is None:
            return self.run(f, args)
        assert self.once is not None
        return self.once(f, args, dots)


@dataclass(slots=True, eq=False, repr=False)
class NotCoveredKind:
    """The reason why calls of a kind are not covered."""

    reason: str
    span: Span | None
    kinds: tuple[Any, ...]
    cost: float = 0.0
    filename: str | None = None
    awaits: Sequence[tuple[CodeType, int]] = ()
    """See `NotCovered`."""

    @property
    def place(self) -> str | None:
        """File and line of the reason."""
        if self.filename is None or self.span is None:
            return None
        return place_text(self.filename, self.span.line)


@dataclass(slots=True, eq=False, repr=False)
class Stored:
    owner: Owner
    entries: list[Entry] = field(default_factory=list)
    refused: dict[tuple[Any, ...], NotCoveredKind] = field(default_factory=dict)
    tried_again: set[tuple[Any, ...]] = field(default_factory=set)
    takes_apart: bool = True
    is_plain: bool = True
    """Whether the next programs compute with numbers of Python where they can."""
    sums_some: bool = True
    """Whether the next programs may fail where there are no numbers in a sum."""

    def forget_lengths(self) -> None:
        """Drop the programs for the lengths of small arrays alone, and make no more of them."""
        self.takes_apart = False
        self.entries = [x for x in self.entries if not x.has_taken_apart]

    def has_none_before(self, entry: Entry) -> bool:
        """Return whether an entry may be tried before the others: it is for the lengths of small
        arrays, or no other is."""
        is_special = [x.has_taken_apart for x in self.entries]
        return entry.has_taken_apart or not any(is_special)

    def reason_for(self, f: Any, args: tuple[Any, ...]) -> NotCoveredKind | None:
        """Return why a call is not covered, or ``None`` if its kind is unknown."""
        if not self.refused:
            return None
        kinds = kinds_of(f, args)
        found = self.refused.get(kinds)
        if found is not None and any(len(observed[code]) > n for code, n in found.awaits):
            del self.refused[kinds]
            return None
        if found is not None and kinds not in self.tried_again and _is_elsewhere(f, found):
            self.tried_again.add(kinds)
            del self.refused[kinds]
            return None
        if found is None and len(self.refused) >= MOST_NOT_COVERED:
            return next(reversed(self.refused.values()))
        return found


def _is_elsewhere(f: Any, reason: NotCoveredKind) -> bool:
    """Return whether a call is not covered because of code in another file: it may have filled a
    table of its own in the meantime."""
    code = getattr(f, "__code__", None)
    return code is not None and reason.filename not in (None, code.co_filename)
