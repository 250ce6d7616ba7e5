"""The level of the running thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adjoint.levels.level import Level


class _Current(threading.local):
    """The level of the running thread; ``None`` for plain Python."""

    level: Level | None = None


current = _Current()


@contextmanager
def entered(level: Level | None) -> Iterator[None]:
    """Make `level` the level of the thread inside this context."""
    before, current.level = current.level, level
    try:
        yield
    finally:
        current.level = before
