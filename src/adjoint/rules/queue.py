"""`queue.SimpleQueue`, which is of C: what is put into one comes out of it in turn.

The other queues are Python around a deque.
"""

from __future__ import annotations

import functools
import threading
from _queue import Empty, SimpleQueue
from collections import deque
from typing import Any

from adjoint.rules.registry import non_differentiable, primitive
from adjoint.rules.threads import HINT, waits
from adjoint.run.lifetimes import AT_THE_END
from adjoint.run.memory import Memory
from adjoint.run.refused import refused
from adjoint.run.swaps import swap_with


class _Put:
    """One value that was put: its shadow takes the cotangent of what is got."""

    def __init__(self, value: Any) -> None:
        self.value = value  # kept alive, so that nothing else gets its identity


def _waiting(memory: Memory, queue: Any) -> deque[Any]:
    """What stands in the queue: those that were put inside the call, after what was there."""
    key = "queue", id(queue)
    if key not in memory.caches:
        line: deque[Any] = deque([None] * queue.qsize())
        memory.caches[key] = queue, line
        memory.caches.setdefault(AT_THE_END, []).append(functools.partial(_demand, queue, line))
    return memory.caches[key][1]  # type: ignore[no-any-return]


def _demand(queue: Any, line: deque[Any]) -> None:
    """Refuse that another thread has taken what may carry a derivative."""
    if queue.qsize() < len(line):
        put = [one for one in line if one is not None and type(one.value) not in _PLAIN]
        if put and threading.active_count() > 1:
            raise refused(
                "another thread has taken what differentiated code has put into a queue, and what"
                " it does with that is not seen",
                HINT,
            )


_PLAIN = frozenset({type(None), bool, str, bytes})


def _demand_ours(memory: Memory, line: deque[Any], queue: Any) -> None:
    """Refuse a queue that another thread has put into, or taken from."""
    for demand in memory.caches[AT_THE_END]:
        demand()  # what stands in this queue may be made of what stood in another
    if len(line) != queue.qsize() or not line:
        if threading.active_count() > 1:
            raise waits()


def _contents(queue: Any) -> list[Any]:
    taken = []
    while True:
        try:
            taken.append(queue.get_nowait())
        except Empty:
            return taken


def _exchange(queue: Any, first: list[Any], last: int, put: list[Any]) -> None:
    """Put `first` before all, leave out as many as `last` at the beginning or (less than 0) at the
    end, and `put` behind all."""
    held = _contents(queue)
    for value in (*first, *(held[last:] if last >= 0 else held[:last]), *put):
        queue.put(value)


def _put(record: list[Any], slot: int, queue: Any, item: Any, *waiting: Any, **options: Any) -> Any:
    memory: Memory = record[0]
    line = _waiting(memory, queue)
    queue.put(item, *waiting, **options)
    put = _Put(item)
    line.append(put)
    undo = functools.partial(_exchange, queue, [], -1, [])
    redo = functools.partial(_exchange, queue, [], 0, [item])
    position = memory.note(swap_with, undo, redo)
    rest = (None,) * (len(waiting) + len(options))

    def put_back(_: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        return None, None, memory.take_entry(put, "value"), *rest

    record[slot] = put_back


def _get(record: list[Any], slot: int, queue: Any, *waiting: Any, **options: Any) -> Any:
    memory: Memory = record[0]
    line = _waiting(memory, queue)
    _demand_ours(memory, line, queue)
    value = queue.get(*waiting, **options)
    record[slot] = _taken(memory, queue, line.popleft(), value, len(waiting) + len(options))
    return value


def _get_nowait(record: list[Any], slot: int, queue: Any) -> Any:
    memory: Memory = record[0]
    line = _waiting(memory, queue)
    _demand_ours(memory, line, queue)
    value = queue.get_nowait()
    record[slot] = _taken(memory, queue, line.popleft(), value, 0)
    return value


def _taken(memory: Memory, queue: Any, put: _Put | None, value: Any, n: int) -> Any:
    """Note that a value was taken, by a call of `n` options; gives the pullback."""
    undo = functools.partial(_exchange, queue, [value], 0, [])
    redo = functools.partial(_exchange, queue, [], 1, [])
    position = memory.note(swap_with, undo, redo)

    def get_back(y_bar: Any) -> tuple[Any, ...]:
        memory.rewind(position)
        if put is not None:
            memory.add_entry(put, "value", y_bar)
        return (None,) * (n + 2)

    return get_back


primitive((SimpleQueue, "put"), (SimpleQueue, "put_nowait"))(_put)
primitive((SimpleQueue, "get"))(_get)
primitive((SimpleQueue, "get_nowait"))(_get_nowait)
non_differentiable(SimpleQueue, (SimpleQueue, "empty"), (SimpleQueue, "qsize"))
