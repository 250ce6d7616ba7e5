"""Refusals of `queue.SimpleQueue`, a C class: only text, bytes, booleans and None may be put in.

The other queues are Python code around a deque.
"""

from __future__ import annotations

from _queue import SimpleQueue
from typing import Any

from adjoint.diagnostics.refusals import refused
from adjoint.rulekit.registry import non_differentiable, primitive

_PLAIN = frozenset({type(None), bool, str, bytes})


@primitive((SimpleQueue, "put"), (SimpleQueue, "put_nowait"))
def _(record: list[Any], slot: int, /, queue: Any, item: Any, *waiting: Any, **options: Any) -> Any:
    if type(item) not in _PLAIN:
        _refuse()
    queue.put(item)


@primitive((SimpleQueue, "get"), (SimpleQueue, "get_nowait"))
def _(record: list[Any], slot: int, /, queue: Any, *waiting: Any, **options: Any) -> Any:
    _refuse()


def _refuse() -> None:
    raise refused(
        "a 'queue.SimpleQueue' is used inside differentiated code, which would not see what another"
        " thread puts into it or takes from it",
        "use a 'collections.deque' or a 'queue.Queue'",
    )


non_differentiable(SimpleQueue, (SimpleQueue, "empty"), (SimpleQueue, "qsize"))
