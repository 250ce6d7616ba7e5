"""The level of the running thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from adjoint.diagnostics.numpy_warnings import begin_logging, end_logging
from adjoint.levels.level import Level
from adjoint.locks import make_lock


class _Current(threading.local):
    """The level of the running thread; ``None`` for plain Python."""

    level: Level | None = None


current: _Current = _Current()

in_use: list[int] = [0]
"""Number of contexts of `entered` with a level, in all threads; zero if no thread is on a level. It
takes less time to read than what belongs to the thread."""
_lock = make_lock()


@contextmanager
def entered(level: Level | None) -> Iterator[None]:
    """Make `level` the level of the thread inside this context.

    On a level, NumPy's warnings get the user's place.
    """
    count = level is not None
    with _lock:
        in_use[0] += count
    before, current.level = current.level, level
    token = begin_logging() if count else None
    try:
        yield
    finally:
        if token is not None:
            end_logging(token)
        current.level = before
        with _lock:
            in_use[0] -= count
