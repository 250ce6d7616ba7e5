"""What all pullbacks share: their text, and that they stay in their process."""

from __future__ import annotations

import sys
from typing import Any

from adjoint.errors import ArgumentError


def pullback_text(f: Any) -> str:
    """Return ``∂(name)``, or ``pullback(name)`` where standard output has no sign ∂."""
    name = f if isinstance(f, str) else getattr(f, "__name__", None) or type(f).__name__
    try:
        "∂".encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except (UnicodeError, LookupError):
        return f"pullback({name})"
    return f"∂({name})"


class StaysHere:
    """Holds the values of one call: it is not pickled, and a copy of it is itself."""

    __slots__ = ()

    send_instead = "call ad.pullback there; or send the cotangents that it returns"

    def _named(self) -> str:
        return repr(self)

    def __reduce__(self) -> Any:
        raise ArgumentError(
            f"{self._named()} cannot be pickled: it holds what one call has computed",
            hint=f"send the function and its arguments, and {self.send_instead}",
        )

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, _: Any) -> Any:
        return self
