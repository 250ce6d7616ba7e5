"""The text of a pullback."""

from __future__ import annotations

import sys
from typing import Any


def pullback_text(f: Any) -> str:
    """Return ``∂(name)``, or ``pullback(name)`` where standard output has no sign ∂."""
    name = f if isinstance(f, str) else getattr(f, "__name__", None) or type(f).__name__
    try:
        "∂".encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except (UnicodeError, LookupError):
        return f"pullback({name})"
    return f"∂({name})"
