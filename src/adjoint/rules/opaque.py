"""What is not differentiated and would not be noticed: threads, context variables."""

from __future__ import annotations

import _thread
import contextvars
import threading
from typing import Any

from adjoint.rules.registry import primitive
from adjoint.run.memory import refused
from adjoint.run.structure import by_value


@primitive(threading.Thread.start, _thread.start_new_thread)
def _(record: list[Any], slot: int, *args: Any) -> Any:
    raise refused(
        "a thread is started inside differentiated code, which would not see what it does",
        "call the function directly, or start the threads around the differentiated function",
    )


@primitive((contextvars.ContextVar, "set"))
def _(record: list[Any], slot: int, variable: Any, value: Any) -> Any:
    if not by_value(value) and not isinstance(value, list | tuple | dict | set):
        return NotImplemented
    raise refused(
        f"the context variable {variable.name!r} is set inside differentiated code",
        "pass the value as an argument",
    )
