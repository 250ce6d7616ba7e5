"""A call as a part of another operation, and which function runs a call, by the type of callee."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

NO_KEYWORDS: dict[str, Any] = {}


HANDLERS: dict[type, Any] = {}
"""By the type of the callee; `object` stands for all others. `callables` and `engine` fill it."""


def linked(
    record: list[Any],
    slot: int,
    arrange: Callable[[tuple[Any, ...]], tuple[Any, ...]],
    run: Callable[..., Any],
    *operands: Any,
) -> Any:
    """Run as an inner call whose cotangents are re-arranged; linked beforehand, for an exception
    may leave it."""
    inner: list[Any] = [record[0], None]
    blank = record[slot]

    def linked_back(y_bar: Any) -> Any:
        return arrange(inner[1](y_bar))

    record[slot] = linked_back
    try:
        return run(inner, 1, *operands)
    finally:
        if inner[1] is None:
            record[slot] = blank


DECLINED: Any = object()
"""No rule was written for such arguments."""
