"""Exceptions in the middle of a reverse sweep: what they must leave behind is the caller's data."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


class InterruptedSweepError(Exception):
    """Raised in place of a pullback."""


def pullbacks_run(run: Callable[[], Any]) -> int:
    """How many named pullbacks are called while ``run()`` runs."""
    return _traced(run, None)


def interrupt(run: Callable[[], Any], number: int) -> None:
    """Call ``run()``, in which the pullback with this number raises instead of being called."""
    try:
        _traced(run, number)
    except InterruptedSweepError:
        return
    raise AssertionError(f"the exception in pullback {number} was swallowed")


def _traced(run: Callable[[], Any], number: int | None) -> int:
    count = 0

    def trace(frame: Any, event: str, arg: Any) -> None:
        nonlocal count
        if event == "call" and frame.f_code.co_name.endswith("_back"):
            if count == number:
                raise InterruptedSweepError
            count += 1

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        run()
    finally:
        sys.settrace(before)
    return count
