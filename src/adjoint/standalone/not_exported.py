"""What a standalone file cannot hold."""

from __future__ import annotations

from adjoint.ir.nodes import Span


class NotExported(Exception):
    """The argument says what cannot be written into a standalone file.

    Attributes
    ----------
    is_argument
        Whether it is in the arguments.
    filename, span
        The place in user code that needs it, if it is known.
    """

    filename: str | None = None
    span: Span | None = None

    def __init__(self, what: str, is_argument: bool = False) -> None:
        super().__init__(what)
        self.is_argument = is_argument
