"""The level of differentiation that the running thread is on."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from adjoint.levels.level import Level


class _Current(threading.local):
    """The level that the running thread is on: none for plain Python."""

    level: Level | None = None


current = _Current()


@contextmanager
def entered(level: Level | None) -> Iterator[None]:
    """Functions of this library that are called meanwhile stand on `level`."""
    before, current.level = current.level, level
    try:
        yield
    finally:
        current.level = before
