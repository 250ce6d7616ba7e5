"""What the fast tier leaves to the generic one."""

from __future__ import annotations

from adjoint.ir.nodes import Span

__all__ = ["Deoptimize", "NotCovered"]


class NotCovered(Exception):
    """The fast tier does not do this.

    Attributes
    ----------
    reason
        What it does not do, in a few words.
    span
        Where that is in the user's file, if it is at one place.
    """

    def __init__(self, reason: str, span: Span | None = None) -> None:
        super().__init__(reason)
        self.reason, self.span = reason, span


class Deoptimize(Exception):
    """Raised while specialised code runs: a value is not of the type that was foreseen. The call is
    run again in the generic tier; nothing has been changed so far."""
