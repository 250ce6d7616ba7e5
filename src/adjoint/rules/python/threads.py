"""Refusals of threads: differentiated code neither starts, nor wakes, nor awaits another thread,
because the writes of that thread would not be logged.
"""

from __future__ import annotations

import _thread
import threading
from collections.abc import Callable
from typing import Any

from adjoint.diagnostics.refusals import refused
from adjoint.errors import MutationError
from adjoint.rulekit.registry import primitive

HINT = "call the function directly, or start the threads around the differentiated function"


@primitive(threading.Thread.start, _thread.start_new_thread)
def _(record: list[Any], slot: int, *args: Any) -> Any:
    raise refused(
        "a thread is started inside differentiated code, which would not see what it does", HINT
    )


def is_waited_for(condition: Any) -> bool:
    """Return whether a thread waits at a condition, or at an event or other object made of one."""
    return bool(getattr(getattr(condition, "_cond", condition), "_waiters", ()))


def _wakes(f: Callable[..., Any]) -> None:
    def run(record: list[Any], slot: int, condition: Any, /, *args: Any, **options: Any) -> Any:
        if is_waited_for(condition):
            raise refused(
                "a thread that waits is told to go on inside differentiated code, which would not"
                " see what it does",
                HINT,
            )
        return NotImplemented

    primitive(f)(run)


def waits() -> MutationError:
    """Return the error for code that waits for another thread."""
    return refused(
        "differentiated code waits for another thread, and would not see what that does", HINT
    )


def _waits(f: Callable[..., Any], passes: Callable[[Any], bool]) -> None:
    def run(record: list[Any], slot: int, condition: Any, /, *args: Any, **options: Any) -> Any:
        if threading.active_count() > 1 and not passes(condition):
            raise waits()
        return NotImplemented

    primitive(f)(run)


for _f in (threading.Event.set, threading.Condition.notify, threading.Condition.notify_all):
    _wakes(_f)
_wakes(threading.Semaphore.release)
_waits(threading.Event.wait, lambda event: event.is_set())
_waits(threading.Condition.wait, lambda _: False)
_waits(threading.Barrier.wait, lambda _: False)
_waits(threading.Thread.join, lambda thread: not thread.is_alive())
_waits(threading.Semaphore.acquire, lambda semaphore: semaphore._value > 0)
