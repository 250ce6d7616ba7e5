"""Errors that the library raises (design, section 4): problem, place in the user's file, hint."""

from __future__ import annotations

import linecache
import sys
from typing import NamedTuple

from adjoint.ir import primitives
from adjoint.ir.nodes import Span

__all__ = [
    "AdjointError",
    "ArgumentError",
    "CotangentError",
    "MutationError",
    "NoDerivativeError",
    "NotScalarError",
    "Place",
    "RuleError",
    "SourceError",
    "UnsupportedSyntaxError",
]


DOCUMENTATION = "https://github.com/adjoint-ad/adjoint/blob/main/docs/limitations.md"
"""The page with a section for each class of errors, and for each kind of refusal."""


class Place(NamedTuple):
    """A line of user code where something happens, and the library function that it calls, if that
    does it.

    Attributes
    ----------
    called
        Name of the library function that the line calls; ``None`` where the line itself does it.
    inner
        File and place in that library.
    """

    filename: str
    span: Span
    called: str | None = None
    inner: tuple[str, Span] | None = None


class AdjointError(Exception):
    """Base class of all errors that the library raises itself.

    Parameters
    ----------
    problem : str
        One sentence.
    hint : str, optional
        Advice for the user.
    filename, span : optional
        The place in the user's file; its source line is shown with carets.
    place : Place, optional
        The place, for what may happen in a library that the user's line calls.
    """

    filename: str | None
    hint: str | None
    problem: str
    span: Span | None

    def __init__(
        self,
        problem: str,
        *,
        hint: str | None = None,
        filename: str | None = None,
        span: Span | None = None,
        place: Place | None = None,
    ) -> None:
        if place is not None:
            filename, span = place.filename, place.span
        self.problem, self.hint, self.filename, self.span = problem, hint, filename, span
        self.place = place
        super().__init__(problem)

    @property
    def link(self) -> str:
        """The address of the section on errors of this class."""
        public = next(one for one in type(self).__mro__ if one.__name__ in __all__)
        return f"{DOCUMENTATION}#{public.__name__.lower()}"

    def __str__(self) -> str:
        parts = [self.problem]
        if self.filename is not None and self.span is not None:
            parts.append(f"  {place_text(self.filename, self.span.line)}")
            parts.extend(_excerpt(self.filename, self.span))
        if self.place is not None and self.place.inner is not None:
            filename, span = self.place.inner
            parts.append(f"  within '{self.place.called}', {place_text(filename, span.line)}")
            parts.extend(_excerpt(filename, span))
        if self.hint is not None:
            parts.append(f"hint: {self.hint}")
        parts.append(f"see {self.link}")
        return "\n".join(parts)


def place_text(filename: str, line: int) -> str:
    """Return a place in the user's terms: a file, or a cell of a notebook."""
    cell = cell_of(filename)
    return f"{filename}:{line}" if cell is None else f"{cell}, line {line}"


def cell_of(filename: str) -> str | None:
    """Return ``Cell In[n]`` for a name under which IPython has compiled a cell."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    name_of = getattr(getattr(shell, "compile", None), "format_code_name", None)
    found = None if name_of is None else name_of(filename)
    return None if found is None else " ".join(found)


def _excerpt(filename: str, span: Span) -> list[str]:
    line = linecache.getline(filename, span.line).rstrip("\n")
    text = line.lstrip()
    if not text:
        return []
    # ast counts columns in bytes, a terminal in characters
    start = len(line.encode()[: span.column].decode(errors="replace"))
    end = (
        len(line.encode()[: span.end_column].decode(errors="replace"))
        if span.end_line == span.line
        else len(line)
    )
    indent = len(line) - len(text)
    return ["    " + text, "    " + " " * max(start - indent, 0) + "^" * max(end - start, 1)]


class UnsupportedSyntaxError(AdjointError):
    """A statement or expression that is not differentiated; raised before its function runs."""


class SourceError(AdjointError):
    """The source of a function cannot be read, or is not the one that the function is made from."""


class NotScalarError(AdjointError, TypeError):
    """`gradient` was given a function whose result is not one real number."""


class CotangentError(AdjointError, ValueError):
    """A cotangent given to ``back`` does not have the structure or the shape of the result."""


class ArgumentError(AdjointError, TypeError):
    """An argument that cannot be differentiated, or an ``argnums`` out of range."""


class NoDerivativeError(AdjointError):
    """A derivative is needed of a function that has neither a rule nor source code."""

    rounds = 0
    """In how many other bases a function has to be run for it (`adjoint.levels.bases`)."""


class MutationError(AdjointError):
    """An unknown callee changed or stored something active, or a write cannot be differentiated."""


class RuleError(AdjointError):
    """A rule returned the wrong number of cotangents, or one of a wrong shape; or wrong numbers,
    where `adjoint.testing.checked` compares them."""


primitives.unsupported_syntax = UnsupportedSyntaxError
