"""What the fast tier leaves to the generic one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from adjoint.ir.nodes import Span

if TYPE_CHECKING:
    from adjoint.ir.single import Value

NOT_SCALAR = "a result that is not one real number"
"""Why the gradient of a function is for the generic tier, which says so to the user."""


class NotCovered(Exception):
    """The fast tier does not do this.

    Attributes
    ----------
    reason
        What it does not do, in a few words.
    span
        Where that is in the user's file, if it is at one place.
    filename
        That file.
    """

    def __init__(self, reason: str, span: Span | None = None) -> None:
        super().__init__(reason)
        self.reason, self.span = reason, span
        self.filename: str | None = None

    def at(self, span: Span | None, filename: str) -> None:
        """Say where it is, unless that is known."""
        if self.filename is None:
            self.span, self.filename = self.span or span, filename


class NeedsSize(NotCovered):
    """A dimension has to be known; one that is longer than `most` is not covered then, either."""

    def __init__(self, symbol: Any, reason: str, span: Any = None, most: int | None = None) -> None:
        super().__init__(reason, span)
        self.symbol, self.most = symbol, most


class UnknownSizes(NotCovered):
    """A function takes arrays of some sizes only, and these are not known."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name} of arrays whose sizes are not known, nor whether they fit")


class NeedsKnown(NotCovered):
    """The value of an integer decides a type."""

    def __init__(self, value: Value, reason: str, span: Any = None) -> None:
        super().__init__(reason, span)
        self.value = value


class Deoptimize(Exception):
    """Raised while specialised code runs: a value is not of the type that was foreseen. The call is
    run again in the generic tier; nothing has been changed so far."""


class Defect(AssertionError):
    """What specialised code gives is wrong; looked for where tests run."""
