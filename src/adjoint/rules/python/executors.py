"""Refusals of executors, whose threads and processes are not differentiated."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

from adjoint.diagnostics.refusals import refused
from adjoint.rulekit.registry import primitive


@primitive(ThreadPoolExecutor.submit, ProcessPoolExecutor.submit)
def _(record: list[Any], slot: int, executor: Any, /, *args: Any, **kwargs: Any) -> Any:
    raise refused(
        f"a {type(executor).__name__} is given a function inside differentiated code, which would"
        " not see what it does",
        "call the function directly, or start the threads around the differentiated function",
    )
