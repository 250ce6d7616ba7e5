"""Calls inside another operation, and the table of functions that run calls by type of callee."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

NO_KEYWORDS: dict[str, Any] = {}


HANDLERS: dict[type, Any] = {}
"""Functions that run a call, by the type of the callee; `object` is the key for all others."""


def linked(
    record: list[Any],
    slot: int,
    arrange: Callable[[tuple[Any, ...]], tuple[Any, ...]],
    run: Callable[..., Any],
    *operands: Any,
) -> Any:
    """Run an inner call whose cotangents `arrange` reorders; fill the slot before the call, because
    an exception may end it."""
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
"""The result of a rule call that no rule takes."""
