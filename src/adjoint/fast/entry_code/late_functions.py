"""Functions of entry code that are compiled when they are first called: few calls need all."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def late_function(
    entry: Any, name: str, text: str, filename: str, bound: dict[str, Any]
) -> Callable[..., Any]:
    """Return the function `name` of entry code; its first call compiles it and puts it in its own
    place, the attribute `name` of `entry`."""

    def first(*args: Any) -> Any:
        try:
            exec(compile(text, filename, "exec", dont_inherit=True), bound)
        except (SyntaxError, RecursionError, MemoryError):  # deeper than Python can read now
            return bound["FAILED"]
        setattr(entry, name, bound[name])
        return bound[name](*args)

    return first
